import Capture
import Testing
import Wire

@testable import PhoneBridge

extension RuleCase {
    /// A head that is not canonical, and one nearly like it.
    private static func request(
        _ rule: String, _ breaks: String, _ close: String = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
    ) -> RuleCase {
        RuleCase(
            rule, breaks: "0 app> wire-end \(coded(breaks))", close: "0 app> wire \(coded(close))")
    }

    /// A response to a GET, and one nearly like it.
    private static func response(
        _ rule: String, to request: String = "GET /x", _ breaks: String,
        _ close: String = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    ) -> RuleCase {
        RuleCase(
            rule,
            breaks: "0 app> \(request)\n1 board> wire-end \(coded(breaks))",
            close: "0 app> \(request)\n1 board> wire \(coded(close))")
    }

    private static func coded(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static let http: [RuleCase] = [
        request("http-bare-line-feed", "GET /x HTTP/1.1\nHost: a\r\n\r\n"),
        request("http-bare-carriage-return", "GET /x HTTP/1.1\r\nHost: a\r\nA: b\rc \r\n\r\n").with(
            "http-invalid-field-value"),
        request("http-empty-line-before-start", "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        request("http-start-line-form", "GET  /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        RuleCase(
            "http-invalid-method", breaks: "0 app> method=G@T /x", close: "0 app> method=G'T /x"),
        request("http-invalid-target", "GET x HTTP/1.1\r\nHost: a\r\n\r\n"),
        request(
            "http-unsupported-version", "GET /x HTTP/3.0\r\nHost: a\r\n\r\n",
            "GET /x HTTP/1.0\r\nHost: a\r\n\r\n"),
        response("http-invalid-status", "HTTP/1.1 600 x\r\nContent-Length: 0\r\n\r\n"),
        request(
            "http-space-before-first-field", "GET /x HTTP/1.1\r\n A: b\r\nHost: a\r\n\r\n"
        ).with(
            "http-invalid-field-name"),
        request("http-missing-colon", "GET /x HTTP/1.1\r\nHost: a\r\nA\r\n\r\n"),
        request("http-space-before-colon", "GET /x HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n"),
        request("http-invalid-field-name", "GET /x HTTP/1.1\r\nHost: a\r\nA@: b\r\n\r\n"),
        request("http-folded-field", "GET /x HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n"),
        request("http-invalid-field-value", "GET /x HTTP/1.1\r\nHost: a\r\nA: \u{1}\r\n\r\n"),
        request(
            "http-missing-host", "GET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n"),
        request("http-several-hosts", "GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        request("http-invalid-host", "GET /x HTTP/1.1\r\nHost: a, b\r\n\r\n"),
        response("http-invalid-length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        response(
            "http-contradictory-lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
        response(
            "http-length-and-coding",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        response(
            "http-length-without-body", "HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 304 x\r\nContent-Length: 0\r\n\r\n"),
        response(
            "http-coding-without-body",
            "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
        response(
            "http-coding-in-old-version", to: "version=1.0 GET /x",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        request(
            "http-coding-not-chunked-last",
            "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
        response(
            "http-chunked-twice",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        response(
            "http-unknown-coding",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: lzma, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        request(
            "http-upgrade-without-connection",
            "GET /x HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"),
        response("http-missing-upgrade", "HTTP/1.1 426 x\r\nContent-Length: 0\r\n\r\n"),
        response(
            "http-missing-allow", "HTTP/1.1 405 x\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 405 x\r\nContent-Length: 0\r\nAllow: GET\r\n\r\n"),
        response("http-missing-challenge", "HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n"),
        response(
            "http-interim-to-old-version", to: "version=1.0 GET /x",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
        response(
            "http-chunk-line-form",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;=\r\nx\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n01;a=b\r\nx\r\n0\r\n\r\n"),
        response(
            "http-forbidden-trailer",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nDigest: a\r\n\r\n"),
        RuleCase(
            "http-incomplete",
            breaks: "0 app> cut POST /x abc\n0 app fin", close: "0 app> POST /x abc\n0 app fin"),
        RuleCase(
            "http-other-protocol", breaks: "0 app> wire 1603010000", close: "0 app> GET /x"),
    ]

    /// The same, where the first session cannot but break other rules too.
    fileprivate func with(_ rules: String...) -> RuleCase {
        var row = self
        row.others = Set(rules)
        return row
    }
}

@Suite struct HTTPRulesTests {
    @Test func `there is a rule for each kind of violation`() {
        #expect(HTTPRules.rules.count == HTTPViolation.Rule.allCases.count)
        #expect(HTTPRules.id(of: .missingAllow) == "http-missing-allow")
        for rule in HTTPRules.rules { #expect(rule.section.hasPrefix("RFC 9")) }
    }

    @Test func `what a tool sends is nobody's concern`() {
        let script = """
            0  app> POST /api/phone-bridge/commands <!Host> {"command":{"id":"a"}}
            1  #2 app> GET /api/phone-bridge/status <!Host>
            """
        #expect(
            RuleChecker.check(script).breaches.map { "\($0.rule.id) \($0.conn)" } == [
                "http-missing-host 2"
            ])
    }

    @Test func `bytes behind a hole may be anything`() {
        let script = """
            0  open
            1  gap app
            2  app> wire 1603010000
            """
        #expect(RuleChecker.check(script).breaches.map(\.rule.id) == [])
    }
}
