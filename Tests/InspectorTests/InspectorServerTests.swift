import Capture
import Inspector
import Network
import Testing
import Wire

/// The server on a simulated network: a browser's requests, and sessions that grow.
private final class Bench {
    let world = SimulatedWorld(seed: 7)
    let browser: SimulatedLoop
    let host: SimulatedLoop
    let server: InspectorServer
    var session = FedSession()
    let endpoint: Endpoint
    let path: String

    init(_ more: [(name: String, log: SessionLog)] = []) throws {
        browser = try #require(world.addHost("192.168.42.2"))
        host = try #require(world.addHost("192.168.42.1"))
        let pending = JSON.array(["later"])
        server = InspectorServer([("lab.ndjson", session.feed.log)] + more, on: host) { _ in
            pending
        }
        let url = try server.listen(on: SocketAddress(host.ip, port: 7370)) { _ in true }
        let start = "http://192.168.42.1:7370"
        #expect(url.hasPrefix(start))
        path = String(url.dropFirst(start.count))
        endpoint = Endpoint(SocketAddress(host.ip, port: 7370))
    }

    func get(_ target: String, host name: String = "192.168.42.1:7370") throws -> HTTPMessage {
        let client = HTTPClient(to: endpoint, on: browser)
        var answer: Result<HTTPMessage, HTTPRequestError>?
        client.send(.request("GET", target, host: name), timeout: nanosecondsPerSecond) {
            answer = $0
        }
        _ = world.run(limit: 2 * nanosecondsPerSecond) { answer != nil }
        return try #require(answer).get()
    }

    func socket(from offset: UInt64) throws -> (WebSocketConnection, () -> [String]) {
        var request = WebSocketRequest(target: "\(path)s/0/live?from=\(offset)")
        request.fieldLines = [FieldLine("Origin", "http://192.168.42.1:7370")]
        var found: Result<WebSocketConnection, WebSocketConnectError>?
        WebSocketClient.connect(to: endpoint, request, on: browser) { found = $0 }
        _ = world.run(limit: nanosecondsPerSecond) { found != nil }
        let socket = try #require(found).get()
        let inbox = Inbox()
        socket.onMessage = { _, bytes in
            inbox.messages.append(String(decoding: bytes, as: UTF8.self))
        }
        socket.onClosed = { _ in inbox.messages.append("closed") }
        return (socket, { inbox.messages })
    }

    private final class Inbox {
        var messages: [String] = []
    }
}

@Suite struct InspectorServerTests {
    @Test func `a browser gets the page and events, and keeps nothing`() throws {
        let bench = try Bench()
        for event in try FedSession.events(of: "errors") { try bench.session.feed.receive(event) }
        let page = try bench.get(bench.path)
        #expect(page.head.status == 200)
        let fields = page.head.fieldLines
        #expect(fields.first("Cache-Control") == "no-store")
        #expect(fields.first("X-Content-Type-Options") == "nosniff")
        #expect(fields.first("Content-Security-Policy") == InspectorPage.policy)
        #expect(fields.first("Access-Control-Allow-Origin") == nil)
        #expect(String(decoding: page.body, as: UTF8.self).contains("\"live\":true"))
        let events = try bench.get("\(bench.path)s/0/events/0")
        #expect(events.head.status == 200)
        #expect(events.body == (try bench.session.feed.log.lines(ofBlock: 0)))
        for rest in ["s/1/events/0", "s/0/events/99", "s/-1/events/0", "compare/0/1"] {
            #expect(try bench.get(bench.path + rest).head.status == 404)
        }
        #expect(try bench.get("/").head.status == 403)
        #expect(try bench.get(bench.path, host: "evil.example").head.status == 421)
    }

    @Test func `a window gets all records, and each that comes`() throws {
        let bench = try Bench()
        let events = try FedSession.events(of: "all-commands")
        for event in events.prefix(40) { try bench.session.feed.receive(event) }
        let (socket, messages) = try bench.socket(from: 0)
        _ = bench.world.run(limit: nanosecondsPerSecond) { messages().count >= 2 }
        #expect(messages().first?.hasPrefix("[\"at\",") == true)
        #expect(messages().last == "[\"pending\",[\"later\"]]")
        for event in events.dropFirst(40) {
            try bench.session.feed.receive(event)
            bench.world.run(for: 10 * nanosecondsPerMillisecond)
        }
        try bench.session.feed.finish()
        _ = bench.world.run(limit: 5 * nanosecondsPerSecond) { messages().last == "closed" }
        let lines = messages().filter { $0.hasPrefix("[\"at\"") }
            .flatMap { $0.split(separator: "\n").dropFirst() }
        let log = try bench.session.feed.log.records(from: 0, maximum: 64 << 20)
        #expect(lines.joined(separator: "\n") + "\n" == String(decoding: log, as: UTF8.self))
        #expect(messages().last == "closed" && !socket.isOpen)
    }

    @Test func `a window that comes back goes on where it was`() throws {
        let bench = try Bench()
        for event in try FedSession.events(of: "errors") { try bench.session.feed.receive(event) }
        let first = try bench.session.feed.log.records(from: 0, maximum: 300)
        let (_, messages) = try bench.socket(from: UInt64(first.count))
        _ = bench.world.run(limit: nanosecondsPerSecond) { messages().count >= 2 }
        let rest = try bench.session.feed.log.records(
            from: UInt64(first.count), maximum: 64 << 20)
        let text =
            messages().filter { $0.hasPrefix("[\"at\"") }
            .flatMap { $0.split(separator: "\n").dropFirst() }.joined(separator: "\n") + "\n"
        #expect(text == String(decoding: rest, as: UTF8.self))
    }

    @Test func `a window that says anything is sent away`() throws {
        let bench = try Bench()
        let (socket, messages) = try bench.socket(from: 0)
        socket.send(text: "do it")
        _ = bench.world.run(limit: nanosecondsPerSecond) { messages().contains("closed") }
        #expect(messages().contains("closed"))
    }

    @Test func `figures are served where there are any`() throws {
        let bench = try Bench()
        #expect(try bench.get("\(bench.path)metrics").head.status == 404)
        bench.server.metrics = { Bytes("bridgetap_events_total 3\n".utf8) }
        let answer = try bench.get("\(bench.path)metrics")
        #expect(answer.body == Bytes("bridgetap_events_total 3\n".utf8))
        #expect(
            answer.head.fieldLines.first("Content-Type")
                == "text/plain; version=0.0.4; charset=utf-8")
        bench.server.close()
    }

    @Test func `two sessions are compared by whoever knows how, in its own time`() throws {
        let other = try FedSession.example("errors")
        let bench = try Bench([("errors.ndjson", other.feed.log)])
        // It may come later: whoever asks for something else is answered before.
        bench.server.comparison = { first, second, answer in
            guard first == 0 else { return answer(.failed("it is torn")) }
            _ = bench.host.schedule(after: nanosecondsPerSecond / 2) {
                answer(.page(Bytes("both".utf8)))
            }
        }
        #expect(try bench.get("\(bench.path)compare/0/1").body == Bytes("both".utf8))
        #expect(try bench.get("\(bench.path)compare/1/1").head.status == 404)
        let failed = try bench.get("\(bench.path)compare/1/0")
        #expect(failed.head.status == 500 && failed.body == Bytes("it is torn\n".utf8))
        bench.server.comparison = { _, _, answer in answer(.none) }
        #expect(try bench.get("\(bench.path)compare/0/1").head.status == 404)
        bench.server.close()
    }
}
