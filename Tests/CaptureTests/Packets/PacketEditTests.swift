import Capture
import Testing
import Wire

/// The packets of real captures, changed as networks and capture tools change them.
@Suite struct PacketEditTests {
    /// A direction, by the ends of its connection: packets that are moved may open connections in
    /// another order.
    private struct Key: Hashable {
        var app: String
        var from: Side
    }

    /// The app's address of each connection.
    private func apps(_ events: [Event]) -> [Int: String] {
        var apps: [Int: String] = [:]
        for event in events {
            if case .open(let open) = event.kind { apps[event.conn] = open.app }
        }
        return apps
    }

    /// What a direction sent: bytes, and nil where they are missing.
    private func sent(_ events: [Event]) -> [Key: [UInt8?]] {
        let apps = apps(events)
        var encoders: [Int: ConnectionEncoder] = [:]
        var sent: [Key: [UInt8?]] = [:]
        for event in events {
            guard let from = event.from, let app = apps[event.conn] else { continue }
            var bytes = Bytes()
            let outcome = encoders[event.conn, default: ConnectionEncoder()].encode(
                event, into: &bytes)
            let key = Key(app: app, from: from)
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
        let apps = apps(events)
        var content: [Key: [Event.Kind]] = [:]
        for event in events {
            guard let from = event.from, let app = apps[event.conn] else { continue }
            switch event.kind {
            case .note: break
            case .piece(var piece):
                piece.of = 0
                content[Key(app: app, from: from), default: []].append(.piece(piece))
            default: content[Key(app: app, from: from), default: []].append(event.kind)
            }
        }
        return content
    }

    private func withoutCloses(_ content: [Key: [Event.Kind]]) -> [Key: [Event.Kind]] {
        content.mapValues { kinds in
            kinds.filter { if case .close = $0 { false } else { true } }
        }
    }

    /// What is whole in a session: nothing of it may be there that was not sent.
    private func messages(_ events: [Event]) -> [Key: [Event.Kind]] {
        content(events).mapValues { kinds in
            kinds.compactMap { kind in
                switch kind {
                case .request(let request): return request.body.incomplete ? nil : kind
                case .response(var response):
                    // Of requests that are missing it cannot be known how many there were.
                    response.exchange = 0
                    return response.body.incomplete ? nil : .response(response)
                case .frame(let frame): return frame.incomplete ? nil : kind
                case .message(let message): return message.incomplete ? nil : kind
                case .session, .open, .piece, .data, .gap, .close, .note, .end: return nil
                }
            }
        }
    }

    /// The first message of an edited capture that is not one of the original's, in its order.
    private func invention(
        _ edited: [Event], besides original: [Key: [Event.Kind]]
    ) -> String? {
        for (key, messages) in messages(edited) {
            var rest = (original[key] ?? [])[...]
            for message in messages {
                guard let index = rest.firstIndex(where: { isSame(message, $0) }) else {
                    return "\(key): \(message)"
                }
                rest = rest[(index + 1)...]
            }
        }
        return nil
    }

    private func isSame(_ left: Event.Kind, _ right: Event.Kind) -> Bool {
        guard case .request(var left) = left, case .request(let right) = right else {
            return left == right
        }
        left.exchange = right.exchange
        return left == right
    }

    /// Whether a session says that it is not whole, or not what it might be.
    private func isHonest(_ events: [Event]) -> Bool {
        let codes = ["early_bytes", "after_close", "overlap_differs"]
        return !Set(notes(events)).isDisjoint(with: codes)
            || events.contains { event in
                switch event.kind {
                case .gap: true
                case .open(let open): open.continued != nil
                default: false
                }
            }
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
        let data = packet.bytes[tcp.payload]
        let middle = data.startIndex + cut
        return [
            try segment(
                ip, tcp, sequence: tcp.sequence, acknowledgment: tcp.acknowledgment,
                data[..<middle], time: packet.time),
            try segment(
                ip, tcp, sequence: tcp.sequence &+ UInt32(cut), acknowledgment: tcp.acknowledgment,
                data[middle...], time: packet.time),
        ]
    }

    /// Two packets of one side as one, where the second goes on where the first ends.
    private func joined(
        _ first: CapturedPacket, _ second: CapturedPacket
    ) throws -> CapturedPacket? {
        guard isData(first), isData(second) else { return nil }
        let spans = (first.bytes.span, second.bytes.span)
        guard let ip = IPPacket(spans.0, at: 0, cut: 0),
            let next = IPPacket(spans.1, at: 0, cut: 0),
            let tcp = TCPHeader(spans.0, in: ip.payload, missing: 0),
            let other = TCPHeader(spans.1, in: next.payload, missing: 0),
            ip.source == next.source, tcp.sourcePort == other.sourcePort,
            ip.destination == next.destination, tcp.destinationPort == other.destinationPort,
            tcp.sequence &+ UInt32(tcp.payload.count) == other.sequence,
            tcp.payload.count + other.payload.count < 60_000
        else { return nil }
        return try segment(
            ip, tcp, sequence: tcp.sequence, acknowledgment: other.acknowledgment,
            first.bytes[tcp.payload] + second.bytes[other.payload], time: second.time)
    }

    private func segment(
        _ ip: IPPacket, _ tcp: TCPHeader, sequence: UInt32, acknowledgment: UInt32,
        _ payload: ArraySlice<UInt8>, time: Int64
    ) throws -> CapturedPacket {
        let source = PacketEndpoint(address: ip.source, port: tcp.sourcePort).text
        let target = PacketEndpoint(address: ip.destination, port: tcp.destinationPort).text
        var bytes = Bytes()
        TCPSegment(
            flags: [.ack], sequence: sequence, acknowledgment: acknowledgment, window: 65535,
            payload: payload
        ).encode(
            from: try #require(IPEndpoint(parsing: source)),
            to: try #require(IPEndpoint(parsing: target)), identification: 0, into: &bytes)
        return CapturedPacket(bytes: bytes, cut: 0, time: time)
    }

    private func isData(_ packet: CapturedPacket) -> Bool {
        let span = packet.bytes.span
        guard let ip = IPPacket(span, at: 0, cut: 0),
            let tcp = TCPHeader(span, in: ip.payload, missing: 0)
        else { return false }
        return !tcp.payload.isEmpty && !tcp.isSYN && !tcp.isFIN && !tcp.isRST
    }

    @Test(arguments: EditablePackets.all)
    func `packets of both sides out of order give the same events or an honest gap`(
        _ capture: EditablePackets
    ) throws {
        let packets = try capture.packets()
        let original = session(packets)
        let expected = content(original)
        let messages = messages(original)
        var same = 0
        for seed in 0..<8 {
            var random = SeededRandom(UInt64(seed))
            var edited: [CapturedPacket] = []
            for packet in packets {
                edited += random.flag() ? try halves(packet, at: 0.4) : [packet]
            }
            let window = 1 + seed % 6
            for index in edited.indices where random.flag() {
                let last = min(edited.count - 1, index + window)
                edited.swapAt(index, Int.random(in: index...last, using: &random))
            }
            let events = session(edited)
            let invention = invention(events, besides: messages)
            #expect(invention == nil, "seed \(seed)")
            if content(events) == expected {
                same += 1
            } else {
                // A FIN behind a reset of the other side in the file says nothing any more.
                let isEarlyReset = withoutCloses(content(events)) == withoutCloses(expected)
                let isHonest = isEarlyReset || isHonest(events)
                #expect(isHonest, "seed \(seed)")
            }
        }
        // With a connection for each poll there are many handshakes to come out of order.
        #expect(same >= 2, "\(same) of 8")
    }

    @Test(arguments: EditablePackets.all)
    func `packets joined into larger ones give the same events`(_ capture: EditablePackets) throws {
        let packets = try capture.packets()
        let expected = content(session(packets))
        for seed in 0..<4 {
            var random = SeededRandom(UInt64(seed))
            var edited: [CapturedPacket] = []
            for packet in packets {
                if Int.random(in: 0..<4, using: &random) > 0, let last = edited.last,
                    let joined = try joined(last, packet)
                {
                    edited[edited.count - 1] = joined
                } else {
                    edited.append(packet)
                }
            }
            #expect(content(session(edited)) == expected, "seed \(seed)")
        }
    }

    @Test(arguments: EditablePackets.all)
    func `whatever is done to the packets, no message is invented`(
        _ capture: EditablePackets
    ) throws {
        let packets = try capture.packets()
        let messages = messages(session(packets))
        for seed in 0..<8 {
            var random = SeededRandom(UInt64(seed))
            var edited: [CapturedPacket] = []
            for packet in packets {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: break
                case 1: edited += [packet, packet]
                case 2...5:
                    edited += try halves(packet, at: Double.random(in: 0..<1, using: &random))
                case 6 where !edited.isEmpty: edited.insert(packet, at: edited.count - 1)
                case 7:
                    // Cut to a snap length.
                    let kept = min(packet.bytes.count, Int.random(in: 60...200, using: &random))
                    edited.append(
                        CapturedPacket(
                            bytes: Bytes(packet.bytes[..<kept]), cut: packet.bytes.count - kept,
                            time: packet.time))
                default: edited.append(packet)
                }
            }
            let invention = invention(session(edited), besides: messages)
            #expect(invention == nil, "seed \(seed)")
        }
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
            #expect(isHonest(events), "seed \(seed)")
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
