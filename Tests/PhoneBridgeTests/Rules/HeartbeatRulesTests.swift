import PhoneBridge
import Testing

extension RuleCase {
    static let heartbeats: [RuleCase] = [
        RuleCase(
            "heartbeat-interval",
            breaks: """
                0     connect
                5     app> {"id":"heartbeat"}
                5     board> {"id":"heartbeat"}
                20.5  app> {"id":"heartbeat"}
                20.5  board> {"id":"heartbeat"}
                25.5  app> {"id":"heartbeat"}
                25.5  board> {"id":"heartbeat"}
                """,
            close: """
                0   connect
                5   app> {"id":"heartbeat"}
                5   board> {"id":"heartbeat"}
                20  app> {"id":"heartbeat"}
                20  board> {"id":"heartbeat"}
                25  app> {"id":"heartbeat"}
                25  board> {"id":"heartbeat"}
                """),
        RuleCase(
            "heartbeat-limit-not-early",
            breaks: """
                0   connect
                1   app> {"id":"heartbeat"}
                1   board> {"id":"heartbeat"}
                46  board> close 1001 heartbeat timeout
                """,
            close: """
                0   connect
                1   app> {"id":"heartbeat"}
                1   board> {"id":"heartbeat"}
                61  board> close 1001 heartbeat timeout
                """),
        RuleCase(
            "heartbeat-limit-not-late",
            breaks: """
                0    connect
                1    app> {"id":"heartbeat"}
                1    board> {"id":"heartbeat"}
                122  board> {"id":"c","type":"clipboard_read"}
                """,
            close: """
                0    connect
                1    app> {"id":"heartbeat"}
                1    board> {"id":"heartbeat"}
                120  board> {"id":"c","type":"clipboard_read"}
                """),
        RuleCase(
            "heartbeat-limit-not-late", "a board that looks every 15 s",
            breaks: """
                0   connect
                77  board> {"id":"c","type":"clipboard_read"}
                """,
            close: """
                0   connect
                75  board> {"id":"c","type":"clipboard_read"}
                """, profile: .board12),
        RuleCase(
            "heartbeat-limit-status",
            breaks: """
                0     connect
                1     app> {"id":"heartbeat"}
                1     board> {"id":"heartbeat"}
                76.5  \(statusAnswer)
                """,
            close: """
                0     connect
                1     app> {"id":"heartbeat"}
                1     board> {"id":"heartbeat"}
                76    \(statusAnswer)
                """, profile: .board12),
    ]

    private static let statusAnswer = """
        #2 app> GET /api/phone-bridge/status
        77    #2 board> 200 {"connected":true,"environment":{"platform":"ios"}}
        """
}

@Suite struct HeartbeatRulesTests {
    private static let beat = #"app> {"id":"heartbeat"}"#

    @Test func `a pause that has a reason is none of the app's`() {
        let rows = [
            // The app is in the background.
            """
            0   connect
            1   app> {"id":"phone_app_state","data":{"app_state":"background"}}
            40  \(Self.beat)
            45  \(Self.beat)
            """,
            // It says so over the queue.
            """
            0   connect
            1   \(Self.beat)
            2   #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=background
            40  \(Self.beat)
            45  \(Self.beat)
            """,
            // The beats were held up on their way.
            """
            0     connect
            1     \(Self.beat)
            20    \(Self.beat)
            20.1  \(Self.beat)
            20.2  \(Self.beat)
            """,
            // They may be in the hole.
            """
            0     connect
            1     \(Self.beat)
            10    gap app
            20    \(Self.beat)
            25    \(Self.beat)
            """,
        ]
        for script in rows {
            let found = RuleChecker.check(script).breaches
                .filter { $0.rule.id == "heartbeat-interval" }
            #expect(found.isEmpty, "\(script)")
        }
    }

    @Test func `only a board that names the heartbeat gave up for it`() {
        let script = """
            0  connect
            9  board> close 1001 new connection
            """
        #expect(RuleChecker.check(script).breaches.map(\.rule.id) == [])
    }

    @Test func `what an app in trouble missed is told once a pause`() {
        let script = """
            0   connect
            20  \(Self.beat)
            25  \(Self.beat)
            45  \(Self.beat)
            50  \(Self.beat)
            """
        let found = RuleChecker.check(script).breaches
            .filter { $0.rule.id == "heartbeat-interval" }.map(\.text)
        #expect(
            found == [
                "20.0 s went by without a heartbeat", "20.0 s went by without a heartbeat",
            ])
    }
}
