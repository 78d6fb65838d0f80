import Capture
import Fuzz
import PhoneBridge
import Testing

/// What counts, and what is the same.
@Suite struct BucketTests {
    private func observation(
        _ text: String, _ rating: Rule.Rating = .sure, isUniversal: Bool = false
    ) -> Observation {
        Observation(
            check: "command-answered", rating: rating, section: "", demand: "", text: text,
            isUniversal: isUniversal)
    }

    @Test func `ids, times, numbers and types make no difference`() {
        let first = Signal(observation("\"c1\", a calendar_create, was answered after 5,012 ms"))
        let second = Signal(observation("\"x\", a clipboard_read, was answered after 9.5 ms"))
        let third = Signal(observation("\"x\", a clipboard_read, was never answered"))
        #expect(first == second)
        #expect(
            Signal(observation("event_id is \"ios_event_2\" now"))
                == Signal(observation("contact_id is \"android_contact_9\" now")))
        #expect(first != third)
        #expect(first != Signal(check: "other", text: first.text))
    }

    @Test func `another status code is another cause`() {
        func signal(_ text: String) -> Signal {
            var seen = observation(text)
            seen.check = "board-status-codes"
            return Signal(seen)
        }
        #expect(
            signal("the answer is 404, expected 200") != signal("the answer is 400, expected 200"))
        #expect(
            signal("the answer is 404, expected 200") == signal("the answer is 404, expected 200"))
    }

    @Test func `kinds are what is sent, not what is waited for`() throws {
        let script = try FuzzScript(
            parsing: """
                bridgetap-fuzz 1 as app
                connect a platform=ios
                text a {"id":"heartbeat"}
                text a {"id":"c9","data":{}}
                text a {}
                text a {"id":"phone_app_state","method":"phone_app_state","data":{}}
                text a "x"
                binary a {"id":"y","type":"clipboard_read"}
                frame a ping ""
                frame a op5 ""
                await c1 5s
                wait 60s
                get commands?platform=ios&limit=10
                post results {"id":"q"}
                stimulate c1 {"id":"c1","type":"no_such_type"}
                enqueue q1 {"id":"q1","type":"open_app"}
                enqueue q2 {"id":"q2","type":"clipboard_read"}
                close a
                reset a
                fin a
                frame a close ""
                alive

                """)
        #expect(
            StepKind.kinds(of: script) == [
                "binary command", "connect", "end", "enqueue", "frame op5", "frame ping",
                "get commands", "post results", "stimulate unknown", "text answer",
                "text heartbeat", "text other", "text phone_app_state",
            ])
    }

    @Test func `a second command to an app is a kind of its own, whichever way it comes`() throws {
        func kinds(_ second: String) throws -> [String] {
            let script = try FuzzScript(
                parsing: "bridgetap-fuzz 1 as board\n"
                    + #"command c {"id":"c","type":"clipboard_read"}"# + "\n\(second)\n")
            return StepKind.kinds(of: script)
        }
        let again = #"{"id":"c","type":"clipboard_read"}"#
        let other = #"{"id":"d","type":"open_app"}"#
        #expect(try kinds("text a \(again)") == ["command"])
        #expect(try kinds("text a \(other)") == ["command", "command 2"])
        #expect(try kinds("enqueue q \(again)") == ["command", "enqueue"])
        #expect(try kinds("enqueue q \(other)") == ["command", "command 2", "enqueue"])
        #expect(
            try kinds(#"text a {"id":"d","type":"fly"}"#) == ["command", "command unknown"])
    }

    @Test func `questions are nothing that a bug takes, unless there is nothing else`() {
        #expect(StepKind.needed(of: ["enqueue", "get results", "get status"]) == ["enqueue"])
        #expect(StepKind.needed(of: ["get status"]) == ["get status"])
        #expect(StepKind.needed(of: ["get commands"]) == ["get commands"])
    }

    @Test func `a bucket's name is the same on any machine, and another for another bug`() throws {
        let script = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\nframe a ping \"\"\n")
        let bucket = Bucket(script, Signal(observation("the echo \"x\" has another id")))
        #expect(bucket.name == "command-answered-58e429e1")
        var other = bucket
        other.kinds = []
        #expect(other.name != bucket.name)
    }

    @Test func `weak input is judged by universal checks only`() throws {
        let judge = Judge(profile: .contract, today: nil)
        let weak = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n!T7:W bytes a \"x\"\n")
        let sure = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n!T1 bytes a \"x\"\n")
        #expect(judge.counts(observation("x"), in: sure))
        #expect(!judge.counts(observation("x"), in: weak))
        #expect(judge.counts(observation("x", isUniversal: true), in: weak))
        #expect(!judge.counts(observation("x", .likely, isUniversal: true), in: weak))
        #expect(!judge.counts(observation("x", .likely), in: sure))
        #expect(!judge.counts(observation("x", .weak), in: sure))
    }

    @Test func `a waiver that has ended excuses nothing`() throws {
        var profile = Profile(name: "lab")
        profile.waivers = [.init(rule: "command-answered", reason: "slow", until: "2026-06-30")]
        let script = FuzzScript(as: .app)
        let seen = observation("x")
        #expect(
            Judge(profile: profile, today: "2026-06-30").standing(of: seen, in: script)
                == .excused("waived: slow"))
        #expect(Judge(profile: profile, today: "2026-07-01").counts(seen, in: script))
    }
}
