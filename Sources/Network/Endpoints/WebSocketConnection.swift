package import Wire

/// One end of an open WebSocket connection on a loop.
///
/// What the protocol demands is `WebSocketEndpoint`'s; this binds it to a socket and a timer.
/// Callbacks begin after the turn in which the connection was made.
package final class WebSocketConnection {
    /// How much may wait for a slow peer before nothing more is read from it: who floods a peer
    /// with pings and reads no answer meets back-pressure, not a growing process.
    package var maximumBuffered = 1 << 20

    /// Whether what is sent within a turn of the loop goes to the system in one call, behind the
    /// messages that it answers or at the turn's end: for peers that have many in flight.
    ///
    /// Who sends something else that must not overtake it calls `flush` before.
    package var gathersWrites = false

    /// Whether nothing goes out any more, not even what the protocol demands, as when a cable was
    /// pulled; what comes is heard.
    package var isSilent = false

    /// Called for each whole message; text is valid UTF-8.
    package var onMessage: ((Opcode, Bytes) -> Void)?
    /// Called for each ping, which has been answered already unless the options say otherwise.
    package var onPing: ((Bytes) -> Void)?
    /// Called for each pong.
    package var onPong: ((Bytes) -> Void)?
    /// Called once, when no more messages come and none can be sent.
    package var onClosed: ((WebSocketEndpoint.Closing) -> Void)?
    /// Called when everything that was sent has gone to the system, after some of it had to wait.
    package var onDrain: (() -> Void)?

    /// How what is sent goes out to the system.
    package enum Delivery: Hashable, Sendable {
        case atOnce
        /// Kept back, and in one write once it is `atOnce` again.
        case held
        /// In segments of so many bytes, one after the other; of more where much waits.
        case segments(of: Int)
    }

    /// For who wants to see what the peer makes of segments; `atOnce` unless it is set.
    package var delivery = Delivery.atOnce {
        didSet {
            flush()
            if delivery != .held { deliver() }
        }
    }

    /// The other end's address.
    package var peerAddress: SocketAddress { stream.peerAddress }
    /// This end's address.
    package var localAddress: SocketAddress { stream.localAddress }
    /// How TCP ended, if it did so by itself; known at the latest in `onClosed` with cause `lost`.
    package private(set) var streamEnd: StreamEnd?

    private let stream: any TCPStream
    private let loop: any EventLoop
    private var endpoint: WebSocketEndpoint
    private var timer: DeadlineTimer?
    /// What has been read and not yet taken, because reading stopped within it.
    private var rest: ReadChunk?
    private var hasPendingEnd = false
    private var isPausedByOwner = false
    private var isOver = false
    private var isTaking = false
    /// What goes out at the end of the turn.
    private var gathered = Bytes()

    /// How much is gathered before it goes out at once.
    private static let maximumGathered = 64 << 10
    /// What is kept back by `delivery`.
    private var held = Bytes()
    private var nextSegment: ScheduledAction?

    /// Takes over a stream whose handshake is done.
    /// - Parameter rest: what the peer sent behind the handshake.
    package init(
        _ stream: any TCPStream, options: WebSocketEndpoint.Options, rest: Bytes,
        on loop: any EventLoop
    ) {
        self.stream = stream
        self.loop = loop
        endpoint = WebSocketEndpoint(options) { Self.maskingKey(from: loop) }
        if !rest.isEmpty { self.rest = ReadChunk(rest) }
        timer = DeadlineTimer(on: loop) { [weak self] in
            guard let self else { return }
            carryOut(endpoint.deadlineReached(now: loop.now))
            updateReading()
        }
        stream.onRead = { [self] in read($0) }
        stream.onEnd = { [self] in ended($0) }
        stream.onDrain = { [self] in
            onDrain?()
            takeRest()
        }
        // The owner sets its callbacks first.
        loop.atEndOfTurn { [self] in takeRest() }
    }

    private static func maskingKey(from loop: any EventLoop) -> MaskingKey {
        let bits = loop.randomBytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return MaskingKey(rawValue: bits)
    }

    // MARK: What the owner does

    /// Whether messages can be sent.
    package var isOpen: Bool { !isOver && endpoint.isOpen }

    /// The first frame's header of the message that came last; nil where it is the only frame.
    package var firstFrame: FrameHeader? { endpoint.firstFrame }

    /// How many bytes wait because the peer does not take them, or for the end of the turn.
    package var bufferedBytes: Int { stream.bufferedBytes + gathered.count }

    /// Sends a message; without effect once the connection is closing.
    package func send(_ opcode: Opcode, _ message: Bytes) {
        guard !isOver else { return }
        carryOut(endpoint.send(opcode, message))
    }

    /// Sends a text message; without effect once the connection is closing.
    package func send(text: String) {
        send(.text, Bytes(text.utf8))
    }

    /// Sends bytes as they are, behind what was sent before, whether they are frames or not: for who
    /// wants to see what the peer makes of them.
    package func send(raw bytes: Bytes) {
        guard !isOver else { return }
        write(bytes)
    }

    /// Sends a ping of at most 125 bytes.
    package func ping(_ payload: Bytes = []) {
        guard !isOver else { return }
        carryOut(endpoint.ping(payload))
    }

    /// Begins the closing handshake; `onClosed` follows.
    package func close(_ code: CloseCode? = .normal, _ reason: String = "") {
        guard !isOver else { return }
        carryOut(endpoint.close(code, reason, now: loop.now))
        // Its owner may be about to end the loop.
        flush()
    }

    /// Tears the connection down with a reset; no callback follows.
    package func abort() {
        guard !isOver else { return }
        flush()
        stream.abort()
        letGo()
    }

    /// Ends TCP in good order without a close frame; no callback follows.
    package func drop() {
        guard !isOver else { return }
        flush()
        writeHeld()
        letGo()
        LingeringClose.begin(stream, peerHasEnded: streamEnd != nil, on: loop)
    }

    /// Stops reading until `resume`.
    package func pause() {
        isPausedByOwner = true
        updateReading()
    }

    /// Goes on reading.
    package func resume() {
        guard isPausedByOwner else { return }
        isPausedByOwner = false
        // Not within this call: what waits is taken after the turn.
        loop.atEndOfTurn { [self] in takeRest() }
    }

    // MARK: What the peer does

    private func read(_ chunk: ReadChunk) {
        rest = chunk
        takeRest()
    }

    /// Takes what has been read, message by message, for as long as it is wanted.
    private func takeRest() {
        guard !isTaking else { return }
        isTaking = true
        while !isOver, wantsInput, let chunk = rest {
            rest = nil
            var position = 0
            let actions = chunk.withSpan {
                endpoint.receive($0, at: &position, now: loop.now)
            }
            if position < chunk.count { rest = chunk.slice(from: position) }
            // Nothing taken and nothing to do: the endpoint is over and drops what comes.
            if actions.isEmpty && position == 0 { rest = nil }
            carryOut(actions)
        }
        isTaking = false
        // What answers them goes out before anything else of the turn is done.
        flush()
        if hasPendingEnd && rest == nil && !isOver {
            hasPendingEnd = false
            carryOut(endpoint.peerClosed())
        }
        updateReading()
    }

    private func ended(_ end: StreamEnd) {
        streamEnd = end
        if case .fin = end, rest != nil {
            // What came before it is taken first.
            hasPendingEnd = true
        } else {
            carryOut(endpoint.peerClosed())
        }
    }

    private var wantsInput: Bool {
        !isPausedByOwner && stream.bufferedBytes <= maximumBuffered
    }

    private func updateReading() {
        guard !isOver else { return }
        timer?.set(endpoint.deadline)
        if wantsInput && rest == nil { stream.resume() } else { stream.pause() }
    }

    private func carryOut(_ actions: [WebSocketEndpoint.Action]) {
        for action in actions {
            guard !isOver else { return }
            switch action {
            case .send(let bytes): if !isSilent { write(bytes) }
            case .message(let opcode, let bytes): onMessage?(opcode, bytes)
            case .ping(let payload): onPing?(payload)
            case .pong(let payload): onPong?(payload)
            case .closed(let closing):
                let report = onClosed
                onClosed = nil
                report?(closing)
            case .shutdown:
                flush()
                writeHeld()
                stream.shutdown()
            case .drop:
                flush()
                writeHeld()
                letGo()
                LingeringClose.begin(stream, peerHasEnded: streamEnd != nil, on: loop)
            }
        }
        if !isOver { timer?.set(endpoint.deadline) }
    }

    // MARK: Writing

    private func write(_ bytes: Bytes) {
        guard delivery == .atOnce, held.isEmpty else {
            held += bytes
            if nextSegment == nil { deliver() }
            return
        }
        guard gathersWrites else {
            stream.write(bytes)
            return
        }
        if gathered.isEmpty, !isTaking { loop.atEndOfTurn { [self] in flush() } }
        gathered += bytes
        if gathered.count >= Self.maximumGathered { flush() }
    }

    /// Sends what was gathered.
    package func flush() {
        guard !gathered.isEmpty else { return }
        let bytes = gathered
        gathered = []
        stream.write(bytes)
    }

    // MARK: Delivery

    /// So many segments wait at most.
    private static let maximumSegments = 4096
    /// Nanoseconds between two segments.
    private static let segmentInterval: Int64 = 20_000

    /// Writes of what is kept back as much as may go.
    private func deliver() {
        nextSegment?.cancel()
        nextSegment = nil
        switch delivery {
        case .held: return
        case .atOnce: writeHeld()
        case .segments(let size):
            guard !isOver, !held.isEmpty else { return }
            let count = min(held.count, max(1, size, held.count / Self.maximumSegments))
            stream.write(Bytes(held.prefix(count)))
            held.removeFirst(count)
            guard !held.isEmpty else { return }
            nextSegment = loop.schedule(after: Self.segmentInterval) { [weak self] in
                self?.deliver()
            }
        }
    }

    private func writeHeld() {
        nextSegment?.cancel()
        nextSegment = nil
        guard !isOver, !held.isEmpty else { return }
        stream.write(held)
        held = []
    }

    private func letGo() {
        nextSegment?.cancel()
        nextSegment = nil
        held = []
        isOver = true
        rest = nil
        timer?.cancel()
        timer = nil
        onMessage = nil
        onPing = nil
        onPong = nil
        onClosed = nil
        onDrain = nil
        stream.onRead = nil
        stream.onEnd = nil
        stream.onDrain = nil
    }
}
