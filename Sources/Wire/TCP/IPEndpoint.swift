/// An IP address and a TCP port, as bytes of the wire.
package struct IPEndpoint: Hashable, Sendable {
    /// Four bytes, or sixteen, in network order.
    package let address: Bytes
    package let port: UInt16

    /// Makes an endpoint; nil unless the address has four or sixteen bytes.
    package init?(address: Bytes, port: UInt16) {
        guard address.count == 4 || address.count == 16 else { return nil }
        self.address = address
        self.port = port
    }

    /// Parses `192.168.42.1:8080` or `[fe80::1%eth0]:8080`; a zone is left out.
    package init?(parsing text: String) {
        let bytes = Bytes(text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")),
            let port = Self.decimal(bytes[(colon + 1)...], maximum: 65535)
        else { return nil }
        var host = bytes[..<colon]
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
            if let zone = host.firstIndex(of: UInt8(ascii: "%")) { host = host[..<zone] }
            guard let address = Self.parseIPv6(host) else { return nil }
            self.address = address
        } else {
            guard let address = Self.parseIPv4(host) else { return nil }
            self.address = address
        }
        self.port = UInt16(port)
    }

    package var isIPv6: Bool { address.count == 16 }

    /// The same endpoint with an IPv6 address, an IPv4 one mapped (RFC 4291 §2.5.5.2).
    package var mapped: IPEndpoint {
        guard !isIPv6 else { return self }
        let prefix = Bytes(repeating: 0, count: 10) + [0xff, 0xff]
        return IPEndpoint(address: prefix + address, port: port) ?? self
    }

    private static func decimal(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int? {
        guard (1...5).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value <= maximum ? value : nil
    }

    private static func parseIPv4(_ text: ArraySlice<UInt8>) -> Bytes? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address = Bytes()
        for part in parts {
            guard part.count <= 3, let value = decimal(part, maximum: 255) else { return nil }
            address.append(UInt8(value))
        }
        return address
    }

    /// RFC 4291 §2.2: eight groups, one run of zero groups left out, a dotted end.
    private static func parseIPv6(_ text: ArraySlice<UInt8>) -> Bytes? {
        let colon = UInt8(ascii: ":")
        var halves: [ArraySlice<UInt8>] = [text]
        for index in text.indices.dropLast() where text[index] == colon && text[index + 1] == colon
        {
            halves = [text[..<index], text[(index + 2)...]]
            break
        }
        var groups: [Bytes] = []
        for (index, half) in halves.enumerated() {
            guard let bytes = parseGroups(half, isLast: index == halves.count - 1) else {
                return nil
            }
            groups.append(bytes)
        }
        guard groups.count == 2 else { return groups[0].count == 16 ? groups[0] : nil }
        let missing = 16 - groups[0].count - groups[1].count
        guard missing >= 2 else { return nil }
        return groups[0] + Bytes(repeating: 0, count: missing) + groups[1]
    }

    private static func parseGroups(_ text: ArraySlice<UInt8>, isLast: Bool) -> Bytes? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var bytes = Bytes()
        for (index, part) in parts.enumerated() {
            if isLast, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let address = parseIPv4(part) else { return nil }
                bytes += address
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for digit in part {
                guard let digit = hexDigitValue(digit) else { return nil }
                value = value << 4 | UInt16(digit)
            }
            bytes += [UInt8(value >> 8), UInt8(value & 0xff)]
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
