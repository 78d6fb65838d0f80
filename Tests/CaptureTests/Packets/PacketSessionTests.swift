import Capture
import Testing
import Wire

@Suite struct PacketSessionTests {
    private let size = UInt32(request.count)

    @Test func `a refused connection is told as such`() {
        var wires = Wires()
        wires.send(.app, [.syn], 100)
        wires.send(.board, [.rst, .ack], 0, ack: 101)
        #expect(lines(wires) == ["1 open", "1 board refused"])
    }

    @Test func `sequence numbers wrap`() {
        var wires = Wires()
        wires.open(app: .max - 10, board: .max)
        wires.send(.app, [.ack], .max - 9, ack: 0, Bytes(request[..<12]))
        wires.send(.app, [.ack], 2, ack: 0, Bytes(request[12...]))
        wires.send(.board, [.ack], 0, ack: size - 10, answer)
        #expect(lines(wires) == ["1 open", "app GET /a", "board 200 #1"])
    }

    @Test func `a port that is used again is another connection`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request)
        wires.open(app: 70_000, board: 90_000)
        wires.send(.app, [.ack], 70_001, ack: 90_001, request)
        #expect(lines(wires) == ["1 open", "app GET /a", "2 open", "app GET /a"])
    }

    @Test func `a repetition with other bytes is noted and changes nothing`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, Bytes(request[..<10]))
        wires.send(.app, [.ack], 101, ack: 501, Bytes(repeating: 0x58, count: 10))
        wires.send(.app, [.ack], 111, ack: 501, Bytes(request[10...]))
        #expect(lines(wires) == ["1 open", "note overlap_differs", "app GET /a"])
    }

    @Test func `probes to keep a connection alive are no data`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request)
        wires.send(.app, [.ack], 100 + size, ack: 501, [0])
        wires.send(.app, [.ack], 100 + size, ack: 501)
        wires.send(.board, [.ack], 501, ack: 101 + size, answer)
        #expect(lines(wires) == ["1 open", "app GET /a", "board 200 #1"])
    }

    @Test func `a reset ends both sides and its data is none of the connection's`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request)
        wires.send(.board, [.rst, .ack], 501, ack: 101 + size, Bytes("no".utf8))
        #expect(lines(wires) == ["1 open", "app GET /a", "note reset_data", "1 board reset"])
    }

    @Test func `a reset that the file has before the last data waits for it`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.rst, .ack], 101 + size, ack: 501)
        wires.send(.app, [.ack], 101, ack: 501, request)
        #expect(lines(wires) == ["1 open", "app GET /a", "1 app reset"])
    }

    @Test func `a lost segment is a gap and decoding goes on behind it`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request)
        // The first answer is lost, which the app acknowledges.
        let lost = UInt32(answer.count)
        wires.send(.app, [.ack], 101 + size, ack: 501 + lost, request)
        wires.send(.board, [.ack], 501 + lost, ack: 101 + size * 2, answer)
        #expect(
            lines(wires) == [
                "1 open", "app GET /a", "board gap \(lost) missing_packets", "app GET /a",
                "board 200 #2",
            ])
    }

    @Test func `an end that never comes and a hole without one are told at the end of the file`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 111, ack: 501, Bytes(request[10...]))
        #expect(
            lines(wires) == ["1 open", "app gap 10 missing_packets", "app data \(size - 10)"])
    }

    @Test func `frames go on at the place that the length of a broken one tells`() {
        var wires = Wires()
        let long = frame(String(repeating: "x", count: 100), key: 0x1234_5678)
        wires.send(.app, [.ack], 1, ack: 1, frame("before it all", key: 7))
        let start = UInt32(1 + 6 + 13)
        wires.send(.app, [.ack], start, ack: 1, Bytes(long[..<26]))
        wires.send(
            .app, [.ack], start + 46, ack: 1, Bytes(long[46...]) + frame("behind", key: 9))
        #expect(
            lines(wires) == [
                "1 open", "app frame before it all",
                "app frame \(String(repeating: "x", count: 20)) incomplete",
                "app gap 20 missing_packets", "app data 60", "app frame behind",
            ])
    }

    @Test func `a connection met within a frame goes on at the next one`() {
        var wires = Wires()
        let long = frame(String(repeating: "x", count: 300))
        wires.send(.board, [.ack], 1, ack: 1, Bytes(long[100...]) + frame("the next message"))
        wires.send(.app, [.ack], 1, ack: 1, frame("a long enough answer", key: 5))
        #expect(
            lines(wires) == [
                "1 open", "board data \(long.count - 100)", "board frame the next message",
                "app frame a long enough answer",
            ])
    }

    @Test func `compressed messages met without their handshake are tried by themselves`() {
        var wires = Wires()
        // "Hello" of RFC 7692 §7.2.3.1, and one that refers to it (§7.2.3.2).
        let hello: Bytes = [0xc1, 7, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        let again: Bytes = [0xc1, 5, 0xf2, 0x00, 0x11, 0x00, 0x00]
        wires.send(.app, [.ack], 1, ack: 1, frame("what the app has to say", key: 5))
        wires.send(.board, [.ack], 1, ack: 1, hello)
        wires.send(.board, [.ack], 10, ack: 1, again)
        #expect(lines(wires).filter { $0 == "board message Hello" }.count == 2)
    }

    @Test func `a packet that is out of order in time keeps the order of the session`() {
        var wires = Wires()
        wires.open()
        wires.send(.app, [.ack], 101, ack: 501, request, time: 900_000)
        wires.send(.board, [.ack], 501, ack: 101 + size, answer, time: 800_000)
        let events = session(wires.packets)
        let response = events.first { if case .response = $0.kind { true } else { false } }
        #expect(response?.time == 900_000)
        #expect(response?.packetTime == 800_000)
    }

    @Test func `more connections than can be followed let the oldest go`() throws {
        var limits = PacketSession.Limits()
        limits.maximumConnections = 4
        let board = try #require(Wires.board)
        var packets: [CapturedPacket] = []
        for port in UInt16(1000)..<1020 {
            let app = try #require(IPEndpoint(address: [10, 0, 0, 1], port: port))
            var bytes = Bytes()
            TCPSegment(flags: [.syn], sequence: 1, acknowledgment: 0, window: 1).encode(
                from: app, to: board, identification: 0, into: &bytes)
            packets.append(CapturedPacket(bytes: bytes, cut: 0, time: 0))
        }
        let events = session(packets, limits: limits).compactMap(line)
        #expect(events.filter { $0.hasSuffix("open") }.count == 20)
        #expect(events.filter { $0 == "note connection_forgotten" }.count == 16)
    }

    @Test func `time that passes without a packet ends the wait for a hole`() {
        var wires = Wires()
        wires.open()
        wires.send(.board, [.ack], 501, ack: 101 + size, answer)
        wires.send(.app, [.fin, .ack], 101 + size, ack: 501)
        var batch = EventBatch()
        let session = PacketSession(link: .raw, startedAt: -1_000_000)
        for packet in wires.packets {
            session.receive(packet.bytes.span, cut: 0, at: packet.time, into: &batch)
        }
        #expect(session.connections == 1)
        #expect(session.openConnections == 1)
        #expect(batch.events.first?.time == 1_000_000)
        #expect(!batch.events.compactMap(line).contains { $0.contains("gap") })
        session.advance(to: 500_000_000, into: &batch)
        #expect(!batch.events.compactMap(line).contains { $0.contains("gap") })
        session.advance(to: 2_000_000_000, into: &batch)
        #expect(batch.events.compactMap(line).contains("app gap \(size) missing_packets"))
        #expect(session.bytesBoard == UInt64(answer.count))
        session.finish(into: &batch)
        #expect(session.openConnections == 0)
    }
}
