import BridgeProxy
import Capture
import Network
import PhoneBridge
import Simulator
import Testing
import Wire

/// The reference peers with a recorder between them, in virtual time, and hosts that ask the board
/// by HTTP or play the phone by hand.
final class DefectLab {
    let world: SimulatedWorld
    let board: BoardHost
    /// nil where the phone is played by hand.
    let app: AppHost?
    private let fragmenting: FragmentingBoard?
    private let recording: Recording
    private let middle: SimulatedLoop
    private let phoneLoop: SimulatedLoop
    private let proxy: Endpoint
    private let asPhone: HTTPClient
    private let asTool: HTTPClient
    private let toolLoop: SimulatedLoop
    /// The phone's connections by hand; the last one is the present one.
    private var links: [WebSocketConnection] = []
    private static let file = "lab.ndjson"

    /// - Parameters:
    ///   - defect: planted in the peer that it belongs to; nil for clean ones.
    ///   - hasApp: whether the reference app is the phone.
    ///   - fragments: whether a board that cuts its messages stands in the reference's place.
    init(
        _ defect: Defect?, hasApp: Bool, fragments: Bool = false, seed: UInt64 = 1,
        conditions: (inout LinkConditions) -> Void = { _ in },
        app appOptions: (inout AppOptions) -> Void = { _ in }
    ) throws {
        world = SimulatedWorld(seed: seed)
        conditions(&world.conditions)
        phoneLoop = try #require(world.addHost("192.168.42.2"))
        toolLoop = try #require(world.addHost("192.168.42.3"))
        middle = try #require(world.addHost("192.168.42.100"))
        let boardLoop = try #require(world.addHost("192.168.42.1"))
        var boardOptions = BoardOptions()
        var options = AppOptions()
        switch defect?.side {
        case .board: boardOptions.defects.formUnion([defect].compactMap(\.self))
        case .app: options.defects.formUnion([defect].compactMap(\.self))
        case nil: break
        }
        appOptions(&options)
        board = BoardHost(loop: boardLoop, options: boardOptions)
        let address = SocketAddress(boardLoop.ip, port: 8080)
        fragmenting = fragments ? FragmentingBoard(loop: boardLoop) : nil
        if let fragmenting {
            try fragmenting.listen(on: address)
        } else {
            try board.listen(on: address)
        }
        var configuration = ProxyConfiguration(
            listen: SocketAddress(middle.ip, port: 8080), target: .upstream(Endpoint(address)))
        configuration.allowFrom = [try #require(CIDR(parsing: "192.168.42.0/24"))]
        let session = SessionInfo(
            id: "lab", startedAt: "2026-01-01T00:00:00.000000000Z", tool: "test",
            source: "simulation")
        var recorded = Recording.Options(session: session, outputs: [Self.file])
        recorded.tellsOutcomes = true
        recording = try Recording(recorded, loop: middle) { _ in }
        let carrier = Proxy(configuration, loop: middle, recorder: recording.recorder) { _ in }
        try carrier.start(upstream: [address])
        recording.start(carrier)
        proxy = Endpoint(configuration.listen)
        asPhone = HTTPClient(to: proxy, on: phoneLoop)
        asTool = HTTPClient(to: proxy, on: toolLoop)
        app = hasApp ? AppHost(loop: phoneLoop, board: proxy, options: options) : nil
        board.onOutcome = { [unowned self] command, response in
            recording.recorder.outcome(of: command.id.text, response.json)
        }
        app?.start()
        run(0.5)
    }

    func run(_ seconds: Double) { world.run(for: Int64(seconds * 1e9)) }

    // MARK: - The board's own side

    /// Sends a command over the WebSocket, now.
    func send(_ command: BridgeCommand) {
        if let fragmenting {
            fragmenting.send(command)
        } else {
            board.run(BoardScript([.init(second: 0, step: .send(command))]))
        }
        run(0.2)
    }

    /// The board's own side does something else, now.
    func perform(_ step: BoardStep) {
        board.run(BoardScript([.init(second: 0, step: step)]))
        run(0.2)
    }

    // MARK: - By HTTP

    private func ask(_ client: HTTPClient, _ method: String, _ target: String, _ body: String) {
        let request = HTTPMessage.request(
            method, "/api/phone-bridge/" + target, host: proxy.description, body: Bytes(body.utf8))
        client.send(request, timeout: nanosecondsPerSecond) { _ in }
        run(0.1)
    }

    /// A tool enqueues a command for the phone, a data command unless its type is given.
    func enqueue(_ id: String, _ type: String = "clipboard_read", more: String = "") {
        ask(
            asTool, "POST", "commands",
            #"{"command":{"id":"\#(id)","type":"\#(type)","phone_id":"phone-a1"\#(more)}}"#)
    }

    func query(_ id: String) { ask(asTool, "GET", "results/" + id, "") }
    func status() { ask(asTool, "GET", "status", "") }

    /// The phone polls; in the foreground unless the query says otherwise.
    func poll(_ query: String = "platform=ios&app_state=active&limit=10") {
        ask(asPhone, "GET", "commands?phone_id=phone-a1&" + query, "")
    }

    func post(_ id: String, _ text: String) {
        ask(asPhone, "POST", "results", #"{"id":"\#(id)","data":{"text":"\#(text)"}}"#)
    }

    /// A tool's request that ends before its body does.
    func cut(_ body: String) {
        let head =
            "POST /api/phone-bridge/commands HTTP/1.1\r\nHost: board\r\n"
            + "Content-Length: \(body.utf8.count + 10)\r\n\r\n"
        var stream: (any TCPStream)?
        toolLoop.connect(
            to: SocketAddress(middle.ip, port: 8080), options: ConnectOptions()
        ) { result in
            guard case .success(let opened) = result else { return }
            stream = opened
            opened.resume()
            _ = opened.write(Bytes((head + body).utf8))
            opened.shutdown()
        }
        run(1)
        stream?.close()
        run(0.1)
    }

    // MARK: - The phone by hand

    /// Connects as a phone that reports a small environment.
    func connect() {
        WebSocketClient.connect(
            to: proxy, WebSocketRequest(target: "/api/phone-bridge?platform=ios&phone_id=phone-a1"),
            on: phoneLoop
        ) { [unowned self] result in
            if case .success(let opened) = result { links.append(opened) }
        }
        run(0.1)
        say(Self.environment("en"))
    }

    /// A report of a small environment.
    static func environment(_ language: String) -> String {
        #"{"id":"phone_environment","method":"phone_environment","data":"#
            + #"{"platform":"ios","language":"\#(language)"}}"#
    }

    /// Says something on the present connection, or on the first one, which may be replaced.
    func say(_ text: String, onFirst: Bool = false) {
        (onFirst ? links.first : links.last)?.send(text: text)
        run(0.1)
    }

    /// The phone's connection breaks off.
    func drop() {
        links.last?.abort()
        run(0.1)
    }

    /// The phone does not read what comes on its first connection, until it does again.
    func setDeaf(_ isDeaf: Bool) {
        if isDeaf { links.first?.pause() } else { links.first?.resume() }
    }

    /// Heartbeats every 5 s.
    func beat(_ count: Int) {
        for _ in 0..<count {
            say(#"{"id":"heartbeat"}"#)
            run(4.9)
        }
    }

    // MARK: - What was recorded

    /// Ends everything, and holds the session against the rules.
    func breaches() throws -> [Breach] {
        app?.stop()
        for link in links { link.close(.normal) }
        asPhone.closeIdle()
        asTool.closeIdle()
        run(1)
        _ = recording.stop()
        board.stop()
        fragmenting?.stop()
        var checker = RuleChecker(profile: .board12)
        var found: [Breach] = []
        var reader = SessionReader(Recorded(middle.disk.files[Self.file] ?? []))
        while let item = try reader.next() {
            if case .event(let event) = item { found += checker.receive(event) }
        }
        return found + checker.finish()
    }
}

/// A file in memory.
private final class Recorded: ByteSource {
    let name = "lab"
    private var rest: ArraySlice<UInt8>

    init(_ bytes: Bytes) { rest = bytes[...] }

    func read(into bytes: inout [UInt8], maximum: Int) {
        bytes += rest.prefix(maximum)
        rest = rest.dropFirst(maximum)
    }
}

/// A board that sends its messages in fragments, echoes heartbeats, and has an empty queue.
///
/// An echo goes in one frame: an app that loses fragments would miss it, connect again, and owe
/// no answer on the old connection.
private final class FragmentingBoard {
    private let server: HTTPServer
    private var link: WebSocketConnection?

    init(loop: any EventLoop) {
        server = HTTPServer(on: loop)
        server.onRequest = { [unowned self] exchange in answer(exchange) }
    }

    func listen(on address: SocketAddress) throws { _ = try server.listen(on: address) }

    func stop() {
        link?.abort()
        server.close()
    }

    func send(_ command: BridgeCommand) {
        var bytes = Bytes()
        command.json.encode(into: &bytes)
        link?.send(.text, bytes)
    }

    private func answer(_ exchange: HTTPExchange) {
        guard exchange.request.head.isUpgradeToWebSocket else {
            exchange.respond(.plainText(200, #"{"commands":null}"#))
            return
        }
        link = exchange.upgradeToWebSocket(deflate: nil) { $0.framing = .fragments(of: 24) }
        link?.onMessage = { [unowned self] _, bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if text == #"{"id":"heartbeat"}"# { link?.send(.text, bytes) }
        }
    }
}
