import PhoneBridge
import Testing

extension RuleCase {
    static let conversations: [RuleCase] = [
        RuleCase(
            "ws-close-answered", "the connection ends instead",
            breaks: """
                0  connect
                1  board> close 1001 heartbeats stopped, says nobody
                2  app fin
                2  board fin
                """.replacing("heartbeats stopped, says nobody", with: "bye"),
            close: """
                0  connect
                1  board> close 1001 bye
                2  app> close 1001 bye
                2  board fin
                2  app fin
                """),
        RuleCase(
            "ws-close-answered", "it spoke on first",
            breaks: """
                0   connect
                1   app> close 1000
                2   board> {"id":"c","type":"clipboard_read"}
                30  board fin
                30  app fin
                """,
            close: """
                0    connect
                1    app> close 1000
                1.1  board> close 1000
                1.2  board fin
                1.2  app fin
                """),
        RuleCase(
            "ws-board-ends-tcp",
            breaks: """
                0   connect
                1   app> close 1000
                1   board> close 1000
                12  wait
                """,
            close: """
                0   connect
                1   app> close 1000
                1   board> close 1000
                11  board fin
                11  app fin
                12  wait
                """),
        RuleCase(
            "ws-ping-answered",
            breaks: """
                0   connect
                1   app> ping a
                2   board> pong b
                17  board> {"id":"c","type":"clipboard_read"}
                18  app> {"id":"c","data":{"text":""}}
                """,
            close: """
                0   connect
                1   app> ping a
                2   app> ping b
                3   board> pong b
                17  board> {"id":"c","type":"clipboard_read"}
                18  app> {"id":"c","data":{"text":""}}
                """),
    ]
}

@Suite struct ConversationRulesTests {
    @Test func `nobody is blamed for what he may not have seen or not have had to do`() {
        let rows = [
            // Both ended it at the same moment.
            "0 connect\n1 board> close 1001\n1.1 app fin\n2 board fin",
            // A suspended app, ended by its system an hour later.
            "0 connect\n1 board> close 1001\n3601 app fin\n3601 board fin",
            // A reset takes everything with it.
            "0 connect\n1 board> close 1001\n2 app reset",
            // The answer may be in the hole.
            "0 connect\n1 board> close 1001\n1.5 gap app\n2 app fin",
            // So may the pong.
            "0 connect\n1 app> ping a\n2 gap board\n20 board> {\"id\":\"heartbeat\"}",
            // Who has sent a close frame waits for no pong.
            "0 connect\n1 board> ping a\n1 board> close 1000\n20 app> {\"id\":\"heartbeat\"}",
            // A board that says nothing at all may be gone.
            "0 connect\n1 app> ping a\n60 app> ping b",
        ]
        for script in rows {
            let found = RuleChecker.check(script).breaches.filter { $0.rule.id.hasPrefix("ws-") }
            #expect(found.map(\.rule.id) == [], "\(script)")
        }
    }
}
