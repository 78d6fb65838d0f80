import Testing
import Wire

@Suite struct HTTPHeadFieldsTests {
    @Test func `names compare without case and values keep their order`() {
        let lines = [FieldLine("X-A", "1"), FieldLine("x-a", "2"), FieldLine("X-B", "3")]
        #expect(lines.values(of: "x-A") == ["1", "2"])
        #expect(lines.first("X-a") == "1")
        #expect(lines.has("x-b"))
        #expect(!lines.has("x-"))
        #expect(lines.first("x-c") == nil)
    }

    @Test(arguments: [
        ("a, b ,c", ["a", "b", "c"]), ("", []), (" , ,a,, ", ["a"]),
        ("a;q=\"1,2\", b", ["a;q=\"1,2\"", "b"]),
        ("\"a\\\",b\", c", ["\"a\\\",b\"", "c"]), ("\"open, b", ["\"open, b"]),
        ("\"a\\", ["\"a\\"]),
    ])
    func `commas outside of quoted strings separate the members of a list`(
        _ value: String, _ members: [String]
    ) {
        #expect(FieldLine("A", value).members == members)
        #expect([FieldLine("a", value), FieldLine("A", "z")].members(of: "A") == members + ["z"])
    }

    @Test func `tokens are members without parameters`() {
        #expect(FieldLine("A", "gzip;q=1 , chunked ; a=b,;c").tokens == ["gzip", "chunked"])
        #expect([FieldLine("A", "x, Keep-Alive")].has(token: "keep-alive", in: "a"))
        #expect(![FieldLine("A", "keep-alives")].has(token: "keep-alive", in: "a"))
    }

    @Test(arguments: [
        ("1.1", "", true), ("1.1", "close", false), ("1.1", "x, Close", false),
        ("1.0", "", false), ("1.0", "Keep-Alive", true), ("1.0", "keep-alive, close", false),
        ("0.9", "", false), ("1.2", "", true), ("2.0", "", false),
    ])
    func `a connection is kept as version and Connection say`(
        _ version: String, _ connection: String, _ isKept: Bool
    ) {
        #expect(
            requestHead("GET", "/", version: version, [("Connection", connection)]).keepsAlive
                == isKept)
    }

    @Test func `an upgrade to WebSocket is told by Upgrade and Connection`() {
        let upgrade = [("Connection", "keep-alive, Upgrade"), ("upgrade", "h2c, WebSocket")]
        #expect(requestHead("GET", "/", upgrade).isUpgradeToWebSocket)
        #expect(requestHead("POST", "/", upgrade).isUpgradeToWebSocket)
        #expect(!requestHead("GET", "/", [upgrade[0]]).isUpgradeToWebSocket)
        #expect(!requestHead("GET", "/", [upgrade[1]]).isUpgradeToWebSocket)
        let response = HTTPHead(
            startLine: .status(code: 101, reason: ""),
            fieldLines: [FieldLine("UPGRADE", "websocket")])
        #expect(response.isSwitchToWebSocket)
        #expect(!response.isUpgradeToWebSocket)
        #expect(response.status == 101 && response.method == nil && response.target == nil)
    }

    @Test func `only HTTP/1.1 expects a 100`() {
        let expect = [("Expect", "100-Continue")]
        #expect(requestHead("PUT", "/", expect).expectsContinue)
        #expect(!requestHead("PUT", "/", version: "1.0", expect).expectsContinue)
        #expect(!requestHead("PUT", "/").expectsContinue)
    }
}
