import PhoneBridge
import Testing

extension RuleCase {
    /// One command breaks the rule, the other does not.
    private static func pair(
        _ rule: String, _ about: String = "", breaks: String, close: String,
        rating: Rule.Rating? = nil
    ) -> RuleCase {
        RuleCase(
            rule, about, breaks: "1 board> \(breaks)", close: "1 board> \(close)", rating: rating)
    }

    private static func create(_ payload: String) -> String {
        #"{"id":"c1","type":"calendar_create","payload":{\#(payload)}}"#
    }

    private static let dentist =
        #""title":"Dentist","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00Z""#

    static let command: [RuleCase] = [
        pair(
            "command-id", "a number",
            breaks: #"{"id":1,"type":"clipboard_read"}"#,
            close: #"{"id":"1","type":"clipboard_read"}"#),
        pair(
            "command-id", "missing, in the queue's answer",
            breaks: #"{"ID":"c1","type":"clipboard_read"}"#,
            close: #"{"id":"c1","ID":7,"type":"clipboard_read"}"#),
        pair(
            "command-id", "empty",
            breaks: #"{"id":"","type":"clipboard_read"}"#,
            close: #"{"id":" ","type":"clipboard_read"}"#, rating: .likely),
        RuleCase(
            "command-id", "no object in the queue's list",
            breaks: """
                1  app> GET /api/phone-bridge/commands?platform=ios
                2  board> 200 {"commands":[{"type":"clipboard_read","id":null}]}
                """,
            close: """
                1  app> GET /api/phone-bridge/commands?platform=ios
                2  board> 200 {"commands":[{"type":"clipboard_read","id":"null"}]}
                """),
        pair(
            "command-type", breaks: #"{"id":"c1","type":null}"#,
            close: #"{"id":"c1","type":"clipboard_read"}"#),
        pair(
            "command-type-known", breaks: #"{"id":"c1","type":"Clipboard_read"}"#,
            close: #"{"id":"c1","type":"clipboard\u005fread"}"#),
        pair(
            "command-id-reserved", breaks: #"{"id":"ping","type":"clipboard_read"}"#,
            close: #"{"id":"Ping","type":"clipboard_read"}"#),
        pair(
            "command-timeout-number",
            breaks: #"{"id":"c1","type":"clipboard_read","timeout_ms":"5000"}"#,
            close: #"{"id":"c1","type":"clipboard_read","timeout_ms":5000}"#),
        pair(
            "command-timeout-positive", "zero",
            breaks: #"{"id":"c1","type":"clipboard_read","timeout_ms":0}"#,
            close: #"{"id":"c1","type":"clipboard_read","timeout_ms":1}"#),
        pair(
            "command-timeout-positive", "a fraction",
            breaks: #"{"id":"c1","type":"clipboard_read","timeout_ms":0.5}"#,
            close: #"{"id":"c1","type":"clipboard_read","timeout_ms":5e3}"#),
        pair(
            "command-field-types", "a target",
            breaks: #"{"id":"c1","type":"open_app","app":7}"#,
            close: #"{"id":"c1","type":"open_app","app":"7","name":7}"#),
        pair(
            "command-field-types", "a payload",
            breaks: #"{"id":"c1","type":"contacts_query","payload":[]}"#,
            close: #"{"id":"c1","type":"contacts_query","payload":{}}"#),
        pair(
            "command-one-target", "both",
            breaks: #"{"id":"c1","type":"open_app","app":"微信","url":"https://example.com"}"#,
            close: #"{"id":"c1","type":"open_app","app":"微信","url":null}"#),
        pair(
            "command-one-target", "none", breaks: #"{"id":"c1","type":"open_app"}"#,
            close: #"{"id":"c1","type":"open_app","url":"tel:123"}"#),
        pair(
            "command-url-scheme", "another scheme",
            breaks: #"{"id":"c1","type":"open_app","url":"ftp://example.com"}"#,
            close: #"{"id":"c1","type":"open_app","url":"HTTPS://example.com"}"#),
        pair(
            "command-url-scheme", "none at all",
            breaks: #"{"id":"c1","type":"open_app","url":"https"}"#,
            close: #"{"id":"c1","type":"open_app","url":"mailto:"}"#),
        pair(
            "payload-required", "a field", breaks: create(#""title":"Dentist","start_at":null"#),
            close: create(dentist)),
        pair(
            "payload-required", "the payload", breaks: #"{"id":"c1","type":"clipboard_write"}"#,
            close: #"{"id":"c1","type":"clipboard_write","payload":{"text":""}}"#),
        pair(
            "payload-types", "a boolean", breaks: create(dentist + #","all_day":"false""#),
            close: create(dentist + #","all_day":false,"alarm":"yes""#)),
        pair(
            "payload-types", "an element",
            breaks:
                #"{"id":"c1","type":"contacts_create","payload":{"name":"Li","phone_numbers":["1",2]}}"#,
            close:
                #"{"id":"c1","type":"contacts_create","payload":{"name":"Li","phone_numbers":[]}}"#,
            rating: .likely),
        pair(
            "payload-types", "an integer",
            breaks: #"{"id":"c1","type":"contacts_query","payload":{"limit":1.5}}"#,
            close: #"{"id":"c1","type":"contacts_query","payload":{"limit":20.0}}"#),
        RuleCase(
            "command-id-unique", "other content while it waits",
            breaks: """
                1  board> {"id":"c1","type":"clipboard_write","payload":{"text":"a"}}
                2  board> {"id":"c1","type":"clipboard_write","payload":{"text":"b"}}
                """,
            close: """
                1  board> {"id":"c1","type":"clipboard_write","payload":{"text":"a"}}
                2  board> {"payload":{"text":"\\u0061"},"type":"clipboard_write","id":"c1","timeout_ms":9}
                """),
        RuleCase(
            "command-id-unique", "other content long after its answer, on the other route",
            breaks: """
                1    board> {"id":"c1","type":"clipboard_read"}
                1.1  app> {"id":"c1","data":{"text":""}}
                900  #2 app> GET /api/phone-bridge/commands?platform=ios
                901  #2 board> 200 {"commands":[{"id":"c1","type":"contacts_query","payload":{}}]}
                """,
            close: """
                1    board> {"id":"c1","type":"clipboard_read"}
                1.1  app> {"id":"c1","data":{"text":""}}
                900  #2 app> GET /api/phone-bridge/commands?platform=ios
                901  #2 board> 200 {"commands":[{"id":"c1","type":"clipboard_read","phone_id":"p1"}]}
                """),
    ]
}

@Suite struct CommandRulesTests {
    private func breaches(_ script: String, contract: Contract = .current) -> [String] {
        RuleChecker.check(script, contract: contract).breaches
            .map { "\($0.rule.id) \($0.rule.rating.rawValue): \($0.text)" }
    }

    @Test func `all faults of a payload are told in one breach`() {
        #expect(
            breaches(
                #"1 board> {"id":"c1","type":"calendar_create","payload":{"title":5,"start_at":"now"}}"#
            ) == [
                "payload-required S: calendar_create: payload.end_at is missing",
                "payload-types S: calendar_create: payload.title is a number, not a string",
                #"time-format S: payload.start_at is "now", not RFC 3339 with an offset"#,
            ])
    }

    @Test func `a command that is no object at all has no id and no type`() {
        #expect(
            breaches(
                """
                1  app> GET /api/phone-bridge/commands?platform=ios
                2  board> 200 {"commands":[7]}
                """) == [
                    "command-id S: the command has no id: it is a number",
                    "command-type S: the command has no type: it is a number",
                ])
    }

    @Test func `the contract's own examples break nothing`() {
        let examples = [
            #"{"id":"open_001","type":"open_app","app":"微信","timeout_ms":10000}"#,
            #"{"id":"clip_read_001","type":"clipboard_read","timeout_ms":5000}"#,
            #"{"id":"clip_write_001","type":"clipboard_write","payload":{"text":"content to copy"},"timeout_ms":5000}"#,
            #"{"id":"cal_create_001","type":"calendar_create","payload":{"title":"Dentist appointment","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00","all_day":false,"location":"Clinic","notes":"Bring insurance card"},"timeout_ms":8000}"#,
            #"{"id":"cal_query_001","type":"calendar_query","payload":{"from":"2026-06-02T00:00:00+08:00","to":"2026-06-03T00:00:00+08:00"},"timeout_ms":8000}"#,
            #"{"id":"cal_delete_001","type":"calendar_delete","payload":{"event_id":"ios_calendar_id_123"},"timeout_ms":8000}"#,
            #"{"id":"contacts_query_001","type":"contacts_query","payload":{"query":"Zhang San","limit":20},"timeout_ms":8000}"#,
            #"{"id":"contacts_create_001","type":"contacts_create","payload":{"name":"Li Si","phone_numbers":["+86 139 8765 4321"],"emails":["a@example.com"],"organization":"Company name","notes":"Notes"},"timeout_ms":8000}"#,
            #"{"id":"contacts_update_001","type":"contacts_update","payload":{"contact_id":"contact_123","name":"Li Si (updated)","phone_numbers":["+86 139 8765 4321","+86 010 1234 5678"],"emails":["a@example.com"]},"timeout_ms":8000}"#,
            #"{"id":"notification_001","type":"notification_send","payload":{"title":"Reminder","body":"Time to take medicine","schedule_at":"2026-06-04T18:00:00+08:00","sound":true,"badge":1},"timeout_ms":5000}"#,
        ]
        for example in examples { #expect(breaches("1 board> \(example)") == []) }
        // And without what is optional: unknown fields and nulls say nothing.
        #expect(
            breaches(
                #"1 board> {"id":"c","type":"notification_send","payload":{"title":"","body":null,"x":1}}"#
            ) == [])
    }

    @Test func `a type that a later version adds is held against its table`() {
        let contract = ContractTests.invented
        let rows: [(String, [String])] = [
            (#"{"id":"t","type":"torch_set","payload":{"on":true}}"#, []),
            (
                #"{"id":"t","type":"torch_set","payload":{"on":1}}"#,
                ["payload-types S: torch_set: payload.on is a number, not a boolean"]
            ),
            (
                #"{"id":"t","type":"torch_set"}"#,
                ["payload-required S: torch_set: payload is missing"]
            ),
            (
                #"{"id":"phone_battery","type":"torch_set","payload":{"on":true}}"#,
                [
                    "command-id-reserved L: the command's id is \"phone_battery\", which is reserved"
                ]
            ),
        ]
        for (command, expected) in rows {
            #expect(breaches("1 board> \(command)", contract: contract) == expected)
        }
        #expect(
            breaches(#"1 board> {"id":"t","type":"torch_set"}"#)
                == [#"command-type-known L: version 1.2 has no command type "torch_set""#])
    }
}
