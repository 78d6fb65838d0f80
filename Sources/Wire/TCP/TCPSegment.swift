/// One TCP segment in its IP packet, with all checksums (RFC 9293 §3.1, RFC 791, RFC 8200).
package struct TCPSegment: Sendable, Equatable {
    /// The control bits that a whole connection needs.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let fin = Flags(rawValue: 0x01)
        package static let syn = Flags(rawValue: 0x02)
        package static let rst = Flags(rawValue: 0x04)
        package static let psh = Flags(rawValue: 0x08)
        package static let ack = Flags(rawValue: 0x10)
    }

    package var flags: Flags
    package var sequence: UInt32
    package var acknowledgment: UInt32
    package var window: UInt16
    /// A multiple of four bytes.
    package var options: Bytes
    package var payload: ArraySlice<UInt8>

    package init(
        flags: Flags, sequence: UInt32, acknowledgment: UInt32, window: UInt16,
        options: Bytes = [], payload: ArraySlice<UInt8> = []
    ) {
        self.flags = flags
        self.sequence = sequence
        self.acknowledgment = acknowledgment
        self.window = window
        self.options = options
        self.payload = payload
    }

    /// Appends the IP packet from `source` to `target`; both are of one family.
    ///
    /// The payload has to fit, as `TCPSegmenter` sees to. `identification` goes into an IPv4
    /// header.
    package func encode(
        from source: IPEndpoint, to target: IPEndpoint, identification: UInt16,
        into packet: inout Bytes
    ) {
        let length = 20 + options.count + payload.count
        var sum = Self.sum(source.address[...]) + Self.sum(target.address[...]) + 6
        sum += UInt64(length)
        if source.isIPv6 {
            packet += [0x60, 0, 0, 0]
            Self.append(UInt16(truncatingIfNeeded: length), to: &packet)
            // Next header TCP, hop limit 64.
            packet += [6, 64]
            packet += source.address
            packet += target.address
        } else {
            let start = packet.count
            packet += [0x45, 0]
            Self.append(UInt16(truncatingIfNeeded: length + 20), to: &packet)
            Self.append(identification, to: &packet)
            // Do not fragment; time to live 64; TCP; the checksum comes below.
            packet += [0x40, 0, 64, 6, 0, 0]
            packet += source.address
            packet += target.address
            let check = Self.fold(Self.sum(packet[start...]))
            packet[start + 10] = UInt8(check >> 8)
            packet[start + 11] = UInt8(check & 0xff)
        }
        let start = packet.count
        Self.append(source.port, to: &packet)
        Self.append(target.port, to: &packet)
        Self.append(UInt16(sequence >> 16), to: &packet)
        Self.append(UInt16(sequence & 0xffff), to: &packet)
        Self.append(UInt16(acknowledgment >> 16), to: &packet)
        Self.append(UInt16(acknowledgment & 0xffff), to: &packet)
        packet += [UInt8(truncatingIfNeeded: ((20 + options.count) / 4) << 4), flags.rawValue]
        Self.append(window, to: &packet)
        packet += [0, 0, 0, 0]
        packet += options
        packet += payload
        let check = Self.fold(sum + Self.sum(packet[start...]))
        packet[start + 16] = UInt8(check >> 8)
        packet[start + 17] = UInt8(check & 0xff)
    }

    private static func append(_ value: UInt16, to bytes: inout Bytes) {
        bytes.append(UInt8(value >> 8))
        bytes.append(UInt8(value & 0xff))
    }

    /// The sum of the 16-bit words (RFC 1071); below 2^48 for any packet.
    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var sum: UInt64 = 0
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            sum += UInt64(bytes[index]) << 8 | UInt64(bytes[index + 1])
            index += 2
        }
        if index < bytes.endIndex { sum += UInt64(bytes[index]) << 8 }
        return sum
    }

    private static func fold(_ sum: UInt64) -> UInt16 {
        var sum = sum
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return ~UInt16(truncatingIfNeeded: sum)
    }
}
