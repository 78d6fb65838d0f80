import PhoneBridge
import Testing

extension RuleCase {
    /// One answer to a command breaks the rule, the other does not.
    private static func pair(
        _ rule: String, _ about: String = "", to command: String = read, breaks: String,
        close: String, rating: Rule.Rating? = nil
    ) -> RuleCase {
        RuleCase(
            rule, about, breaks: "1 board> \(command)\n1.2 app> \(breaks)",
            close: "1 board> \(command)\n1.2 app> \(close)", rating: rating)
    }

    private static let read = #"{"id":"c1","type":"clipboard_read"}"#
    private static let write = #"{"id":"c1","type":"clipboard_write","payload":{"text":"a"}}"#
    private static let query =
        #"{"id":"c1","type":"calendar_query","payload":{"from":"2026-06-02T00:00:00Z","to":"2026-06-03T00:00:00Z"}}"#

    private static func contacts(_ limit: String?) -> String {
        #"{"id":"c1","type":"contacts_query","payload":{\#(limit.map { #""limit":\#($0)"# } ?? "")}}"#
    }

    private static func people(_ count: Int) -> String {
        let list = (0..<count).map { #"{"contact_id":"k\#($0)","name":"Li"}"# }
        return #"{"id":"c1","data":{"contacts":[\#(list.joined(separator: ","))]}}"#
    }

    private static func error(_ members: String) -> String { #"{"id":"c1","error":{\#(members)}}"# }

    static let result: [RuleCase] = [
        pair(
            "result-id", "missing", breaks: #"{"data":{"text":""}}"#,
            close: #"{"id":"c1","data":{"text":""}}"#),
        RuleCase(
            "result-id", "a number, posted",
            breaks: #"1 app> POST /api/phone-bridge/results {"id":7}"#,
            close: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"7","type":"clipboard_read"}]}
                2    app> POST /api/phone-bridge/results {"id":"7","data":{"text":""}}
                """),
        pair(
            "result-field-types", "data", to: write, breaks: #"{"id":"c1","data":[]}"#,
            close: #"{"id":"c1","data":null}"#),
        pair(
            "result-field-types", "method", to: write, breaks: #"{"id":"c1","method":true}"#,
            close: #"{"id":"c1","method":"clipboard_write"}"#),
        pair(
            "result-error-structure", "text", breaks: #"{"id":"c1","error":"denied"}"#,
            close: error(#""category":"internal","code":"native_module_failed","message":"""#)),
        pair(
            "result-error-structure", "empty", breaks: error(""),
            close: error(#""category":"x","code":"y","message":"z","hint":1"#)),
        pair(
            "result-error-structure", "details",
            breaks: error(#""category":"x","code":"y","message":"z","details":"none""#),
            close: error(#""category":"x","code":"y","message":"z","details":{}"#)),
        pair(
            "result-error-structure", "null may be meant for success",
            breaks: #"{"id":"c1","error":null,"data":{"text":""}}"#,
            close: error(#""category":"x","code":"y","message":"z","details":null"#),
            rating: .likely),
        pair(
            "result-no-ok", breaks: #"{"id":"c1","ok":true,"data":{"text":""}}"#,
            close: #"{"id":"c1","data":{"text":"","ok":true}}"#),
        pair(
            "result-error-code-known", breaks: error(#""category":"x","code":"y","message":"z""#),
            close: error(
                #""category":"user_action_required","code":"permission_denied","message":"""#)),
        pair(
            "result-error-category",
            breaks: error(#""category":"transient","code":"permission_denied","message":"""#),
            close: error(
                #""category":"user_action_required","code":"permission_denied","message":"""#)),
        pair(
            "result-data", "a field", breaks: #"{"id":"c1","data":{"txt":""}}"#,
            close: #"{"id":"c1","data":{"text":""}}"#),
        pair(
            "result-data", "all of it", breaks: #"{"id":"c1","method":"clipboard_read"}"#,
            close: #"{"id":"c1","data":{"text":"","more":[]}}"#),
        pair(
            "result-data", "no events are an empty list", to: query,
            breaks: #"{"id":"c1","data":{"events":null}}"#,
            close: #"{"id":"c1","data":{"events":[]}}"#),
        pair(
            "result-data", "within an element", to: query,
            breaks: #"{"id":"c1","data":{"events":[{"event_id":"e"}]}}"#,
            close:
                #"{"id":"c1","data":{"events":[{"event_id":"e","title":"","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02T15:00:00Z"}]}}"#,
            rating: .likely),
        pair(
            "result-data-types", breaks: #"{"id":"c1","data":{"text":["a"]}}"#,
            close: #"{"id":"c1","data":{"text":"a"}}"#),
        pair(
            "result-list-limit", "20 without one", to: contacts(nil), breaks: people(21),
            close: people(20)),
        pair(
            "result-list-limit", "its own", to: contacts("2"), breaks: people(3), close: people(2)),
        pair(
            "result-method-known", to: write, breaks: #"{"id":"c1","method":"pasteboard"}"#,
            close: #"{"id":"c1","method":"clipboard_write"}"#),
    ]
}

@Suite struct ResultRulesTests {
    private func breaches(_ script: String, contract: Contract = .current) -> [String] {
        RuleChecker.check(script, contract: contract).breaches
            .map { "\($0.rule.id) \($0.rule.rating.rawValue): \($0.text)" }
    }

    @Test func `the contract's own examples break nothing`() {
        let examples = [
            (
                #"{"id":"open_1717667890123_1","type":"open_app","app":"微信","timeout_ms":10000}"#,
                #"{"id":"open_1717667890123_1","method":"ios_url_scheme"}"#
            ),
            (
                #"{"id":"o","type":"open_app","app":"x"}"#,
                #"{"id":"o","error":{"category":"precondition_failed","code":"app_not_installed","message":"App not installed"}}"#
            ),
            (
                #"{"id":"c","type":"calendar_query","payload":{"from":"2026-06-02T00:00:00+08:00","to":"2026-06-03T00:00:00+08:00"}}"#,
                #"{"id":"c","data":{"events":[{"event_id":"ios_calendar_id_123","title":"Dentist appointment","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00","location":"Clinic"}]}}"#
            ),
            (
                #"{"id":"k","type":"contacts_query","payload":{"query":"Zhang San","limit":20}}"#,
                #"{"id":"k","data":{"contacts":[{"contact_id":"contact_123","name":"Zhang San","phone_numbers":["+86 138 1234 5678"],"emails":["a@example.com"]}]}}"#
            ),
            (
                #"{"id":"n","type":"notification_send","payload":{"title":"x"}}"#,
                #"{"id":"n","data":{"notification_id":"notification_123"}}"#
            ),
        ]
        for (command, answer) in examples {
            #expect(breaches("1 board> \(command)\n2 app> \(answer)") == [])
        }
    }

    @Test func `a limit that is no count leaves the list alone`() {
        let list = (0..<30).map { #"{"contact_id":"k\#($0)","name":"Li"}"# }
            .joined(separator: ",")
        for limit in ["0", "-1"] {
            #expect(
                breaches(
                    """
                    1 board> {"id":"c1","type":"contacts_query","payload":{"limit":\(limit)}}
                    2 app> {"id":"c1","data":{"contacts":[\(list)]}}
                    """) == [])
        }
    }

    @Test func `data of an error and of an unknown command is not judged`() {
        #expect(
            breaches(
                """
                1  board> {"id":"c1","type":"clipboard_read"}
                2  app> {"id":"c1","error":{"category":"internal","code":"native_module_failed","message":""}}
                """) == [])
    }

    @Test func `the data of a type that a later version adds is held against its table`() {
        let contract = ContractTests.invented
        let command = #"1 board> {"id":"t","type":"torch_set","payload":{"on":true}}"#
        #expect(
            breaches(command + "\n1.05 app> " + #"{"id":"t","data":{}}"#, contract: contract)
                == ["result-data S: torch_set: data.torch_id is missing"])
        #expect(
            breaches(
                command + "\n1.05 app> " + #"{"id":"t","data":{"torch_id":"x"}}"#,
                contract: contract) == [])
    }
}
