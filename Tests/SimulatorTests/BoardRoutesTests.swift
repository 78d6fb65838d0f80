import Simulator
import Testing
import Wire

@Suite struct BoardRoutesTests {
    /// A request of the observed board's error capture, and what it was answered with.
    struct Row: CustomTestStringConvertible {
        let method: String
        let target: String
        let body: String
        let status: Int
        /// The whole body, or its beginning where the observed words are an implementation's own.
        let answer: String

        var testDescription: String { "\(method) \(target) \(body)" }

        init(_ method: String, _ target: String, _ body: String, _ status: Int, _ answer: String) {
            (self.method, self.target, self.body) = (method, target, body)
            (self.status, self.answer) = (status, answer)
        }
    }

    static let rows = [
        Row("POST", "commands", "not json", 400, "{\"error\":\"Invalid request: "),
        Row(
            "POST", "commands", "{\"command\":{\"id\":\"d2\"", 400, "{\"error\":\"Invalid request: "
        ),
        Row("POST", "commands", "", 400, "{\"error\":\"Invalid request: "),
        Row("POST", "commands", "[]", 400, "{\"error\":\"Invalid request: "),
        Row("POST", "commands", "{\"command\":[]}", 400, "{\"error\":\"Invalid request: "),
        Row(
            "POST", "commands", "{\"command\":{\"id\":5,\"type\":\"clipboard_read\"}}", 400,
            "{\"error\":\"Invalid request: command.id is a number where a string was expected\"}\n"),
        Row(
            "POST", "commands", "{\"command\":{\"id\":\"d3\",\"timeout_ms\":\"5000\"}}", 400,
            "{\"error\":\"Invalid request: "),
        Row(
            "POST", "commands", "{\"command\":{\"id\":\"d3\"}} x", 400,
            "{\"error\":\"Invalid request: "),
        Row(
            "POST", "commands", "{\"command\":{\"id\":\"\",\"type\":\"clipboard_read\"}}", 400,
            "{\"error\":\"command ID must not be empty\"}\n"),
        Row("POST", "commands", "{}", 400, "{\"error\":\"command ID must not be empty\"}\n"),
        Row(
            "POST", "commands", "{\"command\":{\"id\":\"\\ud800\"}}", 400,
            "{\"error\":\"Invalid request: "),
        Row(
            "POST", "results", "{\"id\":\"\"}", 400, "{\"error\":\"result ID must not be empty\"}\n"
        ),
        Row("POST", "results", "{}", 400, "{\"error\":\"result ID must not be empty\"}\n"),
        Row(
            "POST", "results", "{\"id\":\"d1\",\"error\":\"text\"}", 400,
            "{\"error\":\"Invalid request: error is a string where an object was expected\"}\n"),
        Row(
            "POST", "results", "{\"id\":\"d1\",\"error\":null}", 400,
            "{\"error\":\"Invalid request: "),
        Row(
            "POST", "results", "{\"id\":\"ghost\"}", 404,
            "{\"error\":\"command ghost not found\"}\n"),
        Row("GET", "commands", "", 400, "{\"error\":\"platform parameter required\"}\n"),
        Row("GET", "commands?platform=", "", 400, "{\"error\":\"platform parameter required\"}\n"),
        Row("DELETE", "commands", "", 405, "{\"error\":\"Method not allowed\"}\n"),
        Row("PUT", "results", "{}", 405, "{\"error\":\"Method not allowed\"}\n"),
        Row("GET", "results", "", 405, "{\"error\":\"Method not allowed\"}\n"),
        Row("POST", "results/d1", "{}", 405, "{\"error\":\"Method not allowed\"}\n"),
        Row("GET", "results/", "", 400, "{\"error\":\"command_id required\"}\n"),
        Row(
            "GET", "results/never-was", "", 200,
            "{\"command_id\":\"never-was\",\"status\":\"expired\"}\n"),
        Row("GET", "commands/d1", "", 404, "404 page not found\n"),
        Row("GET", "status/", "", 404, "404 page not found\n"),
        Row("POST", "status", "{}", 405, "Method not allowed\n"),
        Row(
            "GET", "results//d1", "", 307,
            "<a href=\"/api/phone-bridge/results/d1\">Temporary Redirect</a>.\n\n"),
        Row(
            "GET", "../phone-bridge/status?a=b", "", 307,
            "<a href=\"/api/phone-bridge/status?a=b\">"),
    ]

    @Test(arguments: rows)
    func `each request of the error capture is answered as observed, but for Allow`(_ row: Row) {
        var bench = BoardBench()
        let answer = bench.request(row.method, "/api/phone-bridge/" + row.target, row.body)
        #expect(answer.status == row.status)
        #expect(answer.text.hasPrefix(row.answer))
        if row.answer.hasSuffix("\n") { #expect(answer.text == row.answer) }
        if row.answer.hasPrefix("{\"error\"") {
            #expect(answer.fieldLines.first("Content-Type") == "text/plain; charset=utf-8")
            #expect(answer.fieldLines.first("X-Content-Type-Options") == "nosniff")
            #expect(answer.json["error"]?.stringValue != nil)
        }
        // As RFC 9110 §15.5.6 asks; the observed board leaves it out.
        #expect(answer.fieldLines.has("Allow") == (row.status == 405))
        #expect(answer.fieldLines.first("Date") == "Wed, 10 Jun 2026 03:20:05 GMT")
        #expect(bench.statusDocument == json(#"{"connected":false}"#), "nothing changed")
    }

    @Test func `a redirect names the clean path`() {
        var bench = BoardBench()
        let answer = bench.get("/api/phone-bridge/results//d1?x=1")
        #expect(answer.fieldLines.first("Location") == "/api/phone-bridge/results/d1?x=1")
    }

    @Test func `no error text names types or paths of the implementation`() {
        var bench = BoardBench()
        for row in Self.rows {
            let text = bench.request(row.method, "/api/phone-bridge/" + row.target, row.body).text
            for word in ["Swift", "Simulator", "Optional", "FieldError", ".swift"] {
                #expect(!text.contains(word))
            }
        }
    }

    @Test func `a foreign page reaches neither the queue nor the simulation`() {
        var bench = BoardBench()
        let foreign = [FieldLine("Origin", "http://evil.example")]
        let own = [FieldLine("Origin", "http://192.168.42.1:8080")]
        let body = #"{"command":{"id":"c"}}"#
        #expect(
            bench.request("POST", "/api/phone-bridge/commands", body, fieldLines: foreign).status
                == 403)
        #expect(
            bench.request(
                "GET", "/api/phone-bridge/commands?platform=ios", fieldLines: foreign
            ).status == 403)
        #expect(bench.status(of: "c") == "expired")
        #expect(
            bench.request("POST", "/api/phone-bridge/commands", body, fieldLines: own).status == 202
        )
        let simulated = #"{"id":"s","type":"clipboard_read"}"#
        #expect(
            bench.request("POST", "/simulate/command", simulated, fieldLines: own).status == 403)
        #expect(
            bench.request("POST", "/simulate/command", simulated, isFromLoopback: false).status
                == 403)
        #expect(bench.get("/simulate/command").status == 405)
        #expect(bench.post("/simulate/command", "{}").status == 400)
        #expect(bench.post("/simulate/command", "nonsense").status == 400)
    }

    @Test func `markup in answers is escaped as the observed board does`() {
        var bench = BoardBench()
        let answer = bench.enqueue(#"{"id":"<a&b>"}"#)
        #expect(answer.text.hasPrefix(#"{"command_id":"\u003ca\u0026b\u003e","status":"queued","#))
    }
}
