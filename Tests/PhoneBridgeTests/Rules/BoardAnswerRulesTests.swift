import PhoneBridge
import Testing

extension RuleCase {
    private static let json = "<Content-Type: application/json>"
    private static let text = "<Content-Type: text/plain; charset=utf-8>"

    /// The answer to a request, broken and nearly so.
    private static func answer(
        _ rule: String, _ about: String = "", to request: String, breaks: String, close: String
    ) -> RuleCase {
        RuleCase(
            rule, about, breaks: "0 app> \(request)\n0 board> \(breaks)",
            close: "0 app> \(request)\n0 board> \(close)")
    }

    private static let enqueuing =
        #"POST /api/phone-bridge/commands {"command":{"id":"a","type":"clipboard_read"}}"#
    private static let polling = "GET /api/phone-bridge/commands?platform=ios"
    private static let posting =
        #"POST /api/phone-bridge/results {"id":"a","data":{"text":""}}"#
    private static let asking = "GET /api/phone-bridge/results/a"
    private static let accepted =
        #"202 {"command_id":"a","status":"queued","queued_at":"2026-06-10T03:20:05Z"}"#

    static let boardAnswers: [RuleCase] = [
        answer(
            "board-json", to: asking, breaks: #"200 \#(json) {"command_id":"a""#,
            close: #"200 \#(json) {"command_id":"a","status":"queued"}"#),
        answer(
            "board-error-json", to: enqueuing, breaks: #"409 \#(text) {"error":"a "b" c"}"#,
            close: #"409 \#(text) {"error":"a \"b\" c"}"#),
        answer(
            "board-times", to: polling,
            breaks: #"200 {"commands":null,"server_time":"2026-06-10 03:20:05"}"#,
            close: #"200 {"commands":null,"server_time":"2026-06-10T03:20:05+08:00"}"#),
        answer(
            "board-times", "without an offset", to: enqueuing,
            breaks: accepted.replacing("05Z", with: "05"), close: accepted),
        answer(
            "enqueue-answer", to: enqueuing,
            breaks: accepted.replacing("queued\",", with: "new\","),
            close: accepted),
        answer(
            "poll-answer", to: polling, breaks: #"200 {"commands":7}"#,
            close: #"200 {"commands":null}"#),
        answer(
            "poll-answer", "the other revision", to: polling, breaks: #"200 """#, close: "200 []"),
        answer(
            "result-answer", to: posting, breaks: #"200 {"status":"ok"}"#,
            close: #"200 {"status":"acknowledged"}"#),
        answer(
            "query-answer", to: asking, breaks: #"200 {"command_id":"a","status":"gone"}"#,
            close: #"200 {"command_id":"a","status":"expired"}"#),
        answer(
            "query-answer", "another id", to: asking,
            breaks: #"200 {"command_id":"b","status":"queued"}"#,
            close: #"200 {"command_id":"a","status":"queued"}"#),
        answer(
            "query-answer", "no result", to: asking,
            breaks: #"200 {"command_id":"a","status":"completed"}"#,
            close: #"200 {"command_id":"a","status":"completed","result":{"id":"a"}}"#),
        answer(
            "board-refuses-bad-body",
            to: #"POST /api/phone-bridge/commands {"command":{"type":"x"}}"#,
            breaks: accepted, close: "400 no"),
        answer(
            "board-refuses-bad-body", "no JSON", to: "POST /api/phone-bridge/results nothing",
            breaks: #"200 {"status":"acknowledged"}"#, close: "400 no"),
        answer("board-status-codes", to: polling, breaks: "204", close: "200 []"),
        answer("board-status-codes", "enqueue", to: enqueuing, breaks: "201 {}", close: "409 no"),
    ]
}

@Suite struct BoardAnswerRulesTests {
    @Test func `what is in doubt is not held against the board`() {
        let rows = [
            // Limits and trouble of its own.
            "0 app> GET /api/phone-bridge/commands?platform=ios\n0 board> 503 busy",
            // A type that one board takes and another does not.
            """
            0 app> POST /api/phone-bridge/commands {"command":{"id":"a","type":"open_app","app":7}}
            0 board> 400 no
            """,
            """
            0 app> POST /api/phone-bridge/results {"id":"a","error":{"category":1}}
            0 board> 400 no
            """,
            // Compressed.
            """
            0 app> GET /api/phone-bridge/results/a
            0 board> 200 <Content-Type: application/json> <Content-Encoding: gzip> x
            """,
            // Nested deeper than anything that is read here.
            """
            0 app> GET /api/phone-bridge/results/a
            0 board> 500 <Content-Type: application/json> \(String(repeating: "[", count: 600))
            """,
        ]
        for script in rows {
            let found = RuleChecker.check(script).breaches.filter {
                $0.rule.id.hasPrefix("board-")
            }
            #expect(found.map(\.rule.id) == [], "\(script)")
        }
    }
}
