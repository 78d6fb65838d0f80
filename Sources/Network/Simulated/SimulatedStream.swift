import Wire

/// One end of a simulated TCP connection.
///
/// Bytes go from `overflow` (the program's) to `sending` (the sender's system), are on their way,
/// wait in the peer's `arrived` (the receiver's system), and are read from there.
final class SimulatedStream: TCPStream {
    private unowned let host: SimulatedLoop
    let localAddress: SocketAddress
    let peerAddress: SocketAddress
    var originalDestination: SocketAddress?
    private let options: StreamOptions
    let link: SimulatedWorld.Link
    /// The other end; both keep each other until both are done.
    private var peer: SimulatedStream?
    /// The world's number for it.
    private var number = 0

    var onRead: ((ReadChunk) -> Void)?
    var onEnd: ((StreamEnd) -> Void)?
    var onDrain: (() -> Void)?

    private(set) var isPaused = true
    /// The program holds it no longer.
    private var isClosed = false
    private var hasReadEnd = false

    // The sending half.
    private var overflow = ByteQueue()
    private var sending = ByteQueue()
    private var inFlight = 0
    private var wantsShutdown = false
    private var hasSentFin = false
    private var lastArrival: Int64 = 0
    private var isPumpScheduled = false
    private let sendCapacity: Int

    // The receiving half.
    private var arrived = ByteQueue()
    private var finArrived = false
    private var error: NetworkError?
    private var isReadScheduled = false
    private let receiveCapacity: Int

    init(
        host: SimulatedLoop, local: SocketAddress, peer: SocketAddress, options: StreamOptions,
        link: SimulatedWorld.Link
    ) {
        self.host = host
        localAddress = local
        peerAddress = peer
        self.options = options
        self.link = link
        let conditions = host.world.conditions
        sendCapacity = max(1, options.sendBuffer.map(Int.init) ?? conditions.sendBuffer)
        receiveCapacity = max(1, options.receiveBuffer.map(Int.init) ?? conditions.receiveBuffer)
    }

    /// Makes two streams the ends of one connection.
    static func join(_ a: SimulatedStream, _ b: SimulatedStream) {
        a.peer = b
        b.peer = a
        for end in [a, b] {
            end.number = end.world.keep(end)
        }
    }

    private var world: SimulatedWorld { host.world }
    private var isDead: Bool { isClosed || error != nil }

    var bufferedBytes: Int { overflow.count }
    var unreadBytes: Int { arrived.count }
    var isWritable: Bool { !isDead && !wantsShutdown }

    // MARK: Sending

    @discardableResult
    func write(_ chunk: ReadChunk) -> WriteOutcome { write(chunk.bytes) }

    @discardableResult
    func write(_ bytes: Bytes) -> WriteOutcome {
        guard isWritable else { return .refused }
        let room = overflow.isEmpty ? max(0, sendCapacity - sending.count - inFlight) : 0
        sending.append(bytes.prefix(room))
        overflow.append(bytes.dropFirst(room))
        schedulePump(at: world.now)
        return overflow.isEmpty ? .taken : .buffered
    }

    func shutdown() {
        guard isWritable else { return }
        wantsShutdown = true
        schedulePump(at: world.now)
    }

    /// Sends in the next step: writes of one turn may then travel together.
    private func schedulePump(at time: Int64) {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        _ = world.timers.schedule(at: time) { [self] in
            isPumpScheduled = false
            pump()
        }
    }

    private func pump() {
        guard error == nil, let peer else { return }
        while !sending.isEmpty {
            let window = peer.receiveCapacity - peer.arrived.count - inFlight
            guard window > 0 else { break }
            let size = max(1, world.random.number(in: world.conditions.segment))
            transmit(sending.take(min(size, window)), to: peer)
        }
        let hadOverflow = !overflow.isEmpty
        let room = sendCapacity - sending.count - inFlight
        if hadOverflow && room > 0 {
            sending.append(overflow.take(room)[...])
            schedulePump(at: world.now)
            if overflow.isEmpty && !isClosed { onDrain?() }
        }
        if (wantsShutdown || isClosed) && sending.isEmpty && overflow.isEmpty && !hasSentFin {
            hasSentFin = true
            lastArrival = max(lastArrival, world.arrivalTime())
            world.send(over: link, notBefore: lastArrival) { peer.receiveFin() }
            watchForTimeout()
            part()
        }
    }

    private func transmit(_ segment: Bytes, to peer: SimulatedStream) {
        inFlight += segment.count
        // Each segment is a thing of its own, which the reader may see by itself.
        lastArrival = max(lastArrival + 1, world.arrivalTime())
        world.send(over: link, notBefore: lastArrival) { [self] in
            inFlight -= segment.count
            peer.receive(segment)
            // The acknowledgement makes room for more.
            if !sending.isEmpty || !overflow.isEmpty {
                world.send(over: link, notBefore: world.arrivalTime()) { [self] in pump() }
            }
        }
        watchForTimeout()
    }

    // MARK: Receiving

    private func receive(_ segment: Bytes) {
        guard !isClosed else {
            // Nobody is there to read it: the system says so.
            return resetPeer()
        }
        guard error == nil else { return }
        arrived.append(segment[...])
        scheduleRead()
    }

    private func receiveFin() {
        guard !isClosed, error == nil else { return }
        finArrived = true
        scheduleRead()
    }

    private func receiveReset() {
        guard error == nil else { return }
        error = .simulated(.reset, call: "recv")
        sending.removeAll()
        overflow.removeAll()
        guard !isClosed else { return part() }
        // What came before the reset is read before it is reported; a stream that does not read
        // hears of it at once.
        scheduleRead()
    }

    private func scheduleRead() {
        guard !isReadScheduled else { return }
        isReadScheduled = true
        _ = world.timers.schedule(at: world.now) { [self] in
            isReadScheduled = false
            read()
        }
    }

    private func read() {
        guard !isClosed else { return }
        guard !isPaused, !hasReadEnd else {
            if let error { fail(error) }
            return
        }
        if !arrived.isEmpty {
            let chunk = ReadChunk(arrived.take(SlabPool.slabSize))
            // There is more to do for this stream, in the next turn.
            if !arrived.isEmpty || finArrived || error != nil { scheduleRead() }
            openWindow()
            onRead?(chunk)
        } else if let error {
            fail(error)
        } else if finArrived {
            hasReadEnd = true
            onEnd?(.fin)
        }
    }

    /// Tells the sender that there is room again.
    private func openWindow() {
        guard let peer, !peer.sending.isEmpty else { return }
        world.send(over: link, notBefore: world.arrivalTime()) { peer.pump() }
    }

    func pause() {
        isPaused = true
    }

    func resume() {
        guard isPaused, !isClosed else { return }
        isPaused = false
        if !arrived.isEmpty || finArrived || error != nil { scheduleRead() }
    }

    // MARK: Ending

    private func fail(_ error: NetworkError) {
        let report = onEnd
        self.error = error
        isClosed = true
        letGo()
        report?(StreamEnd(error))
        arrived.removeAll()
    }

    func close() {
        guard !isClosed else { return }
        let hasUnread = !arrived.isEmpty
        isClosed = true
        overflow.removeAll()
        arrived.removeAll()
        letGo()
        if hasUnread {
            // Linux resets a connection that is closed with something unread.
            resetPeer()
        } else {
            schedulePump(at: world.now)
        }
    }

    func abort() {
        guard !isClosed else { return }
        isClosed = true
        letGo()
        resetPeer()
    }

    /// The connection was never handed to a program.
    func discard() {
        for end in [self, peer] {
            end?.isClosed = true
            end?.hasSentFin = true
        }
        letGo()
    }

    private func resetPeer() {
        error = error ?? .simulated(.reset, call: "send")
        sending.removeAll()
        overflow.removeAll()
        arrived.removeAll()
        guard let peer else { return }
        lastArrival = max(lastArrival, world.arrivalTime())
        world.sendUnreliably(over: link, notBefore: lastArrival) { peer.receiveReset() }
        part()
    }

    private func letGo() {
        onRead = nil
        onEnd = nil
        onDrain = nil
        part()
    }

    /// Lets go of the other end once neither has anything more to say.
    private func part() {
        guard let peer, isDone, peer.isDone else { return }
        for end in [self, peer] {
            world.forget(end.number)
            end.peer = nil
        }
    }

    /// The world goes away: the stream is closed without a word, and no longer asks for it.
    func worldIsEnding() {
        isClosed = true
        peer = nil
        onRead = nil
        onEnd = nil
        onDrain = nil
    }

    private var isDone: Bool { isClosed && (hasSentFin || error != nil) }

    // MARK: Silence

    /// The world has cut the link.
    func linkWentDown() {
        guard !isDead else { return }
        if inFlight > 0 || !sending.isEmpty { watchForTimeout() }
        guard let seconds = options.keepAliveSeconds.map({ Int64(max(1, $0)) }) else { return }
        let patience = (seconds + 3 * min(10, seconds)) * nanosecondsPerSecond
        failIfStillDown(after: patience)
    }

    private func watchForTimeout() {
        guard world.isDown(link) else { return }
        failIfStillDown(after: world.conditions.retransmissionTimeout)
    }

    private func failIfStillDown(after patience: Int64) {
        _ = world.timers.schedule(at: world.now + patience) { [weak self] in
            guard let self, !isDead, world.isDown(link) else { return }
            error = .simulated(.timedOut, call: "recv")
            sending.removeAll()
            overflow.removeAll()
            scheduleRead()
        }
    }
}
