import Capture
import Testing
import Wire

/// What one side sends, in the order in which both sides' runs of bytes cross the link.
private struct Run {
    var from: Side
    var bytes: Bytes

    static func app(_ text: String) -> Run { Run(from: .app, bytes: Bytes(text.utf8)) }
    static func board(_ text: String) -> Run { Run(from: .board, bytes: Bytes(text.utf8)) }
    static func app(_ frames: Frame...) -> Run { Run(from: .app, bytes: encode(frames)) }
    static func board(_ frames: Frame...) -> Run { Run(from: .board, bytes: encode(frames)) }

    private static func encode(_ frames: [Frame]) -> Bytes {
        var bytes: Bytes = []
        for frame in frames { frame.encode(into: &bytes) }
        return bytes
    }
}

private func text(
    _ text: String, fin: Bool = true, rsv: UInt8 = 0, opcode: Opcode = .text,
    key: UInt32? = nil
) -> Frame {
    Frame(
        fin: fin, rsv: rsv, opcode: opcode, maskingKey: key.map(MaskingKey.init(rawValue:)),
        payload: Bytes(text.utf8))
}

private let upgrade = Run.app(
    "GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\n"
        + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Sec-WebSocket-Version: 13\r\n\r\n")

private func switching(_ extensions: String? = nil) -> String {
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-Websocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        + (extensions.map { "Sec-Websocket-Extensions: \($0)\r\n" } ?? "") + "\r\n"
}

/// A conversation and what has to stand in the file, a line an event.
private struct Conversation: CustomTestStringConvertible {
    var name: String
    var runs: [Run]
    var expected: [String]
    var limits = ConnectionLimits()

    var testDescription: String { name }
}

private func small(_ change: (inout ConnectionLimits) -> Void) -> ConnectionLimits {
    var limits = ConnectionLimits()
    change(&limits)
    return limits
}

private let deflate = "permessage-deflate; client_no_context_takeover; server_no_context_takeover"

private let conversations: [Conversation] = [
    Conversation(
        name: "requests with every framing, pipelined",
        runs: [
            .app(
                "GET /a HTTP/1.1\r\nHost: b\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
                    + "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n"
            ),
            .board(
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                    + "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                    + "HTTP/1.0 200 OK\r\n\r\nuntil the end"),
        ],
        expected: [
            "app request 1 GET /a none", "app request 2 POST /b length 'hello'",
            "app request 3 POST /c chunked 'abc0123456789' [3, 10] lines trailers",
            "board response 1 200 length 'ok'", "board response 2 100 none",
            "board response 2 202 chunked '{}' [2]", "app close fin",
            "board response 3 200 close 'until the end'", "board close fin",
        ]),
    Conversation(
        name: "a WebSocket with frames glued to the 101",
        runs: [
            upgrade, .board(switching() + "\u{81}"),
            .app(text("{\"id\":\"heartbeat\"}", key: 0x0102_0304)),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "app frame 1 fin '{\"id\":\"heartbeat\"}'", "app close fin",
            "board data the connection ended within a frame's header", "board close fin",
        ]),
    Conversation(
        name: "frames before the 101",
        runs: [
            upgrade, .app(text("early", key: 1)), .board(switching()), .app(text("late", key: 2)),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "app frame 1 fin 'early'",
            "board response 1 101 none", "app frame 1 fin 'late'", "app close fin",
            "board close fin",
        ]),
    Conversation(
        name: "an upgrade to something else while the next head is under way",
        runs: [
            .app("GET /a HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nPRI "),
            .board("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
            .app("* HTTP/2.0"),
        ],
        expected: [
            "app request 1 GET /a none", "board response 1 101 none",
            "app data a tunnel after an upgrade to h2c",
            "app data a tunnel after an upgrade to h2c", "app close fin", "board close fin",
        ]),
    Conversation(
        name: "an upgrade to something else while a frame is under way",
        runs: [
            upgrade, .app("\u{1}\u{2}x"), .board("HTTP/1.1 101 Switching\r\n\r\n"), .app("y"),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "app frame 1", "app message 1", "app data a tunnel after an upgrade to nothing",
            "app close fin", "board close fin",
        ]),
    Conversation(
        name: "a refused upgrade, then plain HTTP",
        runs: [
            upgrade,
            .board("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n"),
            .app("GET /b HTTP/1.1\r\n\r\n"),
            .board("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none",
            "board response 1 426 length ''", "app request 2 GET /b none",
            "board response 2 404 length ''", "app close fin", "board close fin",
        ]),
    Conversation(
        name: "frames, and then the upgrade is refused",
        runs: [
            upgrade, .app(text("early", key: 1)),
            .board("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "app frame 1 fin 'early'",
            "board response 1 403 length ''", "app note upgrade_refused", "app close fin",
            "board close fin",
        ]),
    Conversation(
        name: "fragments with control frames between",
        runs: [
            upgrade, .board(switching()),
            .app(
                text("ab", fin: false, key: 1), text("!", opcode: .ping, key: 2),
                text("", fin: false, opcode: .continuation, key: 3),
                text("cd", opcode: .continuation, key: 4)),
            .board(
                text("!", opcode: .pong), text("x", fin: false), text("", opcode: .continuation)),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "app frame 1 'ab'", "app frame 9 fin '!'", "app frame 0 ''", "app frame 0 fin 'cd'",
            "app message 1 'abcd' 3", "board frame 10 fin '!'", "board frame 1 'x'",
            "board frame 0 fin ''", "board message 1 'x' 2", "app close fin", "board close fin",
        ]),
    Conversation(
        name: "the compressed example of RFC 7692 §7.2.3.1, whole and in fragments",
        runs: [
            upgrade, .board(switching(deflate)),
            Run(
                from: .board,
                bytes: [
                    0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x41, 0x03, 0xf2, 0x48,
                    0xcd, 0x80, 0x04, 0xc9, 0xc9, 0x07, 0x00,
                ]),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "board frame 1 fin rsv4 7", "board message 1 'Hello' 1 compressed",
            "board frame 1 rsv4 3",
            "board frame 0 fin 4", "board message 1 'Hello' 2 compressed", "app close fin",
            "board close fin",
        ]),
    Conversation(
        name: "a compressed message that cannot be inflated",
        runs: [
            upgrade, .board(switching(deflate)),
            Run(from: .board, bytes: [0xc1, 0x03, 0xff, 0xff, 0xff, 0x81, 0x01, 0x61]),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "board frame 1 fin rsv4 3", "board note not_inflated", "board frame 1 fin 'a'",
            "app close fin", "board close fin",
        ]),
    Conversation(
        name: "illegal frames are frames",
        runs: [
            upgrade, .board(switching()),
            Run(from: .app, bytes: [0xf3, 0x7e, 0x00, 0x01, 0x61, 0x0b, 0x00]),
            Run(from: .board, bytes: [0x89, 0x80, 1, 2, 3, 4]),
        ],
        expected: [
            "app request 1 GET /api/phone-bridge?platform=ios none", "board response 1 101 none",
            "app frame 3 fin rsv7 'a' form medium", "app frame 11 ''", "board frame 9 fin ''",
            "app close fin", "board close fin",
        ]),
    Conversation(
        name: "what is no HTTP at all",
        runs: [
            Run(from: .app, bytes: [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
            Run(from: .board, bytes: [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]),
        ],
        expected: ["app data", "board data", "app close fin", "board close fin"]),
    Conversation(
        name: "a long body and a long frame in pieces of eight",
        runs: [
            .app("POST /b HTTP/1.1\r\nContent-Length: 20\r\n\r\nabcdefghijklmnopqrst"),
            .board("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678"), upgrade,
            .board(switching()), .app(text("0123456789abcdef!", key: 0x9988_7766)),
            .board(text("0123456", fin: false), text("89abcdef!", opcode: .continuation)),
        ],
        expected: [
            "app request 1 POST /b length pieces", "app piece of 1 at 0 'abcdefgh'",
            "app piece of 1 at 8 'ijklmnop'", "app piece of 1 at 16 'qrst' last",
            "board response 1 200 length '12345678'",
            "app request 2 GET /api/phone-bridge?platform=ios none", "board response 2 101 none",
            "app frame 1 fin pieces", "app piece of 8 at 0 '01234567'",
            "app piece of 8 at 8 '89abcdef'", "app piece of 8 at 16 '!' last",
            "board frame 1 '0123456'", "board frame 0 fin pieces",
            "board piece of 13 at 0 '89abcdef'", "board message 1 pieces 2",
            "board piece of 15 at 0 '01234568'", "board piece of 13 at 8 '!' last",
            "board piece of 15 at 8 '9abcdef!' last", "app close fin", "board close fin",
        ], limits: small { $0.maximumPiece = 8 }),
    Conversation(
        name: "a chunked body in pieces of eight bytes or two chunks",
        runs: [
            .app(
                "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n"
                    + "A\r\n0123456789\r\n0\r\n\r\n")
        ],
        expected: [
            "app request 1 POST /b chunked pieces", "app piece of 1 at 0 'ab' [1, 1]",
            "app piece of 1 at 2 'c0123456' [1, 10] lines", "app piece of 1 at 10 '789' last",
            "app close fin", "board close fin",
        ],
        limits: small {
            $0.maximumPiece = 8
            $0.maximumChunksInPiece = 2
        }),
    Conversation(
        name: "cut within a body, a chunk line and a frame",
        runs: [
            .app("POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1"),
            .board("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n1234"),
        ],
        expected: [
            "app request 1 POST /b chunked 'abc' [3] incomplete",
            "app data the connection ended within a body's framing", "app close fin",
            "board response 1 200 length '1234' incomplete", "board close fin",
        ]),
]

private func decode(_ conversation: Conversation, chunk: Int?) -> [Event] {
    let decoder = ConnectionDecoder(conn: 1, limits: conversation.limits)
    var batch = EventBatch()
    var time: Int64 = 0
    for run in conversation.runs {
        var rest = run.bytes[...]
        while !rest.isEmpty {
            let part = Bytes(rest.prefix(chunk ?? rest.count))
            rest = rest.dropFirst(part.count)
            time += 1
            decoder.receive(part.span, from: run.from, at: time, into: &batch)
        }
    }
    decoder.end(.app, how: .fin, at: time, into: &batch)
    decoder.end(.board, how: .fin, at: time, into: &batch)
    return batch.take()
}

private func describe(_ event: Event) -> String {
    let from = event.from?.rawValue ?? "-"
    func content(_ content: Event.Content) -> String {
        switch content {
        case .pieces: return "pieces"
        case .whole(let bytes):
            let isText = bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
            return isText ? "'\(String(decoding: bytes, as: UTF8.self))'" : "\(bytes.count)"
        }
    }
    func chunks(_ chunks: Event.Chunks?) -> String {
        guard let chunks else { return "" }
        return " \(chunks.sizes)" + (chunks.lines == nil ? "" : " lines")
    }
    func body(_ body: Event.Body) -> String {
        let framing =
            switch body.framing {
            case .none: "none"
            case .length: "length \(content(body.content))"
            case .chunked: "chunked \(content(body.content))\(chunks(body.chunks))"
            case .close: "close \(content(body.content))"
            }
        return framing + (body.trailers.isEmpty ? "" : " trailers")
            + (body.incomplete ? " incomplete" : "")
    }
    switch event.kind {
    case .request(let request):
        return "\(from) request \(request.exchange) \(request.method) \(request.target) "
            + body(request.body)
    case .response(let response):
        return "\(from) response \(response.exchange) \(response.status) \(body(response.body))"
    case .frame(let frame):
        let header = frame.header
        return "\(from) frame \(header.opcode.rawValue)" + (header.fin ? " fin" : "")
            + (header.rsv == 0 ? "" : " rsv\(header.rsv)") + " \(content(frame.content))"
            + (header.isMinimal ? "" : " form \(header.lengthForm)")
            + (frame.incomplete ? " incomplete" : "")
    case .message(let message):
        return "\(from) message \(message.opcode.rawValue) \(content(message.content)) "
            + "\(message.frames)" + (message.compressed ? " compressed" : "")
            + (message.incomplete ? " incomplete" : "")
    case .piece(let piece):
        return "\(from) piece of \(piece.of) at \(piece.offset) \(content(.whole(piece.content)))"
            + chunks(piece.chunks) + (piece.last ? " last" : "")
            + (piece.incomplete ? " incomplete" : "")
    case .data(let data): return "\(from) data \(data.why)"
    case .close(let close): return "\(from) close \(close.how.rawValue)"
    case .note(let note): return "\(from) note \(note.code)"
    case .session, .open, .gap, .end: return "\(from) other"
    }
}

@Suite struct ConnectionDecoderTests {
    @Test(arguments: conversations)
    private func `a conversation stands in the file as what it was`(
        _ conversation: Conversation
    ) {
        let lines = decode(conversation, chunk: nil).map(describe)
        let matches =
            lines.count == conversation.expected.count
            && zip(lines, conversation.expected).allSatisfy { $0.hasPrefix($1) }
        #expect(matches, "\(lines.joined(separator: "\n"))")
    }

    @Test(arguments: conversations)
    private func `how the bytes were cut on their way makes no difference`(
        _ conversation: Conversation
    ) {
        func merged(_ events: [Event]) -> [String] {
            var lines: [String] = []
            for line in events.map(describe) {
                // Opaque bytes are written as they come.
                if line.contains(" data "), lines.last == line { continue }
                lines.append(line)
            }
            return lines
        }
        let whole = merged(decode(conversation, chunk: nil))
        for chunk in 1...9 {
            #expect(merged(decode(conversation, chunk: chunk)) == whole)
        }
    }

    @Test(arguments: conversations)
    private func `the bytes of each direction come back from the events`(
        _ conversation: Conversation
    ) {
        for chunk in [nil, 1, 2, 3, 7] {
            var encoder = ConnectionEncoder()
            var bytes: [Side: Bytes] = [:]
            for event in decode(conversation, chunk: chunk) {
                var encoded: Bytes = []
                let outcome = encoder.encode(event, into: &encoded)
                if case .contradiction(let why) = outcome { Issue.record("\(why)") }
                if let from = event.from { bytes[from, default: []] += encoded }
            }
            for side in Side.allCases {
                let sent = conversation.runs.filter { $0.from == side }.flatMap(\.bytes)
                #expect(bytes[side, default: []] == sent)
            }
            #expect(!encoder.hasOpenHeads)
        }
    }

    @Test func `a thing that came in two parts knows when its first byte came`() {
        let decoder = ConnectionDecoder(conn: 3)
        var batch = EventBatch()
        let request = Bytes("GET / HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n".utf8)
        let (first, second) = (Bytes(request[..<5]), Bytes(request[5...]))
        decoder.receive(first.span, from: .app, at: 10, into: &batch)
        decoder.receive(second.span, from: .app, at: 20, into: &batch)
        #expect(batch.events.map(\.time) == [20, 20])
        #expect(batch.events.map(\.firstTime) == [10, nil])
    }

    @Test func `a reset ends both directions with one event`() {
        let decoder = ConnectionDecoder(conn: 1)
        var batch = EventBatch()
        decoder.end(.board, how: .reset, at: 5, into: &batch)
        decoder.end(.app, how: .fin, at: 6, into: &batch)
        #expect(batch.events.map(describe) == ["board close reset"])
    }

    @Test func `requests without an answer cannot fill the memory`() {
        var limits = ConnectionLimits()
        limits.maximumPipelined = 3
        let decoder = ConnectionDecoder(conn: 1, limits: limits)
        var batch = EventBatch()
        let request = Bytes("GET / HTTP/1.1\r\n\r\n".utf8)
        for _ in 0..<6 { decoder.receive(request.span, from: .app, at: 0, into: &batch) }
        #expect(
            batch.events.map(describe).suffix(2).allSatisfy {
                $0 == "app data more than 3 requests without an answer"
            })
    }

    @Test func `a bomb is inflated up to its limit and no further`() throws {
        var limits = ConnectionLimits()
        limits.maximumInflated = 100_000
        limits.maximumPiece = 40_000
        let decoder = ConnectionDecoder(conn: 1, limits: limits)
        var batch = EventBatch()
        let request = upgrade.bytes
        decoder.receive(request.span, from: .app, at: 0, into: &batch)
        let answer = Bytes(switching("permessage-deflate").utf8)
        decoder.receive(answer.span, from: .board, at: 0, into: &batch)
        let deflater = try #require(Deflater())
        let zeros = Bytes(repeating: 0, count: 1_000_000)
        let payload = deflater.compress(zeros.span)
        var bytes: Bytes = []
        Frame(rsv: 4, opcode: .text, payload: payload).encode(into: &bytes)
        decoder.receive(bytes.span, from: .board, at: 0, into: &batch)
        let lines = batch.take().map(describe)
        #expect(lines.last == "board note inflation_given_up")
        #expect(lines.count < 10)
    }
}
