import Capture
import Testing
import Wire

/// The packets of real captures, changed as networks and capture tools change them.
@Suite struct PacketEditTests {
    private struct Key: Hashable {
        var conn: Int
        var from: Side
    }

    /// What a direction sent: bytes, and nil where they are missing.
    private func sent(_ events: [Event]) -> [Key: [UInt8?]] {
        var encoders: [Int: ConnectionEncoder] = [:]
        var sent: [Key: [UInt8?]] = [:]
        for event in events {
            guard let from = event.from else { continue }
            var bytes = Bytes()
            let outcome = encoders[event.conn, default: ConnectionEncoder()].encode(
                event, into: &bytes)
            let key = Key(conn: event.conn, from: from)
            sent[key, default: []] += bytes
            switch outcome {
            case .missing(let length):
                sent[key, default: []] += Array(repeating: nil, count: Int(length ?? 0))
            case .contradiction(let why): Issue.record("\(why)")
            case .nothing, .bytes: break
            }
        }
        return sent
    }

    /// The content of the events, a list for each connection and direction.
    private func content(_ events: [Event]) -> [Key: [Event.Kind]] {
        var content: [Key: [Event.Kind]] = [:]
        for event in events {
            guard let from = event.from else { continue }
            switch event.kind {
            case .note: break
            case .piece(var piece):
                piece.of = 0
                content[Key(conn: event.conn, from: from), default: []].append(.piece(piece))
            default: content[Key(conn: event.conn, from: from), default: []].append(event.kind)
            }
        }
        return content
    }

    private func notes(_ events: [Event]) -> [String] {
        events.compactMap { if case .note(let note) = $0.kind { note.code } else { nil } }
    }

    /// The packet's segment cut in two, where it has data.
    private func halves(
        _ packet: CapturedPacket, at share: Double
    ) throws -> [CapturedPacket] {
        let span = packet.bytes.span
        guard let ip = IPPacket(span, at: 0, cut: 0),
            let tcp = TCPHeader(span, in: ip.payload, missing: 0), tcp.payload.count > 1,
            !tcp.isSYN, !tcp.isFIN, !ip.source.isIPv6
        else {
            return [packet]
        }
        let cut = 1 + Int(share * Double(tcp.payload.count - 1))
        let source = try #require(
            IPEndpoint(parsing: PacketEndpoint(address: ip.source, port: tcp.sourcePort).text))
        let target = try #require(
            IPEndpoint(
                parsing: PacketEndpoint(address: ip.destination, port: tcp.destinationPort).text))
        let data = Bytes(packet.bytes[tcp.payload])
        return [(0, data[..<cut]), (cut, data[cut...])].map { offset, part in
            var bytes = Bytes()
            TCPSegment(
                flags: [.ack], sequence: tcp.sequence &+ UInt32(offset),
                acknowledgment: tcp.acknowledgment, window: 65535, payload: part
            ).encode(from: source, to: target, identification: 0, into: &bytes)
            return CapturedPacket(bytes: bytes, cut: 0, time: packet.time)
        }
    }

    private func isData(_ packet: CapturedPacket) -> Bool {
        let span = packet.bytes.span
        guard let ip = IPPacket(span, at: 0, cut: 0),
            let tcp = TCPHeader(span, in: ip.payload, missing: 0)
        else { return false }
        return !tcp.payload.isEmpty && !tcp.isSYN && !tcp.isFIN && !tcp.isRST
    }

    @Test(arguments: PacketCapture.complete)
    func `repeated and cut up packets give the same events`(_ capture: PacketCapture) throws {
        let packets = try capture.packets()
        let expected = content(session(packets))
        for seed in 0..<8 {
            var random = SeededRandom(UInt64(seed))
            var edited: [CapturedPacket] = []
            for packet in packets {
                if Int.random(in: 0..<4, using: &random) == 0,
                    let old = edited.suffix(6).randomElement(using: &random), isData(old)
                {
                    edited.append(old)
                }
                if random.flag() {
                    edited += try halves(packet, at: Double.random(in: 0..<1, using: &random))
                } else {
                    edited.append(packet)
                }
            }
            #expect(content(session(edited)) == expected, "seed \(seed)")
        }
    }

    @Test(arguments: PacketCapture.complete)
    func `packets of one side out of order give the same events or an honest gap`(
        _ capture: PacketCapture
    ) throws {
        let packets = try capture.packets()
        let expected = content(session(packets))
        var same = 0
        for seed in 0..<16 {
            var random = SeededRandom(UInt64(seed))
            // Cut up, so that a side has several in a row; both sides keep their order.
            var edited: [CapturedPacket] = []
            for packet in packets {
                var parts = try halves(packet, at: Double.random(in: 0..<1, using: &random))
                if random.flag() { parts.reverse() }
                edited += parts
            }
            let events = session(edited)
            if content(events) == expected {
                same += 1
                continue
            }
            let notes = notes(events)
            let isHonest =
                notes.contains("early_bytes") || notes.contains("after_close")
                || events.contains { if case .gap = $0.kind { true } else { false } }
            #expect(isHonest, "seed \(seed)")
        }
        #expect(same >= 8)
    }

    @Test(arguments: PacketCapture.complete)
    func `lost packets are gaps, and no byte stands in a wrong place`(
        _ capture: PacketCapture
    ) throws {
        let packets = try capture.packets()
        let expected = sent(session(packets))
        let total = expected.values.reduce(0) { $0 + $1.count }
        var found = 0
        for seed in 0..<16 {
            var random = SeededRandom(UInt64(seed))
            let edited = packets.filter { packet in
                !isData(packet) || Int.random(in: 0..<8, using: &random) > 0
            }
            let sent = sent(session(edited))
            for (key, bytes) in sent {
                let whole = try #require(expected[key])
                #expect(bytes.count <= whole.count)
                let isRight = zip(bytes, whole).allSatisfy { $0 == nil || $0 == $1 }
                #expect(isRight, "seed \(seed), \(key)")
                found += bytes.count { $0 != nil }
            }
        }
        #expect(found > total * 16 / 4)
    }

    @Test(arguments: PacketCapture.complete)
    func `behind a lost packet messages are found again`(_ capture: PacketCapture) throws {
        let packets = try capture.packets()
        func frames(_ events: [Event]) -> Int {
            events.count {
                if case .frame(let frame) = $0.kind { !frame.incomplete } else { false }
            }
        }
        let all = frames(session(packets))
        let data = packets.indices.filter { isData(packets[$0]) }
        // The handshake is lost, and everything is there behind it.
        guard all > 0, let last = data.dropFirst(2).last else { return }
        for lost in data where lost < last && lost > data[1] {
            var edited = packets
            edited.remove(at: lost)
            let found = frames(session(edited))
            #expect(found >= all - 12, "packet \(lost): \(found) of \(all)")
        }
    }
}
