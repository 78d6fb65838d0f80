import Capture
import Network
import Replay
import Simulator
import Testing
import Wire

/// Targets in a simulated world: all but programs works there too.
@Suite struct TargetSimulatedTests {
    private final class Lab {
        let world = SimulatedWorld(seed: 7)
        let loop: SimulatedLoop
        let board: BoardHost
        let app: AppHost
        let address: SocketAddress

        init() throws {
            loop = try #require(world.addHost("192.168.42.1"))
            board = BoardHost(loop: loop)
            address = try board.listen(on: .loopback())
            app = AppHost(loop: loop, board: Endpoint(address), options: AppOptions())
        }

        func target(_ change: (inout TargetOptions) throws -> Void = { _ in }) throws -> Target {
            var options = TargetOptions(
                .dial(try WebSocketURL(parsing: "ws://\(address)/api/phone-bridge")))
            try change(&options)
            return Target(options, on: loop)
        }

        func wait<Value>(_ body: (@escaping (Value) -> Void) -> Void) throws -> Value {
            var value: Value?
            body { value = $0 }
            world.run(for: 20 * nanosecondsPerSecond)
            return try #require(value)
        }

        deinit {
            app.stop()
            board.stop()
        }
    }

    @Test func `the reference board's stimulus is found, and used`() throws {
        let lab = try Lab()
        let target = try lab.target()
        #expect(!target.canStimulate)
        #expect(try lab.wait { target.start($0) } == .success(Endpoint(lab.address)))
        let driver: any TargetDriver = target
        #expect(driver.canStimulate)
        #expect(!driver.canSetState)
        let command: JSON = ["id": "c1", "type": "clipboard_read"]
        let offline: Result<JSON?, TargetError> = try lab.wait {
            driver.stimulate(command, timeout: 10 * nanosecondsPerSecond, $0)
        }
        #expect(try offline.get()?["error"]?["code"] == "bridge_not_connected")
        lab.app.start()
        lab.world.run(for: nanosecondsPerSecond)
        let online: Result<JSON?, TargetError> = try lab.wait {
            driver.stimulate(command, timeout: 10 * nanosecondsPerSecond, $0)
        }
        #expect(try online.get() == ["id": "c1", "data": ["text": ""]])
        let stopped: Result<Void, TargetError> = try lab.wait { target.stop($0) }
        #expect(stopped.error == nil)
    }

    @Test func `another board has no stimulus, and is not asked for one that was named`() throws {
        let lab = try Lab()
        var asked: [String] = []
        let server = HTTPServer(on: lab.loop, limits: .init())
        server.onRequest = {
            asked.append("\($0.request.head.method ?? "") \($0.request.head.target ?? "")")
            $0.respond(.plainText(404, "404 page not found"))
        }
        let address = try server.listen(on: .loopback())
        let options = TargetOptions(.dial(try WebSocketURL(parsing: "ws://\(address)/")))
        let plain = Target(options, on: lab.loop)
        _ = try lab.wait { plain.start($0) } as Result<Endpoint, TargetError>
        #expect(asked == ["GET /simulate/command"])
        #expect(!plain.canStimulate)
        let none: Result<JSON?, TargetError> = try lab.wait {
            plain.stimulate(["id": "c1"], timeout: nanosecondsPerSecond, $0)
        }
        #expect(none.error == .noWay(.stimulus))

        var named = options
        named.stimulus = .reference
        let told = Target(named, on: lab.loop)
        _ = try lab.wait { told.start($0) } as Result<Endpoint, TargetError>
        #expect(asked.count == 1)
        #expect(told.canStimulate)
        server.close()
    }

    @Test func `programs are not run there`() throws {
        let lab = try Lab()
        let target = try lab.target { $0.before = try TargetTemplate(parsing: "true") }
        let result: Result<Endpoint, TargetError> = try lab.wait { target.start($0) }
        #expect(result.error == .noPrograms(.before))
        let spawned = try lab.target {
            $0.launch = .spawn(try TargetTemplate(parsing: "true"), ready: .connection)
        }
        let second: Result<Endpoint, TargetError> = try lab.wait { spawned.start($0) }
        #expect(second.error == .noPrograms(.spawn))
    }
}
