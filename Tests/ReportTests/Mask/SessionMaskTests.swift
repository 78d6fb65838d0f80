import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// A session that travels.
@Suite struct SessionMaskTests {
    private static let time = "2026-06-10T09:00:00.000000000Z"

    /// Writes a session of some events.
    private func session(_ kinds: [(Side?, Event.Kind)]) throws -> Bytes {
        let memory = SessionMemory()
        let writer = try SessionWriter(
            session: SessionInfo(
                id: "s", startedAt: Self.time, tool: "t", source: "fuzz")
        ) { (_) throws(OutputError) in memory }
        for (index, kind) in kinds.enumerated() {
            writer.receive(
                Event(
                    seq: index + 1, time: Int64(index) * 1000, conn: 1, from: kind.0, kind: kind.1))
        }
        writer.close(now: 1_000_000)
        return memory.bytes
    }

    private func events(_ session: Bytes) throws -> [Event] {
        var reader = SessionReader(MemorySource(session))
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    private func frame(
        _ opcode: Opcode, _ text: String, fin: Bool = true, rsv: UInt8 = 0
    ) -> Event.Kind {
        let header = FrameHeader(
            fin: fin, rsv: rsv, opcode: opcode, payloadLength: UInt64(text.utf8.count))
        return .frame(Event.FrameRecord(header: header, content: .whole(Bytes(text.utf8))))
    }

    private static let open = Event.Kind.open(
        Event.Open(app: "10.0.0.2:5", board: "10.0.0.1:80"))

    @Test func `contents, targets and notes are masked, and the session is told to be`() throws {
        let request = Event.Request(
            exchange: 1, method: "POST", target: "/api/phone-bridge/commands?phone_id=anna",
            headers: [FieldLine("Host", "x"), FieldLine("X-Owner", "Anna")],
            body: Event.Body(
                content: .whole(Bytes(#"{"title":"Dinner"}"#.utf8)), framing: .length(18)))
        let masked = try SessionMask.masked(
            session([
                (nil, Self.open), (.app, .request(request)),
                (
                    nil,
                    .note(
                        Event.Note(code: "outcome", text: #"{"id":"c1","data":{"text":"secret"}}"#))
                ),
            ]), ContentMask())
        let text = String(decoding: masked, as: UTF8.self)
        for word in ["anna", "Anna", "Dinner", "secret"] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(text.contains("/api/phone-bridge/commands?phone_id=xx"))
        #expect(text.contains(#"{\"id\":\"c1\",\"data\":"#))
        #expect(text.contains("\"redacted\":"))
        guard case .session(let info)? = try events(masked).first?.kind else {
            Issue.record("no first line")
            return
        }
        #expect(info.redacted != nil)
    }

    @Test func `a message in fragments is masked as one`() throws {
        let masked = try events(
            SessionMask.masked(
                session([
                    (nil, Self.open), (.app, frame(.text, #"{"text":"sec"#, fin: false)),
                    (.app, frame(.ping, "")), (.board, frame(.text, #"{"text":"other"}"#)),
                    (.app, frame(.continuation, #"ret"}"#)),
                    (
                        .app,
                        .message(
                            Event.Message(
                                opcode: .text, content: .whole(Bytes(#"{"text":"secret"}"#.utf8)),
                                frames: 2, compressed: false))
                    ),
                ]), ContentMask()))
        let contents = masked.compactMap { event -> String? in
            switch event.kind {
            case .frame(let frame):
                if case .whole(let bytes) = frame.content {
                    return String(decoding: bytes, as: UTF8.self)
                }
            case .message(let message):
                if case .whole(let bytes) = message.content {
                    return String(decoding: bytes, as: UTF8.self)
                }
            default: break
            }
            return nil
        }
        #expect(
            contents == [
                #"{"text":"xxx"#, "", #"{"text":"xxxxy"}"#, #"xxx"}"#, #"{"text":"xxxxxx"}"#,
            ])
    }

    @Test func `what is compressed loses its bytes`() throws {
        let masked = try SessionMask.masked(
            session([(nil, Self.open), (.app, frame(.text, "abcdefg", rsv: 4))]), ContentMask())
        #expect(!String(decoding: masked, as: UTF8.self).contains("abcdefg"))
    }

    @Test func `the example sessions stay readable, and whole`() throws {
        let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        for name in ["all-commands", "fragmented", "pip-queue"] {
            let source = try SessionFileSource(path: "/\(folder)/captures/\(name).ndjson")
            var bytes: Bytes = []
            while true {
                let before = bytes.count
                try source.read(into: &bytes, maximum: 1 << 20)
                if bytes.count == before { break }
            }
            let masked = try SessionMask.masked(bytes, ContentMask())
            let first = try events(bytes)
            let second = try events(masked)
            #expect(first.count == second.count, "\(name)")
            // The commands and answers are still read as such.
            let kinds = { (events: [Event]) in
                events.flatMap { $0.bridge.values.map { $0["kind"]?.stringValue ?? "" } }
            }
            #expect(kinds(first) == kinds(second), "\(name)")
            #expect(!String(decoding: masked, as: UTF8.self).contains("Wei"), "\(name)")
        }
    }

    @Test func `what is no session is nothing`() throws {
        #expect(throws: (any Error).self) {
            try SessionMask.masked(Bytes("nonsense".utf8), ContentMask())
        }
    }
}
