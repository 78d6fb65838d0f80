import Network
import Simulator
import Testing
import Wire

/// A board and an app on hosts of a simulated network.
private final class Lab {
    let world: SimulatedWorld
    let boardLoop: SimulatedLoop
    let phoneLoop: SimulatedLoop
    let board: BoardHost
    let app: AppHost
    let address: SocketAddress
    var outcomes: [String: CommandResponse] = [:]

    init(
        seed: UInt64 = 1, app appOptions: AppOptions = AppOptions(),
        board boardOptions: BoardOptions = BoardOptions(), conditions: LinkConditions? = nil
    ) throws {
        world = SimulatedWorld(seed: seed)
        if let conditions { world.conditions = conditions }
        boardLoop = try #require(world.addHost("192.168.42.1"))
        phoneLoop = try #require(world.addHost("192.168.42.2"))
        board = BoardHost(loop: boardLoop, options: boardOptions)
        try board.listen(on: SocketAddress(.any, port: 8080))
        address = SocketAddress(boardLoop.ip, port: 8080)
        app = AppHost(loop: phoneLoop, board: Endpoint(address), options: appOptions)
        board.onOutcome = { [unowned self] command, response in
            outcomes[command.id.text] = response
        }
    }

    deinit {
        // Before the network itself goes.
        app.stop()
        board.stop()
    }

    func run(_ seconds: Double) { world.run(for: Int64(seconds * 1e9)) }

    /// Sends bytes from a third host and returns all that comes back until the end or `wait`.
    func exchange(
        _ bytes: String, from loop: SimulatedLoop? = nil, to address: SocketAddress? = nil,
        finAfter: Bool = false, wait: Double = 2
    ) -> String {
        let loop = loop ?? phoneLoop
        var received = Bytes()
        var stream: (any TCPStream)?
        loop.connect(to: address ?? self.address, options: ConnectOptions()) { result in
            guard case .success(let opened) = result else { return }
            stream = opened
            opened.onRead = { received += $0.bytes }
            opened.resume()
            _ = opened.write(Bytes(bytes.utf8))
            if finAfter { opened.shutdown() }
        }
        run(wait)
        stream?.close()
        run(0.1)
        return String(decoding: received, as: UTF8.self)
    }

    func get(_ target: String) -> JSON {
        let text = exchange("GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return text.firstRange(of: "\r\n\r\n").map { json(String(text[$0.upperBound...])) } ?? .null
    }
}

@Suite struct HostTests {
    @Test(arguments: ExampleSession.all.map(\.name))
    func `an example session runs to its end`(name: String) throws {
        let session = try #require(ExampleSession.all.first { $0.name == name })
        let lab = try Lab(app: session.app, board: session.board)
        let callers = try [session.tool, session.otherPhone].enumerated().map { number, script in
            let host = try #require(lab.world.addHost("192.168.42.\(3 + number)"))
            let caller = RequestHost(loop: host, board: Endpoint(lab.address))
            caller.run(script)
            return caller
        }
        let guest = try session.visitor.map { visitor in
            let host = try #require(lab.world.addHost("192.168.42.9"))
            let app = AppHost(loop: host, board: Endpoint(lab.address), options: visitor.app)
            host.schedule(after: Int64(visitor.comes * 1e9)) { app.start() }
            host.schedule(after: Int64(visitor.goes * 1e9)) { app.stop() }
            return app
        }
        lab.board.run(session.script)
        lab.app.run(session.scenario)
        lab.app.start()
        lab.run(session.duration)
        guest?.stop()
        for caller in callers { caller.stop() }
        let sent = session.script.entries.compactMap { entry in
            if case .send(let command) = entry.step { command.id.text } else { nil }
        }
        #expect(Set(lab.outcomes.keys) == Set(sent))
        let codes = lab.outcomes.mapValues { $0.error?["code"]?.stringValue }
        switch name {
        case "errors":
            #expect(codes["e7"] == "bridge_timeout")
            #expect(codes["e6"] == "permission_denied")
            #expect(codes["e1"] == "app_not_installed")
            #expect(codes["e8"] == "invalid_arguments")
        case "late-answer":
            #expect(codes["l1"] == "bridge_timeout")
        case "prompts":
            #expect(codes["j1"] == "bridge_timeout" && codes["j2"] == "bridge_timeout")
            #expect(codes["j3"] == .some(nil))
        case "slow-commands":
            #expect(codes["w1"] == .some(nil) && codes["w2"] == .some(nil))
        case "times":
            #expect(codes["t3"] == "invalid_arguments")
        case "replaced":
            #expect(codes["u2"] == "bridge_connection_closed")
            #expect(codes["u3"] == .some(nil))
        case "silence":
            #expect(codes["i1"] == "bridge_timeout")
            #expect(codes["i2"] == .some(nil))
        case "reconnect":
            #expect(codes["r2"] == "bridge_connection_closed")
            #expect(codes["r3"] == .some(nil))
        case "pip-queue", "fgs-queue":
            for id in ["q1", "q2", "q3", "q4"] {
                #expect(
                    lab.get("/api/phone-bridge/results/\(id)")["status"] == "completed", "\(id)")
            }
            #expect(lab.app.phone.opened == ["WeChat"])
        default:
            #expect(codes.values.allSatisfy { $0 == nil })
        }
    }

    @Test(arguments: [1...1, 1...7, 1...1448])
    func `segmentation changes nothing`(segment: ClosedRange<Int>) throws {
        var conditions = LinkConditions()
        conditions.segment = segment
        let session = ExampleSession.compressedAndroid
        let lab = try Lab(app: session.app, conditions: conditions)
        lab.board.run(session.script)
        lab.app.start()
        lab.run(session.duration)
        #expect(lab.outcomes.count == 4)
        #expect(lab.outcomes["z2"]?.data?["text"]?.stringValue?.utf8.count == 1800)
    }

    @Test func `pipelined requests are answered in order on one connection`() throws {
        let lab = try Lab()
        let one = "GET /api/phone-bridge/results/a HTTP/1.1\r\nHost: h\r\n\r\n"
        let text = lab.exchange(String(repeating: one, count: 1000), wait: 5)
        #expect(text.split(separator: "HTTP/1.1 200 OK").count == 1000)
    }

    @Test func `a simulated command blocks its request until it has ended`() throws {
        var options = AppOptions()
        options.commandDuration = 2
        let lab = try Lab(app: options)
        lab.app.start()
        lab.run(1)
        let body = #"{"id":"s1","type":"clipboard_read"}"#
        let request =
            "POST /simulate/command HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n"
            + "\r\n\(body)"
        #expect(lab.exchange(request, wait: 3).contains("403 Forbidden"), "not from loopback")
        let local = lab.exchange(
            request, from: lab.boardLoop, to: .loopback(port: lab.address.port), wait: 1)
        #expect(local == "", "it blocks")
        lab.run(2)
        let second = lab.exchange(
            request.replacing("s1", with: "s2"), from: lab.boardLoop,
            to: .loopback(port: lab.address.port), wait: 3)
        #expect(second.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(second.contains("\r\nDate: "))
        #expect(second.hasSuffix(#"{"id":"s2","data":{"text":""}}"# + "\n"))
    }

    @Test func `a body that is cut short is not acted on`() throws {
        for (defects, status) in [([], "expired"), ([Defect.b33], "queued")] {
            var options = BoardOptions()
            options.defects = Set(defects)
            let lab = try Lab(board: options)
            _ = lab.exchange(
                "POST /api/phone-bridge/commands HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n"
                    + "\r\n" + #"{"command":{"id":"c"}}"#, finAfter: true)
            #expect(lab.get("/api/phone-bridge/results/c")["status"] == .string(status))
        }
    }

    @Test(arguments: [
        "", "\r\n\r\n", "GET", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "POST /api/phone-bridge/results HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        "POST /api/phone-bridge/results HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n",
        "GET /api/phone-bridge HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n\u{81}\u{5}hello",
        "GET /" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
    func `noise ends in a refusal or the connection's end, and others are served`(noise: String)
        throws
    {
        let lab = try Lab()
        lab.app.start()
        lab.run(1)
        _ = lab.exchange(noise, wait: 20)
        #expect(lab.get("/api/phone-bridge/status")["connected"] == true)
    }

    @Test func `frames that break the RFC end their link only`() throws {
        let handshake =
            "GET /api/phone-bridge HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        for frame in ["\u{1}\u{5}hello", "\u{f}", "\u{3}\u{0}", "\u{0}\u{0}"] {
            let lab = try Lab()
            let text = lab.exchange(handshake + frame, wait: 3)
            #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
            lab.app.start()
            lab.run(3)
            #expect(lab.get("/api/phone-bridge/status")["connected"] == true)
        }
    }

    @Test func `a phone that is cut off is given up after a minute and comes back`() throws {
        let lab = try Lab()
        lab.app.start()
        lab.run(5)
        lab.world.setLink(lab.boardLoop.ip, lab.phoneLoop.ip, isUp: false)
        lab.run(90)
        lab.world.setLink(lab.boardLoop.ip, lab.phoneLoop.ip, isUp: true)
        lab.run(60)
        #expect(lab.app.isConnected)
        #expect(lab.get("/api/phone-bridge/status")["connected"] == true)
    }

    @Test func `a fragmented command reaches the app, unless its defect drops the rest`() throws {
        for (defects, isAnswered) in [([], true), ([Defect.a18], false)] {
            let world = SimulatedWorld(seed: 4)
            let boardLoop = try #require(world.addHost("192.168.42.1"))
            let phoneLoop = try #require(world.addHost("192.168.42.2"))
            var received = Bytes()
            let listener = try boardLoop.listen(
                on: SocketAddress(boardLoop.ip, port: 8080), options: ListenOptions()
            ) { stream in
                var head = Bytes()
                var endpoint: WebSocketEndpoint?
                stream.onRead = { chunk in
                    if endpoint == nil {
                        head += chunk.bytes
                        let text = String(decoding: head, as: UTF8.self)
                        guard text.hasSuffix("\r\n\r\n"),
                            let key = text.split(separator: "\r\n").first(where: {
                                $0.hasPrefix("Sec-WebSocket-Key: ")
                            })?.dropFirst(19)
                        else { return }
                        var answer = Bytes()
                        WebSocketHandshake.response(key: String(key), deflate: nil)?
                            .encode(into: &answer)
                        var options = WebSocketEndpoint.Options(role: .server)
                        options.framing = .fragments(of: 9)
                        var made = WebSocketEndpoint(options) { MaskingKey(rawValue: 0) }
                        _ = stream.write(answer)
                        let command = Bytes(#"{"id":"f1","type":"clipboard_read"}"#.utf8)
                        for case .send(let bytes) in made.send(.text, command) {
                            _ = stream.write(bytes)
                        }
                        endpoint = made
                    } else {
                        let actions = chunk.withSpan { span in
                            endpoint?.receive(span, now: boardLoop.now) ?? []
                        }
                        for case .message(_, let bytes) in actions { received += bytes }
                    }
                }
                stream.resume()
            }
            var options = AppOptions()
            options.defects = Set(defects)
            options.pollsInForeground = false
            let app = AppHost(
                loop: phoneLoop, board: Endpoint(listener.localAddress), options: options)
            app.start()
            world.run(for: 3_000_000_000)
            let text = String(decoding: received, as: UTF8.self)
            #expect(text.contains(#"{"id":"f1","data":{"text":""}}"#) == isAnswered)
            app.stop()
        }
    }

    @Test func `the echo sends messages of any size back`() throws {
        let world = SimulatedWorld(seed: 2)
        let loop = try #require(world.addHost("10.0.0.1"))
        let echo = EchoHost(loop: loop)
        let address = try echo.listen(on: SocketAddress(loop.ip, port: 9001))
        var stream: (any TCPStream)?
        var endpoint = WebSocketEndpoint(.init(role: .client)) { MaskingKey(rawValue: 0x0102_0304) }
        var isOpen = false
        var echoed: [Int] = []
        loop.connect(to: address, options: ConnectOptions()) { result in
            guard case .success(let opened) = result else { return }
            stream = opened
            opened.onRead = { chunk in
                guard isOpen else {
                    // The 101 comes alone: nothing was sent yet.
                    isOpen = true
                    for size in [0, 1, 125, 126, 30_000] {
                        for case .send(let bytes) in endpoint.send(
                            .binary, Bytes(repeating: 7, count: size))
                        {
                            _ = opened.write(bytes)
                        }
                    }
                    return
                }
                let actions = chunk.withSpan { endpoint.receive($0, now: loop.now) }
                for case .message(_, let bytes) in actions { echoed.append(bytes.count) }
            }
            opened.resume()
            var head = Bytes()
            WebSocketHandshake.request(target: "/", host: "h", key: "dGhlIHNhbXBsZSBub25jZQ==")
                .encode(into: &head)
            _ = opened.write(head)
        }
        world.run(for: 2_000_000_000)
        #expect(echoed == [0, 1, 125, 126, 30_000])
        stream?.close()
        echo.stop()
    }

    @Test func `the conformance client goes through all cases and asks for the report`() throws {
        let world = SimulatedWorld(seed: 3)
        let suite = try #require(world.addHost("10.0.0.1"))
        let loop = try #require(world.addHost("10.0.0.2"))
        var targets: [String] = []
        var echoes = 0
        var links: [WebSocketConnection] = []
        let server = HTTPServer(on: suite)
        server.onRequest = { exchange in
            let target = exchange.request.head.target ?? ""
            targets.append(target)
            guard let link = exchange.upgradeToWebSocket(deflate: .full) else { return }
            links.append(link)
            if target == "/getCaseCount" {
                link.send(text: "3")
                link.close()
            } else if target.hasPrefix("/runCase") {
                link.onMessage = { [unowned link] _, _ in
                    echoes += 1
                    link.close()
                }
                link.send(text: "case")
            } else {
                link.close()
            }
        }
        let address = try server.listen(on: SocketAddress(suite.ip, port: 9001))
        var outcome: AutobahnClient.Outcome?
        let client = AutobahnClient(
            loop: loop, url: try WebSocketURL(parsing: "ws://\(address)"), agent: "a b"
        ) { outcome = $0 }
        client.start()
        world.run(for: 60_000_000_000)
        #expect(outcome == .done(caseCount: 3))
        #expect(echoes == 3)
        #expect(
            targets == [
                "/getCaseCount", "/runCase?case=1&agent=a%20b", "/runCase?case=2&agent=a%20b",
                "/runCase?case=3&agent=a%20b", "/updateReports?agent=a%20b",
            ])
        server.close()
        let nobody = AutobahnClient(
            loop: loop, url: try WebSocketURL(parsing: "ws://10.0.0.1:9002")
        ) { outcome = $0 }
        nobody.start()
        world.run(for: 60_000_000_000)
        guard case .failed? = outcome else {
            Issue.record("nobody listens there")
            return
        }
    }

    @Test func `a stopped host leaves nothing behind`() throws {
        let lab = try Lab()
        lab.app.start()
        lab.run(2)
        lab.app.stop()
        lab.run(1)
        #expect(lab.get("/api/phone-bridge/status")["connected"] == false)
        lab.board.stop()
        #expect(lab.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n") == "")
    }

    @Test(arguments: [
        ("ws://192.168.42.1:8080", "/", nil), ("WS://h:1/a/b?c=d", "/a/b", "c=d"),
        (
            "ws://[::1]:8080/api/phone-bridge?platform=android", "/api/phone-bridge",
            "platform=android"
        ),
        ("ws://h", "/", nil),
    ])
    func `a board's URL is taken apart`(text: String, path: String, query: String?) throws {
        let url = try WebSocketURL(parsing: text)
        #expect(url.path == path)
        #expect(url.query == query)
    }

    @Test(arguments: ["", "http://h", "wss://h", "ws://", "ws://:80", "ws://h:99999"])
    func `what is no board's URL is refused in words`(text: String) {
        #expect {
            _ = try WebSocketURL(parsing: text)
        } throws: {
            "\($0)".isEmpty == false
        }
    }

    @Test func `a URL's query becomes the app's options`() throws {
        var options = AppOptions()
        options.apply(try WebSocketURL(parsing: "ws://h/x?platform=android&phone_id=a%20b&z=1&y"))
        #expect(options.platform == .android)
        #expect(options.phoneID == "a b")
        #expect(options.basePath == "/x")
        #expect(options.extraQuery == "z=1&y")
    }
}
