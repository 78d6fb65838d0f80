/// The header of an IP packet, and where its payload lies (RFC 791, RFC 8200).
///
/// Lengths are believed only as far as the packet goes; checksums are not looked at, since the
/// network card often fills them in behind the capture.
package struct IPPacket: Sendable, Equatable {
    /// The place of a fragment in its datagram.
    package struct Fragment: Sendable, Equatable {
        package var identification: UInt32
        /// Bytes of the payload before it.
        package var offset: Int
        package var hasMore: Bool
    }

    package var source: PacketAddress
    package var destination: PacketAddress
    /// What the payload is: 6 for TCP.
    package var proto: UInt8
    /// The payload's place in the frame, as far as it was captured.
    package var payload: Range<Int>
    /// Bytes of the payload that crossed and were not captured.
    package var missing: Int
    package var fragment: Fragment?

    /// Reads the packet at `offset` of a frame.
    ///
    /// `cut` bytes of the frame were not captured. Nil where there is no IP header.
    package init?(_ frame: Span<UInt8>, at offset: Int, cut: Int) {
        guard offset >= 0, offset < frame.count, cut >= 0 else { return nil }
        switch frame[offset] >> 4 {
        case 4: self.init(v4: frame, at: offset, cut: cut)
        case 6: self.init(v6: frame, at: offset, cut: cut)
        default: return nil
        }
    }

    private init?(v4 frame: Span<UInt8>, at offset: Int, cut: Int) {
        let captured = frame.count - offset
        guard captured >= 20 else { return nil }
        let header = Int(frame[offset] & 15) * 4
        let total = Int(frame.bigEndian16(at: offset + 2))
        // A zero stands for a segment so large that the network card will cut it.
        guard header >= 20, total == 0 || total >= header else { return nil }
        let length = total == 0 ? captured + cut : min(total, captured + cut)
        guard header <= min(captured, length) else { return nil }
        source = PacketAddress(v4: frame.bigEndian32(at: offset + 12))
        destination = PacketAddress(v4: frame.bigEndian32(at: offset + 16))
        proto = frame[offset + 9]
        payload = offset + header..<offset + min(captured, length)
        missing = length - min(captured, length)
        let word = frame.bigEndian16(at: offset + 6)
        if word & 0x3fff != 0 {
            fragment = Fragment(
                identification: UInt32(frame.bigEndian16(at: offset + 4)),
                offset: Int(word & 0x1fff) * 8, hasMore: word & 0x2000 != 0)
        }
    }

    private init?(v6 frame: Span<UInt8>, at offset: Int, cut: Int) {
        let captured = frame.count - offset
        guard captured >= 40 else { return nil }
        let announced = Int(frame.bigEndian16(at: offset + 4))
        // A zero stands for a jumbo payload.
        let length = announced == 0 ? captured + cut : min(announced + 40, captured + cut)
        source = PacketAddress(
            v6: frame.bigEndian64(at: offset + 8), frame.bigEndian64(at: offset + 16))
        destination = PacketAddress(
            v6: frame.bigEndian64(at: offset + 24), frame.bigEndian64(at: offset + 32))
        let end = offset + min(captured, length)
        missing = length - min(captured, length)
        payload = offset + 40..<end
        proto = frame[offset + 6]
        guard skipExtensions(frame) else { return nil }
    }

    /// Moves the payload behind IPv6 extension headers (RFC 8200 §4); false if they are cut.
    ///
    /// Stops behind the header of a fragment, if that is a part of a datagram only.
    package mutating func skipExtensions(_ bytes: Span<UInt8>) -> Bool {
        guard payload.upperBound <= bytes.count else { return false }
        while true {
            let start = payload.lowerBound
            let size: Int
            switch proto {
            case 0, 43, 60, 135, 139, 140:
                guard payload.count >= 8 else { return false }
                size = (Int(bytes[start + 1]) + 1) * 8
            case 51:
                guard payload.count >= 8 else { return false }
                size = (Int(bytes[start + 1]) + 2) * 4
            case 44:
                guard payload.count >= 8 else { return false }
                size = 8
                let word = bytes.bigEndian16(at: start + 2)
                // A fragment that is the whole datagram is no fragment (RFC 6946).
                if word & 0xfff9 != 0 {
                    fragment = Fragment(
                        identification: bytes.bigEndian32(at: start + 4),
                        offset: Int(word & 0xfff8), hasMore: word & 1 != 0)
                }
            default:
                return true
            }
            guard size <= payload.count else { return false }
            proto = bytes[start]
            payload = start + size..<payload.upperBound
            if fragment != nil { return true }
        }
    }
}
