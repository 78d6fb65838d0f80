import Capture
import Network
import PhoneBridge
import Wire

/// What a script does as the app.
extension ScriptRun {
    private var patience: Int64 { options.scaled(options.patience) }

    // MARK: WebSocket

    func connect(_ name: String, _ dial: FuzzDial, _ done: @escaping () -> Void) {
        open(name, dial) { _ in done() }
    }

    /// Opens a link; tells in words why there is none.
    private func open(
        _ name: String, _ dial: FuzzDial, _ completion: @escaping (String?) -> Void
    ) {
        guard let client else { return completion("no board is played against") }
        let query = dial.query.isEmpty ? "" : "?" + dial.query
        var request = WebSocketRequest(target: options.basePath + query)
        request.fieldLines = dial.fieldLines
        request.timeout = patience
        if dial.offersDeflate { request.offers = [DeflateParameters()] }
        call { isOver in
            WebSocketClient.connect(
                to: client.endpoint, request, on: loop,
                configure: { $0.maximumMessage = 16 << 20 }
            ) { [weak self] result in
                isOver()
                switch result {
                case .success(let connection):
                    self?.adopt(connection, as: name)
                    completion(nil)
                case .failure(let error): completion(error.text)
                }
            }
        }
    }

    // MARK: HTTP

    /// A target as it is sent.
    func target(_ target: String) -> String {
        target.hasPrefix("/") ? target : options.basePath + (target.isEmpty ? "" : "/" + target)
    }

    func send(_ request: FuzzRequest, _ done: @escaping () -> Void) {
        exchange(request) { _ in done() }
    }

    private func exchange(
        _ request: FuzzRequest, _ completion: @escaping (HTTPMessage?) -> Void
    ) {
        guard let client else { return completion(nil) }
        var fieldLines = request.fieldLines
        if !request.body.isEmpty, !fieldLines.contains(where: { $0.isNamed("Content-Type") }) {
            fieldLines.append(FieldLine("Content-Type", "application/json"))
        }
        let message = HTTPMessage.request(
            request.method, filled(target(request.target)), host: client.endpoint.description,
            fieldLines: fieldLines, body: names.fill(request.body))
        call { isOver in
            client.send(message, timeout: patience) { [weak self] result in
                isOver()
                let response = try? result.get()
                if let response { self?.took(response) }
                completion(response)
            }
        }
    }

    private func filled(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
        return String(decoding: names.fill(Bytes(text.utf8), as: .url), as: UTF8.self)
    }

    /// Commands that came with the answer to a poll.
    private func took(_ response: HTTPMessage) {
        guard response.head.status == 200,
            let commands = (try? JSON(parsing: response.body))?["commands"]?.elements
        else { return }
        for command in commands {
            guard let id = command["id"]?.stringValue else { continue }
            names.came(id: id, type: command["type"]?.stringValue ?? "")
        }
        tellWaiters()
    }

    func enqueueByRequest(_ name: String, _ json: Bytes, _ done: @escaping () -> Void) {
        let command = names.fill(json)
        names.add(name, try? JSON(parsing: command))
        let body = Bytes(#"{"command":"#.utf8) + command + Bytes("}".utf8)
        send(FuzzRequest("POST", "commands", body), done)
    }

    // MARK: Raw connections

    func raw(_ parts: [FuzzRawPart], _ done: @escaping () -> Void) {
        guard let client else { return done() }
        let exchange = RawExchange(
            parts, patience: patience, scaled: { [options] in options.scaled($0) }, on: loop)
        call { isOver in
            exchange.start(to: client.endpoint) {
                isOver()
                done()
            }
            return exchange
        }
    }

    // MARK: Checks

    /// A new connection has to be served, and its heartbeat echoed (U1).
    func checkAlive(_ done: @escaping () -> Void) {
        guard script.played == .app else { return checkAppAlive(done) }
        let name = "_alive"
        var dial = FuzzDial(query: "platform=ios&phone_id=alive")
        dial.fieldLines = []
        open(name, dial) { [weak self] trouble in
            guard let self else { return }
            if let trouble {
                remark(.alive, "a new connection was not served: \(trouble)")
                return done()
            }
            beatOnce(name, done)
        }
    }

    private func beatOnce(_ name: String, _ done: @escaping () -> Void) {
        guard let link = links[name] else { return done() }
        let number = nextNumber()
        let timer = later(options.slack) { [weak self] in
            guard let self, listeners.removeValue(forKey: number) != nil else { return }
            remark(.alive, "a new connection was accepted, but its heartbeat was not echoed")
            link.connection.close(.normal)
            done()
        }
        listeners[number] = { [weak self] other, json in
            guard other === link, json?["id"]?.stringValue == "heartbeat" else { return false }
            self?.callOff(timer)
            link.connection.close(.normal)
            // Its end is seen before what follows.
            self?.later(self?.options.scaled(200 * nanosecondsPerMillisecond) ?? 0, done)
            return true
        }
        link.connection.send(text: Self.environment)
        link.connection.send(text: ScriptLink.heartbeat)
    }

    /// What a phone says first (contract, "AppEvent").
    private static let environment =
        #"{"id":"phone_environment","method":"phone_environment","data":{"#
        + #""captured_at":"2026-06-10T03:20:00Z","source":"aiden-app","platform":"ios","#
        + #""system_name":"iOS","system_version":"18.5"}}"#

    /// Another phone's command has to go its way, whatever the first one did (U3).
    func checkBystander(_ done: @escaping () -> Void) {
        guard script.played == .app else { return checkAppAnswers(done) }
        // A board that is kept over several cases must not know it.
        let id = "bystander-" + loop.randomBytes(6).map { String($0, radix: 16) }.joined()
        let command = #"{"id":"\#(id)","type":"clipboard_read","phone_id":"bystander"}"#
        let steps: [(FuzzRequest, (HTTPMessage) -> String?)] = [
            (
                FuzzRequest("POST", "commands", Bytes(#"{"command":\#(command)}"#.utf8)),
                { $0.head.status == 202 ? nil : "was not accepted by the queue" }
            ),
            (
                FuzzRequest(
                    "GET", "commands?platform=ios&phone_id=bystander&app_state=active&limit=50"),
                { response in
                    let commands = (try? JSON(parsing: response.body))?["commands"]?.elements
                    let ids = commands?.compactMap { $0["id"]?.stringValue } ?? []
                    // One that is full of others' commands hands it out later.
                    return ids.contains(id) || ids.count >= 50 ? nil : "was not handed out"
                }
            ),
            (
                FuzzRequest(
                    "POST", "results", Bytes(#"{"id":"\#(id)","data":{"text":"by"}}"#.utf8)),
                { [200, 404].contains($0.head.status ?? 0) ? nil : "could not be answered" }
            ),
        ]
        check(steps[...], done)
    }

    private func check(
        _ steps: ArraySlice<(FuzzRequest, (HTTPMessage) -> String?)>,
        _ done: @escaping () -> Void
    ) {
        guard let (request, judge) = steps.first else { return done() }
        exchange(request) { [weak self] response in
            guard let self else { return }
            let trouble = response.map(judge) ?? "got no answer"
            if let trouble {
                remark(.bystander, "a command for another phone \(trouble)", type: "clipboard_read")
                return done()
            }
            check(steps.dropFirst(), done)
        }
    }
}

/// A TCP connection on which bytes are written as they are, and what comes is let go by.
private final class RawExchange: Cancellable {
    private let loop: any EventLoop
    private var parts: ArraySlice<FuzzRawPart>
    private let patience: Int64
    private let scaled: (Int64) -> Int64
    private var step: (any Cancellable)?
    private var stream: (any TCPStream)?
    private var timer: ScheduledAction?
    private var completion: (() -> Void)?

    init(
        _ parts: [FuzzRawPart], patience: Int64, scaled: @escaping (Int64) -> Int64,
        on loop: any EventLoop
    ) {
        self.parts = parts[...]
        self.patience = patience
        self.scaled = scaled
        self.loop = loop
    }

    func start(to endpoint: Endpoint, _ completion: @escaping () -> Void) {
        self.completion = completion
        let options = ConnectOptions(deadline: loop.now + patience)
        step = loop.connect(to: endpoint, options: options) { [weak self] result in
            guard let self else { return }
            step = nil
            guard case .success(let stream) = result else { return finish() }
            self.stream = stream
            stream.onRead = { [weak self] _ in self?.heard() }
            stream.onEnd = { [weak self] end in
                if case .fin = end { self?.stream?.shutdown() }
                self?.finish()
            }
            stream.resume()
            write()
        }
    }

    /// Writes until there is a pause, or nothing more.
    private func write() {
        while let part = parts.popFirst() {
            switch part {
            case .bytes(let bytes): stream?.write(bytes)
            case .fin: stream?.shutdown()
            case .reset:
                stream?.abort()
                stream = nil
                return later(0) { [weak self] in self?.finish() }
            case .pause(let time):
                return later(scaled(time)) { [weak self] in self?.write() }
            }
        }
        // What the peer makes of it has its time; an answer needs no more than a moment.
        later(scaled(3 * nanosecondsPerSecond)) { [weak self] in self?.finish() }
    }

    private func heard() {
        guard parts.isEmpty else { return }
        later(scaled(300 * nanosecondsPerMillisecond)) { [weak self] in self?.finish() }
    }

    private func later(_ time: Int64, _ action: @escaping () -> Void) {
        timer?.cancel()
        timer = loop.schedule(after: time, action)
    }

    private func finish() {
        timer?.cancel()
        stream?.close()
        stream = nil
        let completion = completion
        self.completion = nil
        completion?()
    }

    func cancel() {
        completion = nil
        step?.cancel()
        timer?.cancel()
        stream?.abort()
        stream = nil
    }
}
