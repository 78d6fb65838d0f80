import Testing
import Wire

@Suite struct IPEndpointTests {
    @Test(
        arguments: [
            ("192.168.42.1:8080", [192, 168, 42, 1], 8080),
            ("0.0.0.0:0", [0, 0, 0, 0], 0),
            ("[::1]:65535", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 65535),
            ("[fe80::1%eth0]:80", [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 80),
            (
                "[::ffff:192.168.42.1]:80",
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 42, 1], 80
            ),
            (
                "[2001:DB8:1:2:3:4:5:6]:80",
                [0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6], 80
            ),
            ("[1::]:80", [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 80),
        ] as [(String, Bytes, UInt16)])
    func `an address and a port are parsed`(_ row: (text: String, address: Bytes, port: UInt16)) {
        let endpoint = IPEndpoint(parsing: row.text)
        #expect(endpoint?.address == row.address)
        #expect(endpoint?.port == row.port)
    }

    @Test(arguments: [
        "", ":", "8080", "board:8080", "192.168.42:80", "192.168.42.256:80", "1.2.3.4:65536",
        "1.2.3.4:", "1.2.3.4.5:80", "1.2.3.0004:80", "[]:80", "[1:2]:80", "[::1:80", "::1:80",
        "[1:2:3:4:5:6:7:8:9]:80", "[1::2::3]:80", "[12345::]:80", "[::g]:80",
        "[1:2:3:4:5:6:7::8:9]:80", "1.2.3.4:-1", "1.2.3.4:８０",
    ])
    func `what is no address and port is refused`(_ text: String) {
        #expect(IPEndpoint(parsing: text) == nil)
    }

    @Test func `an IPv4 endpoint has an IPv6 form`() {
        let mapped = IPEndpoint(parsing: "192.168.42.1:80")?.mapped
        #expect(mapped == IPEndpoint(parsing: "[::ffff:192.168.42.1]:80"))
        #expect(mapped?.mapped == mapped)
    }
}
