/// The header of a TCP segment, and where its data lies (RFC 9293 §3.1).
package struct TCPHeader: Sendable, Equatable {
    package var sourcePort: UInt16
    package var destinationPort: UInt16
    package var sequence: UInt32
    package var acknowledgment: UInt32
    @usableFromInline var bits: UInt8
    /// The data's place in the packet, as far as it was captured.
    package var payload: Range<Int>
    /// Bytes of data that crossed and were not captured.
    package var missing: Int

    @inlinable package var isFIN: Bool { bits & 0x01 != 0 }
    @inlinable package var isSYN: Bool { bits & 0x02 != 0 }
    @inlinable package var isRST: Bool { bits & 0x04 != 0 }
    @inlinable package var isACK: Bool { bits & 0x10 != 0 }
    /// Whether it acknowledges, and neither opens nor ends anything.
    @inlinable package var isPlain: Bool { bits & 0x17 == 0x10 }

    /// Reads the header in an IP packet's payload, `range` of `bytes`, of which `missing` bytes
    /// were not captured; nil where there is none.
    package init?(_ bytes: Span<UInt8>, in range: Range<Int>, missing: Int) {
        let start = range.lowerBound
        guard range.count >= 20, range.upperBound <= bytes.count else { return nil }
        let size = Int(bytes[start + 12] >> 4) * 4
        guard size >= 20, size <= range.count + missing else { return nil }
        sourcePort = bytes.bigEndian16(at: start)
        destinationPort = bytes.bigEndian16(at: start + 2)
        sequence = bytes.bigEndian32(at: start + 4)
        acknowledgment = bytes.bigEndian32(at: start + 8)
        bits = bytes[start + 13]
        // Options may be cut as well.
        payload = min(start + size, range.upperBound)..<range.upperBound
        self.missing = missing - max(0, size - range.count)
    }
}
