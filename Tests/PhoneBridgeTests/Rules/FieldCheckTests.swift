import Capture
import PhoneBridge
import Testing

extension RuleCase {
    private static func notify(_ time: String) -> String {
        #"1 board> {"id":"c1","type":"notification_send","payload":{"title":"x","schedule_at":\#(time)}}"#
    }

    static let time: [RuleCase] = [
        RuleCase(
            "time-format", "no offset", breaks: notify(#""2026-06-02T15:00:00""#),
            close: notify(#""2026-06-02T15:00:00+08:00""#)),
        RuleCase(
            "time-format", "a number", breaks: notify("1780383600"),
            close: notify(#""2026-06-02t15:00:00.123456789012z""#)),
        RuleCase(
            "time-format", "hour 24", breaks: notify(#""2026-06-02T24:00:00Z""#),
            close: notify(#""2026-12-31T23:59:60Z""#)),
        RuleCase(
            "time-format", "a space for the T may be meant",
            breaks: notify(#""2026-06-02 15:00:00Z""#),
            close: notify(#""2026-06-02T15:00:00-00:00""#), rating: .likely),
        RuleCase(
            "time-format", "of an event",
            breaks:
                #"1 app> {"id":"phone_environment","method":"phone_environment","data":{"captured_at":"yesterday"}}"#,
            close:
                #"1 app> {"id":"phone_environment","method":"phone_environment","data":{"captured_at":"2026-06-10T03:20:00Z","seen_at":"yesterday"}}"#
        ),
        RuleCase(
            "time-format", "deep in an answer",
            breaks: """
                1  board> {"id":"q","type":"calendar_query","payload":{"from":"2026-06-02T00:00:00Z","to":"2026-06-02T00:00:00Z"}}
                2  app> {"id":"q","data":{"events":[{"event_id":"e","title":"t","start_at":"2026-06-02","end_at":"2026-06-02T00:00:00Z"}]}}
                """,
            close: """
                1  board> {"id":"q","type":"calendar_query","payload":{"from":"2026-06-02T00:00:00Z","to":"2026-06-02T00:00:00Z"}}
                2  app> {"id":"q","data":{"events":[{"event_id":"e","title":"2026-06-02","start_at":"2026-06-02T00:00:00Z","end_at":"2026-06-02T00:00:00Z"}]}}
                """),
    ]
}

@Suite struct FieldCheckTests {
    @Test func `both ends answer for the time fields that they write`() {
        let sides = RuleCase.time.compactMap { row in
            RuleChecker.check(row.breaks).breaches.first { $0.rule.id == "time-format" }?.side
        }
        #expect(
            sides.map(\.rawValue) == ["board", "board", "board", "board", "app", "app"])
    }
}
