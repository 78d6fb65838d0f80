import Capture
import Testing
import Wire

/// Packets of both sides of a connection, swapped, lost and forged.
@Suite struct PacketConnectionTests {
    private let size = UInt32(request.count)
    private let answerSize = UInt32(answer.count)

    /// Three requests, each sent when the answer before it was there, and both FINs.
    private func dialogue() -> Wires {
        var wires = Wires()
        wires.open()
        for number in 0..<UInt32(3) {
            let asked = 101 + size * number
            let answered = 501 + answerSize * number
            wires.send(.app, [.ack], asked, ack: answered, request)
            wires.send(.board, [.ack], answered, ack: asked + size, answer)
        }
        let end = 101 + size * 3
        wires.send(.app, [.fin, .ack], end, ack: 501 + answerSize * 3)
        wires.send(.board, [.fin, .ack], 501 + answerSize * 3, ack: end + 1)
        return wires
    }

    private let expected = [
        "1 open", "app GET /a", "board 200 #1", "app GET /a", "board 200 #2", "app GET /a",
        "board 200 #3", "1 app fin", "1 board fin",
    ]

    @Test func `an answer that the file has before its question stands behind it`() {
        let packets = dialogue().packets
        #expect(session(packets).compactMap(line) == expected)
        // Behind the SYN, any two neighbours.
        for index in 1..<packets.count - 1 {
            var swapped = packets
            swapped.swapAt(index, index + 1)
            #expect(session(swapped).compactMap(line) == expected, "packet \(index)")
        }
    }

    @Test func `packets moved about within a window keep their order of meaning`() {
        let packets = dialogue().packets
        for seed in 0..<200 {
            var random = SeededRandom(UInt64(seed))
            var edited = packets
            // Without the handshake before it, data may be taken for the beginning.
            for index in edited.indices.dropFirst(3) {
                let last = min(edited.count - 1, index + 4)
                edited.swapAt(index, Int.random(in: index...last, using: &random))
            }
            #expect(session(edited).compactMap(line) == expected, "seed \(seed)")
        }
    }

    @Test func `what waits for a packet that never comes is not held for ever`() {
        var wires = Wires()
        wires.open()
        // The board's first answer is lost, and nothing of it follows.
        wires.send(.app, [.ack], 101, ack: 501, request)
        wires.send(.app, [.ack], 101 + size, ack: 501 + answerSize, request, time: 10_000)
        for number in 0..<200 as Range<Int64> {
            wires.send(.app, [.ack], 101 + 2 * size, ack: 501, time: 20_000_000 * (number + 1))
        }
        let session = PacketSession(link: .raw)
        var batch = EventBatch()
        for packet in wires.packets {
            session.receive(packet.bytes.span, cut: packet.cut, at: packet.time, into: &batch)
        }
        #expect(batch.events.compactMap(line) == ["1 open", "app GET /a", "app GET /a"])
    }

    @Test func `several lost answers do not move the ones behind them to other requests`() {
        var packets = dialogue().packets
        // The first answer is lost.
        packets.remove(at: 4)
        #expect(
            session(packets).compactMap(line) == [
                "1 open", "app GET /a", "board gap \(answerSize) missing_packets", "app GET /a",
                "board 200 #2", "app GET /a", "board 200 #3", "1 app fin", "1 board fin",
            ])
    }

    @Test func `an acknowledgment of what cannot have been sent holds nothing back`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 0x7fff_0000, request)
        let session = PacketSession(link: .raw)
        var batch = EventBatch()
        for packet in wires.packets {
            session.receive(packet.bytes.span, cut: packet.cut, at: packet.time, into: &batch)
        }
        #expect(batch.events.compactMap(line) == ["1 open", "app GET /a"])
    }

    @Test func `the answer to a SYN that is missing is no reason to lose what follows`() {
        var packets = dialogue().packets
        packets.remove(at: 1)
        #expect(session(packets).compactMap(line) == expected)
        packets.remove(at: 3)
        #expect(
            session(packets).compactMap(line).prefix(4) == [
                "1 open", "app GET /a", "board gap \(answerSize) missing_packets", "app GET /a",
            ])
    }

    @Test func `a later connection without a SYN is one of its own`() {
        // Closed in good order, or never closed.
        for isClosed in [true, false] {
            var wires = dialogue()
            if !isClosed {
                wires = Wires()
                wires.open()
                wires.send(.app, [.ack], 101, ack: 501, request)
            }
            wires.send(.app, [.ack], 0x8000_0000, ack: 0x9000_0000, request)
            wires.send(.board, [.ack], 0x9000_0000, ack: 0x8000_0000 + size, answer)
            let found = session(wires.packets).compactMap(line)
            #expect(found.suffix(3) == ["2 open", "app GET /a", "board 200 #1"])
        }
    }

    @Test func `a reset that its sender did not send loses nothing behind it`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request)
        wires.send(.app, [.rst], 101 + size, ack: 0)
        wires.send(.app, [.ack], 101 + size, ack: 501, request)
        wires.send(.board, [.ack], 501, ack: 101 + 2 * size, answer)
        #expect(
            session(wires.packets).compactMap(line) == [
                "1 open", "app GET /a", "1 app reset", "2 open", "app GET /a", "board 200 #1",
            ])
    }

    @Test func `bytes behind a FIN are told and left out`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.fin, .ack], 101, ack: 501, request)
        wires.send(.app, [.ack], 101 + size, ack: 501, request)
        // A probe of a host that has closed is no data.
        wires.send(.board, [.ack], 501, ack: 102 + size, answer)
        wires.send(.board, [.fin, .ack], 501 + answerSize, ack: 102 + size)
        #expect(
            session(wires.packets).compactMap(line) == [
                "1 open", "app GET /a", "1 app fin", "note after_close", "board 200 #1",
                "1 board fin",
            ])
    }

    @Test func `a window probe gives its byte once`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, Bytes(request[..<10]))
        // One byte into the closed window, again, and then all of it.
        wires.send(.app, [.ack], 111, ack: 501, Bytes(request[10..<11]))
        wires.send(.app, [.ack], 111, ack: 501, Bytes(request[10..<11]))
        wires.send(.app, [.ack], 111, ack: 501, Bytes(request[10...]))
        #expect(session(wires.packets).compactMap(line) == ["1 open", "app GET /a"])
    }

    @Test func `a connection that never closes has no close`() {
        let packets = dialogue().packets.dropLast(2)
        #expect(session(Array(packets)).compactMap(line) == Array(expected.dropLast(2)))
    }

    @Test func `compressed frames alone tell a WebSocket without its handshake`() throws {
        // Both sides refer to what came before, so that no message can be read by itself.
        let texts = ["a heartbeat, say", "a heartbeat, or two", "a heartbeat, or three"]
        var wires = Wires()
        var sequences: [Side: UInt32] = [.app: 1, .board: 1]
        let deflaters = [Side.app: try #require(Deflater()), .board: try #require(Deflater())]
        for side in Side.allCases {
            // Before the capture.
            let before = Bytes("a heartbeat, or none".utf8)
            _ = deflaters[side]?.compress(before.span)
        }
        for text in texts {
            for side in Side.allCases {
                let bytes = Bytes(text.utf8)
                let payload = deflaters[side]?.compress(bytes.span) ?? []
                let frame = Frame(
                    rsv: 4, opcode: .text,
                    maskingKey: side == .app ? MaskingKey(rawValue: 0x0102_0304) : nil,
                    payload: payload
                ).encoded()
                wires.send(
                    side, [.ack], sequences[side] ?? 0, ack: sequences[side.peer] ?? 0, frame)
                sequences[side, default: 0] += UInt32(frame.count)
            }
        }
        let events = session(wires.packets)
        let frames = events.filter { if case .frame = $0.kind { true } else { false } }
        #expect(frames.map(\.from) == [.app, .board, .app, .board, .app, .board])
        #expect(events.compactMap(line).contains("note not_inflated"))
        #expect(!events.contains { if case .data = $0.kind { true } else { false } })
    }
}
