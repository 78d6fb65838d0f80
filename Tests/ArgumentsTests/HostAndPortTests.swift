import Arguments
import Testing

@Suite struct HostAndPortTests {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("board.local:0", "board.local", 0),
            ("[::1]:65535", "::1", 65535),
        ] as [(String, String, UInt16)])
    func `an address is a host and a port`(text: String, host: String, port: UInt16) throws {
        let value = try ArgumentValue<HostAndPort>.hostAndPort().parse(text)
        #expect(value == HostAndPort(host: host, port: port))
        #expect(value.description == text)
    }

    @Test(arguments: [
        ("8080", "\"8080\" has no port; write it like 192.168.42.1:8080"),
        (":8080", "\":8080\" has no host; write 127.0.0.1:8080 for this machine only"),
        ("::1:80", "\"::1:80\" is ambiguous; write an IPv6 address in brackets"),
        ("a:65536", "\"a:65536\" has no port from 0 to 65535 behind its colon"),
        ("a:", "\"a:\" has no port from 0 to 65535 behind its colon"),
        ("a:+80", "\"a:+80\" has no port from 0 to 65535 behind its colon"),
        ("http://a:80", "\"http://a:80\" is a URL; write HOST:PORT alone"),
    ])
    func `what is no address is refused in one sentence`(text: String, sentence: String) {
        #expect(throws: ValueError(sentence)) {
            try ArgumentValue<HostAndPort>.hostAndPort().parse(text)
        }
    }
}
