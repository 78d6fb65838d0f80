import Capture
import PhoneBridge
import Wire

/// Sessions for tests of redaction: bytes of the wire become events, and events a file.
struct RedactedWire {
    var events: [Event] = []
    private var time: Int64 = 0
    private var conn = 0

    static let session = SessionInfo(
        id: "0123456789abcdef", startedAt: "2026-06-10T03:20:00.000000000Z", tool: "bridgetap",
        source: "proxy", listen: "127.0.0.1:8080", upstream: "192.168.42.1:8080",
        labels: [FieldLine("peers", "app board")])

    static func key(_ number: UInt8 = 1) throws -> RedactionKey {
        guard let key = RedactionKey(Bytes(repeating: number, count: RedactionKey.size)) else {
            throw NoKey()
        }
        return key
    }

    struct NoKey: Error {}

    /// One connection: what each side sends, part by part, in order.
    mutating func connection(_ parts: [(Side, Bytes)]) {
        conn += 1
        var batch = EventBatch()
        let decoder = ConnectionDecoder(conn: conn)
        time += 1_000_000
        events.append(
            Event(
                time: time, conn: conn,
                kind: .open(Event.Open(app: "192.168.42.129:50312", board: "192.168.42.1:8080"))))
        for (side, bytes) in parts {
            time += 1_000_000
            decoder.receive(bytes.span, from: side, at: time, into: &batch)
        }
        time += 1_000_000
        decoder.end(.app, how: .fin, at: time, into: &batch)
        decoder.end(.board, how: .fin, at: time, into: &batch)
        // Numbers are the session's.
        let base = events.count
        for var event in batch.take() {
            event.seq += base
            if case .piece(var piece) = event.kind {
                piece.of += base
                event.kind = .piece(piece)
            }
            events.append(event)
        }
        for index in events.indices { events[index].seq = index + 1 }
    }

    mutating func note(_ code: String, _ text: String) {
        time += 1_000_000
        events.append(
            Event(
                seq: events.count + 1, time: time,
                kind: .note(Event.Note(code: code, text: text))))
    }

    /// The bytes of an upgrade's request and answer.
    static func upgrade(query: String = "platform=ios", deflate: String? = nil) -> [(Side, Bytes)] {
        let offer = deflate == nil ? "" : "Sec-WebSocket-Extensions: permessage-deflate\r\n"
        let answer = deflate.map { "Sec-Websocket-Extensions: \($0)\r\n" } ?? ""
        return [
            (
                .app,
                Bytes(
                    "GET /api/phone-bridge?\(query) HTTP/1.1\r\nHost: 192.168.42.1:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AZ9OnQpm9hHyLqOBnsJK3A==\r\nSec-WebSocket-Version: 13\r\n\(offer)\r\n"
                        .utf8)
            ),
            (
                .board,
                Bytes(
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-Websocket-Accept: FTVeiZXRjlyU2Yi75BhVQJxwiPQ=\r\nDate: Wed, 10 Jun 2026 03:20:01 GMT\r\n\(answer)\r\n"
                        .utf8)
            ),
        ]
    }

    static func request(_ method: String, _ target: String, _ body: String) -> (Side, Bytes) {
        (
            .app,
            Bytes(
                "\(method) \(target) HTTP/1.1\r\nHost: 192.168.42.1:8080\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8)
        )
    }

    static func response(_ status: Int, _ body: String) -> (Side, Bytes) {
        (
            .board,
            Bytes(
                "HTTP/1.1 \(status) OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8)
        )
    }

    /// The frames of a message.
    static func frames(
        _ side: Side, _ text: String, deflate: String? = nil,
        framing: MessageWriter.Framing = .whole
    ) -> (Side, Bytes) {
        var writer = writer(side, deflate: deflate, framing: framing)
        return frames(side, text, &writer)
    }

    static func writer(
        _ side: Side, deflate: String? = nil, framing: MessageWriter.Framing = .whole
    ) -> MessageWriter {
        MessageWriter(
            role: side == .app ? .client : .server,
            deflate: deflate.flatMap(PerMessageDeflate.init(agreedIn:)), framing: framing
        ) { MaskingKey(rawValue: 0x1a2b_3c4d) }
    }

    static func frames(_ side: Side, _ text: String, _ writer: inout MessageWriter) -> (Side, Bytes)
    {
        var bytes: Bytes = []
        writer.write(.text, Bytes(text.utf8), into: &bytes)
        return (side, bytes)
    }

    /// The session as a file, as it is or redacted.
    func file(_ redactor: Redactor? = nil, flushing: Bool = false) throws -> Bytes {
        let memory = SessionMemory()
        let session = redactor?.redacted(Self.session) ?? Self.session
        let writer = try SessionWriter(session: session) { (_) throws(OutputError) in memory }
        let output: any SessionOutput =
            redactor.map { RedactedOutput(writer, redactor: $0) } ?? writer
        var meaning = MeaningReader()
        for var event in events {
            meaning.annotate(&event)
            output.receive(event)
            if flushing { output.flush(now: event.time) }
        }
        output.close(now: time)
        return memory.bytes
    }

    /// What a redactor makes of a file.
    static func redacted(_ file: Bytes, _ redactor: Redactor) throws -> Bytes {
        let memory = SessionMemory()
        var reader = SessionReader(MemorySource(file))
        var output: (any SessionOutput)?
        var last: Int64 = 0
        while let item = try reader.next() {
            guard case .event(let event) = item else { continue }
            last = max(last, event.time)
            if case .session(let session) = event.kind {
                let writer = try SessionWriter(session: redactor.redacted(session)) {
                    (_) throws(OutputError) in memory
                }
                output = RedactedOutput(writer, redactor: redactor)
            } else {
                output?.receive(event)
            }
        }
        output?.close(now: last)
        return memory.bytes
    }

    /// The events of a file.
    static func events(_ file: Bytes) throws -> [Event] {
        var reader = SessionReader(MemorySource(file))
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    /// What the bytes that the events stand for are decoded to, and what the events are, each
    /// without what is not of the wire.
    static func rebuilt(_ events: [Event]) throws -> (before: [String], after: [String]) {
        var lines: (before: [String], after: [String]) = ([], [])
        for conn in Set(events.map(\.conn)).subtracting([0]).sorted() {
            var encoder = ConnectionEncoder()
            var batch = EventBatch()
            var decoder = ConnectionDecoder(conn: conn)
            var own: [Event] = []
            for event in events where event.conn == conn {
                switch event.kind {
                case .open(let open):
                    if let continued = open.continued {
                        decoder = ConnectionDecoder(conn: conn, continued: continued)
                    }
                case .gap, .close:
                    if case .close(let close) = event.kind, let side = event.from {
                        decoder.end(side, how: close.how, at: event.time, into: &batch)
                    }
                    own.append(event)
                case .note: break
                default:
                    own.append(event)
                    var bytes: Bytes = []
                    _ = encoder.encode(event, into: &bytes)
                    if let side = event.from, !bytes.isEmpty {
                        decoder.receive(bytes.span, from: side, at: event.time, into: &batch)
                    }
                }
            }
            decoder.flush(at: .max, into: &batch)
            lines.before += own.map(told)
            lines.after += batch.take().filter {
                if case .note = $0.kind { false } else { true }
            }.map(told)
        }
        return (lines.before.sorted(), lines.after.sorted())
    }

    private static func told(_ event: Event) -> String {
        var kind = event.kind
        if case .piece(var piece) = kind {
            piece.of = 0
            kind = .piece(piece)
        }
        // What it was taken for was in its bytes.
        if case .data(var data) = kind {
            data.why = ""
            kind = .data(data)
        }
        if case .close(var close) = kind {
            close.detail = nil
            kind = .close(close)
        }
        return "\(event.conn) \(event.from.map(\.rawValue) ?? "") \(kind)"
    }
}
