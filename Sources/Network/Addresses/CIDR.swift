/// A block of addresses: `192.168.42.0/24` (RFC 4632), or a single one without a slash.
package struct CIDR: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the block; host bits are cleared.
    package let base: IPAddress
    /// How many leading bits an address shares with the block: 0 to 32, or to 128 for IPv6.
    package let prefixLength: Int

    /// Parses a block; nil when the address or the length is invalid.
    package init?(parsing text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let ip = IPAddress(parsing: first) else { return nil }
        let width: Int
        switch ip {
        case .v4: width = 32
        case .v6: width = 128
        }
        var length = width
        if parts.count == 2 {
            guard let number = decimal(parts[1], maximum: width) else { return nil }
            length = number
        }
        prefixLength = length
        base = Self.masked(ip, length)
    }

    /// Whether the block holds `address`; an IPv4-mapped IPv6 address counts as IPv4.
    package func contains(_ address: IPAddress) -> Bool {
        switch (base, address.unmapped) {
        case (.v4, .v4), (.v6, .v6): Self.masked(address.unmapped, prefixLength) == base
        case (.v4, .v6), (.v6, .v4): false
        }
    }

    private static func masked(_ ip: IPAddress, _ length: Int) -> IPAddress {
        switch ip {
        case .v4(let bits):
            // A shift by the full width gives zero in Swift.
            return .v4(bits & (UInt32.max << UInt32(32 - length)))
        case .v6(let high, let low, _):
            let highMask = length >= 64 ? UInt64.max : UInt64.max << UInt64(64 - length)
            let lowMask = length <= 64 ? 0 : UInt64.max << UInt64(128 - length)
            return .v6(high: high & highMask, low: low & lowMask)
        }
    }

    /// `address/length`.
    package var description: String { "\(base)/\(prefixLength)" }
}
