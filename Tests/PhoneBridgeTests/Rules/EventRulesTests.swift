import PhoneBridge
import Testing

extension RuleCase {
    private static func pair(_ rule: String, _ about: String = "", breaks: String, close: String)
        -> RuleCase
    {
        RuleCase(rule, about, breaks: "1 app> \(breaks)", close: "1 app> \(close)")
    }

    private static func state(_ data: String) -> String {
        #"{"id":"phone_app_state","method":"phone_app_state","data":\#(data)}"#
    }

    static let event: [RuleCase] = [
        pair(
            "event-known", breaks: #"{"id":"phone_log","method":"phone_log"}"#,
            close: state(#"{"app_state":"active"}"#)),
        pair(
            "event-id-method", "no method",
            breaks: #"{"id":"phone_app_state","data":{"app_state":"active"}}"#,
            close: state(#"{"app_state":"active"}"#)),
        pair(
            "event-id-method", "another id",
            breaks: #"{"id":"e1","method":"phone_app_state","data":{"app_state":"active"}}"#,
            close: state(#"{"app_state":"active"}"#)),
        pair(
            "event-data", "none", breaks: state("null"), close: state(#"{"app_state":"active"}"#)),
        pair(
            "event-data", "without a state", breaks: state(#"{"appState":"active"}"#),
            close: #"{"id":"phone_environment","method":"phone_environment","data":{}}"#),
        pair(
            "event-data-types",
            breaks:
                #"{"id":"phone_environment","method":"phone_environment","data":{"screen":{"width":"393"}}}"#,
            close:
                #"{"id":"phone_environment","method":"phone_environment","data":{"screen":{"width":393.5,"corner":"round"},"battery":null}}"#
        ),
        pair(
            "event-app-state", breaks: state(#"{"app_state":"Active"}"#),
            close: state(#"{"app_state":"inactive"}"#)),
    ]
}

@Suite struct EventRulesTests {
    @Test func `an event that a later version adds is held against its table`() {
        func breaches(_ text: String) -> [String] {
            RuleChecker.check("1 app> \(text)", contract: ContractTests.invented).breaches
                .map { "\($0.rule.id): \($0.text)" }
        }
        #expect(
            breaches(#"{"id":"phone_battery","method":"phone_battery","data":{"level":0.5}}"#)
                == [])
        #expect(
            breaches(#"{"id":"phone_battery","method":"phone_battery","data":{"level":"full"}}"#)
                == [
                    #"event-data-types: "phone_battery": data.level is a string, not a number"#
                ])
        #expect(
            breaches(#"{"id":"phone_battery","method":"phone_battery","data":{}}"#)
                == [#"event-data: "phone_battery": data.level is missing"#])
    }
}
