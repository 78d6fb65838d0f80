/// What stands before the IP packet in a captured frame (the link types of libpcap).
package enum LinkType: Sendable, Hashable, CaseIterable {
    /// Ethernet, with any VLAN tags.
    case ethernet
    /// The IP packet itself.
    case raw
    /// Four bytes of address family: BSD loopback, in either byte order.
    case loopback
    /// Linux cooked capture, version 1: 16 bytes, the protocol in the last two.
    case cooked
    /// Linux cooked capture, version 2: 20 bytes, the protocol in the first two.
    case cooked2

    /// The link type of libpcap's number for it (`DLT_` in pcap/dlt.h); nil for one that is
    /// not read.
    package init?(number: Int32) {
        switch number {
        case 1: self = .ethernet
        // Raw IP has a number of its own on some systems; 228 and 229 are of one version only.
        case 12, 14, 101, 228, 229: self = .raw
        case 0, 108: self = .loopback
        case 113: self = .cooked
        case 276: self = .cooked2
        default: return nil
        }
    }

    /// Where the IP packet begins; nil for a frame that carries something else, or too little.
    package func networkOffset(_ frame: Span<UInt8>) -> Int? {
        var offset: Int
        var type: UInt16
        switch self {
        case .raw: return frame.count > 0 ? 0 : nil
        case .loopback: return frame.count > 4 ? 4 : nil
        case .ethernet: (offset, type) = (14, frame.bigEndian16(at: 12))
        case .cooked: (offset, type) = (16, frame.bigEndian16(at: 14))
        case .cooked2: (offset, type) = (20, frame.bigEndian16(at: 0))
        }
        // IEEE 802.1Q and 802.1ad: two bytes of tag, then the type again.
        while type == 0x8100 || type == 0x88a8 || type == 0x9100 {
            type = frame.bigEndian16(at: offset + 2)
            offset += 4
        }
        guard type == 0x0800 || type == 0x86dd, offset < frame.count else { return nil }
        return offset
    }
}

extension Span where Element == UInt8 {
    /// Two bytes in network order; 0 where they are not all there.
    func bigEndian16(at offset: Int) -> UInt16 { number(at: offset, 0) }

    /// Four bytes in network order; 0 where they are not all there.
    func bigEndian32(at offset: Int) -> UInt32 { number(at: offset, 0) }

    /// Eight bytes in network order; 0 where they are not all there.
    func bigEndian64(at offset: Int) -> UInt64 { number(at: offset, 0) }

    @inline(__always)
    private func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, _ missing: Number
    ) -> Number {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return missing }
        // Any bytes are a number.
        return unsafe Number(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
