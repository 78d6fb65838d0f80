import Capture
package import Network
import PhoneBridge
import Wire

/// How the played board serves, and what it holds.
struct ScriptServices {
    private var servings: [FuzzService: FuzzServing] = [:]
    /// Commands that wait for a poll.
    var queue: [Bytes] = []
    /// Connections of the app that no step has named yet.
    var unclaimed: [WebSocketConnection] = []
    /// Steps that wait for one.
    var acceptors: [(name: String, done: () -> Void)] = []
    /// Requests that hang; the app gives them up.
    var hanging: [HTTPExchange] = []

    /// When the app polled last in the state that it is in; nil where it has not, or need not.
    private(set) var lastPoll: Int64?
    private var needsPolls = true

    /// Whoever is suspended, or woken for a moment, polls when it can.
    mutating func noteState(_ words: String) {
        guard let state = PhoneStateWord(parsing: words) else { return }
        switch state {
        case .active, .background(.pip), .background(.fgs): needsPolls = true
        case .inactive, .background: needsPolls = false
        case .permission, .disconnect: return
        }
        lastPoll = nil
    }

    mutating func notePoll(at now: Int64) {
        if needsPolls { lastPoll = now }
    }

    /// Requests that may hang at the same time.
    static let maximumHanging = 256

    subscript(service: FuzzService) -> FuzzServing {
        get { servings[service] ?? .well }
        set { servings[service] = newValue }
    }

    /// All is served well again.
    mutating func heal() {
        servings = [:]
        for exchange in hanging { exchange.abort() }
        hanging = []
    }
}

/// What a script does as the board.
extension ScriptRun {
    /// Starts to listen for the app; port 0 takes any free one.
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 16 << 20
        let server = HTTPServer(on: loop, limits: limits)
        server.onRequest = { [weak self] exchange in self?.take(exchange) }
        self.server = server
        return try server.listen(on: address)
    }

    // MARK: Requests

    private func take(_ exchange: HTTPExchange) {
        guard case .request(let method, let text) = exchange.request.head.startLine else {
            return exchange.respond(.plainText(400, "no request"))
        }
        let path = text.prefix { $0 != "?" }
        let paths = options.contract.paths
        switch (method, String(path)) {
        case ("GET", paths.base): serve(.connections, exchange) { self.upgrade(exchange) }
        case ("GET", paths.commands):
            services.notePoll(at: loop.now)
            serve(.polls, exchange) { exchange.respond(self.polled()) }
        case ("POST", paths.results):
            heardAnswer(exchange.request.body, try? JSON(parsing: exchange.request.body))
            serve(.results, exchange) { exchange.respond(Self.json(#"{"status":"acknowledged"}"#)) }
        default: exchange.respond(.plainText(404, "404 page not found"))
        }
    }

    private func serve(
        _ service: FuzzService, _ exchange: HTTPExchange, well: @escaping () -> Void
    ) {
        switch services[service] {
        case .well, .otherID: well()
        case .hang:
            if services.hanging.count < ScriptServices.maximumHanging {
                services.hanging.append(exchange)
            } else {
                exchange.abort()
            }
        case .reset: exchange.abort()
        case .fin: exchange.end(with: [])
        case .status(let status):
            exchange.respond(.plainText(status, HTTPStatus.reason(of: status)))
        case .redirect:
            var response = HTTPMessage.plainText(307, HTTPStatus.reason(of: 307))
            if case .request(_, let target) = exchange.request.head.startLine {
                response.head.fieldLines.append(FieldLine("Location", target))
            }
            exchange.respond(response)
        case .delay(let time): after(time, well)
        case .body(let body):
            guard let body = passedPoll(names.fill(body)) else {
                return exchange.respond(.plainText(503, "held back"))
            }
            exchange.respond(Self.json(body))
        case .cut(let count):
            let whole = Self.json(pollBody()).encodedResponse(
                to: exchange.request.head, maximumPlainBody: .max
            ).bytes
            exchange.end(with: Bytes(whole.prefix(max(0, whole.count - max(1, count)))))
        }
    }

    private static func json(_ text: String) -> HTTPMessage { json(Bytes(text.utf8)) }

    private static func json(_ body: Bytes) -> HTTPMessage {
        .response(
            200, fieldLines: [FieldLine("Content-Type", "application/json")],
            body: body + Bytes("\n".utf8))
    }

    // MARK: The queue

    func enqueue(_ name: String, _ json: Bytes, _ done: @escaping () -> Void) {
        guard script.played == .board else { return enqueueByRequest(name, json, done) }
        let command = names.fill(json)
        names.add(name, try? JSON(parsing: command))
        services.queue.append(command)
        done()
    }

    /// The answer to a poll: everything that waits.
    private func polled() -> HTTPMessage {
        guard let body = passedPoll(pollBody()) else {
            services.queue = []
            return Self.json(#"{"commands":null,"server_time":"\#(serverTime)"}"#)
        }
        services.queue = []
        return Self.json(body)
    }

    private func pollBody() -> Bytes {
        guard !services.queue.isEmpty else {
            return Bytes(#"{"commands":null,"server_time":"\#(serverTime)"}"#.utf8)
        }
        return Bytes(#"{"commands":["#.utf8)
            + services.queue.joined(separator: Bytes(",".utf8))
            + Bytes(#"],"server_time":"\#(serverTime)"}"#.utf8)
    }

    private var serverTime: String { Timestamp(wall: loop.wallClock).wholeSecondsText }

    private func passedPoll(_ body: Bytes) -> Bytes? {
        guard gate != nil else { return body }
        guard case .allowed(let body)? = gate?.pass(pollAnswer: body) else { return nil }
        return body
    }

    // MARK: Links

    private func upgrade(_ exchange: HTTPExchange) {
        guard
            let connection = exchange.upgradeToWebSocket(
                deflate: .board, { $0.maximumMessage = 16 << 20 })
        else { return }
        guard !services.acceptors.isEmpty else {
            // It is served until a step names it.
            adopt(connection, as: "_\(nextNumber())")
            services.unclaimed.append(connection)
            return
        }
        let (name, done) = services.acceptors.removeFirst()
        adopt(connection, as: name)
        done()
    }

    func accept(_ name: String, _ time: Int64, _ done: @escaping () -> Void) {
        services.unclaimed.removeAll { !$0.isOpen }
        if !services.unclaimed.isEmpty {
            let connection = services.unclaimed.removeLast()
            services.unclaimed = []
            adopt(connection, as: name)
            return done()
        }
        var isDone = false
        let finish = {
            guard !isDone else { return }
            isDone = true
            done()
        }
        services.acceptors.append((name, finish))
        later(options.scaled(time)) { [weak self] in
            self?.services.acceptors.removeAll { $0.name == name }
            finish()
        }
    }

    func command(_ name: String, _ json: Bytes) {
        let command = names.fill(json)
        names.add(name, try? JSON(parsing: command))
        guard let newest, let content = passed(command) else { return }
        newest.send(.text, content)
    }

    /// What the app says: heartbeats are echoed, answers are kept.
    func heardFromApp(_ content: Bytes, _ json: JSON?, on link: ScriptLink) {
        guard let json, let id = json["id"]?.stringValue else { return }
        guard options.contract.isHeartbeat(id) else { return heardAnswer(content, json) }
        guard !link.isStalled else { return }
        switch services[.echoes] {
        case .well: link.connection.send(.text, content)
        case .otherID: link.connection.send(text: #"{"id":"other"}"#)
        case .delay(let time):
            after(time) { [weak link] in link?.connection.send(.text, content) }
        case .reset: link.connection.abort()
        case .fin: link.connection.drop()
        case .body(let body):
            if let body = passed(body) { link.connection.send(.text, body) }
        case .hang, .status, .redirect, .cut: break
        }
    }

    private func heardAnswer(_ content: Bytes, _ json: JSON?) {
        gate?.heard(content)
        guard let json, let id = json["id"]?.stringValue else { return }
        names.answered(id: id, data: json["data"])
        tellWaiters()
    }

    // MARK: Checks

    /// How long an app that polls may take until the next time: a reply may hang for 10 s, and
    /// another connection of its own be on its way.
    private static let pollTime = 30 * nanosecondsPerSecond

    /// An app that polled, and is in the same state still, has to poll while a command waits.
    func checkPolls() {
        guard script.played == .board, !services.queue.isEmpty, services[.polls] == .well,
            let last = services.lastPoll,
            loop.now - last > options.scaled(Self.pollTime) + options.slack
        else { return }
        remark(
            .polls,
            "a command waits, and the last poll was "
                + "\((loop.now - last) / nanosecondsPerMillisecond) ms ago")
    }

    /// The app has to be connected, or come back, and beat (U1).
    func checkAppAlive(_ done: @escaping () -> Void) {
        let number = nextNumber()
        let bound = options.scaled(Self.returnTime) + options.slack
        let timer = later(bound) { [weak self] in
            guard let self, listeners.removeValue(forKey: number) != nil else { return }
            remark(
                .alive,
                newest == nil
                    ? "the app did not connect again"
                    : "the app was connected, but sent no heartbeat")
            done()
        }
        listeners[number] = { [weak self] _, json in
            guard let self, let id = json?["id"]?.stringValue,
                options.contract.isHeartbeat(id)
            else { return false }
            callOff(timer)
            done()
            return true
        }
    }

    /// A dead link is noticed after three heartbeats, a handshake may hang for 10 s, then 5 s pass
    /// until the next attempt, and a heartbeat follows 5 s later.
    private static let returnTime = 40 * nanosecondsPerSecond

    /// A command that only reads has to be answered (U3).
    func checkAppAnswers(_ done: @escaping () -> Void) {
        guard let newest, newest.isOpen else { return done() }
        let id = "bystander-\(nextNumber())"
        let number = nextNumber()
        let timer = later(options.scaled(5 * nanosecondsPerSecond) + options.slack) {
            [weak self] in
            guard let self, listeners.removeValue(forKey: number) != nil else { return }
            if newest.isOpen {
                remark(
                    .bystander, "a clipboard_read command was not answered behind it",
                    type: "clipboard_read")
            }
            done()
        }
        listeners[number] = { [weak self] _, json in
            guard let self, json?["id"]?.stringValue == id else { return false }
            callOff(timer)
            done()
            return true
        }
        newest.connection.send(text: #"{"id":"\#(id)","type":"clipboard_read"}"#)
    }
}
