import BridgeProxy
import Capture
import Network
import PhoneBridge
import Replay
import Testing
import Wire

/// What is sent on a link is out before the target is moved: else it could be too late.
@Suite struct PlayOrderTests {
    /// Says how much had been sent when the target was moved.
    private final class Driver: TargetDriver {
        private let loop: any EventLoop
        private let look: () -> UInt64
        private(set) var sent: UInt64?

        init(_ loop: any EventLoop, _ look: @escaping () -> UInt64) {
            self.loop = loop
            self.look = look
        }

        var canStimulate: Bool { true }
        var canSetState: Bool { true }

        func stimulate(
            _ command: JSON, timeout: Int64,
            _ completion: @escaping (Result<JSON?, TargetError>) -> Void
        ) -> any Cancellable {
            sent = look()
            return loop.schedule(at: loop.now) { completion(.success(nil)) }
        }

        func setState(
            _ state: String, _ completion: @escaping (Result<Void, TargetError>) -> Void
        ) {
            sent = look()
            loop.schedule(at: loop.now) { completion(.success(())) }
        }
    }

    private static let large = String(repeating: "x", count: 10_000)

    /// A script of one connection that is open, to which a test adds steps.
    private static func script(_ role: Side, _ steps: [ReplayScript.Kind]) -> ReplayScript {
        var script = ReplayScript(role: role)
        script.links = [
            ReplayScript.Link(
                conn: 1, seq: 1,
                request: Event.Request(
                    exchange: 1, method: "GET", target: "/api/phone-bridge?platform=ios"),
                response: Event.Response(exchange: 1, status: 101, reason: ""))
        ]
        script.commands = [
            ReplayScript.Command(
                id: "c1", type: "clipboard_write", seq: 3,
                content: Bytes(
                    #"{"id":"c1","type":"clipboard_write","payload":{"text":"\#(large)"}}"#.utf8),
                route: .websocket, timeout: 1_000_000_000)
        ]
        script.steps = steps.enumerated().map { .init($1, seq: $0 + 1, time: 0) }
        return script
    }

    private static func options() -> PlayerOptions {
        var options = PlayerOptions()
        options.canStimulate = true
        options.canSetState = true
        options.patience = 1_000_000_000
        return options
    }

    @Test func `an event is out before the board is made to send something`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("10.0.0.1"))
        let server = HTTPServer(on: host)
        var links: [WebSocketConnection] = []
        server.onRequest = { exchange in
            if let link = exchange.upgradeToWebSocket() { links.append(link) }
        }
        let address = try server.listen(on: SocketAddress(host.ip, port: 8080))
        let recorder = Recorder(outputs: [], loop: host, contract: .current)
        let driver = Driver(host) { recorder.statistics.bytesApp }
        let event = Bytes(#"{"id":"e","data":{"text":"\#(Self.large)"}}"#.utf8)
        let run = AppRun(
            Self.script(
                .app,
                [
                    .connect(link: 0), .opened(link: 0), .send(link: 0, .text, event),
                    .stimulate(command: 0),
                ]), to: Endpoint(address), on: TappedLoop(host, recorder: recorder),
            driver: driver, options: Self.options())
        var isOver = false
        run.onEnd = { isOver = true }
        run.start()
        #expect(world.run(limit: 60_000_000_000, until: { isOver }))
        #expect(try #require(driver.sent) > 10_000)
        server.close()
    }

    @Test func `a command is out before the app is brought into a state`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("10.0.0.1"))
        let phone = try #require(world.addHost("10.0.0.2"))
        let recorder = Recorder(outputs: [], loop: host, contract: .current)
        let driver = Driver(host) { recorder.statistics.bytesBoard }
        var script = Self.script(.board, [.opened(link: 0)])
        script.steps.append(
            .init(.command(command: 0, link: 0, script.commands[0].content), seq: 2, time: 0))
        script.steps.append(.init(.state("disconnect"), seq: 3, time: 0))
        let run = BoardRun(
            script, on: TappedLoop(host, recorder: recorder), driver: driver,
            options: Self.options())
        let address = try run.listen(on: SocketAddress(host.ip, port: 8080))
        var isOver = false
        run.onEnd = { isOver = true }
        run.start()
        var link: WebSocketConnection?
        WebSocketClient.connect(
            to: Endpoint(address), WebSocketRequest(target: "/api/phone-bridge?platform=ios"),
            on: phone, configure: { _ in }
        ) { link = try? $0.get() }
        #expect(world.run(limit: 60_000_000_000, until: { isOver }))
        #expect(try #require(driver.sent) > 10_000)
        #expect(link != nil)
        link?.abort()
    }
}
