import Capture
import ExampleSessions
import Network
import PhoneBridge
import Replay
import Report
import Simulator
import Testing
import Wire

/// Sessions played by `SessionReplay`, one after the other, in a simulated world.
@Suite struct ReplaySuiteTests {
    private static let address = SocketAddress(
        IPAddress(parsing: "127.0.0.1") ?? .loopback, port: 8080)

    private static func url(port: UInt16 = 8080) throws -> WebSocketURL {
        try WebSocketURL(parsing: "ws://127.0.0.1:\(port)/api/phone-bridge")
    }

    /// Plays files as the app, and gives what came of each.
    private static func play(
        _ paths: [String], on host: SimulatedLoop, in world: SimulatedWorld,
        port: UInt16 = 8080, outputs: [String] = []
    ) throws -> [Int: ReplaySuite.Outcome] {
        var target = TargetOptions(.dial(try url(port: port)))
        target.stimulus = .reference
        let suite = ReplaySuite(
            paths.map { ReplaySuite.Entry(path: $0, outputs: outputs) }, options: ReplayOptions(),
            target: target, loop: host)
        var outcomes: [Int: ReplaySuite.Outcome] = [:]
        var isOver = false
        suite.onOutcome = { index, outcome, _ in outcomes[index] = outcome }
        suite.onEnd = { isOver = true }
        suite.start()
        let ended = world.run(until: { isOver })
        #expect(ended)
        return outcomes
    }

    @Test func `sessions follow each other against one board that goes on, each the same`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let board = BoardHost(loop: host)
        try board.listen(on: Self.address)
        // The same one twice: its ids are known to the board by then.
        let paths = ["errors", "queue-ids", "queue-ids", "two-at-once"].map(Captures.path)
        let outcomes = try Self.play(paths, on: host, in: world)
        #expect(outcomes.count == 4)
        for (index, outcome) in outcomes {
            guard case .compared(let verdict) = outcome else {
                Issue.record("\(paths[index]): \(outcome)")
                continue
            }
            let isDifferent = verdict.isDifferent
            #expect(!isDifferent, "\(paths[index]): \(Captures.told(verdict))")
        }
        board.stop()
    }

    @Test func `what takes place is kept as a session that says where it comes from`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let board = BoardHost(loop: host)
        try board.listen(on: Self.address)
        _ = try Self.play(
            [Captures.path("all-commands")], on: host, in: world, outputs: ["live.ndjson"])
        let bytes = try #require(host.disk.files["live.ndjson"])
        let lines = try bytes.split(separator: UInt8(ascii: "\n")).map {
            try JSON(parsing: Bytes($0))
        }
        #expect(lines.first?["source"] == "replay")
        #expect(lines.first?["labels"]?["replayed"] == "all-commands")
        #expect(lines.first?["labels"]?["as"] == "app")
        #expect(lines.last?["event"] == "end")
        #expect(lines.last?["dropped"] == 0)
        #expect(lines.contains { $0["code"] == "outcome" && $0["to"]?.integerValue != nil })
        board.stop()
    }

    @Test func `a board that is not there is no difference`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let outcomes = try Self.play([Captures.path("errors")], on: host, in: world, port: 9)
        guard case .unreachable(let error)? = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect("\(error)".contains("127.0.0.1:9"), "\(error)")
    }

    @Test func `a file that is no session does not keep the others from being played`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let board = BoardHost(loop: host)
        try board.listen(on: Self.address)
        let outcomes = try Self.play(
            ["/nonexistent.ndjson", Captures.path("two-at-once")], on: host, in: world)
        guard case .unreadable? = outcomes[0], case .compared? = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        board.stop()
    }

    @Test func `a replay that is stopped ends its connections and reports nothing`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let board = BoardHost(loop: host)
        try board.listen(on: Self.address)
        var options = PlayerOptions()
        options.canStimulate = false
        options.speed = .real
        let run = AppRun(
            .app(try Captures.session("silence"), canStimulate: false),
            to: Endpoint(Self.address), on: host, driver: nil, options: options)
        var hasEnded = false
        run.onEnd = { hasEnded = true }
        run.start()
        world.run(for: 2 * nanosecondsPerSecond)
        run.stop()
        world.run(for: 300 * nanosecondsPerSecond)
        #expect(!hasEnded)
        #expect(!run.player.isFinished)
        board.stop()
    }

    @Test func `an app that finds the played board's port taken is told`() throws {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let first = BoardRun(ReplayScript(role: .board), on: host, driver: nil, options: .init())
        try first.listen(on: Self.address)
        let second = BoardRun(ReplayScript(role: .board), on: host, driver: nil, options: .init())
        #expect(throws: NetworkError.self) { try second.listen(on: Self.address) }
        first.stop()
    }

    @Test func `a live session numbers its events as the file does, and finds broken rules`() throws
    {
        let live = LiveSession(name: "live", contract: .current, profile: .contract)
        let session = try Captures.session("all-commands")
        var reader = try SessionReader(
            SessionFileSource(path: Captures.path("all-commands")))
        while let item = try reader.next() {
            guard case .event(var event) = item else { continue }
            event.seq = 0
            live.receive(event)
        }
        live.close(now: session.end)
        #expect(
            live.session.commands.map(\.seq)
                == session.items.compactMap { item in
                    item.meaning.contains { $0["kind"]?.stringValue == "command" } ? item.seq : nil
                })
        #expect(live.breaches.allSatisfy { Profile.contract.standing(of: $0) != .counted })
        #expect(live.trouble == nil)
    }

    @Test func `a connection that does not echo is told once, whatever hangs on it`() throws {
        var replay = ReferenceReplay()
        replay.defects = [.b23]
        let result: ReplayResult = try replay.asApp(Captures.session("odd-phone"))
        let names = result.linkFailures.map { "\($0.name) \($0.link)" }
        #expect(names.count == Set(names).count)
        #expect(result.hasReachedTarget)
        #expect(result.pairing.judged == .board)
    }
}
