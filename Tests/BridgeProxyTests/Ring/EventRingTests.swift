import BridgeProxy
import Capture
import Network
import PhoneBridge
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
        let ring = EventRing(Self.info, bounds: EventRing.Bounds(size: 8 << 20, events: 20_000))
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
        let (bytes, shift) = ring.session(since: 15 * nanosecondsPerSecond).inMemory()
        let lines = lines(bytes)
        // The session, what is left out, the connection, six frames, and the end.
        #expect(lines.count == 10)
        #expect(lines[1].contains("16 events here are not in the ring"))
        #expect(lines[2].contains(#""continued""#) && lines[2].contains("permessage-deflate"))
        // The frame of second 18 is the twentieth event of the session.
        let place = try #require(lines.indices.first { lines[$0].contains("m18") })
        #expect(place == 20 + shift)
        #expect(lines[place].contains(#""seq":\#(20 + shift)"#))
    }

    @Test func `all of a short session is there`() {
        let ring = ring()
        ring.receive(Self.frame(1, "m1"))
        let (bytes, shift) = ring.session(since: .min).inMemory()
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
        let (bytes, shift) = ring.session(since: 29_999 * nanosecondsPerSecond).inMemory()
        let lines = lines(bytes)
        #expect(lines.count == 6)
        #expect(!lines[2].contains("1.1.1.1:1\""))
        #expect(lines[3].contains("m29999"))
        #expect(4 + 29_999 + shift == 3)
    }
}

/// What stands before the window of a ring.
@Suite struct RingMemoryTests {
    private static let info = SessionInfo(
        id: "x", startedAt: "2026-06-10T03:20:00.000000000Z", tool: "test", source: "proxy")

    /// A session with a WebSocket, a keep-alive connection, and a command that waits.
    private final class Session {
        var second: Int64 = 0
        var reader = MeaningReader()
        let ring: EventRing
        /// Bytes of each connection and side.
        var carried: [Int: [Side: UInt64]] = [:]
        private var lengths = WireLengths()
        private var count = 0

        init(seconds: Int64, size: Int = 64 << 20) {
            ring = EventRing(
                info,
                bounds: EventRing.Bounds(duration: seconds * nanosecondsPerSecond, size: size))
        }

        func add(_ conn: Int, _ from: Side?, _ kind: Event.Kind) {
            count += 1
            var event = Event(
                seq: count, time: second * nanosecondsPerSecond, conn: conn, from: from, kind: kind)
            reader.annotate(&event)
            if let from {
                carried[conn, default: [:]][from, default: 0] += lengths.length(
                    of: kind, number: count, conn: conn)
            }
            ring.receive(event)
        }

        func open(_ conn: Int) {
            add(conn, nil, .open(Event.Open(app: "1.1.1.1:\(conn)", board: "2.2.2.2:2")))
        }

        func upgrade(_ conn: Int) {
            open(conn)
            add(
                conn, .app,
                .request(
                    Event.Request(
                        exchange: 1, method: "GET", target: "/api/phone-bridge",
                        headers: [FieldLine("Upgrade", "websocket")])))
            add(
                conn, .board,
                .response(
                    Event.Response(
                        exchange: 1, status: 101, reason: "Switching Protocols",
                        headers: [FieldLine("Upgrade", "websocket")])))
        }

        func say(_ conn: Int, _ from: Side, _ text: String) {
            let payload = Bytes(text.utf8)
            let header = FrameHeader(opcode: .text, payloadLength: UInt64(payload.count))
            add(conn, from, .frame(Event.FrameRecord(header: header, content: .whole(payload))))
        }

        func poll(_ conn: Int, _ exchange: Int, _ answer: String) {
            add(
                conn, .app,
                .request(
                    Event.Request(
                        exchange: exchange, method: "GET",
                        target: "/api/phone-bridge/commands?platform=ios&app_state=background")))
            let body = Bytes(answer.utf8)
            add(
                conn, .board,
                .response(
                    Event.Response(
                        exchange: exchange, status: 200, reason: "OK",
                        headers: [FieldLine("Content-Length", "\(body.count)")],
                        body: Event.Body(
                            content: .whole(body), framing: .length(UInt64(body.count))))))
        }

        /// The events in its file.
        func file() throws -> [Event] {
            var reader = SessionReader(MemorySource(ring.session().inMemory().bytes))
            var events: [Event] = []
            while let item = try reader.next() {
                if case .event(let event) = item { events.append(event) }
            }
            return events
        }

        /// The texts of messages in its file.
        func texts() throws -> [String] {
            try file().compactMap {
                guard case .frame(let frame) = $0.kind, case .whole(let bytes) = frame.content
                else { return nil }
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    @Test func `a command without an answer and the state of the phone stay`() throws {
        let session = Session(seconds: 10)
        session.upgrade(1)
        session.say(1, .app, #"{"id":"phone_environment","method":"phone_environment","data":{}}"#)
        session.say(1, .board, #"{"id":"c1","type":"clipboard_read"}"#)
        session.say(1, .board, #"{"id":"c2","type":"clipboard_read"}"#)
        session.say(1, .app, #"{"id":"c1","data":{"text":""}}"#)
        session.second = 60
        session.say(1, .app, #"{"id":"heartbeat"}"#)
        let texts = try session.texts()
        #expect(texts.count == 3)
        #expect(texts[0].contains("phone_environment"))
        #expect(texts[1].contains("c2"))
        // Once it is answered, and that is old, it is let go.
        session.say(1, .app, #"{"id":"c2","data":{"text":""}}"#)
        session.second = 120
        session.say(1, .app, #"{"id":"heartbeat"}"#)
        #expect(try session.texts().count == 2)
    }

    @Test func `a command that the queue handed out stays with its poll`() throws {
        let session = Session(seconds: 10)
        session.open(1)
        session.poll(1, 1, #"{"commands":[{"id":"q1","type":"clipboard_read"}]}"#)
        for exchange in 2...5 {
            session.second += 5
            session.poll(1, exchange, #"{"commands":[]}"#)
        }
        session.second = 40
        session.poll(1, 6, #"{"commands":[]}"#)
        let bodies = try session.file().compactMap { event -> String? in
            guard case .response(let response) = event.kind,
                case .whole(let body) = response.body.content
            else { return nil }
            return String(decoding: body, as: UTF8.self)
        }
        #expect(bodies.count == 3)
        #expect(bodies[0].contains("q1"))
    }

    @Test func `what is left out is told to the byte`() throws {
        let session = Session(seconds: 10)
        session.upgrade(1)
        session.upgrade(2)
        for second in 1...30 {
            session.second = Int64(second)
            session.say(1 + second % 2, second % 3 == 0 ? .board : .app, "m\(second)")
        }
        var lengths = WireLengths()
        var told: [Int: [Side: UInt64]] = [:]
        var missing = 0
        for event in try session.file() {
            guard let from = event.from else {
                if case .note(let note) = event.kind {
                    #expect(note.code == "recording_gap")
                    #expect(note.text == "19 events here are not in the ring")
                    missing += 1
                }
                continue
            }
            if case .gap(let gap) = event.kind { #expect(gap.why == RingSession.gapReason) }
            told[event.conn, default: [:]][from, default: 0] += lengths.length(
                of: event.kind, number: event.seq, conn: event.conn)
        }
        #expect(missing == 1)
        #expect(told == session.carried)
    }

    @Test func `a connection of which nothing is kept goes on where the window begins`() throws {
        let session = Session(seconds: 10)
        session.open(1)
        session.add(
            1, .app,
            .request(Event.Request(exchange: 1, method: "GET", target: "/other")))
        session.add(
            1, .board, .response(Event.Response(exchange: 1, status: 404, reason: "Not Found")))
        session.second = 60
        session.add(
            1, .app,
            .request(Event.Request(exchange: 2, method: "GET", target: "/other")))
        let events = try session.file()
        let open = try #require(
            events.compactMap { if case .open(let open) = $0.kind { open } else { nil } }.first)
        #expect(open.continued == Event.Continued(upgraded: false))
        #expect(!events.contains { if case .gap = $0.kind { true } else { false } })
    }

    @Test func `a connection that is over is gone, unless a command on it waits`() throws {
        let session = Session(seconds: 10)
        session.upgrade(1)
        session.upgrade(2)
        session.say(2, .board, #"{"id":"c2","type":"clipboard_read"}"#)
        session.add(1, .app, .close(Event.Close(how: .reset)))
        session.add(2, .app, .close(Event.Close(how: .reset)))
        session.second = 60
        session.open(3)
        let events = try session.file()
        #expect(Set(events.map(\.conn)) == [0, 2, 3])
        #expect(
            events.filter { if case .close = $0.kind { true } else { false } }.map(\.conn) == [2])
    }

    @Test func `it holds to its bytes, and says that it was full`() throws {
        let session = Session(seconds: 3600, size: 1 << 20)
        session.upgrade(1)
        let text = String(repeating: "x", count: 10_000)
        for second in 1...1000 {
            session.second = Int64(second)
            session.say(1, .app, "\(second) " + text)
            #expect(session.ring.size <= 1 << 20)
        }
        let part = session.ring.session()
        #expect(part.isCut)
        #expect(part.count > 90)
        #expect(part.duration < 100 * nanosecondsPerSecond)
        let last = try #require(try session.texts().last)
        #expect(last.hasPrefix("1000 "))
        let events = try session.file()
        #expect(events.count < 120)
    }

    @Test func `a piece whose head is gone is a gap, and notes point to what they are about`()
        throws
    {
        let session = Session(seconds: 10)
        session.upgrade(1)
        session.add(
            1, .app,
            .frame(
                Event.FrameRecord(
                    header: FrameHeader(opcode: .binary, payloadLength: 3 << 20), content: .pieces))
        )
        let head = 4
        session.second = 60
        session.add(
            1, .app, .piece(Event.Piece(of: head, offset: 0, content: [1, 2, 3], last: true)))
        session.say(1, .app, "m")
        session.add(1, .app, .note(Event.Note(code: "mark", text: "here", to: 6)))
        session.add(1, .app, .note(Event.Note(code: "mark", text: "gone", to: 3)))
        session.add(1, .app, .note(Event.Note(code: "mark", text: "lost", to: head)))
        let events = try session.file()
        #expect(!events.contains { if case .piece = $0.kind { true } else { false } })
        let place = try #require(
            events.first { if case .frame = $0.kind { true } else { false } }?.seq)
        let notes = events.compactMap { event -> Event.Note? in
            if case .note(let note) = event.kind, note.code == "mark" { note } else { nil }
        }
        #expect(notes.map(\.to) == [place, 3, nil])
        let gaps = events.compactMap { event -> UInt64? in
            if case .gap(let gap) = event.kind { gap.length } else { nil }
        }
        #expect(gaps.contains(3))
    }
}
