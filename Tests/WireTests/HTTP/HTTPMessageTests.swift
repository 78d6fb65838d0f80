import Testing
import Wire

@Suite struct HTTPMessageTests {
    private func response(
        _ message: HTTPMessage, to request: HTTPHead = requestHead()
    ) -> (text: String, keepsAlive: Bool) {
        let (bytes, keepsAlive) = message.encodedResponse(to: request, maximumPlainBody: 4)
        return (String(decoding: bytes, as: UTF8.self), keepsAlive)
    }

    private func text(_ text: String) -> String { String(decoding: wire(text), as: UTF8.self) }

    @Test(arguments: [
        ("plain", "GET", "1.1", "abcd", "HTTP/1.1 200 OK\nContent-Length: 4\n\nabcd", true),
        (
            "chunked", "GET", "1.1", "abcde",
            "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nabcde\n0\n\n", true
        ),
        (
            "HTTP/1.0", "GET", "1.0", "abcd",
            "HTTP/1.0 200 OK\nContent-Length: 4\nConnection: close\n\nabcd", false
        ),
        (
            "HTTP/1.0, long", "GET", "1.0", "abcde", "HTTP/1.0 200 OK\nConnection: close\n\nabcde",
            false
        ),
        ("HEAD", "HEAD", "1.1", "abcd", "HTTP/1.1 200 OK\nContent-Length: 4\n\n", true),
        (
            "HEAD, long", "HEAD", "1.1", "abcde", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
            true
        ),
        ("empty", "GET", "1.1", "", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", true),
    ])
    func `a response is framed for its request`(
        _ id: String, _ method: String, _ version: String, _ body: String, _ expected: String,
        _ isKept: Bool
    ) {
        let message = HTTPMessage.response(200, body: Bytes(body.utf8))
        let (bytes, keepsAlive) = response(message, to: requestHead(method, version: version))
        #expect(bytes == text(expected))
        #expect(keepsAlive == isKept)
    }

    @Test func `HTTP/1.0 is kept alive when it asks for it and the length is known`() {
        let request = requestHead(version: "1.0", [("Connection", "keep-alive")])
        let short = response(.response(200, body: [0x61]), to: request)
        #expect(
            short.text == text("HTTP/1.0 200 OK\nContent-Length: 1\nConnection: keep-alive\n\na"))
        #expect(short.keepsAlive)
        let long = response(.response(200, body: Bytes(repeating: 0x61, count: 5)), to: request)
        #expect(long.text == text("HTTP/1.0 200 OK\nConnection: close\n\naaaaa"))
        #expect(!long.keepsAlive)
    }

    @Test func `a request or response that says close ends the connection`() {
        let asked = response(
            .response(204), to: requestHead("GET", "/", [("Connection", "close")]))
        #expect(asked.text == text("HTTP/1.1 204 No Content\nConnection: close\n\n"))
        #expect(!asked.keepsAlive)
        let said = response(.response(200, fieldLines: [FieldLine("Connection", "close")]))
        #expect(said.text == text("HTTP/1.1 200 OK\nConnection: close\nContent-Length: 0\n\n"))
        #expect(!said.keepsAlive)
    }

    @Test func `204 and 304 have neither length nor body`() {
        #expect(response(.response(204, body: [1])).text == text("HTTP/1.1 204 No Content\n\n"))
        #expect(response(.response(304)).text == text("HTTP/1.1 304 Not Modified\n\n"))
    }

    @Test func `a framing that the head declares is kept, also a wrong one`() {
        let wrong = HTTPMessage.response(
            200, fieldLines: [FieldLine("Content-Length", "9")], body: [0x61])
        #expect(response(wrong).text == text("HTTP/1.1 200 OK\nContent-Length: 9\n\na"))
        let chunked = HTTPMessage.response(
            200, fieldLines: [FieldLine("Transfer-Encoding", "chunked")], body: [0x61])
        #expect(
            response(chunked).text
                == text("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\na\n0\n\n"))
    }

    @Test func `a request gets a length where it has a body or its method expects one`() {
        func request(_ message: HTTPMessage) -> String {
            let (head, body) = message.encodedRequest()
            return String(decoding: head + body, as: UTF8.self)
        }
        #expect(
            request(.request("GET", "/a", host: "b"))
                == text("GET /a HTTP/1.1\nHost: b\n\n"))
        #expect(
            request(.request("POST", "/a", host: "b"))
                == text("POST /a HTTP/1.1\nHost: b\nContent-Length: 0\n\n"))
        #expect(
            request(.request("GET", "/a", body: [0x61]))
                == text("GET /a HTTP/1.1\nContent-Length: 1\n\na"))
        let chunked = HTTPMessage.request(
            "POST", "/", fieldLines: [FieldLine("Transfer-Encoding", "chunked")], body: [0x61])
        #expect(
            request(chunked)
                == text("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n1\na\n0\n\n"))
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (1_796_015_468, "Mon, 30 Nov 2026 05:11:08 GMT"),
            (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `dates are written and read as the RFC has them`(_ seconds: Int64, _ expected: String) {
        #expect(HTTPDate.format(secondsSince1970: seconds) == expected)
        #expect(HTTPDate.parse(expected) == min(max(seconds, -62_167_219_200), 253_402_300_799))
    }
}
