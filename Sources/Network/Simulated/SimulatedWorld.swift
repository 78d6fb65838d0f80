import Synchronization

/// A network of simulated hosts with one virtual clock and one seeded source of chance.
///
/// Time passes only from one event to the next, so silence costs nothing, and the same seed and
/// calls give the same run. Everything belongs to one thread. Bytes are never lost while a link
/// is up; while it is down they wait, as TCP sends them again, until a time-out ends the connection.
package final class SimulatedWorld {
    /// The seed of this run.
    package let seed: UInt64
    /// What happens to bytes from now on; connections that are open keep their buffers' sizes.
    package var conditions = LinkConditions()
    /// The virtual time in nanoseconds.
    package private(set) var now: Int64 = nanosecondsPerSecond
    /// The wall clock's time when `now` was 0: the start of 2026, UTC.
    package var wallClockOrigin: Int64 = 1_767_225_600 * nanosecondsPerSecond
    /// Names that hosts can look up.
    package var names: [String: [IPAddress]] = [:]
    /// Addresses that treat connection attempts in their own way.
    package var behaviours: [SocketAddress: ConnectBehaviour] = [:]
    /// Redirections, as a NAT rule does them: who dials the key reaches the value.
    package var redirections: [SocketAddress: SocketAddress] = [:]

    /// The source of chance of everything that the network decides.
    package var random: SeededGenerator

    var timers = TimerQueue()
    private(set) var hosts: [IPAddress: SimulatedLoop] = [:]
    private var endingTurn: [SimulatedLoop] = []
    private var downLinks: Set<Link> = []
    private var parked: [(link: Link, deliver: () -> Void)] = []
    /// The ends of all connections, by their numbers; an open one is kept alive here.
    private var streams: [Int: SimulatedStream] = [:]
    private var nextStream = 0
    let waker = SimulatedWaker()

    package init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    deinit {
        // Connections and listeners that are still open hold closures of their owners.
        for stream in streams.values { stream.worldIsEnding() }
        for host in hosts.values { host.worldIsEnding() }
    }

    /// Adds a host with one address (besides 127.0.0.1, its own) and gives out its loop.
    package func addHost(_ ip: IPAddress) -> SimulatedLoop {
        let host = SimulatedLoop(ip: ip, world: self, random: random.split())
        hosts[ip] = host
        return host
    }

    /// Adds a host; nil when the text is no address.
    package func addHost(_ text: String) -> SimulatedLoop? {
        IPAddress(parsing: text).map(addHost)
    }

    // MARK: Time

    /// Lets the next thing happen; false when nothing is left.
    @discardableResult
    package func step() -> Bool {
        if waker.takeWish() {
            for host in hosts.values.sorted(by: { $0.order < $1.order }) { host.emptyMailboxes() }
            endTurns()
            return true
        }
        guard let time = timers.nextDeadline else {
            let hadWork = !endingTurn.isEmpty
            endTurns()
            return hadWork
        }
        now = max(now, time)
        let horizon = timers.horizon
        while let action = timers.takeDue(now: now, before: horizon) { action() }
        endTurns()
        return true
    }

    /// Runs until virtual time `deadline`, which is `now` afterwards.
    package func run(until deadline: Int64) {
        endTurns()
        while waker.hasWish || (timers.nextDeadline ?? .max) <= deadline { step() }
        now = max(now, deadline)
    }

    /// Runs for `duration` nanoseconds of virtual time.
    package func run(for duration: Int64) {
        run(until: now + duration)
    }

    /// Runs until `condition` holds; false when it does not within `limit` nanoseconds of virtual
    /// time, or when nothing is left to happen.
    @discardableResult
    package func run(limit: Int64 = 3600 * nanosecondsPerSecond, until condition: () -> Bool)
        -> Bool
    {
        let deadline = now + limit
        while !condition() {
            guard (timers.nextDeadline ?? now) <= deadline, step() else { return condition() }
        }
        return true
    }

    func willEndTurn(_ host: SimulatedLoop) {
        endingTurn.append(host)
    }

    private func endTurns() {
        var index = 0
        while index < endingTurn.count {
            endingTurn[index].runEndOfTurn()
            index += 1
        }
        endingTurn.removeAll(keepingCapacity: true)
    }

    // MARK: Links

    /// The unordered pair of hosts that a packet travels between.
    struct Link: Hashable {
        private let low: IPAddress
        private let high: IPAddress

        init(_ a: IPAddress, _ b: IPAddress) {
            (low, high) = a.precedes(b) ? (a, b) : (b, a)
        }
    }

    /// Cuts the link between two hosts without a word to either, or mends it.
    ///
    /// What is on its way when the link is cut gets lost and is sent again once it is mended.
    package func setLink(_ a: IPAddress, _ b: IPAddress, isUp: Bool) {
        let link = Link(a, b)
        guard isUp else {
            guard downLinks.insert(link).inserted else { return }
            let affected = streams.filter { $0.value.link == link }
            for (_, stream) in affected.sorted(by: { $0.key < $1.key }) { stream.linkWentDown() }
            return
        }
        guard downLinks.remove(link) != nil else { return }
        let waiting = parked.filter { $0.link == link }
        parked.removeAll { $0.link == link }
        // Retransmission backs off, so that it takes a moment until the first one gets through.
        let start = now + Int64(random.number(in: 1_000_000...200_000_000))
        for (_, deliver) in waiting { send(over: link, notBefore: start, deliver) }
    }

    /// Whether the link between two hosts works.
    package func isLinkUp(_ a: IPAddress, _ b: IPAddress) -> Bool {
        !downLinks.contains(Link(a, b))
    }

    /// Keeps an end of a connection until it is forgotten, by the number given back.
    func keep(_ stream: SimulatedStream) -> Int {
        nextStream += 1
        streams[nextStream] = stream
        return nextStream
    }

    func forget(_ number: Int) {
        streams[number] = nil
    }

    func isDown(_ link: Link) -> Bool { downLinks.contains(link) }

    /// A time at which a packet sent now arrives.
    func arrivalTime() -> Int64 {
        now + Int64(max(0, random.number(in: conditions.latency)))
    }

    /// Delivers a packet at `time`, or once the link is up again.
    func send(over link: Link, notBefore time: Int64, _ deliver: @escaping () -> Void) {
        _ = timers.schedule(at: time) { [unowned self] in
            if downLinks.contains(link) {
                parked.append((link, deliver))
            } else {
                deliver()
            }
        }
    }

    /// Delivers a packet once, or never if the link is down when it should arrive.
    func sendUnreliably(over link: Link, notBefore time: Int64, _ deliver: @escaping () -> Void) {
        _ = timers.schedule(at: time) { [unowned self] in
            if !downLinks.contains(link) { deliver() }
        }
    }
}

/// Remembers that another thread has posted something.
final class SimulatedWaker: Sendable {
    private let wish = Atomic<Bool>(false)

    func wake() { wish.store(true, ordering: .releasing) }
    var hasWish: Bool { wish.load(ordering: .acquiring) }
    func takeWish() -> Bool {
        hasWish && wish.exchange(false, ordering: .acquiringAndReleasing)
    }
}
