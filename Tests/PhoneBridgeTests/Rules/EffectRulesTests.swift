import PhoneBridge
import Testing

extension RuleCase {
    private static let create =
        #"board> {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"#
        + #""2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}"#
    private static let query =
        #"board> {"id":"q","type":"calendar_query","payload":{"from":"#
        + #""2026-06-02T00:00:00Z","to":"2026-06-03T00:00:00Z"}}"#

    private static func again(_ thing: String) -> String {
        """
        0  connect
        1  \(create)
        1  app> {"id":"c","data":{"event_id":"e1"}}
        2  \(create)
        2  app> {"id":"c","data":{"event_id":"\(thing)"}}
        """
    }

    private static func listed(_ start: String) -> String {
        """
        0  connect
        1  \(create)
        1  app> {"id":"c","data":{"event_id":"e1"}}
        2  \(query)
        2  app> {"id":"q","data":{"events":[{"event_id":"e1","title":"t","start_at":"\(start)","end_at":"2026-06-02T08:00:00Z"}]}}
        """
    }

    static let effects: [RuleCase] = [
        RuleCase("one-effect", breaks: again("e2"), close: again("e1")),
        RuleCase(
            "event-times-kept", breaks: listed("2026-06-02T15:00:00Z"),
            close: listed("2026-06-02T07:00:00Z")),
    ]
}

@Suite struct EffectRulesTests {
    private func ids(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.map(\.rule.id)
    }

    @Test func `a user who moves an event is no fault of the app's`() {
        let script = """
            0  connect
            1  board> {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
            1  app> {"id":"c","data":{"event_id":"e1"}}
            2  board> {"id":"q","type":"calendar_query","payload":{"from":"2026-06-01T00:00:00Z","to":"2026-06-09T00:00:00Z"}}
            2  app> {"id":"q","data":{"events":[{"event_id":"e1","title":"t","start_at":"2026-06-03T16:30:00+08:00","end_at":"2026-06-03T17:30:00+08:00"}]}}
            """
        #expect(!ids(script).contains("event-times-kept"))
    }

    @Test func `a command that failed first may be done the second time`() {
        let script = """
            0  connect
            1  board> {"id":"c","type":"contacts_create","payload":{"name":"n"}}
            1  app> {"id":"c","error":{"category":"transient","code":"app_launch_failed","message":"m"}}
            2  board> {"id":"c","type":"contacts_create","payload":{"name":"n"}}
            2  app> {"id":"c","data":{"contact_id":"k1"}}
            """
        #expect(!ids(script).contains("one-effect"))
    }
}
