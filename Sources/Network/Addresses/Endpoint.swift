/// A host, by name or number, with a port, as people write it on a command line.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or a numeric address, without the brackets of IPv6.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The endpoint of a numeric address.
    package init(_ address: SocketAddress) {
        self.init(host: address.ip.description, port: address.port)
    }

    /// Parses `host:port`, `a.b.c.d:port` or `[v6]:port`.
    /// - Parameter defaultPort: taken where the text has no port.
    package init(parsing text: String, defaultPort: UInt16? = nil) throws(EndpointError) {
        var host = text[...]
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .unclosedBracket }
            host = text[text.index(after: text.startIndex)..<close]
            let rest = text[text.index(after: close)...]
            if !rest.isEmpty {
                guard rest.first == ":" else { throw .invalidHost(text) }
                portText = rest.dropFirst()
            }
            guard case .v6? = IPAddress(parsing: host) else {
                throw .invalidHost(String(host))
            }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            portText = text[text.index(after: colon)...]
            if host.contains(":") { throw .bracketsMissing }
        }
        guard !host.isEmpty else { throw .missingHost }
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }),
            host.utf8.count <= 253
        else { throw .invalidHost(String(host)) }
        if let portText {
            guard let number = decimal(portText, maximum: 65535) else {
                throw .invalidPort(String(portText))
            }
            port = UInt16(number)
        } else if let defaultPort {
            port = defaultPort
        } else {
            throw .missingPort
        }
        self.host = String(host)
    }

    /// The address, if the host is a number and needs no look-up.
    package var address: SocketAddress? {
        IPAddress(parsing: host).map { SocketAddress($0, port: port) }
    }

    /// `host:port`, with brackets around IPv6.
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Why a text is no endpoint.
package enum EndpointError: Error, Hashable, Sendable, CustomStringConvertible {
    case missingHost
    case missingPort
    case invalidPort(String)
    case invalidHost(String)
    case unclosedBracket
    /// An IPv6 address with a port needs brackets.
    case bracketsMissing

    /// What is wrong, in words.
    package var description: String {
        switch self {
        case .missingHost: "the host is missing"
        case .missingPort: "the port is missing; write HOST:PORT"
        case .invalidPort(let text): "\"\(text)\" is no port (0 to 65535)"
        case .invalidHost(let text): "\"\(text)\" is no host"
        case .unclosedBracket: "the closing bracket is missing"
        case .bracketsMissing: "an IPv6 address is written in brackets, as in [::1]:8080"
        }
    }
}
