import Capture
import Fuzz
import Network
import Testing
import Wire

/// A part of a long session, as a session of its own.
@Suite struct EventRingTests {
    private static let info = SessionInfo(
        id: "x", startedAt: "2026-06-10T03:20:00.000000000Z", tool: "test", source: "fuzz")

    private static func frame(_ second: Int64, _ text: String, conn: Int = 1) -> Event {
        let payload = Bytes(text.utf8)
        return Event(
            time: second * nanosecondsPerSecond, conn: conn, from: .board,
            kind: .frame(
                Event.FrameRecord(
                    header: FrameHeader(opcode: .text, payloadLength: UInt64(payload.count)),
                    content: .whole(payload))))
    }

    private func lines(_ bytes: Bytes) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func ring() -> EventRing {
        let ring = EventRing(Self.info)
        ring.receive(
            Event(
                time: 0, conn: 1, kind: .open(Event.Open(app: "1.1.1.1:1", board: "2.2.2.2:2"))))
        ring.receive(
            Event(
                time: 1, conn: 1, from: .board,
                kind: .response(
                    Event.Response(
                        exchange: 1, status: 101, reason: "Switching Protocols",
                        headers: [FieldLine("Sec-WebSocket-Extensions", "permessage-deflate")]))))
        return ring
    }

    @Test func `a part begins with what is open then, and its numbers can be found`() throws {
        let ring = ring()
        for second in 1...20 { ring.receive(Self.frame(Int64(second), "m\(second)")) }
        let (bytes, shift) = ring.session(since: 15 * nanosecondsPerSecond)
        let lines = lines(bytes)
        // The session, the connection, six frames, and the end.
        #expect(lines.count == 9)
        #expect(lines[1].contains(#""continued""#) && lines[1].contains("permessage-deflate"))
        // The frame of second 18 is the twentieth event of the session.
        let place = try #require(lines.indices.first { lines[$0].contains("m18") })
        #expect(place == 20 + shift)
        #expect(lines[place].contains(#""seq":\#(20 + shift)"#))
    }

    @Test func `all of a short session is there`() {
        let ring = ring()
        ring.receive(Self.frame(1, "m1"))
        let (bytes, shift) = ring.session(since: .min)
        #expect(lines(bytes).count == 5)
        #expect(shift == 0)
    }

    @Test func `what is closed before is not open then, and old events are let go`() {
        let ring = ring()
        ring.receive(
            Event(
                time: 2, conn: 1, from: .app, kind: .close(Event.Close(how: .reset))))
        ring.receive(
            Event(
                time: 3, conn: 2, kind: .open(Event.Open(app: "1.1.1.1:3", board: "2.2.2.2:2"))))
        for second in 1...30_000 {
            ring.receive(Self.frame(Int64(second), "m\(second)", conn: 2))
        }
        let (bytes, shift) = ring.session(since: 29_999 * nanosecondsPerSecond)
        let lines = lines(bytes)
        #expect(lines.count == 5)
        #expect(!lines[1].contains("1.1.1.1:1\""))
        #expect(lines[2].contains("m29999"))
        #expect(4 + 29_999 + shift == 2)
    }
}
