import Network
import Testing

/// Texts of addresses, endpoints and blocks.
@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::00fF", "2001:db8::ff"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:0:4:0:0:0:8", "1:0:0:4::8"),
        ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("::ffff:192.168.42.1", "::ffff:192.168.42.1"),
        ("64:ff9b::1.2.3.4", "64:ff9b::102:304"), ("fe80::1%3", "fe80::1%3"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ])
    func `an address is read and written in canonical form`(text: String, canonical: String) throws
    {
        let address = try #require(IPAddress(parsing: text))
        #expect(address.description == canonical)
        #expect(IPAddress(parsing: canonical) == address)
    }

    @Test(arguments: [
        "", ".", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.x", "+1.2.3.4", " 1.2.3.4",
        ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1:",
        "::1%", "::1%eth", "1:2:3:4:5:6:7:8::", "1.2.3.4::", "::1.2.3", ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:1.2.3.4", "::%99999999999999999999",
    ])
    func `what is no address is refused`(text: String) {
        #expect(IPAddress(parsing: text) == nil)
    }

    @Test func `a mapped address counts as IPv4`() {
        #expect(IPAddress(parsing: "::ffff:127.0.0.1")?.isLoopback == true)
        #expect(IPAddress(parsing: "::ffff:127.0.0.1")?.unmapped == .loopback)
        #expect(IPAddress(parsing: "::1")?.isLoopback == true)
        #expect(IPAddress(parsing: "10.0.0.1")?.isLoopback == false)
    }

    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:80", "::1", 80), ("board:1", "board", 1),
            ("a-b.c_d:65535", "a-b.c_d", 65535), ("localhost:0", "localhost", 0),
        ] as [(String, String, UInt16)])
    func `an endpoint is a host and a port`(text: String, host: String, port: UInt16) throws {
        let endpoint = try Endpoint(parsing: text)
        #expect(endpoint == Endpoint(host: host, port: port))
        #expect(endpoint.description == text)
    }

    @Test(
        arguments: [
            ("", .missingHost), (":80", .missingHost), ("board", .missingPort),
            ("board:", .invalidPort("")), ("board:65536", .invalidPort("65536")),
            ("board:-1", .invalidPort("-1")), ("board:http", .invalidPort("http")),
            ("[::1", .unclosedBracket), ("::1:80", .bracketsMissing), ("[::1]", .missingPort),
            ("[board]:80", .invalidHost("board")), ("a b:80", .invalidHost("a b")),
            ("http://board:80", .bracketsMissing), ("[::1]x", .invalidHost("[::1]x")),
        ] as [(String, EndpointError)])
    func `what is wrong with an endpoint is said`(text: String, error: EndpointError) {
        #expect(throws: error) { _ = try Endpoint(parsing: text) }
        #expect(SocketAddress(parsing: text) == nil)
    }

    @Test func `a port can be left out where there is a default`() throws {
        #expect(
            try Endpoint(parsing: "board", defaultPort: 80) == Endpoint(host: "board", port: 80))
        #expect(try Endpoint(parsing: "[::1]", defaultPort: 80).address?.port == 80)
        #expect(SocketAddress(parsing: "board:80") == nil)
        #expect(SocketAddress(parsing: "[fe80::1]:80")?.description == "[fe80::1]:80")
    }

    @Test(arguments: [
        ("192.168.42.0/24", "192.168.42.255", true), ("192.168.42.0/24", "192.168.43.0", false),
        ("192.168.42.7/24", "192.168.42.1", true), ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "1.2.3.4", false),
        ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
        ("2001:db8::/64", "2001:db8::ffff:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:0", false),
        ("10.0.0.0/8", "::ffff:10.9.8.7", true), ("::1/128", "::1", true),
    ])
    func `a block holds what shares its prefix`(block: String, address: String, holds: Bool) throws
    {
        let block = try #require(CIDR(parsing: block))
        #expect(block.contains(try #require(IPAddress(parsing: address))) == holds)
    }

    @Test(arguments: ["", "/8", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1", "::/129", "1.2.3/8", "x/8"])
    func `what is no block is refused`(text: String) {
        #expect(CIDR(parsing: text) == nil)
    }
}
