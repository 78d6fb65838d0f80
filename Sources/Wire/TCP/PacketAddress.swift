/// An IP address as it stands in a packet, small enough for a table of many.
package struct PacketAddress: Hashable, Sendable {
    /// The first eight bytes; 0 for IPv4.
    package let high: UInt64
    /// The last eight bytes, or the four of IPv4.
    package let low: UInt64
    package let isIPv6: Bool

    init(v4 bytes: UInt32) {
        high = 0
        low = UInt64(bytes)
        isIPv6 = false
    }

    init(v6 high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
        isIPv6 = true
    }

    /// The address for people: dotted, or as RFC 5952 wants it.
    package var text: String {
        guard isIPv6 else { return Self.dotted(UInt32(truncatingIfNeeded: low)) }
        if high == 0, low >> 32 == 0xffff {
            return "::ffff:" + Self.dotted(UInt32(truncatingIfNeeded: low))
        }
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - index % 4 * 16))
        }
        // The longest run of zeros, the first of several, is left out if it has two groups.
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > best.count, index - start > 1 { best = start..<index }
            start = index + 1
        }
        let words = groups.map { String($0, radix: 16) }
        guard !best.isEmpty else { return words.joined(separator: ":") }
        return words[..<best.lowerBound].joined(separator: ":") + "::"
            + words[best.upperBound...].joined(separator: ":")
    }

    private static func dotted(_ bytes: UInt32) -> String {
        "\(bytes >> 24).\(bytes >> 16 & 255).\(bytes >> 8 & 255).\(bytes & 255)"
    }
}

/// An end of a TCP connection in a packet.
package struct PacketEndpoint: Hashable, Sendable {
    package let address: PacketAddress
    package let port: UInt16

    package init(address: PacketAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.168.42.1:8080`, or `[fe80::1]:8080`.
    package var text: String {
        address.isIPv6 ? "[\(address.text)]:\(port)" : "\(address.text):\(port)"
    }
}
