import Capture
import PhoneBridge
import Replay
import Testing
import Wire

@Suite struct ReplayScriptTests {
    private static func waits(_ script: ReplayScript) -> [String] {
        script.steps.compactMap(\.wait?.why)
    }

    @Test func `a late answer keeps its latency, from its command on`() throws {
        let script = ReplayScript.app(try Captures.session("errors"), canStimulate: true)
        let late = try #require(
            script.steps.first {
                if case .answer(let command, _, _) = $0.kind {
                    script.commands[command].id == "e7"
                } else {
                    false
                }
            })
        let wait = try #require(late.wait)
        guard case .arrival(let command) = script.steps[wait.after].kind else {
            Issue.record("it does not count from the command")
            return
        }
        #expect(script.commands[command].id == "e7")
        #expect((3990...4010).contains(wait.duration / 1_000_000))
        #expect(late.needs != .everythingBefore)
    }

    @Test func `a phone that was silent stays silent, and the rest shrinks`() throws {
        let script = ReplayScript.app(try Captures.session("silence"), canStimulate: true)
        #expect(
            Set(Self.waits(script)) == ["a connection that was silent stays silent"],
            "\(Self.waits(script))")
        #expect(
            Self.waits(ReplayScript.app(try Captures.session("all-commands"), canStimulate: true))
                .isEmpty)
    }

    @Test func `a command that the queue hands out again comes after its time`() throws {
        let script = ReplayScript.app(try Captures.session("redelivery"), canStimulate: true)
        let waits = Self.waits(script)
        #expect(waits.contains("the queue hands a command out again once its time is over"))
    }

    @Test func `without a stimulus nothing waits for what the board sent on its own`() throws {
        let session = try Captures.session("all-commands")
        for canStimulate in [true, false] {
            let script = ReplayScript.app(session, canStimulate: canStimulate)
            let arrivals = script.steps.filter {
                if case .arrival = $0.kind { true } else { false }
            }
            #expect(!arrivals.isEmpty)
            #expect(arrivals.allSatisfy { $0.holdsOthers == canStimulate })
        }
    }

    @Test func `the board's script brings the app into the states that it was in`() throws {
        let states = { (name: String) -> [String] in
            ReplayScript.board(try Captures.session(name)).steps.compactMap {
                if case .state(let word) = $0.kind { word } else { nil }
            }
        }
        #expect(try states("all-commands").isEmpty)
        let pip = try states("pip-queue")
        #expect(pip == ["background pip", "active"])
        #expect(try states("fgs-queue") == ["background fgs", "active"])
        #expect(
            try states("errors") == [
                "contacts=denied", "notifications=pending", "notifications=granted",
            ])
    }

    @Test func `what a session needs of the phone is told by name`() throws {
        let script = ReplayScript.board(try Captures.session("errors"))
        let needs = script.preconditions.map { "\(script.commands[$0.command].id) \($0.text)" }
        #expect(
            needs == [
                "e4 the recorded phone had denied contacts",
                "e6 the recorded phone had denied contacts",
                "e7 on the recorded phone a prompt for notifications was open",
            ])
    }

    @Test func `values that flow are found where the contract says so`() throws {
        let script = ReplayScript.board(try Captures.session("all-commands"))
        let links = ValueLinks.find(in: script)
        #expect(
            links == [
                ValueLink(
                    name: "event_id", bornText: "ios_event_1", born: "calendar_create c5",
                    uses: ["calendar_delete c7"]),
                ValueLink(
                    name: "contact_id", bornText: "ios_contact_2", born: "contacts_create c9",
                    uses: ["contacts_update c10"]),
            ])
    }

    @Test func `the end of the recording is not taken for the app's end of the connection`() throws
    {
        let script = ReplayScript.board(try Captures.session("all-commands"))
        #expect(script.links.map(\.hasEnd) == [false])
        let app = ReplayScript.app(try Captures.session("all-commands"), canStimulate: true)
        #expect(app.links.map(\.hasEnd) == [true])
    }

    @Test func `a session that is too large is refused with its limit`() throws {
        var session = RecordedSession(maximumSize: 10)
        #expect(throws: RecordedSession.Failure.tooLarge(limit: 10)) {
            try session.receive(
                Event(
                    time: 0, conn: 1, from: .app,
                    kind: .request(
                        Event.Request(
                            exchange: 1, method: "POST", target: "/api/phone-bridge/results",
                            body: Event.Body(content: .whole(Bytes(repeating: 0, count: 11)))))))
        }
    }
}
