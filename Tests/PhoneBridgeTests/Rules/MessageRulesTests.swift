import PhoneBridge
import Testing

extension RuleCase {
    static let message: [RuleCase] = [
        RuleCase(
            "message-object", "an array",
            breaks: "1 app> [1]",
            close: #"1 app> {"id":"heartbeat"}"#),
        RuleCase(
            "message-object", "broken JSON",
            breaks: #"1 app> {"id":"heartbeat""#,
            close: #"1 app> { "id" : "heartbeat" } "#),
        RuleCase(
            "message-known", breaks: #"1 board> {"hello":1}"#,
            close: #"1 board> {"ID":"c1","type":"clipboard_read","id":"c1"}"#),
        RuleCase(
            "message-object", "a posted result",
            breaks: #"1 app> POST /api/phone-bridge/results "c1""#,
            close: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"c1","type":"clipboard_read"}]}
                2    app> POST /api/phone-bridge/results {"id":"c1","data":{"text":""}}
                """),
    ]
}

@Suite struct MessageRulesTests {
    @Test func `a message that is nested too deep to read is not judged`() {
        let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        #expect(RuleChecker.check(#"1 app> {"id":"heartbeat","x":\#(deep)}"#).breaches.isEmpty)
    }

    @Test func `the breach says what is wrong with the JSON`() {
        #expect(
            RuleChecker.check(#"1 app> {"id":x}"#).breaches.map(\.text) == [
                "the message is no JSON object: byte 6 of the JSON is \"x\", where a value is "
                    + "expected"
            ])
    }
}
