import PhoneBridge
import Testing

extension RuleCase {
    /// Polls every 5 s, the fourth with this answer, and heartbeats up to a time.
    fileprivate static func habit(_ answer: String, until last: Double, _ more: String = "")
        -> String
    {
        let poll = "app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=active"
        let polls = [1, 6, 11].map {
            """
            \($0)    #2 \(poll)
            \($0).1  #2 board> 200 {"commands":null,"server_time":"2026-01-01T00:00:00Z"}
            """
        }
        let beats = [60, 110, last].map {
            """
            \($0)  app> {"id":"heartbeat"}
            \($0)  board> {"id":"heartbeat"}
            """
        }
        return """
            0     connect
            \(polls.joined(separator: "\n"))
            16    #2 \(poll)
            \(answer)
            \(more)
            \(beats.joined(separator: "\n"))
            """
    }

    static let habits: [RuleCase] = [
        RuleCase(
            "poll-goes-on", "no answer",
            breaks: habit("26 #2 app fin\n26 #2 board fin", until: 136.5),
            close: habit(
                "26 #2 app fin\n26 #2 board fin", until: 136.5,
                "50 #3 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&limit=10")),
        RuleCase(
            "poll-goes-on", "a failure",
            breaks: habit("16.1 #2 board> 503", until: 136.5),
            close: habit(
                "16.1 #2 board> 503", until: 136.5,
                "21 #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&limit=10")),
    ]
}

@Suite struct PollingRulesTests {
    private func isBroken(_ script: String) -> Bool {
        RuleChecker.check(script).breaches.contains { $0.rule.id == "poll-goes-on" }
    }

    private static let hung = "26 #2 app fin\n26 #2 board fin"

    @Test func `an app has two minutes to poll again`() {
        #expect(isBroken(RuleCase.habit(Self.hung, until: 136.3)))
        #expect(!isBroken(RuleCase.habit(Self.hung, until: 136.2)))
    }

    @Test func `who stops behind an answer, or in another state, does so on purpose`() {
        let answered = #"16.1 #2 board> 200 {"commands":null}"#
        #expect(!isBroken(RuleCase.habit(answered, until: 200)))
        let event =
            #"40 app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"inactive"}}"#
        #expect(!isBroken(RuleCase.habit(Self.hung, until: 200, event)))
    }

    @Test func `a poll that may have been in a hole, or of another connection, is not missed`() {
        #expect(!isBroken(RuleCase.habit(Self.hung, until: 200, "40 hole")))
        let again = "40 board fin\n40 app fin\n44 #5 connect\n50 #5 app> {\"id\":\"heartbeat\"}"
        let script = RuleCase.habit(Self.hung, until: 200, again)
            .replacing("\n200.0  app>", with: "\n200.0  #5 app>")
        #expect(!isBroken(script))
    }
}
