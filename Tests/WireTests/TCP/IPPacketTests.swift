import Testing
import Wire

@Suite struct IPPacketTests {
    private func endpoint(_ text: String) throws -> IPEndpoint {
        try #require(IPEndpoint(parsing: text))
    }

    // A lent span cannot be an operand of the expectation macros.

    private func ip(_ bytes: Bytes, at offset: Int, cut: Int) throws -> IPPacket {
        let packet = IPPacket(bytes.span, at: offset, cut: cut)
        return try #require(packet)
    }

    private func tcp(_ bytes: Bytes, _ ip: IPPacket) throws -> TCPHeader {
        let header = TCPHeader(bytes.span, in: ip.payload, missing: ip.missing)
        return try #require(header)
    }

    private func offset(_ link: LinkType, _ frame: Bytes) throws -> Int {
        let offset = link.networkOffset(frame.span)
        return try #require(offset)
    }

    private func packet(_ from: String, _ to: String, _ payload: Bytes) throws -> Bytes {
        var bytes = Bytes()
        TCPSegment(
            flags: [.ack], sequence: 1, acknowledgment: 2, window: 3, payload: payload[...]
        ).encode(
            from: try endpoint(from), to: try endpoint(to), identification: 7, into: &bytes)
        return bytes
    }

    @Test(arguments: [
        (LinkType.ethernet, Bytes(repeating: 1, count: 12) + [8, 0]),
        (.ethernet, Bytes(repeating: 1, count: 12) + [0x81, 0, 0, 5, 8, 0]),
        (.ethernet, Bytes(repeating: 1, count: 12) + [0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0]),
        (.raw, []), (.loopback, [2, 0, 0, 0]), (.loopback, [0, 0, 0, 2]),
        (.cooked, Bytes(repeating: 0, count: 14) + [8, 0]),
        (.cooked2, [8, 0] + Bytes(repeating: 0, count: 18)),
    ])
    func `a packet is found behind its link's header`(_ link: LinkType, _ header: Bytes) throws {
        // Ethernet pads short frames.
        let frame =
            header + (try packet("10.0.0.1:1000", "10.0.0.2:8080", [0x68, 0x69])) + [0, 0, 0]
        let offset = try self.offset(link, frame)
        let ip = try self.ip(frame, at: offset, cut: 0)
        #expect(ip.proto == 6)
        #expect(ip.source.text == "10.0.0.1")
        let tcp = try self.tcp(frame, ip)
        #expect(tcp.destinationPort == 8080)
        #expect(Bytes(frame[tcp.payload]) == [0x68, 0x69])
        #expect(!tcp.isSYN && !tcp.isFIN && !tcp.isRST && tcp.isACK)
        for count in 0..<frame.count {
            // Nothing is read behind the end, wherever it is.
            let part = frame.span.extracting(0..<count)
            guard let offset = link.networkOffset(part),
                let ip = IPPacket(part, at: offset, cut: frame.count - count)
            else { continue }
            _ = TCPHeader(part, in: ip.payload, missing: ip.missing)
        }
    }

    @Test func `other protocols are none`() {
        let arp = Bytes(repeating: 0, count: 12) + [8, 6] + Bytes(repeating: 0, count: 28)
        let found = LinkType.ethernet.networkOffset(arp.span)
        #expect(found == nil)
        #expect(LinkType(number: 105) == nil)
        #expect(LinkType(number: 276) == .cooked2)
    }

    @Test func `what the snap length cut is counted`() throws {
        let bytes = try packet("10.0.0.1:1", "10.0.0.2:2", Bytes(repeating: 7, count: 100))
        let cut = Bytes(bytes[..<60])
        let ip = try self.ip(cut, at: 0, cut: 80)
        let tcp = try self.tcp(cut, ip)
        #expect(tcp.payload.count == 20)
        #expect(tcp.missing == 80)
    }

    @Test func `a length of zero stands for all that is there`() throws {
        var bytes = try packet("10.0.0.1:1", "10.0.0.2:2", Bytes(repeating: 7, count: 100))
        bytes[2] = 0
        bytes[3] = 0
        let ip = try self.ip(bytes, at: 0, cut: 0)
        #expect(ip.payload == 20..<140)
    }

    @Test func `extension headers are stepped over`() throws {
        let plain = try packet("[fe80::1]:1", "[2001:db8::2]:2", [1, 2, 3])
        var bytes = Bytes(plain[..<40])
        bytes[6] = 0
        bytes[5] += 8 + 16
        // Hop by hop, then destination options of 16 bytes.
        bytes += [60, 0, 1, 4, 0, 0, 0, 0]
        bytes += [6, 1, 1, 12] + Bytes(repeating: 0, count: 12)
        bytes += plain[40...]
        let ip = try self.ip(bytes, at: 0, cut: 0)
        #expect(ip.proto == 6)
        #expect(ip.destination.text == "2001:db8::2")
        let tcp = try self.tcp(bytes, ip)
        #expect(Bytes(bytes[tcp.payload]) == [1, 2, 3])
    }

    /// Cuts an IPv4 packet into fragments of eight bytes of payload.
    private func fragments(_ packet: Bytes) -> [Bytes] {
        let payload = Bytes(packet[20...])
        return stride(from: 0, to: payload.count, by: 8).map { offset in
            let part = payload[offset..<min(offset + 8, payload.count)]
            var header = Bytes(packet[..<20])
            header[3] = UInt8(20 + part.count)
            header[6] = offset + 8 < payload.count ? 0x20 : 0
            header[7] = UInt8(offset / 8)
            return header + part
        }
    }

    @Test func `fragments come together in any order`() throws {
        let whole = try packet("10.0.0.1:1", "10.0.0.2:2", Bytes(repeating: 7, count: 61))
        let parts = fragments(whole)
        for order in [Array(parts), parts.reversed(), parts + parts.reversed()] {
            var defragmenter = IPDefragmenter()
            var found: [Bytes] = []
            for part in order {
                let ip = try self.ip(part, at: 0, cut: 0)
                #expect(ip.fragment != nil)
                if let (packet, bytes) = defragmenter.receive(ip, part.span, at: 0) {
                    #expect(packet.payload == 0..<81)
                    #expect(packet.proto == 6)
                    found.append(bytes)
                }
            }
            #expect(found.first == Bytes(whole[20...]))
        }
    }

    @Test func `datagrams that never become whole are bounded`() throws {
        var defragmenter = IPDefragmenter()
        for number in 0..<1000 {
            var part = fragments(try packet("10.0.0.1:1", "10.0.0.2:2", [1, 2, 3]))[0]
            part[4] = UInt8(number >> 8)
            part[5] = UInt8(number & 255)
            let ip = try self.ip(part, at: 0, cut: 0)
            let whole = defragmenter.receive(ip, part.span, at: 0)?.bytes
            #expect(whole == nil)
        }
        #expect(defragmenter.unfinished == 64)
        #expect(defragmenter.lost == 936)
    }

    @Test(arguments: [
        "fe80::1", "::", "::1", "2001:db8::1:0:0:1", "2001:db8:1:2:3:4:5:6", "1::",
        "::ffff:10.0.0.1", "1:0:2::",
    ])
    func `addresses are printed as RFC 5952 wants them`(_ text: String) throws {
        let bytes = try packet("[\(text)]:9", "[::1]:2", [])
        let ip = try self.ip(bytes, at: 0, cut: 0)
        #expect(ip.source.text == text)
        #expect(PacketEndpoint(address: ip.source, port: 9).text == "[\(text)]:9")
    }
}
