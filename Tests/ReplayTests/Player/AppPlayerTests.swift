import Capture
import PhoneBridge
import Replay
import Report
import Testing
import Wire

@Suite struct AppPlayerTests {
    private static let second: Int64 = 1_000_000_000

    /// A script of one command over one connection, which was answered.
    private static func script(type: String = "clipboard_read") throws -> ReplayScript {
        var script = ReplayScript(role: .app)
        script.links = [
            ReplayScript.Link(
                conn: 1, seq: 1,
                request: Event.Request(exchange: 1, method: "GET", target: "/api/phone-bridge"),
                response: Event.Response(exchange: 1, status: 101, reason: ""))
        ]
        var command = ReplayScript.Command(
            id: "c1", type: type, seq: 3,
            content: Bytes(#"{"id":"c1","type":"\#(type)","phone_id":"p"}"#.utf8),
            route: .websocket, timeout: 5 * second)
        command.arrivals = [3]
        script.commands = [command]
        var answer = ReplayScript.Step(
            .answer(command: 0, link: 0, Bytes(#"{"id": "c1", "data":{"text":"a"}}"#.utf8)), seq: 4,
            time: 0)
        answer.needs = .cause(3, behind: nil)
        script.steps = [
            .init(.connect(link: 0), seq: 1, time: 0), .init(.opened(link: 0), seq: 2, time: 0),
            .init(.stimulate(command: 0), seq: 3, time: 0),
            .init(.arrival(command: 0), seq: 3, time: 0), answer,
        ]
        return script
    }

    private static func player(
        _ script: ReplayScript, _ change: (inout PlayerOptions) -> Void = { _ in }
    ) -> AppPlayer {
        var options = PlayerOptions()
        options.canStimulate = true
        change(&options)
        return AppPlayer(script, options: options)
    }

    private static func sent(_ actions: [AppPlayer.Action]) -> [String] {
        actions.compactMap {
            if case .send(_, _, let content) = $0 {
                String(decoding: content, as: UTF8.self)
            } else {
                nil
            }
        }
    }

    @Test func `a command is answered as it was recorded, to the byte, under its own id`() throws {
        var player = Self.player(try Self.script())
        #expect(player.start(at: 0) == [.connect(link: 0)])
        let asked = player.linkOpened(0, at: 1)
        guard case .stimulate(0, let command, _)? = asked.first else {
            Issue.record("the board is not asked to send it: \(asked)")
            return
        }
        #expect(command["phone_id"] == nil, "the board adds the phone's id itself")
        let actions = player.message(
            Bytes(#"{"type":"clipboard_read","id":"c1"}"#.utf8), on: 0, at: 2)
        #expect(Self.sent(actions) == [#"{"id": "c1", "data":{"text":"a"}}"#])
        #expect(player.isFinished)
    }

    @Test func `a board that gives its own ids is answered under them`() throws {
        var player = Self.player(try Self.script())
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        let actions = player.message(
            Bytes(#"{"id":"live-9","type":"clipboard_read"}"#.utf8), on: 0, at: 2)
        #expect(Self.sent(actions) == [#"{"id": "live-9", "data":{"text":"a"}}"#])
        #expect(player.liveIDs == [0: "live-9"])
    }

    @Test func `a command that asks for something else is not taken for the next in line`() throws {
        var player = Self.player(try Self.script(), { $0.patience = Self.second })
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        let actions = player.message(
            Bytes(#"{"id":"x","type":"open_app","app":"A"}"#.utf8), on: 0, at: 2)
        #expect(actions.isEmpty)
        _ = player.deadlineReached(at: 2 * Self.second)
        #expect(player.isFinished)
        #expect(
            player.schedule.states[3] == .failed(at: 2 * Self.second, "the board did not send it"))
        #expect(player.schedule.states[4] == .failed(at: 2 * Self.second, StepSchedule.noCause))
    }

    @Test func `without a stimulus the board's own commands are skipped by name`() throws {
        var script = try Self.script()
        script.steps[3].holdsOthers = false
        var player = Self.player(script) { $0.canStimulate = false }
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        #expect(player.schedule.states[2] == .skipped(AppPlayer.noStimulus))
    }

    @Test func `a stimulus that fails skips the command with its reason`() throws {
        var player = Self.player(try Self.script())
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        _ = player.stimulusEnded(command: 0, .failure(StimulusFailure("it said 500")), at: 2)
        #expect(player.schedule.states[3] == .skipped("it said 500"))
        #expect(player.schedule.states[4] == .skipped("it said 500"))
        #expect(player.isFinished)
    }

    @Test func `ids that the board may still know get a new ending`() throws {
        var player = Self.player(try Self.script()) { $0.suffix = "-7" }
        _ = player.start(at: 0)
        guard case .stimulate(_, let command, _)? = player.linkOpened(0, at: 1).first else {
            Issue.record("no stimulus")
            return
        }
        #expect(command["id"] == "c1-7")
        let actions = player.message(
            Bytes(#"{"id":"c1-7","type":"clipboard_read"}"#.utf8), on: 0, at: 2)
        #expect(Self.sent(actions) == [#"{"id": "c1-7", "data":{"text":"a"}}"#])
    }

    @Test func `a connection that is gone fails what was to be sent on it`() throws {
        var player = Self.player(try Self.script())
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        _ = player.linkClosed(0, at: 2)
        let actions = player.message(
            Bytes(#"{"id":"c1","type":"clipboard_read"}"#.utf8), on: 0, at: 3)
        #expect(actions.isEmpty)
        #expect(player.schedule.states[4] == .failed(at: 3, "the connection was gone"))
    }

    @Test func `a link that beat when it was recorded is kept alive while something is waited for`()
        throws
    {
        var script = try Self.script()
        let beat = Bytes(#"{"id":"heartbeat"}"#.utf8)
        script.steps.insert(.init(.beat(link: 0, beat), seq: 2, time: 0), at: 2)
        script.steps.insert(.init(.echo(link: 0), seq: 2, time: 0), at: 3)
        script.steps[6].needs = .cause(5, behind: nil)
        script.commands[0].arrivals = [5]
        var player = Self.player(script) { $0.patience = 60 * Self.second }
        _ = player.start(at: 0)
        #expect(Self.sent(player.linkOpened(0, at: 0)) == [#"{"id":"heartbeat"}"#])
        _ = player.message(beat, on: 0, at: 1)
        #expect(player.nextDeadline == 5 * Self.second)
        #expect(Self.sent(player.deadlineReached(at: 5 * Self.second)) == [#"{"id":"heartbeat"}"#])
        #expect(player.nextDeadline == 10 * Self.second)
    }

    @Test func `a value of the live board is answered where a rules file ties it to one`()
        throws
    {
        var script = try Self.script()
        script.commands[0].content = Bytes(
            #"{"id":"c1","type":"clipboard_read","payload":{"token":"r-1"}}"#.utf8)
        script.steps[4].kind = .answer(
            command: 0, link: 0, Bytes(#"{"id":"c1", "data":{"token":"r-1","text":"r-1"}}"#.utf8))
        script.steps.append(
            .init(
                .send(link: 0, .text, Bytes(#"{"id":"e","data":{"token":"r-1"}}"#.utf8)), seq: 5,
                time: 0))
        let rules = try ComparisonRulesText.parse(
            Bytes("{version: 1, rules: [{on: '*', path: '**.token', do: 'bind', bind: 't'}]}".utf8))
        var player = Self.player(script) { $0.rules = rules }
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        let actions = player.message(
            Bytes(#"{"id":"c1","type":"clipboard_read","payload":{"token":"live-7"}}"#.utf8),
            on: 0, at: 2)
        #expect(
            Self.sent(actions) == [
                #"{"id":"c1", "data":{"token":"live-7","text":"r-1"}}"#,
                #"{"id":"e","data":{"token":"live-7"}}"#,
            ])
    }

    @Test func `a broken frame is sent as it was recorded`() throws {
        var script = try Self.script()
        let bytes = Bytes([0xa1, 0x81, 1, 2, 3, 4, 0x60])
        script.steps.insert(.init(.frame(link: 0, bytes), seq: 3, time: 0), at: 2)
        script.commands[0].arrivals = [4]
        script.steps[5].needs = .cause(4, behind: nil)
        var player = Self.player(script)
        _ = player.start(at: 0)
        #expect(player.linkOpened(0, at: 1).first == .frame(link: 0, bytes))
    }

    @Test func `what the board made of an answer is handed on, and an error ends the waiting`()
        throws
    {
        var player = Self.player(try Self.script())
        _ = player.start(at: 0)
        _ = player.linkOpened(0, at: 1)
        let refusal: JSON = ["id": "c1", "error": ["code": "bridge_not_connected"]]
        let actions = player.stimulusEnded(command: 0, .success(refusal), at: 2)
        #expect(actions == [.note(command: 0, refusal)])
        #expect(
            player.schedule.states[3]
                == .failed(at: 2, "the board did not send it: bridge_not_connected"))
    }
}
