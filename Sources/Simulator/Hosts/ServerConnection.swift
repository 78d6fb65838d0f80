import Network
import Wire

/// One connection that a peer accepted: HTTP first, and a WebSocket once it is upgraded.
///
/// Whatever the other side sends, it ends in a request, a message, or the connection's end.
final class ServerConnection {
    /// What the owner is told.
    ///
    /// It must answer each request, now or later, unless `ended` comes.
    struct Callbacks {
        var request: (HTTPMessage) -> Void = { _ in }
        /// The body of a request ended too early; it is answered already.
        var cut: (HTTPMessage) -> Void = { _ in }
        var message: (Opcode, Bytes) -> Void = { _, _ in }
        /// The WebSocket is over; `cleanly` says whether close frames crossed.
        var webSocketEnded: (_ cleanly: Bool) -> Void = { _ in }
        /// The connection is over, and nothing more comes.
        var ended: () -> Void = {}
    }

    /// Bytes that may wait for a slow reader before reading from it stops.
    private static let maximumBuffered = 1 << 20
    /// How long a connection that was ended may take to go, in nanoseconds.
    private static let lingerTime: Int64 = 2_000_000_000

    let peerAddress: SocketAddress
    private let loop: any EventLoop
    private let stream: any TCPStream
    private var callbacks: Callbacks
    private var http: HTTPServerMachine
    private var endpoint: WebSocketEndpoint?
    private var timer: ScheduledAction?
    private var lingerUntil: Int64?
    private var httpActions = ActionQueue<HTTPServerMachine.Action>()
    private var pendingUpgrade: WebSocketEndpoint.Options?
    private var isOver = false

    init(
        _ stream: any TCPStream, loop: any EventLoop, limits: HTTPServerMachine.Limits,
        callbacks: Callbacks
    ) {
        self.stream = stream
        self.loop = loop
        self.callbacks = callbacks
        peerAddress = stream.peerAddress
        http = HTTPServerMachine(limits: limits, now: loop.now)
        stream.onRead = { [weak self] chunk in self?.read(chunk) }
        stream.onEnd = { [weak self] end in self?.streamEnded(end) }
        stream.onDrain = { [weak self] in self?.regulate() }
        stream.resume()
        rearm()
    }

    /// Answers the request that came last.
    func respond(_ response: HTTPMessage) {
        guard !isOver, lingerUntil == nil, endpoint == nil else { return }
        perform(http.respond(response, now: loop.now))
    }

    /// Answers the request that came last with a 101, and goes on as a WebSocket.
    func upgrade(_ head: HTTPHead, _ options: WebSocketEndpoint.Options) {
        guard !isOver, lingerUntil == nil, endpoint == nil else { return }
        pendingUpgrade = options
        perform(http.switchProtocols(head))
    }

    /// Sends a message; nothing once the WebSocket is closing.
    func send(_ opcode: Opcode, _ message: Bytes) {
        guard let actions = endpoint?.send(opcode, message) else { return }
        perform(actions)
    }

    /// Begins the close handshake.
    func close(_ code: UInt16, _ reason: String) {
        let now = loop.now
        guard let actions = endpoint?.close(CloseCode(rawValue: code), reason, now: now) else {
            return
        }
        perform(actions)
    }

    /// Ends the connection at once.
    func abort() {
        finish { stream.abort() }
    }

    // MARK: - Events of the stream

    private func read(_ chunk: ReadChunk) {
        guard !isOver, lingerUntil == nil else { return }
        if endpoint != nil {
            readMessages(chunk.bytes)
        } else {
            let now = loop.now
            perform(chunk.withSpan { span in http.receive(span, now: now) })
        }
    }

    /// Takes messages one by one: a compressed one may be a thousand times its size.
    private func readMessages(_ bytes: Bytes) {
        var position = 0
        while !isOver {
            let actions =
                endpoint?.receive(bytes.span, at: &position, now: loop.now) ?? []
            guard !actions.isEmpty else { break }
            perform(actions)
        }
        regulate()
    }

    private func streamEnded(_ end: StreamEnd) {
        guard !isOver else { return }
        if lingerUntil != nil {
            finish { stream.close() }
            return
        }
        if endpoint != nil {
            if let actions = endpoint?.peerClosed() { perform(actions) }
            if end != .fin { finish {} }
            return
        }
        if let request = http.unfinishedRequest { callbacks.cut(request) }
        if end == .fin {
            perform(http.peerEnded(now: loop.now))
        } else {
            finish {}
        }
    }

    private func timeHasCome() {
        timer = nil
        guard !isOver else { return }
        let now = loop.now
        if let lingerUntil, lingerUntil <= now {
            finish { stream.close() }
            return
        }
        if endpoint != nil {
            if let actions = endpoint?.deadlineReached(now: now) { perform(actions) }
        } else {
            perform(http.deadlineReached(now: now))
        }
        rearm()
    }

    // MARK: - Actions

    private func perform(_ actions: [HTTPServerMachine.Action]) {
        guard httpActions.add(actions) else {
            rearm()
            return
        }
        while let action = httpActions.take() {
            guard !isOver else { continue }
            switch action {
            case .request(let request): callbacks.request(request)
            case .send(let bytes): _ = stream.write(bytes)
            case .switched(let rest): becomeWebSocket(rest)
            case .close: linger()
            }
        }
        regulate()
        rearm()
    }

    private func becomeWebSocket(_ rest: Bytes) {
        guard let options = pendingUpgrade else { return }
        endpoint = WebSocketEndpoint(options) { [loop] in randomMaskingKey(from: loop) }
        readMessages(rest)
    }

    private func perform(_ actions: [WebSocketEndpoint.Action]) {
        for action in actions where !isOver {
            switch action {
            case .send(let bytes): _ = stream.write(bytes)
            case .message(let opcode, let bytes): callbacks.message(opcode, bytes)
            case .ping, .pong: break
            case .closed(let closing): callbacks.webSocketEnded(closing.isClean)
            case .shutdown: stream.shutdown()
            case .drop: finish { stream.close() }
            }
        }
        regulate()
        rearm()
    }

    /// Sends what is queued, and gives the other side a moment to take it.
    private func linger() {
        stream.shutdown()
        lingerUntil = loop.now + Self.lingerTime
        rearm()
    }

    /// Reads only while the other side takes what it is sent.
    private func regulate() {
        guard !isOver else { return }
        let wants =
            lingerUntil != nil
            || (stream.bufferedBytes <= Self.maximumBuffered
                && (endpoint != nil || http.wantsInput))
        if wants == stream.isPaused {
            if wants { stream.resume() } else { stream.pause() }
        }
    }

    private func rearm() {
        let deadline = isOver ? nil : lingerUntil ?? endpoint?.deadline ?? httpDeadline
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in self?.timeHasCome() }
        }
    }

    private var httpDeadline: Int64? { endpoint == nil ? http.deadline : nil }

    private func finish(_ close: () -> Void) {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        timer = nil
        close()
        let ended = callbacks.ended
        callbacks = Callbacks()
        ended()
    }
}

extension WebSocketEndpoint.Closing {
    /// Whether close frames crossed, so that both sides know that it is over.
    var isClean: Bool {
        switch cause {
        case .peer, .own, .failure: true
        case .lost, .timeout: false
        }
    }
}

/// A client's masking key, which must be random (RFC 6455 §5.3).
func randomMaskingKey(from loop: any EventLoop) -> MaskingKey {
    MaskingKey(rawValue: loop.randomBytes(4).reduce(0) { $0 << 8 | UInt32($1) })
}
