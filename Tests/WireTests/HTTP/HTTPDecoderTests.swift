import Testing
import Wire

@Suite struct HTTPDecoderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var id: String
        var input: Bytes
        var role: HTTPDecoder.Role
        var methods: [String]
        var expected: String
        var testDescription: String { id }

        /// A row of requests.
        init(_ id: String, _ input: Bytes, _ expected: String) {
            self.init(id, input, .requests, expected)
        }

        init(
            _ id: String, _ input: Bytes, _ role: HTTPDecoder.Role, to methods: [String] = [],
            _ expected: String
        ) {
            self.id = id
            self.input = input
            self.role = role
            self.methods = methods
            self.expected = expected
        }
    }

    static let requests: [Row] = [
        Row(
            "the example of RFC 9112 section 2.1",
            wire("GET /hello.txt HTTP/1.1\nUser-Agent: curl/7.64.1\nHost: www.example.com\n\n"),
            "GET(/hello.txt)1.1[none] end"),
        Row(
            "length", wire("POST /a HTTP/1.1\nContent-Length: 5\n\nhello"),
            "POST(/a)1.1[length(5)] \"hello\" end"),
        Row(
            "length zero", wire("POST /a HTTP/1.1\nContent-Length: 0\n\n"),
            "POST(/a)1.1[length(0)] end"),
        Row(
            "pipelined",
            wire("POST /a HTTP/1.1\nContent-Length: 2\n\nhiGET /b HTTP/1.1\n\nGET /c HTTP/1.1\n\n"),
            "POST(/a)1.1[length(2)] \"hi\" end GET(/b)1.1[none] end GET(/c)1.1[none] end"),
        Row(
            "empty lines before requests",
            wire("\n\nGET /a HTTP/1.1\n\n\u{b}GET /b HTTP/1.1\n\n"),
            "GET(/a)1.1*[none] end GET(/b)1.1*[none] end"),
        Row(
            "bare line feeds", wire("GET /a HTTP/1.1\u{b}Host: a\u{b}\u{b}"),
            "GET(/a)1.1*[none] end"),
        Row("spaces", wire("GET \t /a  HTTP/1.1 \n\n"), "GET(/a)1.1*[none] end"),
        Row("a target with a space", wire("GET /a b HTTP/1.1\n\n"), "GET(/a b)1.1[none] end"),
        Row("no target", wire("GET HTTP/1.1\n\n"), "GET()1.1*[none] end"),
        Row("an empty target", wire("GET  HTTP/1.1\n\n"), "GET()1.1[none] end"),
        Row("small letters", wire("get / http/1.1\n\n"), "get(/)1.1*[none] end"),
        Row("HTTP/1.0", wire("GET / HTTP/1.0\n\n"), "GET(/)1.0[none] end"),
        Row("HTTP/0.9", wire("GET /\n\n"), "GET(/)0.9*[none] end"),
        Row("another version", wire("GET / HTTP/3.x7\n\n"), "GET(/)3.x7[none] end"),
        Row(
            "equal lengths",
            wire("PUT / HTTP/1.1\nContent-Length: 3, 3\nContent-Length: 003\n\nabc"),
            "PUT(/)1.1[length(3)] \"abc\" end"),
        Row(
            "different lengths: nobody knows the end",
            wire("PUT / HTTP/1.1\nContent-Length: 3\nContent-Length: 4\n\nabcGET / HTTP/1.1\n\n"),
            "PUT(/)1.1[close] \"abcGET / HTTP/1.1\r\n\r\n\" | end"),
        Row(
            "a negative length", wire("PUT / HTTP/1.1\nContent-Length: -1\n\nabc"),
            "PUT(/)1.1[close] \"abc\" | end"),
        Row(
            "a length of over 64 bits",
            wire("PUT / HTTP/1.1\nContent-Length: 18446744073709551616\n\nabc"),
            "PUT(/)1.1[close] \"abc\" | end"),
        Row(
            "the largest length",
            wire("PUT / HTTP/1.1\nContent-Length: 18446744073709551615\n\nabc"),
            "PUT(/)1.1[length(18446744073709551615)] \"abc\""),
        Row(
            "CL.TE: the coding wins",
            wire("POST / HTTP/1.1\nContent-Length: 6\nTransfer-Encoding: chunked\n\n0\n\nG"),
            "POST(/)1.1[chunked] chunk0 trailers() end "
                + "| undecodable(1: a head cut short by the end of the connection)"),
        Row(
            "TE.TE: the last coding counts",
            wire(
                "POST / HTTP/1.1\nTransfer-Encoding: chunked\nTransfer-Encoding: identity\n\nab"),
            "POST(/)1.1[close] \"ab\" | end"),
        Row(
            "a coding with white space before its colon is another field",
            wire("POST / HTTP/1.1\nTransfer-Encoding : chunked\nContent-Length: 1\n\n0"),
            "POST(/)1.1[length(1)] \"0\" end"),
        Row(
            "gzip, chunked", wire("POST / HTTP/1.1\nTransfer-Encoding: gzip, Chunked\n\n0\n\n"),
            "POST(/)1.1[chunked] chunk0 trailers() end"),
        Row(
            "chunked",
            wire(
                "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n5\nhello\nA;x=\"y\"\n0123456789\n0\n\n"
            ),
            "POST(/)1.1[chunked] chunk5 \"hello\" chunk10 \"0123456789\" chunk0 trailers() end"),
        Row(
            "chunked with trailers",
            wire(
                "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n1\na\n0\nX: 1\nY:2\n\nGET / HTTP/1.1\n\n"
            ),
            "POST(/)1.1[chunked] chunk1 \"a\" chunk0 trailers(X=1,Y=2)* end GET(/)1.1[none] end"),
        Row(
            "odd chunk lines",
            wire(
                "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n0003 \t\nabc\u{b}1;\u{b}d\n00\u{b}\u{b}"
            ),
            "POST(/)1.1[chunked] chunk3 \"abc\" chunk1 \"d\" chunk0 trailers()* end"),
        Row(
            "a chunk without a size",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\nhello\n"),
            "POST(/)1.1[chunked] undecodable(7: a chunk line without a size)"),
        Row(
            "a negative chunk", wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n-1\n"),
            "POST(/)1.1[chunked] undecodable(4: a chunk line without a size)"),
        Row(
            "a chunk in C's notation", wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n0x5\n"),
            "POST(/)1.1[chunked] undecodable(5: a chunk line with a broken size)"),
        Row(
            "a chunk of over 64 bits",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n10000000000000000\n"),
            "POST(/)1.1[chunked] undecodable(19: a chunk size of over 64 bits)"),
        Row(
            "the largest chunk",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\nffffFFFFffffFFFF\nab"),
            "POST(/)1.1[chunked] chunk18446744073709551615 \"ab\""),
        Row(
            "chunk data that is longer than its size",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n3\nhello\n0\n\n"),
            "POST(/)1.1[chunked] chunk3 \"hel\" undecodable(9: chunk data without its line end)"),
        Row(
            "a body cut short", wire("POST / HTTP/1.1\nContent-Length: 9\n\nhello"),
            "POST(/)1.1[length(9)] \"hello\""),
        Row(
            "a chunk line cut short",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n3\nabc\n"),
            "POST(/)1.1[chunked] chunk3 \"abc\" "
                + "| undecodable(2: a chunk line cut short by the end of the connection)"),
        Row(
            "trailers cut short",
            wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n0\nX: 1\n"),
            "POST(/)1.1[chunked] chunk0 "
                + "| undecodable(6: a trailer section cut short by the end of the connection)"),
        Row(
            "a head cut short", wire("GET / HTTP/1.1\nHost: a\n"),
            "| undecodable(25: a head cut short by the end of the connection)"),
        Row("nothing", [], ""),
    ]

    static let responses: [Row] = [
        Row(
            "length", wire("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"), .responses,
            "200(OK)1.1[length(2)] \"hi\" end"),
        Row(
            "until the close", wire("HTTP/1.0 200 OK\n\nhello"), .responses,
            "200(OK)1.0[close] \"hello\" | end"),
        Row(
            "an empty body until the close", wire("HTTP/1.1 200 OK\n\n"), .responses,
            "200(OK)1.1[close] | end"),
        Row(
            "no reason", wire("HTTP/1.1 204 \nA: b\n\n"), .responses, "204()1.1[none] end"),
        Row("no space", wire("HTTP/1.1 204\n\n"), .responses, "204()1.1*[none] end"),
        Row(
            "a reason with spaces", wire("HTTP/1.1 304  Not  Modified \n\n"), .responses,
            "304( Not  Modified )1.1[none] end"),
        Row(
            "sloppy", wire("http/1.1  0204\tNo\u{b}\u{b}"), .responses, "204(No)1.1*[none] end"),
        Row(
            "codes outside", wire("HTTP/1.1 099 x\nContent-Length: 0\n\n"), .responses,
            "99(x)1.1[length(0)] end"),
        Row(
            "interim responses use up no request",
            wire(
                "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nA: b\n\nHTTP/1.1 200 OK\nContent-Length: 7\n\nHTTP/1.1 200 OK\nContent-Length: 1\n\nx"
            ),
            .responses, to: ["HEAD", "GET"],
            "100(Continue)1.1[none] end 103(Early Hints)1.1[none] end 200(OK)1.1[none] end "
                + "200(OK)1.1[length(1)] \"x\" end"),
        Row(
            "HEAD, then GET",
            wire(
                "HTTP/1.1 200 OK\nContent-Length: 9\n\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\na\n0\n\n"
            ),
            .responses, to: ["HEAD", "GET"],
            "200(OK)1.1[none] end 200(OK)1.1[chunked] chunk1 \"a\" chunk0 trailers() end"),
        Row(
            "HEAD is not head", wire("HTTP/1.1 200 OK\nContent-Length: 1\n\na"), .responses,
            to: ["head"], "200(OK)1.1[length(1)] \"a\" end"),
        Row(
            "CONNECT opened", wire("HTTP/1.1 200 OK\nContent-Length: 3\n\n"), .responses,
            to: ["CONNECT"], "200(OK)1.1[none] end"),
        Row(
            "CONNECT refused", wire("HTTP/1.1 403 No\nContent-Length: 3\n\nabc"), .responses,
            to: ["CONNECT"], "403(No)1.1[length(3)] \"abc\" end"),
        Row(
            "304 with a length", wire("HTTP/1.1 304 x\nContent-Length: 3\n\nHTTP/1.1 204 y\n\n"),
            .responses, "304(x)1.1[none] end 204(y)1.1[none] end"),
        Row(
            "a coding other than chunked",
            wire("HTTP/1.1 200 OK\nTransfer-Encoding: gzip\nContent-Length: 1\n\nab"), .responses,
            "200(OK)1.1[close] \"ab\" | end"),
        Row(
            "different lengths", wire("HTTP/1.1 200 OK\nContent-Length: 1, 2\n\nab"), .responses,
            "200(OK)1.1[close] \"ab\" | end"),
        Row(
            "an empty line before", wire("\nHTTP/1.1 204 x\n\n"), .responses,
            "204(x)1.1*[none] end"),
    ]

    @Test(arguments: requests + responses)
    func `messages of every form are read to their steps`(_ row: Row) {
        let reading = HTTPReading(row.input, row.role, expecting: row.methods)
        #expect(reading.summary == row.expected)
        #expect(reading.encoded == row.input)
    }

    @Test(arguments: requests + responses)
    func `the cuts between reads change nothing`(_ row: Row) {
        let whole = HTTPReading(row.input, row.role, expecting: row.methods)
        for cut in 0...row.input.count {
            let parts = HTTPReading(row.input, row.role, cuts: [cut], expecting: row.methods)
            #expect(parts == whole, "cut at \(cut)")
        }
        let bytes = HTTPReading(
            row.input, row.role, cuts: Array(0...row.input.count), expecting: row.methods)
        #expect(bytes == whole)
    }

    @Test func `a switch finds the first byte of the other protocol`() {
        let head = wire("HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\n\n")
        let input = head + [0x81, 0x00]
        var decoder = HTTPDecoder(.responses)
        var position = 0
        guard case .head(let response, .none)? = decoder.next(input.span, at: &position) else {
            Issue.record("no head")
            return
        }
        #expect(response.isSwitchToWebSocket)
        #expect(position == head.count)
        #expect(decoder.next(input.span, at: &position) == .end)
        #expect(position == head.count)
        #expect(decoder.isIdle)
    }

    @Test func `a 101 leaves the method for the response behind it`() {
        let reading = HTTPReading(
            wire("HTTP/1.1 101 x\n\nHTTP/1.1 200 OK\nContent-Length: 5\n\n"), .responses,
            expecting: ["HEAD"])
        #expect(reading.summary == "101(x)1.1[none] end 200(OK)1.1[none] end")
    }

    @Test func `the tail holds an unfinished head and nothing else`() {
        var decoder = HTTPDecoder(.requests)
        let bytes = wire("GET / HTTP/1.1\nHost:")
        var position = 0
        #expect(decoder.isIdle)
        #expect(decoder.next(bytes.span, at: &position) == nil)
        #expect(position == bytes.count)
        #expect(decoder.tail == bytes)
        #expect(!decoder.isIdle)
        let rest = wire(" a\n\n")
        position = 0
        guard case .head? = decoder.next(rest.span, at: &position) else {
            Issue.record("no head")
            return
        }
        #expect(decoder.tail.isEmpty)
        #expect(!decoder.isIdle)
    }

    @Test func `a body is given on as it arrives`() {
        var decoder = HTTPDecoder(.requests)
        var position = 0
        let head = wire("POST / HTTP/1.1\nContent-Length: 4\n\na")
        _ = decoder.next(head.span, at: &position)
        #expect(decoder.next(head.span, at: &position) == .body([0x61]))
        #expect(decoder.next(head.span, at: &position) == nil)
        position = 0
        let rest = wire("bcdGET")
        #expect(decoder.next(rest.span, at: &position) == .body(wire("bcd")))
        #expect(decoder.next(rest.span, at: &position) == .end)
        #expect(position == 3)
    }

    @Test func `the methods of many pipelined requests are kept in order`() {
        let methods = (0..<1_000).map { $0 % 3 == 0 ? "HEAD" : "GET" }
        var input = Bytes()
        for method in methods {
            input += wire("HTTP/1.1 200 OK\nContent-Length: 1\n\n")
            if method == "GET" { input.append(0x78) }
        }
        let reading = HTTPReading(input, .responses, expecting: methods)
        #expect(reading.steps.filter { $0 == .end }.count == 1_000)
        #expect(reading.isIdle)
    }
}
