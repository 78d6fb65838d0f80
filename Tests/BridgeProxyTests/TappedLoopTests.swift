import BridgeProxy
import Capture
import Network
import PhoneBridge
import Testing
import Wire

@Suite struct TappedLoopTests {
    /// Collects what is recorded.
    private final class Collector: SessionOutput {
        var events: [Event] = []
        func receive(_ event: Event) { events.append(event) }
        func flush(now: Int64) {}
        func admit(dropped count: Int) {}
        var nextDeadline: Int64? { nil }
        var status: OutputStatus { OutputStatus() }
        func close(now: Int64) -> OutputStatus { OutputStatus() }
    }

    private static func told(_ event: Event) -> String {
        let from = event.from?.rawValue ?? "-"
        return switch event.kind {
        case .open: "\(event.conn) open"
        case .request(let request): "\(event.conn) \(from) \(request.method) \(request.target)"
        case .response(let response): "\(event.conn) \(from) \(response.status)"
        case .frame(let frame): "\(event.conn) \(from) frame \(frame.header.opcode.rawValue)"
        case .close(let close): "\(event.conn) \(from) \(close.how.rawValue)"
        default: "\(event.conn) \(from) other"
        }
    }

    @Test func `what an endpoint says and hears is recorded from both ends alike`() throws {
        let world = SimulatedWorld(seed: 1)
        let client = try #require(world.addHost("192.168.42.2"))
        let server = try #require(world.addHost("192.168.42.1"))
        let address = SocketAddress(server.ip, port: 8080)
        let heard = Collector()
        let said = Collector()
        let serving = HTTPServer(
            on: TappedLoop(
                server, recorder: Recorder(outputs: [heard], loop: server, contract: .current)))
        serving.onRequest = { exchange in
            guard let link = exchange.upgradeToWebSocket() else { return }
            link.onMessage = { opcode, content in link.send(opcode, content) }
        }
        try serving.listen(on: address)
        let loop = TappedLoop(
            client, recorder: Recorder(outputs: [said], loop: client, contract: .current))
        var echo: Bytes?
        WebSocketClient.connect(
            to: Endpoint(address), WebSocketRequest(target: "/ws"), on: loop
        ) { result in
            guard case .success(let link) = result else { return }
            link.onMessage = { _, content in
                echo = content
                link.close(.normal)
            }
            link.send(text: "hello")
        }
        world.run(for: 20 * nanosecondsPerSecond)
        #expect(echo == Bytes("hello".utf8))
        let expected = [
            "1 open", "1 app GET /ws", "1 board 101", "1 app frame 1", "1 board frame 1",
            "1 app frame 8", "1 board frame 8",
        ]
        for events in [heard.events, said.events] {
            let lines = events.map(Self.told)
            #expect(Array(lines.prefix(7)) == expected)
            #expect(Set(lines.dropFirst(7)) == ["1 board fin", "1 app fin"])
        }
    }

    @Test func `a connection that is torn down is recorded as that, once`() throws {
        let world = SimulatedWorld(seed: 1)
        let client = try #require(world.addHost("192.168.42.2"))
        let server = try #require(world.addHost("192.168.42.1"))
        let address = SocketAddress(server.ip, port: 8080)
        let said = Collector()
        let listener = try server.listen(on: address, options: ListenOptions()) { $0.resume() }
        let loop = TappedLoop(
            client, recorder: Recorder(outputs: [said], loop: client, contract: .current))
        loop.connect(to: address, options: ConnectOptions()) { result in
            guard case .success(let stream) = result else { return }
            stream.write(Bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            stream.abort()
            stream.close()
        }
        world.run(for: nanosecondsPerSecond)
        #expect(said.events.map(Self.told) == ["1 open", "1 app GET /", "1 app reset"])
        listener.close()
    }

    @Test func `a recorder that is let go within a turn takes nothing along`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.2"))
        let said = Collector()
        var recorder: Recorder? = Recorder(outputs: [said], loop: host, contract: .current)
        let loop = recorder.map { TappedLoop(host, recorder: $0) }
        host.schedule(at: host.now) {
            recorder?.note(code: "mark", text: "the last word")
            _ = recorder?.finish()
            recorder = nil
        }
        world.run(for: nanosecondsPerSecond)
        #expect(said.events.count == 1)
        #expect(loop != nil)
    }

    @Test func `what is accepted and what is dialled can be two sessions`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let address = SocketAddress(host.ip, port: 8080)
        let accepted = Collector()
        let dialled = Collector()
        let loop = TappedLoop(
            host, accepted: Recorder(outputs: [accepted], loop: host, contract: .current),
            dialled: Recorder(outputs: [dialled], loop: host, contract: .current))
        let server = HTTPServer(on: loop)
        server.onRequest = { $0.respond(.plainText(200, "x")) }
        try server.listen(on: address)
        let request = HTTPMessage.request(
            "GET", "/status", host: "b", fieldLines: [], body: [])
        HTTPClient(to: Endpoint(address), on: loop).send(
            request, timeout: nanosecondsPerSecond
        ) { _ in }
        world.run(for: nanosecondsPerSecond)
        for events in [accepted.events, dialled.events] {
            #expect(
                events.prefix(3).map(Self.told) == ["1 open", "1 app GET /status", "1 board 200"])
        }
        #expect(accepted.events.count { if case .request = $0.kind { true } else { false } } == 1)
    }
}
