import BridgeProxy
import Capture
package import Network
import PhoneBridge
package import Wire

/// Plays the app's side of a script on a loop, against a board at an address.
package final class AppRun {
    /// Called once, when the script has come to its end and the connections are closed.
    package var onEnd: (() -> Void)?
    /// Told in a short line what happens.
    package var onNote: ((String) -> Void)?
    /// Told what the board's own side got for a command: its live id and the response.
    package var onOutcome: ((String, JSON) -> Void)?

    private let loop: any EventLoop
    private let endpoint: Endpoint
    /// What stands where the recording has the contract's base path.
    private let basePath: String
    private weak var driver: (any TargetDriver)?
    private let options: PlayerOptions
    package private(set) var player: AppPlayer
    private let links: PlayLinks
    private var attempts: [Int: any Cancellable] = [:]
    /// A client for each recorded connection.
    private var clients: [Int: HTTPClient] = [:]
    /// What is under way, to be cancelled at the end.
    private var calls: [Int: any Cancellable] = [:]
    private var callCount = 0
    /// Streams of requests that were cut short.
    private var cutStreams: [Int: any TCPStream] = [:]
    /// How long the recorded board took for a response, where that was long.
    private var allowances: [Int: Int64] = [:]
    private var course: PlayCourse?

    /// - Parameters:
    ///   - loop: the loop on which connections are made, a `TappedLoop` to record them.
    ///   - basePath: the path of the board's interface.
    ///   - driver: held weakly; nil where the board cannot be made to do anything.
    ///   - linger: how long to look for what comes too much, behind the last step; in nanoseconds.
    package init(
        _ script: ReplayScript, to endpoint: Endpoint, basePath: String? = nil,
        on loop: any EventLoop, driver: (any TargetDriver)?, options: PlayerOptions,
        linger: Int64 = 250_000_000
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.basePath = basePath ?? options.contract.paths.base
        self.driver = driver
        self.options = options
        links = PlayLinks(on: loop)
        player = AppPlayer(script, options: options)
        for step in script.steps where step.allowance > 0 {
            if case .response(let exchange) = step.kind { allowances[exchange] = step.allowance }
        }
        course = PlayCourse(
            on: loop, linger: linger,
            onDeadline: { [weak self] in
                self?.input { player, now in player.deadlineReached(at: now) }
            }, onFinish: { [weak self] in self?.finish() })
        links.onMessage = { [weak self] link, content in
            self?.input { player, now in player.message(content, on: link, at: now) }
        }
        links.onClosed = { [weak self] link in
            self?.input { player, now in player.linkClosed(link, at: now) }
        }
    }

    /// Begins.
    package func start() {
        input { player, now in player.start(at: now) }
    }

    /// Ends at once; `onEnd` is not called.
    package func stop() {
        course?.end()
        endCalls()
        links.abortAll()
    }

    private func input(_ body: (inout AppPlayer, Int64) -> [AppPlayer.Action]) {
        guard let course, course.isOpen else { return }
        for action in body(&player, loop.now) { perform(action) }
        course.update(deadline: player.nextDeadline, isFinished: player.isFinished)
    }

    /// Ends what is still open in good order.
    private func finish() {
        endCalls()
        links.closeAll(.normal) { [weak self] in self?.end() }
    }

    private func end() {
        let onEnd = onEnd
        self.onEnd = nil
        // What was just sent and closed is recorded at the end of this turn.
        loop.schedule(at: loop.now) { onEnd?() }
    }

    // MARK: Actions

    private func perform(_ action: AppPlayer.Action) {
        switch action {
        case .connect, .request, .enqueue, .stimulate, .end: links.flush()
        case .send, .ping, .frame, .note: break
        }
        switch action {
        case .connect(let link): connect(link)
        case .send(let link, let opcode, let content): links.send(opcode, content, on: link)
        case .ping(let link, let payload): links.ping(payload, on: link)
        case .frame(let link, let bytes): links.send(frame: bytes, on: link)
        case .end(let link, let how): links.end(link, how)
        case .request(let exchange, let target, let body): request(exchange, target, body)
        case .enqueue(let command, let step, let body): enqueue(command, step, body)
        case .stimulate(let command, let json, let timeout): stimulate(command, json, timeout)
        case .note(let command, let response):
            onOutcome?(player.liveIDs[command] ?? player.script.commands[command].id, response)
        }
    }

    // MARK: WebSocket

    private func connect(_ number: Int) {
        for (old, link) in player.script.links.enumerated() where old < number && link.isReadLate {
            links.pause(old)
        }
        let recorded = player.script.links[number].request
        var request = WebSocketRequest(target: live(recorded.target))
        request.fieldLines = fieldLines(recorded)
        request.offers = Self.offers(recorded)
        request.subprotocols = recorded.headers.filter { $0.isNamed("Sec-WebSocket-Protocol") }
            .flatMap { $0.value.split(separator: ",").map { $0.filter { $0 != " " } } }
        request.timeout = options.patience
        let framing = player.script.links[number].framing
        attempts[number] = WebSocketClient.connect(
            to: endpoint, request, on: loop,
            configure: { endpoint in
                endpoint.framing = framing
                endpoint.maximumMessage = 16 << 20
                endpoint.compressionThreshold = 1024
            }
        ) { [weak self] result in
            guard let self else { return }
            attempts[number] = nil
            switch result {
            case .success(let link):
                links.add(link, as: number)
                input { player, now in player.linkOpened(number, at: now) }
            case .failure(let error):
                var status: Int?
                if case .refused(let response) = error { status = response.head.status }
                onNote?("no connection: \(error.text)")
                input { player, now in
                    player.linkRefused(number, status: status, error.text, at: now)
                }
            }
        }
    }

    /// The compressions that the recorded app offered.
    private static func offers(_ request: Event.Request) -> [DeflateParameters] {
        request.headers.filter { $0.isNamed("Sec-WebSocket-Extensions") }
            .flatMap { ExtensionEntry.parse($0.value) ?? [] }
            .filter { $0.name == PerMessageDeflate.name }
            .compactMap { try? DeflateParameters($0, in: .offer) }
    }

    // MARK: HTTP

    private func request(_ number: Int, _ target: String, _ body: Bytes) {
        let exchange = player.script.exchanges[number]
        guard !exchange.request.body.incomplete else {
            return requestCutShort(number, target, body)
        }
        let message = HTTPMessage.request(
            exchange.request.method, live(target), host: endpoint.description,
            fieldLines: fieldLines(exchange.request), body: body)
        call { isOver in
            client(exchange.conn).send(message, timeout: patience(of: number)) {
                [weak self] result in
                isOver()
                switch result {
                case .success(let response):
                    self?.input { player, now in
                        player.response(
                            number, status: response.head.status, body: response.body, "",
                            at: now)
                    }
                case .failure(let error):
                    self?.input { player, now in
                        player.response(number, status: nil, body: [], error.text, at: now)
                    }
                }
            }
        }
    }

    /// Sends a request as far as the recorded one went, and ends the sending side.
    private func requestCutShort(_ number: Int, _ target: String, _ body: Bytes) {
        let recorded = player.script.exchanges[number].request
        var head = "\(recorded.method) \(live(target)) HTTP/\(recorded.version)\r\n"
        for line in recorded.headers {
            let value = line.isNamed("Host") ? endpoint.description : line.value
            head += "\(line.name): \(value)\r\n"
        }
        let bytes = Bytes((head + "\r\n").utf8) + body
        let options = ConnectOptions(deadline: loop.now + options.patience)
        call { isOver in
            loop.connect(to: endpoint, options: options) { [weak self] result in
                isOver()
                guard let self else { return }
                switch result {
                case .failure(let error): answered(number, [], "no connection: \(error)")
                case .success(let stream):
                    cutStreams[number] = stream
                    var answer = Bytes()
                    stream.onRead = { chunk in
                        // Its status line is all that is looked at.
                        if answer.count < 4096 { answer += chunk.bytes }
                    }
                    stream.onEnd = { [weak self] _ in
                        self?.cutStreams.removeValue(forKey: number)?.close()
                        self?.answered(number, answer, "the board closed without an answer")
                    }
                    stream.write(bytes)
                    stream.shutdown()
                    stream.resume()
                }
            }
        }
    }

    /// Hands on what came for a request that was cut short.
    private func answered(_ number: Int, _ answer: Bytes, _ otherwise: String) {
        let words = answer.prefix(32).split(separator: UInt8(ascii: " "))
        let status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
        input { player, now in
            player.response(number, status: status, body: [], otherwise, at: now)
        }
    }

    /// As long as the recorded board took, and what everybody gets.
    private func patience(of number: Int) -> Int64 {
        options.patience + (allowances[number] ?? 0)
    }

    private func enqueue(_ command: Int, _ step: Int, _ body: Bytes) {
        let message = HTTPMessage.request(
            "POST", live(options.contract.paths.commands), host: endpoint.description,
            fieldLines: [FieldLine("Content-Type", "application/json")], body: body)
        call { isOver in
            client(0).send(message, timeout: options.patience) { [weak self] result in
                isOver()
                let status = try? result.get().head.status
                self?.input { player, now in
                    player.enqueued(command: command, before: step, status: status, at: now)
                }
            }
        }
    }

    private func client(_ conn: Int) -> HTTPClient {
        if let client = clients[conn] { return client }
        let client = HTTPClient(to: endpoint, on: loop)
        client.maximumIdle = 1
        clients[conn] = client
        return client
    }

    /// Keeps a call until it is over; `begin` is given what its completion has to call first.
    private func call(_ begin: (@escaping () -> Void) -> any Cancellable) {
        callCount += 1
        let number = callCount
        // A completion never runs inside the call that asked for it.
        calls[number] = begin { [weak self] in self?.calls[number] = nil }
    }

    private func endCalls() {
        for attempt in attempts.values { attempt.cancel() }
        attempts = [:]
        for client in clients.values { client.closeIdle() }
        for call in calls.values { call.cancel() }
        calls = [:]
        for stream in cutStreams.values { stream.abort() }
        cutStreams = [:]
    }

    /// A recorded target, below the live base path.
    private func live(_ target: String) -> String {
        let base = options.contract.paths.base
        guard basePath != base, target.hasPrefix(base) else { return target }
        return basePath + target.dropFirst(base.count)
    }

    /// The recorded field lines, without those that belong to the live connection.
    private func fieldLines(_ request: Event.Request) -> [FieldLine] {
        let own = [
            "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Expect",
            "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
            "Sec-WebSocket-Protocol",
        ]
        let host = request.headers.first { $0.isNamed("Host") }?.value
        return request.headers.filter { line in !own.contains { line.isNamed($0) } }.map { line in
            guard line.isNamed("Origin"), let host, line.value.hasSuffix("//" + host) else {
                return line
            }
            // An origin of the board itself stays one.
            return FieldLine(
                line.name, line.value.dropLast(host.count) + endpoint.description)
        }
    }

    // MARK: Stimulus

    private func stimulate(_ command: Int, _ json: JSON, _ timeout: Int64) {
        guard let driver else { return }
        call { isOver in
            driver.stimulate(json, timeout: timeout) { [weak self] result in
                isOver()
                self?.input { player, now in
                    player.stimulusEnded(
                        command: command,
                        result.mapError { StimulusFailure("\($0)") }, at: now)
                }
            }
        }
    }
}
