/// Where to listen or to connect to: a name or address, and a TCP port.
package struct HostAndPort: Equatable, Sendable, CustomStringConvertible {
    /// Without the brackets of an IPv6 address.
    package let host: String
    /// 0 lets the system choose, where that makes sense.
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `host:port`, an IPv6 address in brackets.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ArgumentValue where Value == HostAndPort {
    /// `HOST:PORT`, where an IPv6 address stands in brackets.
    package static func hostAndPort(_ placeholder: String = "HOST:PORT") -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            try parseHostAndPort(text)
        }
    }
}

private func parseHostAndPort(_ text: String) throws(ValueError) -> HostAndPort {
    guard !text.contains("://") else {
        throw ValueError("\(quoted(text)) is a URL; write HOST:PORT alone")
    }
    guard let colon = text.lastIndex(of: ":") else {
        throw ValueError("\(quoted(text)) has no port; write it like 192.168.42.1:8080")
    }
    var host = text[..<colon]
    let port = text[text.index(after: colon)...]
    if host.hasPrefix("["), host.hasSuffix("]") {
        host = host.dropFirst().dropLast()
    } else if host.contains(":") {
        throw ValueError("\(quoted(text)) is ambiguous; write an IPv6 address in brackets")
    }
    guard !host.isEmpty else {
        throw ValueError(
            "\(quoted(text)) has no host; write 127.0.0.1:\(port) for this machine only")
    }
    guard port.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt16(port) else {
        throw ValueError("\(quoted(text)) has no port from 0 to 65535 behind its colon")
    }
    return HostAndPort(host: String(host), port: number)
}
