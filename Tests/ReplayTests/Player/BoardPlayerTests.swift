import Capture
import ExampleSessions
import PhoneBridge
import Replay
import Report
import Testing
import Wire

@Suite struct BoardPlayerTests {
    private static let second: Int64 = 1_000_000_000

    private static func upgrade(_ target: String = "/api/phone-bridge?platform=ios") -> HTTPMessage
    {
        HTTPMessage(
            head: WebSocketHandshake.request(
                target: target, host: "board", key: "AAAAAAAAAAAAAAAAAAAAAA=="))
    }

    private static func request(_ method: String, _ target: String, _ body: String = "")
        -> HTTPMessage
    {
        .request(method, target, host: "board", body: Bytes(body.utf8))
    }

    /// A command over the queue for an app with PiP, and its result.
    private static func queueScript() -> ReplayScript {
        var script = ReplayScript(role: .board)
        var command = ReplayScript.Command(
            id: "q1", type: "clipboard_read", seq: 1, content: [], route: .queue,
            timeout: 5 * second)
        command.arrivals = [1]
        command.answers = [Bytes(#"{"id":"q1","data":{"text":""}}"#.utf8)]
        script.commands = [command]
        script.steps = [
            .init(
                .offer(
                    command: 0, Bytes(#"{"id":"q1","type":"clipboard_read"}"#.utf8),
                    state: "background pip"), seq: 1, time: 0),
            .init(.handedOut(command: 0), seq: 1, time: 0),
            .init(.answered(command: 0, number: 1), seq: 2, time: 0),
        ]
        return script
    }

    private static func bodies(_ actions: [BoardPlayer.Action]) -> [String] {
        actions.compactMap {
            if case .respond(_, let message) = $0 {
                "\(message.head.status ?? 0) \(String(decoding: message.body, as: UTF8.self))"
            } else {
                nil
            }
        }
    }

    private static let poll = "/api/phone-bridge/commands?platform=ios&app_state="

    @Test func `the queue hands a command to an app in the recorded state, and to no other`() {
        var player = BoardPlayer(Self.queueScript(), options: .init())
        _ = player.start(at: 0)
        let active = player.request(Self.request("GET", Self.poll + "active"), 1, wall: 0, at: 1)
        #expect(
            Self.bodies(active) == [
                "200 {\"commands\":null,\"server_time\":\"1970-01-01T00:00:00Z\"}\n"
            ])
        let pip = player.request(
            Self.request("GET", Self.poll + "background&pip_bridge_enabled=true"), 2, wall: 0, at: 2
        )
        #expect(
            Self.bodies(pip) == [
                "200 {\"commands\":[{\"id\":\"q1\",\"type\":\"clipboard_read\"}],"
                    + "\"server_time\":\"1970-01-01T00:00:00Z\"}\n"
            ])
        let posted = player.request(
            Self.request("POST", "/api/phone-bridge/results", #"{"id":"q1","data":{"text":""}}"#),
            3, wall: 0, at: 3)
        #expect(Self.bodies(posted) == ["200 {\"status\":\"acknowledged\"}\n"])
        #expect(player.isFinished)
        #expect(player.schedule.states.allSatisfy { if case .done = $0 { true } else { false } })
    }

    @Test func `a result that nobody waits for gets 404`() {
        var player = BoardPlayer(Self.queueScript(), options: .init())
        _ = player.start(at: 0)
        let actions = player.request(
            Self.request("POST", "/api/phone-bridge/results", #"{"id":"other"}"#), 1, wall: 0, at: 1
        )
        #expect(Self.bodies(actions) == ["404 {\"error\":\"command not found\"}\n"])
    }

    @Test func `an app that never polls is told by what it was waited for`() {
        var options = PlayerOptions()
        options.patience = Self.second
        var player = BoardPlayer(Self.queueScript(), options: options)
        _ = player.start(at: 0)
        _ = player.deadlineReached(at: Self.second)
        #expect(
            player.schedule.states[1]
                == .failed(
                    at: Self.second,
                    "no poll of the app fetched it within 1 s in the state \"background pip\""))
    }

    @Test func `a command that may not go to the phone is skipped with the reason`() {
        var player = BoardPlayer(
            Self.queueScript(), options: .init(), gate: EffectGate(level: .none))
        _ = player.start(at: 0)
        let polled = player.request(
            Self.request("GET", Self.poll + "background&pip_bridge_enabled=true"), 1, wall: 0, at: 1
        )
        #expect(Self.bodies(polled).first?.contains("q1") == true, "reading is allowed")

        var script = Self.queueScript()
        script.steps[0].kind = .offer(
            command: 0, Bytes(#"{"id":"q1","type":"open_app","app":"A"}"#.utf8), state: nil)
        var careful = BoardPlayer(script, options: .init(), gate: EffectGate(level: .none))
        _ = careful.start(at: 0)
        for state in careful.schedule.states {
            guard case .skipped(let why) = state else {
                Issue.record("\(state)")
                continue
            }
            #expect(why.contains("open_app"), "\(why)")
        }
        let nothing = careful.request(Self.request("GET", Self.poll + "active"), 1, wall: 0, at: 1)
        #expect(Self.bodies(nothing).first?.contains("\"commands\":null") == true)
    }

    @Test func `a value that a rules file ties together is sent as the live app gave it`() throws {
        var script = Self.queueScript()
        script.commands[0].answers = [Bytes(#"{"id":"q1","data":{"text":"token-1"}}"#.utf8)]
        var second = ReplayScript.Command(
            id: "q2", type: "clipboard_write", seq: 3, content: [], route: .queue,
            timeout: 5 * Self.second)
        second.arrivals = [4]
        script.commands.append(second)
        script.steps += [
            .init(
                .offer(
                    command: 1,
                    Bytes(
                        #"{"id":"q2","type":"clipboard_write","payload":{"text":"token-1"}}"#.utf8),
                    state: nil), seq: 3, time: 0),
            .init(.handedOut(command: 1), seq: 3, time: 0),
        ]
        var options = PlayerOptions()
        options.rules = try ComparisonRulesText.parse(
            Bytes("{version: 1, rules: [{on: '*', path: '**.text', do: 'bind', bind: 't'}]}".utf8))
        var player = BoardPlayer(script, options: options)
        _ = player.start(at: 0)
        _ = player.request(
            Self.request("GET", Self.poll + "background&pip_bridge_enabled=true"), 1, wall: 0,
            at: 1)
        _ = player.request(
            Self.request(
                "POST", "/api/phone-bridge/results", #"{"id":"q1","data":{"text":"token-9"}}"#),
            2, wall: 0, at: 2)
        let polled = player.request(Self.request("GET", Self.poll + "active"), 3, wall: 0, at: 3)
        #expect(Self.bodies(polled).first?.contains(#""text":"token-9""#) == true, "\(polled)")
    }

    private static let unanswered: [(isCutOff: Bool, action: BoardPlayer.Action)] = [
        (false, .ignore(1)), (true, .cutOff(1)),
    ]

    @Test(arguments: unanswered)
    func `a poll that the recorded board did not answer gets no answer again`(
        isCutOff: Bool, action: BoardPlayer.Action
    ) {
        var script = Self.queueScript()
        var exchange = ReplayScript.Exchange(
            conn: 1, seq: 1,
            request: Event.Request(exchange: 1, method: "GET", target: Self.poll + "active"))
        exchange.isCutOff = isCutOff
        script.exchanges = [exchange]
        script.steps.insert(.init(.treatPoll(exchange: 0), seq: 1, time: 0), at: 0)
        var player = BoardPlayer(script, options: .init())
        _ = player.start(at: 0)
        let target = Self.poll + "background&pip_bridge_enabled=true"
        #expect(player.request(Self.request("GET", target), 1, wall: 0, at: 1) == [action])
        let next = player.request(Self.request("GET", target), 2, wall: 0, at: 2)
        #expect(Self.bodies(next).first?.contains("q1") == true, "the next one is answered")
    }

    @Test func `heartbeats are echoed with the fields that the board keeps`() {
        var player = BoardPlayer(ReplayScript(role: .board), options: .init())
        _ = player.start(at: 0)
        let accepted = player.request(Self.upgrade(), 7, wall: 0, at: 0)
        #expect(accepted == [.accept(7, compresses: false, framing: .whole)])
        let echo = player.message(
            Bytes(#"{"x":1,"method":"m","id":"ping"}"#.utf8), on: 7, at: 1)
        #expect(echo == [.send(7, .text, Bytes(#"{"id":"ping","method":"m"}"#.utf8))])
    }

    @Test func `a board that stopped echoing when it was recorded stops again`() throws {
        var script = ReplayScript(role: .board)
        script.links = [
            ReplayScript.Link(
                conn: 1, seq: 1,
                request: Event.Request(exchange: 1, method: "GET", target: "/api/phone-bridge"),
                response: Event.Response(exchange: 1, status: 101, reason: ""), mutedFrom: 1)
        ]
        script.steps = [.init(.opened(link: 0), seq: 1, time: 0)]
        var player = BoardPlayer(script, options: .init())
        _ = player.start(at: 0)
        _ = player.request(Self.upgrade(), 1, wall: 0, at: 0)
        let beat = Bytes(#"{"id":"heartbeat"}"#.utf8)
        #expect(player.message(beat, on: 1, at: 1).count == 1)
        #expect(player.message(beat, on: 1, at: 2).isEmpty)
    }

    @Test func `a value that the live app gave is sent where the recorded one was used`() throws {
        let session = try Captures.session("all-commands")
        let script = ReplayScript.board(session)
        var player = BoardPlayer(script, options: .init())
        var sent: [String: JSON] = [:]
        var actions = player.start(at: 0)
        actions += player.request(
            Self.upgrade("/api/phone-bridge?platform=ios&phone_id=other"), 1, wall: 0, at: 0)
        for name in ["phone_environment", "phone_app_state"] {
            actions += player.message(
                Bytes(#"{"id":"\#(name)","method":"\#(name)","data":{}}"#.utf8), on: 1, at: 1)
        }
        var time: Int64 = 2
        while let action = actions.first {
            actions.removeFirst()
            guard case .send(let link, _, let content) = action,
                let command = try? JSON(parsing: content), let id = command["id"]?.stringValue
            else { continue }
            sent[id] = command
            time += 1
            actions += player.message(
                Bytes(#"{"id":"\#(id)","data":{"event_id":"E9","contact_id":"C9"}}"#.utf8),
                on: link,
                at: time)
        }
        #expect(sent["c7"]?["payload"]?["event_id"] == "E9")
        #expect(sent["c10"]?["payload"]?["contact_id"] == "C9")
        #expect(sent["c7"]?["phone_id"] == "other")
        #expect(player.isFinished)
    }
}
