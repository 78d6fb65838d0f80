import Testing
import Wire

@Suite struct TCPSegmentTests {
    /// The ones' complement sum over 16-bit words, which is 0xffff where a checksum is right.
    private func sum(_ parts: [Bytes]) -> UInt32 {
        var sum: UInt32 = 0
        for part in parts {
            for (index, byte) in part.enumerated() {
                sum += UInt32(byte) << (index.isMultiple(of: 2) ? 8 : 0)
            }
        }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return sum
    }

    @Test func `a SYN is what RFC 9293 and RFC 791 say`() throws {
        let source = try #require(IPEndpoint(parsing: "10.0.0.1:1"))
        let target = try #require(IPEndpoint(parsing: "10.0.0.2:2"))
        var packet = Bytes()
        TCPSegment(
            flags: [.syn], sequence: 0x0102_0304, acknowledgment: 0, window: 0xffff,
            options: [2, 4, 5, 0xb4]
        ).encode(from: source, to: target, identification: 7, into: &packet)
        #expect(
            Array(packet[..<10]) == [0x45, 0, 0, 44, 0, 7, 0x40, 0, 64, 6])
        #expect(Array(packet[12..<20]) == [10, 0, 0, 1, 10, 0, 0, 2])
        #expect(
            Array(packet[20..<36]) == [
                0, 1, 0, 2, 1, 2, 3, 4, 0, 0, 0, 0, 0x60, 0x02, 0xff, 0xff,
            ])
        #expect(Array(packet[38...]) == [0, 0, 2, 4, 5, 0xb4])
    }

    @Test func `checksums are right for any payload and both families`() throws {
        for (source, target) in [("1.2.3.4:5", "6.7.8.9:10"), ("[fd00::1]:5", "[fd00::2]:10")] {
            let source = try #require(IPEndpoint(parsing: source))
            let target = try #require(IPEndpoint(parsing: target))
            for count in [0, 1, 2, 3, 1459, 1460] {
                let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 | 0x80) }
                var packet = Bytes()
                TCPSegment(
                    flags: [.ack, .psh], sequence: .max, acknowledgment: .max, window: 1,
                    payload: payload[...]
                ).encode(from: source, to: target, identification: .max, into: &packet)
                let header = source.isIPv6 ? 40 : 20
                #expect(packet.count == header + 20 + count)
                if !source.isIPv6 { #expect(sum([Bytes(packet[..<20])]) == 0xffff) }
                let length = UInt16(20 + count)
                let pseudo =
                    source.address + target.address
                    + [0, 6, UInt8(length >> 8), UInt8(length & 0xff)]
                #expect(sum([pseudo, Bytes(packet[header...])]) == 0xffff)
            }
        }
    }
}
