import Capture
import Wire

/// A session made from real bytes by the connection decoder, and those bytes.
struct SampleSession {
    private(set) var events: [Event] = []
    /// What each side sent on each connection.
    private(set) var sent: [Key: Bytes] = [:]

    struct Key: Hashable {
        var conn: Int
        var from: Side
    }

    static let info = SessionInfo(
        id: "0f8a2c51", startedAt: "2026-03-01T09:30:00.000000000Z", tool: "bridgetap 0.1",
        source: "proxy", listen: "192.168.42.1:8080", upstream: "127.0.0.1:18080")

    private var batch = EventBatch()
    private var decoders: [Int: ConnectionDecoder] = [:]
    private(set) var time: Int64 = 0
    private let limits: ConnectionLimits

    init(limits: ConnectionLimits = ConnectionLimits()) {
        self.limits = limits
    }

    /// The events as lines that a writer made of them are read back: numbered from 1.
    var readBack: [Event] { events }

    mutating func open(_ conn: Int, app: String? = nil, board: String = "192.168.42.1:8080") {
        time += 1_000_000
        decoders[conn] = ConnectionDecoder(conn: conn, limits: limits)
        batch.append(
            Event(
                time: time, conn: conn,
                kind: .open(
                    Event.Open(app: app ?? "192.168.42.129:\(50_000 + conn)", board: board))))
        collect()
    }

    mutating func send(_ conn: Int, _ side: Side, _ bytes: Bytes) {
        time += 1_000_000
        sent[Key(conn: conn, from: side), default: []] += bytes
        decoders[conn]?.receive(bytes.span, from: side, at: time, into: &batch)
        collect()
    }

    mutating func send(_ conn: Int, _ side: Side, _ text: String) {
        send(conn, side, Bytes(text.utf8))
    }

    mutating func end(_ conn: Int, _ side: Side, _ how: Event.Ending = .fin) {
        time += 1_000_000
        decoders[conn]?.end(side, how: how, at: time, into: &batch)
        collect()
    }

    /// Ends the session; connections that are open then stay so.
    mutating func flush() {
        for conn in decoders.keys.sorted() { decoders[conn]?.flush(at: time, into: &batch) }
        collect()
    }

    mutating func note(_ code: String, _ text: String, to: Int? = nil) {
        time += 1_000_000
        batch.append(Event(time: time, kind: .note(Event.Note(code: code, text: text, to: to))))
        collect()
    }

    private mutating func collect() {
        events += batch.take()
    }

    // MARK: What is said

    static let upgradeKey = "dGhlIHNhbXBsZSBub25jZQ=="

    mutating func upgrade(_ conn: Int, extensions: String? = nil) {
        let offer = extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? ""
        send(
            conn, .app,
            "GET /api/phone-bridge?platform=android HTTP/1.1\r\nHost: 192.168.42.1:8080\r\n"
                + "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: \(Self.upgradeKey)\r\nSec-WebSocket-Version: 13\r\n"
                + "\(offer)\r\n")
        send(
            conn, .board,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\(offer)\r\n")
    }

    mutating func frame(
        _ conn: Int, _ side: Side, fin: Bool = true, rsv: UInt8 = 0, _ opcode: Opcode = .text,
        _ payload: Bytes
    ) {
        let frame = Frame(
            fin: fin, rsv: rsv, opcode: opcode,
            maskingKey: side == .app ? MaskingKey(rawValue: 0x1a2b_3c4d) : nil, payload: payload)
        send(conn, side, frame.encoded())
    }

    mutating func text(_ conn: Int, _ side: Side, _ text: String) {
        frame(conn, side, .text, Bytes(text.utf8))
    }

    /// A request whose answer is cut short by a reset, and a connection that goes on.
    static func short() -> SampleSession {
        var session = SampleSession()
        session.open(1)
        session.send(1, .app, "GET / HTTP/1.1\r\n\r\n")
        session.open(2)
        session.send(1, .board, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        session.end(1, .board, .reset)
        session.send(2, .app, "PUT /x HTTP/1.1\r\nContent-Length: 2\r\n\r\nok")
        session.note("mark", "here", to: 2)
        session.send(2, .board, "HTTP/1.1 204 No Content\r\n\r\n")
        return session
    }

    /// A command and its result, a queue poll, a chunked answer, a fragmented message, and how
    /// connections end.
    static func everyday() -> SampleSession {
        var session = SampleSession()
        session.open(1)
        session.upgrade(1)
        session.text(
            1, .board,
            #"{"id":"cmd_1","type":"contacts_query","timeout_ms":5000,"payload":{"name":"张伟"}}"#)
        session.text(1, .app, #"{"id":"cmd_1","contacts":[]}"#)
        session.frame(1, .app, .ping, Bytes("are you there".utf8))
        session.frame(1, .board, .pong, Bytes("are you there".utf8))
        session.open(2)
        session.send(
            2, .app, "GET /api/phone-bridge/commands?limit=10 HTTP/1.1\r\nHost: board\r\n\r\n")
        session.send(
            2, .board,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nF\r\n{\"commands\":[]}\r\n0\r\n\r\n")
        session.frame(1, .board, fin: false, .text, Bytes(#"{"id":"heart"#.utf8))
        session.frame(1, .board, .continuation, Bytes(#"beat"}"#.utf8))
        session.note("mark", "the phone was locked here", to: 5)
        session.frame(1, .app, .binary, [0, 1, 2, 0xff])
        session.end(2, .app)
        session.end(2, .board)
        session.frame(1, .app, .close, [0x03, 0xe8] + Bytes("done".utf8))
        session.frame(1, .board, .close, [0x03, 0xe8])
        session.end(1, .board)
        session.end(1, .app)
        session.open(3)
        session.end(3, .board, .refused)
        return session
    }
}
