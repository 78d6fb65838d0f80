/// An IPv4 or IPv6 address.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The four bytes as a big-endian number.
    case v4(UInt32)
    /// The sixteen bytes as two big-endian numbers, and the interface index of a link-local
    /// address (RFC 4007), 0 for none.
    case v6(high: UInt64, low: UInt64, scope: UInt32 = 0)

    /// 127.0.0.1.
    package static let loopback = IPAddress.v4(0x7f00_0001)
    /// 0.0.0.0: all addresses of this machine.
    package static let any = IPAddress.v4(0)

    /// The IPv4 address inside an IPv4-mapped IPv6 one (RFC 4291 §2.5.5.2), or the address itself.
    package var unmapped: IPAddress {
        guard case .v6(0, let low, _) = self, low >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    /// Whether it reaches only this machine: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        switch unmapped {
        case .v4(let bits): bits >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// Whether it stands for all addresses of the machine: 0.0.0.0 or ::.
    package var isUnspecified: Bool {
        switch self {
        case .v4(let bits): bits == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// Whether it stands before another one, in an order of all addresses.
    func precedes(_ other: IPAddress) -> Bool {
        switch (self, other) {
        case (.v4(let own), .v4(let its)): own < its
        case (.v4, .v6): true
        case (.v6, .v4): false
        case (.v6(let high, let low, let scope), .v6(let otherHigh, let otherLow, let otherScope)):
            (high, low, scope) < (otherHigh, otherLow, otherScope)
        }
    }

    /// Parses `a.b.c.d` (four decimal numbers without leading zeros) or an IPv6 address in any
    /// form of RFC 4291 §2.2, with a numeric zone such as `%2`; nil for anything else.
    package init?(parsing text: some StringProtocol) {
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let address = Self.parseV6(text) else { return nil }
            self = address
        } else {
            guard let bits = Self.parseV4(text) else { return nil }
            self = .v4(bits)
        }
    }

    private static func parseV4(_ text: some StringProtocol) -> UInt32? {
        var bits: UInt32 = 0
        var number: UInt32 = 0
        var digits = 0
        var dots = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | number
                number = 0
                digits = 0
                dots += 1
            } else {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits < 3,
                    digits == 0 || number > 0
                else { return nil }
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
                guard number <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? bits << 8 | number : nil
    }

    private static func parseV6(_ text: some StringProtocol) -> IPAddress? {
        var body = String(text)
        var scope: UInt32 = 0
        if let percent = body.firstIndex(of: "%") {
            guard let zone = decimal(body[body.index(after: percent)...], maximum: 1 << 30)
            else { return nil }
            scope = UInt32(zone)
            body = String(body[..<percent])
        }
        var groups: [UInt16] = []
        // Where "::" stands, in groups from the left.
        var gap: Int?
        var rest = body[...]
        if rest.hasPrefix("::") {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            let part = rest[..<end]
            if end == rest.endIndex, part.contains(".") {
                guard let bits = parseV4(part) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
                rest = ""
                break
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexDigit),
                let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
            guard end != rest.endIndex else { break }
            rest = rest[rest.index(after: end)...]
            if rest.first == ":" {
                guard gap == nil else { return nil }
                gap = groups.count
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
            guard groups.count <= 8 else { return nil }
        }
        if let gap {
            guard groups.count < 8 else { return nil }
            groups.insert(
                contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        return .v6(high: high, low: low, scope: scope)
    }

    /// The canonical text (RFC 5952 for IPv6).
    package var description: String {
        switch self {
        case .v4(let bits):
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let high, let low, let scope):
            let zone = scope == 0 ? "" : "%\(scope)"
            if case .v4 = unmapped { return "::ffff:\(unmapped)\(zone)" }
            let groups = (0..<8).map { index in
                UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> (48 - 16 * (index % 4)))
            }
            return Self.compress(groups) + zone
        }
    }

    /// Writes the groups with the longest run of zeros, of two at least, as `::`.
    private static func compress(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count && groups[end] == 0 { end += 1 }
            if end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        let hex = { (part: ArraySlice<UInt16>) in
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard best.count >= 2 else { return hex(groups[...]) }
        return hex(groups[..<best.lowerBound]) + "::" + hex(groups[best.upperBound...])
    }
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
    default: false
    }
}

/// Parses plain decimal digits, nothing else; nil beyond `maximum`.
func decimal(_ text: some StringProtocol, maximum: Int) -> Int? {
    guard !text.isEmpty else { return nil }
    var value = 0
    for byte in text.utf8 {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
        guard value <= maximum else { return nil }
    }
    return value
}
