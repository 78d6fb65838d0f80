import Network
import Wire

/// A WebSocket connection that this side opens: TCP, the handshake, the messages.
final class ClientLink {
    /// What the owner is told, each after the one before; `ended` comes exactly once, last.
    struct Callbacks {
        var opened: () -> Void = {}
        /// A whole message; the count is that of the bytes which its first frame carried, nil for
        /// a message of one frame.
        var message: (Opcode, Bytes, _ firstFragmentCount: Int?) -> Void = { _, _, _ in }
        /// Says why, in a few words.
        var ended: (String) -> Void = { _ in }
    }

    /// How the connection is made.
    struct Options {
        var board: Endpoint
        var target: String
        var offers: [DeflateParameters] = []
        var maximumMessage = 1 << 20
        var compressionThreshold = 0
        /// How long TCP and the handshake may take, in nanoseconds.
        var connectTime: Int64
        /// Whether the sizes of first fragments are wanted.
        var watchesFragments = false
    }

    private static let maximumBuffered = 1 << 20

    private let loop: any EventLoop
    private let options: Options
    private var callbacks: Callbacks
    private var attempt: (any Cancellable)?
    private var stream: (any TCPStream)?
    private var http = HTTPClientMachine()
    private var request = HTTPHead(startLine: .request(method: "GET", target: "/"))
    private var endpoint: WebSocketEndpoint?
    private var fragments: FragmentWatch?
    private var timer: ScheduledAction?
    private var isOver = false

    init(loop: any EventLoop, options: Options, callbacks: Callbacks) {
        self.loop = loop
        self.options = options
        self.callbacks = callbacks
        attempt = loop.connect(
            to: options.board, options: ConnectOptions(deadline: loop.now + options.connectTime)
        ) { [weak self] result in
            self?.attempt = nil
            switch result {
            case .success(let stream): self?.begin(stream)
            case .failure(let error): self?.finish("\(error)") {}
            }
        }
    }

    /// Sends a message; nothing before the handshake and once the connection is closing.
    func send(_ opcode: Opcode, _ message: Bytes) {
        guard let actions = endpoint?.send(opcode, message) else { return }
        perform(actions)
    }

    /// Begins the close handshake.
    func close(_ code: UInt16, _ reason: String) {
        let now = loop.now
        guard let actions = endpoint?.close(CloseCode(rawValue: code), reason, now: now) else {
            abort()
            return
        }
        perform(actions)
    }

    /// Ends the connection or the attempt at once.
    func abort() {
        finish("given up") { stream?.abort() }
    }

    // MARK: - Handshake

    private func begin(_ stream: any TCPStream) {
        guard !isOver else {
            stream.abort()
            return
        }
        self.stream = stream
        stream.onRead = { [weak self] chunk in self?.read(chunk) }
        stream.onEnd = { [weak self] end in self?.streamEnded(end) }
        stream.onDrain = { [weak self] in self?.regulate() }
        request = WebSocketHandshake.request(
            target: options.target, host: options.board.description,
            key: WebSocketHandshake.key(from: loop.randomBytes(16)), offers: options.offers)
        perform(
            http.send(HTTPMessage(head: request), timeout: options.connectTime, now: loop.now))
        stream.resume()
        rearm()
    }

    private func perform(_ actions: [HTTPClientMachine.Action]) {
        for action in actions where !isOver {
            switch action {
            case .send(let bytes): _ = stream?.write(bytes)
            case .interim: break
            case .response(let response):
                finish("the board answered \(response.head.status ?? 0)") { stream?.close() }
            case .switched(let head, let rest): opened(head, rest)
            case .failed(let error): finish("\(error)") { stream?.close() }
            case .close: finish("the connection ended") { stream?.close() }
            }
        }
    }

    private func opened(_ head: HTTPHead, _ rest: Bytes) {
        let violations = WebSocketHandshake.violations(ofResponse: head, to: request)
        if let violation = violations.first {
            finish(violation.text) { stream?.abort() }
            return
        }
        let deflate = WebSocketHandshake.extensions(of: head)
            .flatMap { PerMessageDeflate(agreedIn: $0) }
        var endpointOptions = WebSocketEndpoint.Options(role: .client, deflate: deflate)
        endpointOptions.maximumMessage = options.maximumMessage
        endpointOptions.compressionThreshold = options.compressionThreshold
        endpoint = WebSocketEndpoint(endpointOptions) { [loop] in randomMaskingKey(from: loop) }
        if options.watchesFragments { fragments = FragmentWatch() }
        callbacks.opened()
        readMessages(rest)
        rearm()
    }

    // MARK: - Messages

    private func read(_ chunk: ReadChunk) {
        guard !isOver else { return }
        if endpoint != nil {
            readMessages(chunk.bytes)
        } else {
            let now = loop.now
            perform(chunk.withSpan { span in http.receive(span, now: now) })
            rearm()
        }
    }

    private func readMessages(_ bytes: Bytes) {
        fragments?.watch(bytes)
        var position = 0
        while !isOver {
            let actions =
                endpoint?.receive(bytes.span, at: &position, now: loop.now) ?? []
            guard !actions.isEmpty else { break }
            perform(actions)
        }
    }

    private func perform(_ actions: [WebSocketEndpoint.Action]) {
        for action in actions where !isOver {
            switch action {
            case .send(let bytes): _ = stream?.write(bytes)
            case .message(let opcode, let bytes):
                callbacks.message(opcode, bytes, fragments?.takeFirst() ?? nil)
            case .ping, .pong: break
            // The end is told when TCP has ended too, so that there is one connection at a time.
            case .closed: break
            case .shutdown: stream?.shutdown()
            case .drop: finish("the connection ended") { stream?.close() }
            }
        }
        regulate()
        rearm()
    }

    private func streamEnded(_ end: StreamEnd) {
        guard !isOver else { return }
        if end == .fin {
            if endpoint != nil {
                if let actions = endpoint?.peerClosed() { perform(actions) }
            } else {
                perform(http.peerEnded(now: loop.now))
            }
        }
        finish("the connection ended") { stream?.close() }
    }

    private func regulate() {
        guard !isOver, let stream else { return }
        let wants = stream.bufferedBytes <= Self.maximumBuffered
        if wants == stream.isPaused {
            if wants { stream.resume() } else { stream.pause() }
        }
    }

    private func rearm() {
        let deadline = isOver ? nil : endpoint == nil ? http.deadline : endpoint?.deadline
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in
                guard let self, !self.isOver else { return }
                self.timer = nil
                if self.endpoint != nil {
                    if let actions = self.endpoint?.deadlineReached(now: self.loop.now) {
                        self.perform(actions)
                    }
                } else {
                    self.perform(self.http.deadlineReached(now: self.loop.now))
                }
                self.rearm()
            }
        }
    }

    private func finish(_ why: String, _ close: () -> Void) {
        guard !isOver else { return }
        isOver = true
        attempt?.cancel()
        attempt = nil
        timer?.cancel()
        timer = nil
        close()
        let ended = callbacks.ended
        callbacks = Callbacks()
        ended(why)
    }
}

/// Reads along to know how much of each message its first frame carried; for defect A18.
private struct FragmentWatch {
    private var decoder = FrameDecoder(maximumPayload: 1 << 20)
    /// The first frame of the message that is under way.
    private var first: Int?
    private var counts: [Int?] = []

    mutating func watch(_ bytes: Bytes) {
        var position = 0
        while let step = decoder.next(bytes.span, at: &position) {
            guard case .frame(let frame) = step, !frame.header.opcode.isControl else { continue }
            if frame.header.opcode != .continuation {
                // Of a compressed message the first frame carries all that can be told.
                let count = frame.header.rsv & 4 == 0 ? frame.payload.count : Int.max
                first = frame.header.fin ? nil : count
            }
            if frame.header.fin { counts.append(first) }
        }
    }

    /// The count of the next whole message.
    mutating func takeFirst() -> Int?? {
        counts.isEmpty ? nil : counts.removeFirst()
    }
}
