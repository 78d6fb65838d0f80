import Capture
import Testing
import Wire

/// The same packets behind every kind of link header, and in files of every kind.
@Suite struct PacketLinksTests {
    private static func dialogue(isIPv6: Bool = false) throws -> [CapturedPacket] {
        var session = SampleSession()
        session.open(
            1, app: isIPv6 ? "[fd00::2]:50001" : nil,
            board: isIPv6 ? "[fd00::1]:8080" : "10.0.0.1:8080")
        session.upgrade(1)
        for number in 0..<20 {
            session.text(1, .board, String(repeating: "command \(number) ", count: number * 20 + 1))
            session.text(1, .app, String(repeating: "result \(number) ", count: number * 20 + 1))
        }
        session.end(1, .app)
        session.end(1, .board)
        return try pcapPackets(session.events)
    }

    private static func content(_ events: [Event]) -> [String] { events.compactMap(line) }

    private func events(_ link: LinkType, _ frames: [Bytes], cut: Int = 0) -> [String] {
        let session = PacketSession(link: link)
        var batch = EventBatch()
        for (index, frame) in frames.enumerated() {
            session.receive(frame.span, cut: cut, at: Int64(index), into: &batch)
        }
        session.finish(into: &batch)
        return Self.content(batch.events)
    }

    @Test(arguments: [
        (LinkType.ethernet, "0102030405060708090a0b0c", ""),
        (.ethernet, "0102030405060708090a0b0c", "81000005"),
        (.ethernet, "0102030405060708090a0b0c", "88a8000581000006"),
        (.ethernet, "0102030405060708090a0b0c", "9100000581000006"), (.raw, "", ""),
        (.loopback, "02000000", ""), (.loopback, "00000002", ""),
        (.cooked, "0000000100060102030405060000", ""),
        (.cooked, "0000000100060102030405060000", "81000005"),
        (.cooked2, "", "0000000000020001000601020304050600000000"),
    ])
    func `every link type gives the same session`(
        _ link: LinkType, _ before: String, _ tags: String
    ) throws {
        for isIPv6 in [false, true] {
            let packets = try Self.dialogue(isIPv6: isIPv6)
            let expected = Self.content(session(packets))
            #expect(expected.count == 45)
            let type: Bytes = isIPv6 ? [0x86, 0xdd] : [8, 0]
            let head = try bytes(before)
            let tag = try bytes(tags)
            let frames = packets.map { packet -> Bytes in
                switch link {
                case .raw: packet.bytes
                case .loopback: head + packet.bytes
                case .cooked2: type + tag.dropFirst(2) + packet.bytes
                // Trailers need not be zeros.
                case .ethernet, .cooked:
                    head + tag + type + packet.bytes + [0xde, 0xad, 0xbe, 0xef]
                }
            }
            #expect(events(link, frames) == expected)
        }
    }

    @Test func `packets without a right checksum, as a network card fills it in later, are read`()
        throws
    {
        let packets = try Self.dialogue()
        let frames = packets.map { packet -> Bytes in
            var bytes = packet.bytes
            (bytes[10], bytes[11], bytes[36], bytes[37]) = (0, 0, 0x12, 0x34)
            return bytes
        }
        #expect(events(.raw, frames) == Self.content(session(packets)))
    }

    @Test func `packets that the network card will cut have up to 64 KiB or no length`() {
        let text = String(repeating: "0123456789", count: 6_540)
        var wires = Wires()
        wires.open()
        let bytes = frame(text)
        wires.send(.board, [.ack], 501, ack: 101, Bytes(bytes[..<65_000]))
        wires.send(.board, [.ack], 65_501, ack: 101, Bytes(bytes[65_000...]))
        // One frame of the board, which no handshake came before, is not HTTP.
        var frames = wires.packets.map(\.bytes)
        let expected = events(.raw, frames)
        #expect(expected.count > 2)
        for index in frames.indices { (frames[index][2], frames[index][3]) = (0, 0) }
        #expect(events(.raw, frames) == expected)
    }

    @Test func `fragments of IPv4 and IPv6, in any order, give the same session`() throws {
        for isIPv6 in [false, true] {
            let packets = try Self.dialogue(isIPv6: isIPv6)
            for seed in 0..<6 {
                var random = SeededRandom(UInt64(seed))
                var frames: [Bytes] = []
                for (index, packet) in packets.enumerated() {
                    var parts = fragments(
                        packet.bytes, isIPv6: isIPv6, number: UInt32(index),
                        random.pick([64, 512, 1200]))
                    if random.flag() { parts.shuffle(using: &random) }
                    frames += parts
                }
                #expect(frames.count > packets.count)
                #expect(events(.raw, frames) == Self.content(session(packets)), "seed \(seed)")
            }
        }
    }

    private func fragments(_ packet: Bytes, isIPv6: Bool, number: UInt32, _ size: Int) -> [Bytes] {
        let header = isIPv6 ? 40 : 20
        let payload = Bytes(packet[header...])
        guard payload.count > size else { return [packet] }
        return stride(from: 0, to: payload.count, by: size).map { offset in
            let part = payload[offset..<min(offset + size, payload.count)]
            let hasMore = offset + size < payload.count
            var head = Bytes(packet[..<header])
            if isIPv6 {
                head[6] = 44
                (head[4], head[5]) = (UInt8((part.count + 8) >> 8), UInt8((part.count + 8) & 255))
                head += [6, 0, UInt8(offset >> 8), UInt8(offset & 0xf8) | (hasMore ? 1 : 0)]
                head += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            } else {
                (head[2], head[3]) = (UInt8((part.count + 20) >> 8), UInt8((part.count + 20) & 255))
                (head[4], head[5]) = (UInt8(number >> 8 & 255), UInt8(number & 255))
                head[6] = UInt8((offset / 8) >> 8) | (hasMore ? 0x20 : 0)
                head[7] = UInt8(offset / 8 & 255)
            }
            return head + part
        }
    }

    @Test func `IPv6 extension headers are stepped over`() throws {
        let packets = try Self.dialogue(isIPv6: true)
        let frames = packets.map { packet -> Bytes in
            var bytes = Bytes(packet.bytes[..<40])
            let length = packet.bytes.count - 40 + 8 + 16 + 8
            (bytes[4], bytes[5], bytes[6]) = (UInt8(length >> 8), UInt8(length & 255), 0)
            // Hop by hop, routing of 16 bytes, and a fragment header that is the whole datagram.
            bytes += [43, 0, 1, 4, 0, 0, 0, 0]
            bytes += [44, 1, 0, 0] + Bytes(repeating: 0, count: 12)
            bytes += [6, 0, 0, 0, 1, 2, 3, 4]
            return bytes + packet.bytes[40...]
        }
        #expect(events(.raw, frames) == Self.content(session(packets)))
    }

    @Test func `a fragment that never comes is told and is a gap`() throws {
        let packets = try Self.dialogue()
        var frames = packets.flatMap { fragments($0.bytes, isIPv6: false, number: 1, 2000) }
        let large = try #require(frames.firstIndex { $0.count > 1000 })
        let parts = fragments(frames[large], isIPv6: false, number: 77, 512)
        frames.replaceSubrange(large...large, with: parts.dropLast())
        let found = events(.raw, frames)
        #expect(found.contains("note fragments_missing"))
        #expect(found.contains { $0.contains("gap") })
    }

    private func bytes(_ hex: String) throws -> Bytes {
        let digits = Bytes(hex.utf8)
        let bytes = decodeHex(digits.span)
        return try #require(bytes)
    }

    // MARK: Files

    private func read(_ bytes: Bytes) throws -> (events: [Event], remarks: [SessionRemark]) {
        var reader = SessionReader(MemorySource(bytes, name: "lab.pcapng"))
        var events: [Event] = []
        var remarks: [SessionRemark] = []
        while let item = try reader.next() {
            switch item {
            case .event(let event): events.append(event)
            case .remark(let remark): remarks.append(remark)
            }
        }
        return (events, remarks)
    }

    /// A pcapng block (its type, its body, padded), in little-endian order.
    private func block(_ type: UInt32, _ body: Bytes) -> Bytes {
        let padded = body + Bytes(repeating: 0, count: (4 - body.count % 4) % 4)
        let length = little(UInt32(padded.count + 12))
        return little(type) + length + padded + length
    }

    private func little(_ value: UInt32) -> Bytes {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private let sectionHeader: Bytes =
        [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0] + Bytes(repeating: 0xff, count: 8)

    /// An interface of a link type whose stamps count `10^-resolution` seconds.
    private func interface(_ link: UInt8, _ resolution: UInt8) -> Bytes {
        block(1, [link, 0, 0, 0, 0, 0, 4, 0] + [9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0])
    }

    private func packet(_ interface: UInt32, _ stamp: UInt64, _ bytes: Bytes) -> Bytes {
        let count = little(UInt32(bytes.count))
        return block(
            6,
            little(interface) + little(UInt32(stamp >> 32)) + little(UInt32(stamp & 0xffff_ffff))
                + count + count + bytes)
    }

    @Test func `interfaces with stamps of their own are one session`() throws {
        let packets = try Self.dialogue()
        var file = block(0x0a0d_0d0a, sectionHeader) + interface(1, 6) + interface(1, 9)
        for (index, captured) in packets.enumerated() {
            let isFirst = index % 2 == 0
            let time = UInt64(1_000_000 + index)
            let frame = Bytes(repeating: 0, count: 12) + [8, 0] + captured.bytes
            file += packet(isFirst ? 0 : 1, isFirst ? time : time * 1000, frame)
        }
        let (events, remarks) = try read(file)
        #expect(remarks.isEmpty)
        #expect(Self.content(events) == Self.content(session(packets)))
        let last = try #require(events.last)
        #expect(last.time == Int64(packets.count - 1) * 1000)
    }

    @Test func `interfaces of several link types are refused with what to do`() throws {
        let packets = try Self.dialogue()
        var file = block(0x0a0d_0d0a, sectionHeader) + interface(101, 6)
        for captured in packets.prefix(5) { file += packet(0, 1, captured.bytes) }
        let (_, remarks) = try read(file + interface(1, 6) + packet(1, 1, packets[0].bytes))
        let remark = try #require(remarks.first)
        #expect(remark.text.contains("another link type"))
        #expect(remark.hint?.contains("tshark") == true)
        // Before any packet it is the file that cannot be read.
        file = block(0x0a0d_0d0a, sectionHeader) + interface(101, 6) + interface(1, 6)
        #expect {
            try read(file + packet(0, 1, packets[0].bytes))
        } throws: { error in
            (error as? SessionError)?.text.contains("another link type") == true
        }
    }

    @Test func `stamps count micro or nanoseconds as the file says`() throws {
        let packets = try Self.dialogue()
        for (magic, unit) in [
            (Bytes([0xd4, 0xc3, 0xb2, 0xa1]), Int64(1000)), ([0x4d, 0x3c, 0xb2, 0xa1], 1),
        ] {
            var file =
                magic + [2, 0, 4, 0] + Bytes(repeating: 0, count: 8) + [0, 0, 4, 0, 101, 0, 0, 0]
            for (index, captured) in packets.enumerated() {
                let count = little(UInt32(captured.bytes.count))
                file += little(1) + little(UInt32(index * 7)) + count + count + captured.bytes
            }
            let (events, _) = try read(file)
            #expect(events.last?.time == Int64(packets.count - 1) * 7 * unit)
            #expect(Self.content(events) == Self.content(session(packets)))
        }
    }
}
