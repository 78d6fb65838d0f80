import PhoneBridge
import Testing

extension RuleCase {
    private static func outcome(_ answers: String, _ time: String, _ outcome: String) -> String {
        """
        0  connect
        1  board> {"id":"c1","type":"clipboard_read"}
        \(answers)
        \(time) note outcome \(outcome)
        """
    }

    private static let timeout =
        #"{"id":"c1","error":{"category":"transient","code":"bridge_timeout","message":""}}"#

    static let outcome: [RuleCase] = [
        RuleCase(
            "outcome-first-result", "the last answer wins",
            breaks: outcome(
                #"1.1 app> {"id":"c1","data":{"text":"a"}}"# + "\n"
                    + #"1.2 app> {"id":"c1","data":{"text":"b"}}"#, "1.3",
                #"{"id":"c1","data":{"text":"b"}}"#),
            close: outcome(
                #"1.1 app> {"id":"c1","data":{"text":"a"}}"# + "\n"
                    + #"1.2 app> {"id":"c1","data":{"text":"b"}}"#, "1.3",
                #"{"data":{"text":"\u0061"},"id":"c1","method":null}"#)),
        RuleCase(
            "outcome-first-result", "an event is taken for the answer",
            breaks: outcome(
                #"1.1 app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}"#,
                "1.3", #"{"id":"c1","data":{"app_state":"active"}}"#),
            close: outcome(
                #"1.1 app> {"id":"c1","data":{"text":"a"}}"#, "1.3",
                #"{"id":"c1","data":{"text":"a"}}"#)),
        RuleCase(
            "outcome-first-result", "sent again as the first outcome is told",
            breaks: """
                0    connect
                1    board> {"id":"c1","type":"clipboard_read"}
                1.1  app> {"id":"c1","data":{"text":"a"}}
                1.2  board> {"id":"c1","type":"clipboard_read"}
                1.3  note outcome {"id":"c1","data":{"text":"b"}}
                """,
            close: """
                0    connect
                1    board> {"id":"c1","type":"clipboard_read"}
                1.1  app> {"id":"c1","data":{"text":"a"}}
                1.2  board> {"id":"c1","type":"clipboard_read"}
                1.3  note outcome {"id":"c1","data":{"text":"a"}}
                1.4  app> {"id":"c1","data":{"text":"c"}}
                1.5  note outcome {"id":"c1","data":{"text":"c"}}
                """),
        RuleCase(
            "outcome-first-result", "sent as a late answer to the sending before comes",
            breaks: """
                0    connect
                1    app> {"id":"c1","data":{"text":"a"}}
                1.5  board> {"id":"c1","type":"clipboard_read"}
                1.6  note outcome {"id":"c1","data":{"text":"a"}}
                """,
            close: """
                0    connect
                1    board> {"id":"c1","type":"clipboard_read"}
                1.1  note outcome {"id":"c1","error":{"category":"transient","code":"bridge_connection_closed","message":""}}
                2    app> {"id":"c1","data":{"text":"a"}}
                2.1  board> {"id":"c1","type":"clipboard_read"}
                2.2  note outcome {"id":"c1","data":{"text":"a"}}
                """),
        RuleCase(
            "outcome-first-result", "answered before it is seen, for the first time",
            breaks: """
                0    connect
                1    app> {"id":"c1","data":{"text":"a"}}
                1.1  board> {"id":"c1","type":"clipboard_read"}
                1.2  note outcome {"id":"c1","data":{"text":"b"}}
                """,
            close: """
                0    connect
                1    app> {"id":"c1","data":{"text":"a"}}
                1.1  board> {"id":"c1","type":"clipboard_read"}
                1.2  note outcome {"id":"c1","data":{"text":"a"}}
                """),
        RuleCase(
            "outcome-timeout", breaks: outcome("2 wait", "6.3", timeout),
            close: outcome("2 wait", "6.2", timeout)),
    ]
}

@Suite struct OutcomeRulesTests {
    @Test func `what the board says on its own account is no answer`() {
        #expect(
            RuleChecker.check(
                """
                0    connect
                1    board> {"id":"c1","type":"open_app","app":"x"}
                2    app reset
                2.1  note outcome {"id":"c1","error":{"category":"transient","code":"bridge_connection_closed","message":""}}
                """
            ).breaches.isEmpty)
    }

    /// The same id once more, over the WebSocket that is not there: no wait of what was queued.
    @Test(arguments: [("bridge_not_connected", false), ("bridge_timeout", true)])
    func `what could not be sent is no wait for what the queue handed out`(
        _ code: String, _ breaks: Bool
    ) {
        let found = RuleChecker.check(
            """
            0    app> GET /api/phone-bridge/commands?platform=ios
            0.1  board> 200 {"commands":[{"id":"c1","type":"clipboard_read"}],"server_time":"2026-06-10T03:20:05Z"}
            20   note outcome {"id":"c1","error":{"category":"transient","code":"\(code)","message":""}}
            """
        ).breaches.map(\.rule.id)
        #expect(found.contains("outcome-timeout") == breaks, "\(found)")
    }
}
