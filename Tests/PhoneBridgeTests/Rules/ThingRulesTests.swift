import PhoneBridge
import Testing

extension RuleCase {
    private static func delete(_ time: Int, _ command: String, _ event: String, _ rest: String)
        -> String
    {
        """
        \(time) board> {"id":"\(command)","type":"calendar_delete","payload":{"event_id":"\(event)"}}
        \(time) app> {"id":"\(command)"\(rest)}

        """
    }

    private static func create(_ time: Int, _ command: String, _ event: String) -> String {
        """
        \(time) board> {"id":"\(command)","type":"calendar_create","payload":{"title":"x","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02T15:00:00Z"}}
        \(time) app> {"id":"\(command)","data":{"event_id":"\(event)"}}

        """
    }

    private static func invalid(_ details: String) -> String {
        #","error":{"category":"invalid_input","code":"invalid_arguments","message":""\#(details)}"#
    }

    static let thing: [RuleCase] = [
        RuleCase(
            "missing-thing-code", "it is known to be gone",
            breaks: delete(1, "c1", "e", "") + delete(2, "c2", "e", invalid("")),
            close: delete(1, "c1", "e", "")
                + delete(2, "c2", "e", invalid(#","details":{"native_code":"EKErrorDomain:1"}"#))),
        RuleCase(
            "missing-thing-code", "another argument may be invalid",
            breaks: delete(1, "c1", "e", invalid(#","details":{}"#)),
            close: delete(1, "c1", "e", invalid(#","details":{"native_code":1}"#)),
            rating: .likely),
        RuleCase(
            "deleted-thing-gone",
            breaks: delete(1, "c1", "e", "") + delete(2, "c2", "e", ""),
            close: delete(1, "c1", "e", "") + create(2, "c2", "e") + delete(3, "c3", "e", "")),
        RuleCase(
            "deleted-thing-gone", "the same command again is a retry",
            breaks: delete(1, "c1", "e", "") + delete(2, "c2", "e", ""),
            close: delete(1, "c1", "e", "") + delete(2, "c1", "e", "")),
        RuleCase(
            "created-id-new", breaks: create(1, "c1", "e") + create(2, "c2", "e"),
            close: create(1, "c1", "e") + create(2, "c1", "e") + create(3, "c2", "f")),
    ]
}

@Suite struct ThingRulesTests {
    @Test func `things of two phones are two`() {
        func script(_ phone: String) -> String {
            """
            0  #1 connect platform=ios&phone_id=p1
            1  #1 board> {"id":"c1","type":"calendar_delete","payload":{"event_id":"e"}}
            1  #1 app> {"id":"c1"}
            2  #2 connect platform=ios&phone_id=\(phone)
            3  #2 board> {"id":"c2","type":"calendar_delete","payload":{"event_id":"e"}}
            3  #2 app> {"id":"c2"}
            """
        }
        #expect(RuleChecker.check(script("p1")).breaches.map(\.rule.id) == ["deleted-thing-gone"])
        #expect(RuleChecker.check(script("p2")).breaches.isEmpty)
    }
}
