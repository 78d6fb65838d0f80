/// An IP address with a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    package var ip: IPAddress
    package var port: UInt16

    package init(_ ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// An address of this machine that no other reaches.
    package static func loopback(port: UInt16 = 0) -> SocketAddress {
        SocketAddress(.loopback, port: port)
    }

    /// Parses `a.b.c.d:port` or `[v6]:port`; nil for anything else, names included.
    package init?(parsing text: String) {
        guard let endpoint = try? Endpoint(parsing: text), let address = endpoint.address
        else { return nil }
        self = address
    }

    /// `a.b.c.d:port` or `[v6]:port`.
    package var description: String {
        if case .v6 = ip { return "[\(ip)]:\(port)" }
        return "\(ip):\(port)"
    }
}
