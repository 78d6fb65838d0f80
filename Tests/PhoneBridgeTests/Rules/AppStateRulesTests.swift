import PhoneBridge
import Testing

extension RuleCase {
    private static let active =
        #"app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}"#
    private static let poll =
        "#2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=inactive"
    private static let beat = """
        9  app> {"id":"heartbeat"}
        9  board> {"id":"heartbeat"}
        """

    static let appStates: [RuleCase] = [
        RuleCase(
            "app-state-reported",
            breaks: """
                0  connect
                1  \(active)
                5  \(poll)
                \(beat)
                """,
            close: """
                0  connect
                1  \(active)
                5  \(poll)
                6  \(active.replacing(#":"active""#, with: #":"inactive""#))
                \(beat)
                """)
    ]
}

@Suite struct AppStateRulesTests {
    @Test func `another phone's polls say nothing of this one`() {
        let script = """
            0  connect platform=ios&phone_id=p1
            1  app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}
            5  #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p2&app_state=background
            9  app> {"id":"c","data":{"text":""}}
            """
        #expect(
            !RuleChecker.check(script).breaches.contains { $0.rule.id == "app-state-reported" })
    }
}
