import Testing
import Wire

@Suite struct HTTPNotHTTPTests {
    @Test(arguments: [
        (
            "TLS", HTTPDecoder.Role.requests, [0x16, 0x03, 0x01, 0x02, 0x00] as Bytes, 2,
            "a TLS handshake"
        ),
        ("TLS answer", .responses, [0x16, 0x03, 0x03], 2, "a TLS handshake"),
        ("TLS alert", .responses, [0x15, 0x03, 0x03, 0, 2, 2, 40], 2, "a TLS alert"),
        ("0x16 alone", .requests, [0x16, 0x16], 2, "bytes that no HTTP request begins with"),
        ("HTTP/2", .requests, wire("PRI * HTTP/2.0\n\nSM\n\n"), 16, "an HTTP/2 preface"),
        ("HTTP/2 answer", .responses, [0, 0, 0x12, 4, 0], 4, "an HTTP/2 frame"),
        ("zeros", .responses, [0, 0, 0, 0, 0], 4, "bytes that no HTTP response begins with"),
        ("SSH", .requests, wire("SSH-2.0-OpenSSH_9.2\n"), 20, "an SSH banner"),
        (
            "SSH with a comment", .requests, wire("SSH-2.0-OpenSSH_9.2 Debian\n"), 28,
            "an SSH banner"
        ),
        ("SSH answer", .responses, wire("SSH-2.0-x\n"), 4, "an SSH banner"),
        ("JSON", .requests, wire("{\"id\":1}"), 1, "JSON without an HTTP request"),
        (
            "a frame", .requests, [0x81, 0x85, 1, 2], 1,
            "perhaps a WebSocket frame, no HTTP request"
        ),
        (
            "a response", .requests, wire("HTTP/1.1 200 OK\n\n"), 5,
            "an HTTP response where a request belongs"
        ),
        ("prose", .requests, wire("hello world\nmore"), 13, "a line that is no HTTP request line"),
        (
            "a request", .responses, wire("GET / HTTP/1.1\n"), 1,
            "bytes that no HTTP response begins with"
        ),
        ("a bad code", .responses, wire("HTTP/1.1 OK\n"), 13, "a line that is no HTTP status line"),
        (
            "a space first", .requests, wire(" GET / HTTP/1.1\n"), 1,
            "bytes that no HTTP request begins with"
        ),
        (
            "a carriage return", .requests, wire("\rGET / HTTP/1.1\n"), 2,
            "a carriage return where a line must begin"
        ),
        (
            "binary", .requests, wire("GE\0T / HTTP/1.1\n"), 3,
            "bytes that no HTTP request begins with"
        ),
    ])
    func `bytes that are not HTTP are told by name, and as early as they show it`(
        _ id: String, _ role: HTTPDecoder.Role, _ bytes: Bytes, _ needed: Int, _ why: String
    ) {
        let whole = HTTPReading(bytes, role)
        #expect(whole.steps == [.undecodable(bytes, why: why)])
        #expect(whole.last == nil)
        #expect(!whole.isIdle)
        for cut in 0...bytes.count {
            #expect(HTTPReading(bytes, role, cuts: [cut]) == whole)
        }
        #expect(HTTPReading(bytes, role, cuts: Array(0...bytes.count)) == whole)
        #expect(HTTPReading(Bytes(bytes[..<needed]), role).steps.count == 1)
        #expect(HTTPReading(Bytes(bytes[..<(needed - 1)]), role).steps.isEmpty)
    }

    @Test func `all that follows undecodable bytes is undecodable for the same reason`() {
        let reading = HTTPReading(
            wire("{}GET / HTTP/1.1\n\n"), .requests, cuts: [1, 2, 9])
        #expect(reading.summary == "undecodable(20: JSON without an HTTP request)")
    }

    @Test func `a message before garbage is read`() {
        let reading = HTTPReading(wire("GET / HTTP/1.1\n\n") + [0xff, 0xff], .requests)
        #expect(
            reading.summary
                == "GET(/)1.1[none] end undecodable(2: bytes that no HTTP request begins with)")
    }
}
