import Testing
import Wire

@Suite struct HTTPLimitsTests {
    private static let small = HTTPLimits(
        maximumHeadSize: 32, maximumChunkLine: 8, maximumTrailers: 12, maximumMethod: 6)

    private func everyCut(_ bytes: Bytes, _ role: HTTPDecoder.Role = .requests) -> HTTPReading {
        let whole = HTTPReading(bytes, role, limits: Self.small)
        for cut in 0...bytes.count {
            #expect(HTTPReading(bytes, role, cuts: [cut], limits: Self.small) == whole)
        }
        #expect(
            HTTPReading(bytes, role, cuts: Array(0...bytes.count), limits: Self.small) == whole)
        #expect(whole.encoded == bytes)
        return whole
    }

    @Test func `a head of as many bytes as the limit is read, one more is not`() {
        let fitting = wire("GET / HTTP/1.1\nA: 0123456789\n\n")
        #expect(fitting.count == 33)
        #expect(everyCut(Bytes(fitting)).summary == "undecodable(33: a head of over 32 bytes)")
        let shorter = wire("GET / HTTP/1.1\nA: 012345678\n\n")
        #expect(everyCut(shorter + shorter).summary == "GET(/)1.1[none] end GET(/)1.1[none] end")
    }

    @Test func `a head over the limit comes out whole with all that follows`() {
        let long = wire("GET / HTTP/1.1\nA: \(String(repeating: "x", count: 99))\n\nmore")
        #expect(everyCut(long).summary == "undecodable(\(long.count): a head of over 32 bytes)")
    }

    @Test func `empty lines without end are over the limit too`() {
        let lines = Bytes(repeating: 0x0a, count: 33)
        #expect(everyCut(lines).summary == "undecodable(33: a head of over 32 bytes)")
    }

    @Test func `a text without spaces is no method`() {
        #expect(
            everyCut(wire("abcdefg")).summary
                == "undecodable(7: a word of over 6 bytes, not a method)")
        #expect(everyCut(wire("DELETE / HTTP/1.1\n\n")).summary == "DELETE(/)1.1[none] end")
    }

    @Test func `chunk lines and trailers have limits`() {
        var limits = HTTPLimits()
        limits.maximumChunkLine = 8
        limits.maximumTrailers = 12
        let head = wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n")
        let tables: [(Bytes, String)] = [
            (wire("1;ab\nx\n0\n\n"), "chunk1 \"x\" chunk0 trailers() end"),
            (wire("1;abcde\nx"), "undecodable(10: a chunk line of over 8 bytes)"),
            (wire("1;abcd\n"), "chunk1"),
            (wire("1\nx\n1;abc\n"), "chunk1 \"x\" undecodable(9: a chunk line of over 8 bytes)"),
            (
                wire("0\nA: 123456\n\n"),
                "chunk0 undecodable(13: a trailer section of over 12 bytes)"
            ),
            (
                wire("0\nA: 12345\n"),
                "chunk0 | undecodable(10: a trailer section cut short by the end of the connection)"
            ),
            (wire("0\nA: 12345\n\n"), "chunk0 trailers(A=12345) end"),
        ]
        for (input, expected) in tables {
            let bytes = head + input
            let whole = HTTPReading(bytes, .requests, limits: limits)
            #expect(whole.summary == "POST(/)1.1[chunked] " + expected)
            #expect(whole.encoded == bytes)
            for cut in head.count...bytes.count {
                #expect(HTTPReading(bytes, .requests, cuts: [cut], limits: limits) == whole)
            }
            #expect(
                HTTPReading(bytes, .requests, cuts: Array(0...bytes.count), limits: limits) == whole
            )
        }
    }

    @Test func `what waits for responses is bounded, and further ones count as the last`() {
        let limits = HTTPLimits(maximumExpectedRuns: 2)
        let reading = HTTPReading(
            wire("HTTP/1.1 200 a\nContent-Length: 1\n\nHTTP/1.1 200 b\nContent-Length: 1\n\nx")
                + wire("HTTP/1.1 200 c\nContent-Length: 1\n\ny"),
            .responses, expecting: ["HEAD", "GET", "HEAD"], limits: limits)
        #expect(
            reading.summary
                == "200(a)1.1[none] end 200(b)1.1[length(1)] \"x\" end 200(c)1.1[length(1)] \"y\" end"
        )
    }
}
