package import Wire

/// The simulated driver of the loop: one host of a `SimulatedWorld`.
package final class SimulatedLoop: EventLoop {
    /// The host's address.
    package let ip: IPAddress
    /// The network that the host belongs to; it must live as long as its hosts are used.
    package unowned let world: SimulatedWorld
    /// The host's files.
    package let disk = SimulatedDisk()
    /// The names of the host's interfaces.
    package var interfaces: Set<String> = ["lo", "eth0"]

    let order: Int
    var listeners: [UInt16: SimulatedListener] = [:]
    private var nextPort: UInt16 = 49_152
    private var random: SeededGenerator
    private var endOfTurn: [() -> Void] = []
    private var mailboxes: [() -> Bool] = []
    private var signals: [(signal: ProcessSignal, registration: SignalRegistration)] = []
    private var isStopping = false

    init(ip: IPAddress, world: SimulatedWorld, random: SeededGenerator) {
        self.ip = ip
        self.world = world
        self.random = random
        order = world.hosts.count
    }

    // MARK: Turns and time

    package var now: Int64 { world.now }
    package var wallClock: Int64 { world.wallClockOrigin + world.now }

    /// Runs the whole world until `stop`, or until nothing is left to happen.
    package func run() {
        isStopping = false
        while !isStopping && world.step() {}
    }

    package func stop() {
        isStopping = true
    }

    @discardableResult
    package func schedule(
        at deadline: Int64, _ action: @escaping () -> Void
    ) -> ScheduledAction {
        world.timers.schedule(at: deadline, action)
    }

    package func atEndOfTurn(_ action: @escaping () -> Void) {
        if endOfTurn.isEmpty { world.willEndTurn(self) }
        endOfTurn.append(action)
    }

    func runEndOfTurn() {
        var index = 0
        while index < endOfTurn.count {
            let action = endOfTurn[index]
            index += 1
            action()
        }
        endOfTurn.removeAll(keepingCapacity: true)
    }

    package func mailbox<Message: Sendable>(
        limit: Int, _ receive: @escaping (Message) -> Void
    ) -> Mailbox<Message> {
        let waker = world.waker
        let mailbox = Mailbox<Message>(limit: limit) { waker.wake() }
        mailboxes.append { [weak mailbox] in
            guard let mailbox else { return false }
            for message in mailbox.takeAll() { receive(message) }
            return true
        }
        return mailbox
    }

    func emptyMailboxes() {
        let current = mailboxes
        mailboxes = []
        let living = current.filter { $0() }
        mailboxes = living + mailboxes
    }

    package func randomBytes(_ count: Int) -> Bytes {
        (0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    // MARK: Network

    @discardableResult
    package func resolve(
        _ name: String, port: UInt16,
        _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) -> any Cancellable {
        let addresses = IPAddress(parsing: name).map { [$0] } ?? world.names[name] ?? []
        return schedule(at: world.arrivalTime()) {
            completion(
                addresses.isEmpty
                    ? .failure(.nameUnknown)
                    : .success(addresses.map { SocketAddress($0, port: port) }))
        }
    }

    package func listen(
        on address: SocketAddress, options: ListenOptions,
        _ accept: @escaping (any TCPStream) -> Void
    ) throws(NetworkError) -> any TCPListener {
        guard owns(address.ip) || address.ip.isUnspecified else {
            throw .simulated(.addressNotAvailable, call: "bind")
        }
        var address = address
        if address.port == 0 {
            guard let port = takePort() else { throw .simulated(.addressInUse, call: "bind") }
            address.port = port
        }
        guard listeners[address.port] == nil else {
            throw .simulated(.addressInUse, call: "bind")
        }
        let listener = SimulatedListener(
            address: address, options: options, host: self, accept: accept)
        listeners[address.port] = listener
        return listener
    }

    @discardableResult
    package func connect(
        to address: SocketAddress, options: ConnectOptions,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) -> any Cancellable {
        let attempt = SimulatedConnect(options: options, host: self, completion)
        attempt.start(to: address)
        return attempt
    }

    /// Whether the address is this host's.
    func owns(_ address: IPAddress) -> Bool {
        address == ip || address.isLoopback
    }

    /// The listener that answers for an address of this host.
    func listener(for address: SocketAddress) -> SimulatedListener? {
        guard let listener = listeners[address.port] else { return nil }
        let bound = listener.localAddress.ip
        return bound.isUnspecified || bound == address.ip ? listener : nil
    }

    /// A port that no listener has, for an outgoing connection or port 0.
    func takePort() -> UInt16? {
        for _ in 0..<16_384 {
            let port = nextPort
            nextPort = nextPort == .max ? 49_152 : nextPort + 1
            if listeners[port] == nil { return port }
        }
        return nil
    }

    package func interfaceExists(_ name: String) -> Bool { interfaces.contains(name) }

    // MARK: The process

    package func onSignal(
        _ signal: ProcessSignal, _ action: @escaping () -> Void
    ) throws(NetworkError) -> any Cancellable {
        let registration = SignalRegistration(action)
        signals.append((signal, registration))
        return registration
    }

    /// Sends the host's program a signal, which it answers in its next turn.
    package func raise(_ signal: ProcessSignal) {
        schedule(at: now) { [self] in
            signals.removeAll { $0.registration.action == nil }
            for entry in signals where entry.signal == signal { entry.registration.action?() }
        }
    }

    /// The world goes away, and with it whatever waits for something to happen.
    func worldIsEnding() {
        for listener in listeners.values { listener.worldIsEnding() }
        listeners = [:]
        endOfTurn = []
        mailboxes = []
        signals = []
    }

    package func openAppend(
        _ path: String, _ disposition: AppendDisposition
    ) throws(FileError) -> any AppendFile {
        try SimulatedFile(path, disposition, disk: disk, loop: self)
    }
}

private final class SignalRegistration: Cancellable {
    private(set) var action: (() -> Void)?

    init(_ action: @escaping () -> Void) { self.action = action }

    func cancel() { action = nil }
}
