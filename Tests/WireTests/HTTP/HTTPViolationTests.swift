import Testing
import Wire

@Suite struct HTTPViolationTests {
    private func judgeRequest(_ text: String) -> [HTTPViolation.Rule] {
        guard case .head(let head, _)? = HTTPReading(wire(text), .requests).steps.first else {
            Issue.record("no head")
            return []
        }
        return HTTPViolation.judge(head).map(\.rule)
    }

    private func judgeResponse(_ text: String, to request: HTTPHead? = nil) -> [HTTPViolation.Rule]
    {
        let method = request?.method.map { [$0] } ?? []
        guard
            case .head(let head, _)? =
                HTTPReading(wire(text), .responses, expecting: method).steps.first
        else {
            Issue.record("no head")
            return []
        }
        return HTTPViolation.judge(head, to: request).map(\.rule)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET http://a/b?c HTTP/1.1\nHost: a:8080\nX:  odd spaces \t\nEmpty:\n\n",
        "OPTIONS * HTTP/1.1\nHost:\n\n",
        "CONNECT a:443 HTTP/1.1\nHost: a:443\n\n",
        "GET / HTTP/1.0\n\n",
        "POST / HTTP/1.1\nHost: [::1]:80\nTransfer-Encoding: gzip, chunked\n\n",
        "POST / HTTP/1.1\nHost: a\nContent-Length: 1, 1\n\n",
        "GET / HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket\n\n",
    ])
    func `a request in order is not complained about`(_ text: String) {
        #expect(judgeRequest(text) == [])
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\n\n", [.missingHost]),
            ("GET / HTTP/1.1\nHost: a\nhost: a\n\n", [.severalHosts]),
            ("GET / HTTP/1.1\nHost: a, b\n\n", [.invalidHost]),
            ("GET / HTTP/1.1\nHost: a/b\n\n", [.invalidHost]),
            ("GET / HTTP/1.1\nHost: a\u{b}\n", [.bareLineFeed]),
            ("\nGET / HTTP/1.1\nHost: a\n\n", [.emptyLineBeforeStart]),
            ("GET  / HTTP/1.1\nHost: a\n\n", [.startLineForm]),
            ("GET / http/1.1\nHost: a\n\n", [.startLineForm]),
            ("GET /a b HTTP/1.1\nHost: a\n\n", [.invalidTarget]),
            ("GET * HTTP/1.1\nHost: a\n\n", [.invalidTarget]),
            ("GET a:80 HTTP/1.1\nHost: a\n\n", [.invalidTarget]),
            ("GET / HTTP/2.0\n\n", [.unsupportedVersion]),
            ("GET / HTTP/1.x\nHost: a\n\n", [.unsupportedVersion]),
            ("GET /\n\n", [.startLineForm, .unsupportedVersion]),
            ("GET / HTTP/1.1\n A: b\nHost: a\n\n", [.spaceBeforeFirstField, .invalidFieldName]),
            ("GET / HTTP/1.1\nHost: a\nfoo\n\n", [.missingColon]),
            ("GET / HTTP/1.1\nHost: a\nA : b\n\n", [.spaceBeforeColon]),
            ("GET / HTTP/1.1\nHost: a\na b: c\n\n", [.invalidFieldName]),
            ("GET / HTTP/1.1\nHost: a\n: c\n\n", [.invalidFieldName]),
            ("GET / HTTP/1.1\nHost: a\nA: b\n c\n\n", [.foldedField]),
            ("GET / HTTP/1.1\nHost: a\nA: b\0\n\n", [.invalidFieldValue]),
            ("GET / HTTP/1.1\nHost: a\nA: b\rc\n\n", [.invalidFieldValue]),
            ("GET / HTTP/1.1\nHost: a\nA: b\rc \n\n", [.bareCarriageReturn, .invalidFieldValue]),
            ("PUT / HTTP/1.1\nHost: a\nContent-Length: x\n\n", [.invalidLength]),
            ("PUT / HTTP/1.1\nHost: a\nContent-Length: +1\n\n", [.invalidLength]),
            (
                "PUT / HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2\n\n",
                [.contradictoryLengths]
            ),
            (
                "PUT / HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked\n\n",
                [.lengthAndCoding]
            ),
            ("PUT / HTTP/1.0\nTransfer-Encoding: chunked\n\n", [.codingInOldVersion]),
            ("PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: gzip\n\n", [.codingNotChunkedLast]),
            ("PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked, chunked\n\n", [.chunkedTwice]),
            ("PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: x, chunked\n\n", [.unknownCoding]),
            ("GET / HTTP/1.1\nHost: a\nUpgrade: websocket\n\n", [.upgradeWithoutConnection]),
        ] as [(String, [HTTPViolation.Rule])])
    func `what is wrong with a request is told, and nothing else`(
        _ text: String, _ expected: [HTTPViolation.Rule]
    ) {
        #expect(judgeRequest(text) == expected)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\nContent-Length: 0\n\n", nil, []),
            ("HTTP/1.1 304 \nContent-Length: 9\n\n", nil, []),
            ("HTTP/1.1 200 OK\nContent-Length: 9\n\n", requestHead("HEAD"), []),
            ("HTTP/1.1 204 \nContent-Length: 0\n\n", nil, [.lengthWithoutBody]),
            ("HTTP/1.1 204 \nTransfer-Encoding: chunked\n\n", nil, [.codingWithoutBody]),
            (
                "HTTP/1.1 200 \nContent-Length: 1\n\n", requestHead("CONNECT", "a:1"),
                [.lengthWithoutBody]
            ),
            ("HTTP/1.1 600 \n\n", nil, [.invalidStatus]),
            ("HTTP/1.1 200\n\n", nil, [.startLineForm]),
            ("HTTP/1.1 101 \n\n", nil, [.missingUpgrade]),
            ("HTTP/1.1 101 \nUpgrade: a\nConnection: upgrade\n\n", nil, []),
            ("HTTP/1.1 426 \nConnection: upgrade\n\n", nil, [.missingUpgrade]),
            ("HTTP/1.1 405 \n\n", nil, [.missingAllow]),
            ("HTTP/1.1 401 \n\n", nil, [.missingChallenge]),
            ("HTTP/1.1 100 \n\n", requestHead("PUT", version: "1.0", []), [.interimToOldVersion]),
            (
                "HTTP/1.1 200 \nTransfer-Encoding: chunked\n\n",
                requestHead("GET", version: "1.0", []),
                [.codingInOldVersion]
            ),
            ("HTTP/1.1 200 \nTransfer-Encoding: gzip\n\n", nil, []),
        ] as [(String, HTTPHead?, [HTTPViolation.Rule])])
    func `what is wrong with a response is told, and nothing else`(
        _ text: String, _ request: HTTPHead?, _ expected: [HTTPViolation.Rule]
    ) {
        #expect(judgeResponse(text, to: request) == expected)
    }

    @Test(
        arguments: [
            ("5\n", true, []), ("\n5\n", false, []), ("0005;a=b;c = \"d;\\\"e\"\n", true, []),
            ("5 ;a\n", true, []), ("5\u{b}", true, [.bareLineFeed]),
            ("\u{b}5\n", false, [.bareLineFeed]),
            ("5 \n", true, [.chunkLineForm]), ("5;\n", true, [.chunkLineForm]),
            ("5;a=\n", true, [.chunkLineForm]), ("5;a=\"b\n", true, [.chunkLineForm]),
            ("5;a\rb\n", true, [.bareCarriageReturn, .chunkLineForm]),
        ] as [(String, Bool, [HTTPViolation.Rule])])
    func `chunk lines are held against the grammar`(
        _ line: String, _ isFirst: Bool, _ expected: [HTTPViolation.Rule]
    ) {
        #expect(
            HTTPViolation.judge(chunkLine: wire(line), isFirst: isFirst).map(\.rule) == expected)
    }

    @Test func `fields that frame a message are no trailers`() {
        let lines = [FieldLine("X", "1"), FieldLine("content-length", "1")]
        #expect(
            HTTPViolation.judge(trailers: lines, raw: nil)
                == [HTTPViolation(.forbiddenTrailer, "content-length")])
        #expect(
            HTTPViolation.judge(trailers: [FieldLine("X", "1")], raw: wire("X:1\u{b}\n")).map(
                \.rule)
                == [.bareLineFeed])
    }

    @Test func `a version that is not spoken is refused as such`() {
        let violations = [HTTPViolation(.missingHost), HTTPViolation(.unsupportedVersion, "2.0")]
        #expect(violations.firstRefusal?.status == 505)
        #expect([HTTPViolation(.bareLineFeed)].firstRefusal == nil)
        #expect(
            [HTTPViolation(.bareLineFeed), HTTPViolation(.missingHost)].firstRefusal?.status == 400)
    }

    @Test func `every rule has a section and a sentence`() {
        for rule in HTTPViolation.Rule.allCases {
            #expect(rule.section.hasPrefix("RFC 911"))
            #expect(!rule.sentence.isEmpty && !rule.sentence.hasSuffix("."))
        }
        #expect(HTTPViolation(.invalidHost, "a,b").text.hasSuffix("port: a,b"))
    }
}
