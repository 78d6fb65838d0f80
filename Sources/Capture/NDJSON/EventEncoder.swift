package import Wire

/// Writes events as lines of a session file (capture format, version 1).
///
/// A small frame costs about a fifth of a microsecond in release mode.
package struct EventEncoder: Sendable {
    package init() {}

    /// Appends one line with its line feed; `seq` stands in for the event's own, if given.
    package func encode(_ event: borrowing Event, seq: Int? = nil, into line: inout Bytes) {
        encodeFields(event, seq: seq ?? event.seq, into: &line)
        encodeEnd(event.bridge, into: &line)
    }

    /// The same for a frame of a batch, with the text of what it means.
    func encode(
        _ frame: borrowing GatheredFrame, payload: Span<UInt8>, bridge: Span<UInt8>, seq: Int,
        into line: inout Bytes
    ) {
        let start = LineStart(
            seq: seq, time: frame.time, firstTime: frame.firstTime,
            packetTime: frame.packetTime, conn: frame.conn, from: frame.from)
        encode(frame.header, payload, start, bridge: bridge, isWhole: true, into: &line)
    }

    /// `bridge`, if there is any, and what ends the line.
    private func encodeEnd(_ bridge: Meanings, into line: inout Bytes) {
        if !bridge.isEmpty {
            line.append(",\"bridge\":")
            bridge.appendText(to: &line)
        }
        line.append("}\n")
    }

    /// All of the line but `bridge` and what ends it.
    private func encodeFields(_ event: borrowing Event, seq: Int, into line: inout Bytes) {
        switch event.kind {
        case .frame(let frame): encode(frame, of: event, seq: seq, into: &line)
        case .message(let message): encode(message, of: event, seq: seq, into: &line)
        case .session(let session): encode(session, of: event, into: &line)
        case .open(let open): encode(open, of: event, seq: seq, into: &line)
        case .request(let request): encode(request, of: event, seq: seq, into: &line)
        case .response(let response): encode(response, of: event, seq: seq, into: &line)
        case .piece(let piece): encode(piece, of: event, seq: seq, into: &line)
        case .data(let data):
            begin("data", event, seq, into: &line)
            appendMember("why", data.why, to: &line)
            line.append(",\"base64\":\"")
            appendBase64(data.bytes.span, to: &line)
            line.append("\"")
        case .gap(let gap):
            begin("gap", event, seq, into: &line)
            if let length = gap.length { appendMember("length", length, to: &line) }
            appendMember("why", gap.why, to: &line)
        case .close(let close):
            begin("close", event, seq, into: &line)
            appendMember("how", close.how.rawValue, to: &line)
            appendMember("detail", close.detail, to: &line)
        case .note(let note):
            begin("note", event, seq, into: &line)
            appendMember("code", note.code, to: &line)
            appendMember("text", note.text, to: &line)
            if let to = note.to { appendMember("to", to, to: &line) }
            if let part = note.toPart { appendMember("to_part", part, to: &line) }
        case .end(let end):
            begin("end", event, seq, into: &line)
            appendMember("events", end.events, to: &line)
            appendMember("bytes_app", end.bytesApp, to: &line)
            appendMember("bytes_board", end.bytesBoard, to: &line)
            appendMember("dropped", end.dropped, to: &line)
        }
    }

    // MARK: The common fields

    /// `{"event":…` to `from`: a kind of at most 16 bytes, six numbers and their names.
    private static let maximumBeginning = 320
    /// Content up to this size is written in one go with what stands before it.
    private static let maximumInline = 4096

    /// What the fields at the beginning of a line say.
    private struct LineStart {
        var seq: Int
        var time: Int64
        var firstTime: Int64?
        var packetTime: Int64?
        var conn: Int
        var from: Side?
    }

    @inline(__always)
    private func begin(
        _ kind: StaticString, _ start: LineStart, into builder: inout LineBuilder
    ) {
        builder.append("{\"event\":\"")
        builder.append(kind)
        builder.append("\",\"seq\":")
        builder.append(start.seq)
        builder.append(",\"t\":")
        builder.append(start.time)
        if let first = start.firstTime {
            builder.append(",\"t_first\":")
            builder.append(first)
        }
        if let packet = start.packetTime {
            builder.append(",\"t_packet\":")
            builder.append(packet)
        }
        if start.conn != 0 {
            builder.append(",\"conn\":")
            builder.append(start.conn)
        }
        switch start.from {
        case .app: builder.append(",\"from\":\"app\"")
        case .board: builder.append(",\"from\":\"board\"")
        case nil: break
        }
    }

    @inline(__always)
    private func begin(
        _ kind: StaticString, _ event: borrowing Event, _ seq: Int, into builder: inout LineBuilder
    ) {
        begin(
            kind,
            LineStart(
                seq: seq, time: event.time, firstTime: event.firstTime,
                packetTime: event.packetTime, conn: event.conn, from: event.from),
            into: &builder)
    }

    private func begin(
        _ kind: StaticString, _ event: borrowing Event, _ seq: Int, into line: inout Bytes
    ) {
        line.appendLine(capacity: Self.maximumBeginning) { begin(kind, event, seq, into: &$0) }
    }

    // MARK: WebSocket

    private func encode(
        _ frame: borrowing Event.FrameRecord, of event: borrowing Event, seq: Int,
        into line: inout Bytes
    ) {
        let header = frame.header
        let start = LineStart(
            seq: seq, time: event.time, firstTime: event.firstTime,
            packetTime: event.packetTime, conn: event.conn, from: event.from)
        if case .whole(let payload) = frame.content, payload.count <= Self.maximumInline,
            frame.raw == nil, !frame.incomplete, header.opcode != .close, header.isMinimal
        {
            let none = Bytes()
            encode(header, payload.span, start, bridge: none.span, isWhole: false, into: &line)
            return
        }
        line.appendLine(capacity: Self.maximumBeginning + 128) { builder in
            begin("frame", start, into: &builder)
            append(header, to: &builder)
        }
        if let raw = frame.raw {
            appendRaw("raw", raw, to: &line)
        } else if !header.isMinimal {
            var raw = Bytes()
            header.encode(into: &raw)
            appendRaw("raw", raw, to: &line)
        }
        if header.opcode == .close, case .whole(let payload) = frame.content, payload.count >= 2 {
            line.append(",\"code\":")
            line.append(decimal: UInt64(payload[0]) << 8 | UInt64(payload[1]))
            appendMember("reason", String(decoding: payload[2...], as: UTF8.self), to: &line)
        }
        append(frame.content, to: &line)
        if frame.incomplete { line.append(",\"incomplete\":true") }
    }

    /// The usual frame, whose greatest size is known: room is made once.
    ///
    /// Where `isWhole`, `bridge` and the end of the line stand behind it.
    private func encode(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ start: LineStart, bridge: Span<UInt8>,
        isWhole: Bool, into line: inout Bytes
    ) {
        let capacity =
            Self.maximumBeginning + 128 + jsonStringCapacity(payload.count) + bridge.count
        var isText = true
        line.appendLine(capacity: capacity) { builder in
            begin("frame", start, into: &builder)
            append(header, to: &builder)
            isText = builder.append(",\"text\":", text: payload)
            if isText, isWhole { appendEnd(bridge, to: &builder) }
        }
        guard !isText else { return }
        appendRaw("base64", payload, to: &line)
        if isWhole {
            line.appendLine(capacity: bridge.count + 16) { appendEnd(bridge, to: &$0) }
        }
    }

    /// The text of `bridge`, if there is any, and what ends the line.
    @inline(__always)
    private func appendEnd(_ bridge: Span<UInt8>, to builder: inout LineBuilder) {
        if bridge.count > 0 {
            builder.append(",\"bridge\":")
            builder.append(bridge)
        }
        builder.append("}\n")
    }

    @inline(__always)
    private func append(_ header: FrameHeader, to builder: inout LineBuilder) {
        if header.fin, header.rsv == 0, header.opcode == .text {
            builder.append(",\"fin\":true,\"rsv\":0,\"opcode\":1")
        } else {
            builder.append(header.fin ? ",\"fin\":true,\"rsv\":" : ",\"fin\":false,\"rsv\":")
            builder.append(byte: UInt8(ascii: "0") &+ (header.rsv & 7))
            builder.append(",\"opcode\":")
            builder.append(Int(header.opcode.rawValue))
        }
        if let key = header.maskingKey {
            builder.append(",\"mask\":\"")
            builder.append(hex: key.rawValue)
            builder.append("\"")
        }
        builder.append(",\"length\":")
        builder.append(header.payloadLength)
    }

    private func encode(
        _ message: Event.Message, of event: borrowing Event, seq: Int, into line: inout Bytes
    ) {
        line.appendLine(capacity: Self.maximumBeginning + 128) { builder in
            begin("message", event, seq, into: &builder)
            builder.append(",\"opcode\":")
            builder.append(Int(message.opcode.rawValue))
            builder.append(",\"frames\":")
            builder.append(message.frames)
            builder.append(",\"compressed\":")
            builder.append(message.compressed)
        }
        append(message.content, to: &line)
        if message.incomplete { line.append(",\"incomplete\":true") }
    }

    private func encode(
        _ piece: Event.Piece, of event: borrowing Event, seq: Int, into line: inout Bytes
    ) {
        begin("piece", event, seq, into: &line)
        appendMember("of", piece.of, to: &line)
        if let part = piece.ofPart { appendMember("of_part", part, to: &line) }
        appendMember("offset", piece.offset, to: &line)
        appendMember("last", piece.last, to: &line)
        append(piece.chunks, to: &line)
        append(.whole(piece.content), to: &line)
        append(trailers: piece.trailers, raw: piece.rawTrailers, to: &line)
        if piece.incomplete { line.append(",\"incomplete\":true") }
    }

    private func append(_ content: Event.Content, to line: inout Bytes) {
        switch content {
        case .pieces:
            line.append(",\"pieces\":true")
        case .whole(let bytes) where isValidUTF8(bytes.span):
            line.append(",\"text\":")
            appendJSONString(bytes.span, to: &line)
        case .whole(let bytes):
            appendRaw("base64", bytes, to: &line)
        }
    }

    // MARK: HTTP

    private func encode(
        _ request: Event.Request, of event: borrowing Event, seq: Int, into line: inout Bytes
    ) {
        begin("request", event, seq, into: &line)
        appendMember("exchange", request.exchange, to: &line)
        appendMember("method", request.method, to: &line)
        appendMember("target", request.target, to: &line)
        appendMember("http", request.version, to: &line)
        appendMember("headers", request.headers, to: &line)
        if let raw = request.raw { appendRaw("raw", raw, to: &line) }
        append(request.body, to: &line)
    }

    private func encode(
        _ response: Event.Response, of event: borrowing Event, seq: Int, into line: inout Bytes
    ) {
        begin("response", event, seq, into: &line)
        appendMember("exchange", response.exchange, to: &line)
        appendMember("status", response.status, to: &line)
        appendMember("reason", response.reason, to: &line)
        appendMember("http", response.version, to: &line)
        appendMember("headers", response.headers, to: &line)
        if let raw = response.raw { appendRaw("raw", raw, to: &line) }
        append(response.body, to: &line)
    }

    private func append(_ body: Event.Body, to line: inout Bytes) {
        switch body.framing {
        case .none: appendMember("framing", "none", to: &line)
        case .chunked: appendMember("framing", "chunked", to: &line)
        case .close: appendMember("framing", "close", to: &line)
        case .length(let length):
            appendMember("framing", "length", to: &line)
            if case .whole(let bytes) = body.content, UInt64(bytes.count) == length { break }
            appendMember("length", length, to: &line)
        }
        append(body.chunks, to: &line)
        switch body.content {
        case .pieces:
            line.append(",\"pieces\":true")
        case .whole(let bytes) where bytes.isEmpty && body.framing == .none:
            break
        case .whole(let bytes) where isValidUTF8(bytes.span):
            line.append(",\"body\":")
            appendJSONString(bytes.span, to: &line)
        case .whole(let bytes):
            appendRaw("body_base64", bytes, to: &line)
        }
        append(trailers: body.trailers, raw: body.rawTrailers, to: &line)
        if body.incomplete { line.append(",\"incomplete\":true") }
    }

    private func append(_ chunks: Event.Chunks?, to line: inout Bytes) {
        guard let chunks else { return }
        line.append(",\"chunks\":[")
        for (index, size) in chunks.sizes.enumerated() {
            if index > 0 { line.append(",") }
            line.append(decimal: size)
        }
        line.append("]")
        guard let lines = chunks.lines else { return }
        line.append(",\"chunk_lines_base64\":[")
        for (index, chunkLine) in lines.enumerated() {
            line.append(index > 0 ? ",\"" : "\"")
            appendBase64(chunkLine.span, to: &line)
            line.append("\"")
        }
        line.append("]")
    }

    private func append(trailers: [FieldLine], raw: Bytes?, to line: inout Bytes) {
        if !trailers.isEmpty { appendMember("trailers", trailers, to: &line) }
        if let raw { appendRaw("raw_trailers", raw, to: &line) }
    }

    // MARK: The session and its connections

    private func encode(
        _ session: SessionInfo, of event: borrowing Event, into line: inout Bytes
    ) {
        line.append("{\"event\":\"session\",\"format\":\"bridgetap\"")
        appendMember("version", session.version, to: &line)
        appendMember("id", session.id, to: &line)
        if let part = session.part { appendMember("part", part, to: &line) }
        line.appendLine(capacity: 8 + LineBuilder.maximumNumber) { builder in
            builder.append(",\"t\":")
            builder.append(event.time)
        }
        appendMember("started_at", session.startedAt, to: &line)
        appendMember("tool", session.tool, to: &line)
        appendMember("contract", session.contract, to: &line)
        appendMember("source", session.source, to: &line)
        appendMember("listen", session.listen, to: &line)
        appendMember("upstream", session.upstream, to: &line)
        appendMember("interface", session.interface, to: &line)
        appendMember("link_type", session.linkType, to: &line)
        if let redacted = session.redacted {
            line.append(",\"redacted\":")
            redacted.encode(into: &line)
        }
        if !session.labels.isEmpty {
            line.append(",\"labels\":{")
            for (index, label) in session.labels.enumerated() {
                if index > 0 { line.append(",") }
                appendJSONString(label.name, to: &line)
                line.append(":")
                appendJSONString(label.value, to: &line)
            }
            line.append("}")
        }
    }

    private func encode(
        _ open: Event.Open, of event: borrowing Event, seq: Int, into line: inout Bytes
    ) {
        begin("open", event, seq, into: &line)
        appendMember("app", open.app, to: &line)
        appendMember("board", open.board, to: &line)
        appendMember("via", open.via, to: &line)
        guard let continued = open.continued else { return }
        line.append(",\"continued\":true")
        appendMember("upgraded", continued.upgraded, to: &line)
        appendMember("extensions", continued.extensions, to: &line)
    }

    // MARK: Members

    private func appendName(_ name: StaticString, to line: inout Bytes) {
        line.append(",\"")
        line.append(name)
        line.append("\":")
    }

    private func appendMember(_ name: StaticString, _ value: Int, to line: inout Bytes) {
        appendName(name, to: &line)
        line.appendLine(capacity: LineBuilder.maximumNumber) { $0.append(value) }
    }

    private func appendMember(_ name: StaticString, _ value: UInt64, to line: inout Bytes) {
        appendName(name, to: &line)
        line.append(decimal: value)
    }

    private func appendMember(_ name: StaticString, _ value: Bool, to line: inout Bytes) {
        appendName(name, to: &line)
        line.append(value ? "true" : "false")
    }

    private func appendMember(_ name: StaticString, _ value: String?, to line: inout Bytes) {
        guard let value else { return }
        appendName(name, to: &line)
        appendJSONString(value, to: &line)
    }

    private func appendMember(_ name: StaticString, _ fields: [FieldLine], to line: inout Bytes) {
        appendName(name, to: &line)
        line.append("[")
        for (index, field) in fields.enumerated() {
            line.append(index > 0 ? ",[" : "[")
            appendJSONString(field.name, to: &line)
            line.append(",")
            appendJSONString(field.value, to: &line)
            line.append("]")
        }
        line.append("]")
    }

    private func appendRaw(_ name: StaticString, _ bytes: Bytes, to line: inout Bytes) {
        appendRaw(name, bytes.span, to: &line)
    }

    private func appendRaw(_ name: StaticString, _ bytes: Span<UInt8>, to line: inout Bytes) {
        appendName(name, to: &line)
        line.append("\"")
        appendBase64(bytes, to: &line)
        line.append("\"")
    }
}
