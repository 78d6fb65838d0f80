import Wire

/// A field that a filter can ask for: those of capture-format's tables.
///
/// Not among them: encodings of bytes (`base64`, `raw`, `chunks`, …), which say nothing that a
/// person would ask for.
enum FilterField: String, CaseIterable {
    // All events.
    case event, seq, t, t_first, t_packet, conn, from
    // session
    case format, version, id, started_at, tool, contract, source, listen, upstream, interface
    case link_type, part, labels
    // open
    case app, board, via, continued
    // request, response
    case exchange, method, target, http, headers, body, framing, trailers, status, reason
    // frame, message, piece
    case fin, rsv, opcode, mask, length, text, code, frames, compressed
    case of, offset, last, pieces, incomplete
    // data, gap, close, note, end
    case why, how, detail, to, events, bytes_app, bytes_board, dropped
    // bridge
    case kind, type, timeout_ms, route, ok, latency_ms, late, duplicate
    case phone_id, platform, app_state, commands, peer

    /// The only values that the field can have; nil where any can.
    var vocabulary: [String]? {
        switch self {
        case .kind:
            [
                "heartbeat", "command", "result", "app_event", "enqueue", "poll", "query",
                "status", "unknown",
            ]
        case .event:
            [
                "session", "open", "request", "response", "frame", "message", "piece", "data",
                "gap", "close", "note", "end",
            ]
        case .from: Side.allCases.map(\.rawValue)
        case .route: ["websocket", "queue"]
        case .how: ["fin", "reset", "timeout", "refused", "error"]
        case .framing: ["none", "length", "chunked", "close"]
        case .fin, .continued, .compressed, .last, .pieces, .incomplete, .ok, .late, .duplicate:
            ["true", "false"]
        default: nil
        }
    }

    /// Whether `test` holds of a value that the field has in the event or the `bridge` object.
    func anyValue(of event: Event, in object: JSON?, _ test: (FilterValue) -> Bool) -> Bool {
        if case .object(let members)? = object {
            for member in members where member.name == rawValue {
                if let value = FilterValue(member.value), test(value) { return true }
            }
        }
        return values(of: event).contains(where: test)
    }

    private func values(of event: Event) -> [FilterValue] {
        switch self {
        case .event: [.text(event.kind.filterName)]
        case .seq: event.seq > 0 ? [.integer(event.seq)] : []
        case .t: [.number(FilterNumber(event.time))]
        case .t_first: event.firstTime.map { [.number(FilterNumber($0))] } ?? []
        case .t_packet: event.packetTime.map { [.number(FilterNumber($0))] } ?? []
        case .conn: event.conn > 0 ? [.integer(event.conn)] : []
        case .from: .text(event.from?.rawValue)
        default:
            switch event.kind {
            case .session(let session): values(of: session)
            case .open(let open): values(of: open)
            case .request(let request): values(of: request)
            case .response(let response): values(of: response)
            case .frame(let frame): values(of: frame)
            case .message(let message): values(of: message)
            case .piece(let piece): values(of: piece)
            case .data(let data): self == .why ? [.text(data.why)] : []
            case .gap(let gap): values(of: gap)
            case .close(let close): values(of: close)
            case .note(let note): values(of: note)
            case .end(let end): values(of: end)
            }
        }
    }
}

// MARK: - Values by kind

extension FilterField {
    private func values(of session: SessionInfo) -> [FilterValue] {
        switch self {
        case .format: [.text("bridgetap")]
        case .version: [.integer(session.version)]
        case .id: [.text(session.id)]
        case .started_at: [.text(session.startedAt)]
        case .tool: [.text(session.tool)]
        case .contract: [.text(session.contract)]
        case .source: [.text(session.source)]
        case .listen: .text(session.listen)
        case .upstream: .text(session.upstream)
        case .interface: .text(session.interface)
        case .link_type: .text(session.linkType)
        case .part: .integer(session.part)
        case .labels: session.labels.map { .text("\($0.name)=\($0.value)") }
        default: []
        }
    }

    private func values(of open: Event.Open) -> [FilterValue] {
        switch self {
        case .app: [.text(open.app)]
        case .board: [.text(open.board)]
        case .via: .text(open.via)
        case .continued: [.bool(open.continued != nil)]
        default: []
        }
    }

    private func values(of request: Event.Request) -> [FilterValue] {
        switch self {
        case .exchange: [.integer(request.exchange)]
        case .method: [.text(request.method)]
        case .target: [.text(request.target)]
        case .http: [.text(request.version)]
        case .headers: Self.lines(request.headers)
        default: values(of: request.body)
        }
    }

    private func values(of response: Event.Response) -> [FilterValue] {
        switch self {
        case .exchange: [.integer(response.exchange)]
        case .status: [.integer(response.status)]
        case .reason: [.text(response.reason)]
        case .http: [.text(response.version)]
        case .headers: Self.lines(response.headers)
        default: values(of: response.body)
        }
    }

    private func values(of body: Event.Body) -> [FilterValue] {
        switch self {
        case .body: Self.content(body.content)
        case .pieces: [.bool(body.content == .pieces)]
        case .incomplete: [.bool(body.incomplete)]
        case .trailers: Self.lines(body.trailers)
        case .framing:
            switch body.framing {
            case .none: [.text("none")]
            case .length: [.text("length")]
            case .chunked: [.text("chunked")]
            case .close: [.text("close")]
            }
        default: []
        }
    }

    private func values(of frame: Event.FrameRecord) -> [FilterValue] {
        switch self {
        case .fin: [.bool(frame.header.fin)]
        case .rsv: [.integer(Int(frame.header.rsv))]
        case .opcode: [.integer(Int(frame.header.opcode.rawValue))]
        case .mask:
            .text(
                frame.header.maskingKey.map { key in
                    let digits = String(key.rawValue, radix: 16)
                    return String(repeating: "0", count: 8 - digits.count) + digits
                })
        case .length: [.number(FilterNumber(frame.header.payloadLength))]
        case .text: Self.content(frame.content)
        case .pieces: [.bool(frame.content == .pieces)]
        case .incomplete: [.bool(frame.incomplete)]
        case .code, .reason:
            if frame.header.opcode == .close, case .whole(let payload) = frame.content,
                payload.count >= 2
            {
                self == .code
                    ? [.integer(Int(payload[0]) << 8 | Int(payload[1]))]
                    : [.bytes(Bytes(payload[2...]))]
            } else {
                []
            }
        default: []
        }
    }

    private func values(of message: Event.Message) -> [FilterValue] {
        switch self {
        case .opcode: [.integer(Int(message.opcode.rawValue))]
        case .text: Self.content(message.content)
        case .frames: [.integer(message.frames)]
        case .compressed: [.bool(message.compressed)]
        case .pieces: [.bool(message.content == .pieces)]
        case .incomplete: [.bool(message.incomplete)]
        default: []
        }
    }

    private func values(of piece: Event.Piece) -> [FilterValue] {
        switch self {
        case .of: [.integer(piece.of)]
        case .offset: [.number(FilterNumber(piece.offset))]
        case .text: [.bytes(piece.content)]
        case .last: [.bool(piece.last)]
        case .incomplete: [.bool(piece.incomplete)]
        case .trailers: Self.lines(piece.trailers)
        default: []
        }
    }

    private func values(of gap: Event.Gap) -> [FilterValue] {
        switch self {
        case .length: gap.length.map { [.number(FilterNumber($0))] } ?? []
        case .why: [.text(gap.why)]
        default: []
        }
    }

    private func values(of close: Event.Close) -> [FilterValue] {
        switch self {
        case .how: [.text(close.how.rawValue)]
        case .detail: .text(close.detail)
        default: []
        }
    }

    private func values(of note: Event.Note) -> [FilterValue] {
        switch self {
        case .code: [.text(note.code)]
        case .text: [.text(note.text)]
        case .to: .integer(note.to)
        default: []
        }
    }

    private func values(of end: Event.End) -> [FilterValue] {
        switch self {
        case .events: [.integer(end.events)]
        case .bytes_app: [.number(FilterNumber(end.bytesApp))]
        case .bytes_board: [.number(FilterNumber(end.bytesBoard))]
        case .dropped: [.integer(end.dropped)]
        default: []
        }
    }

    private static func lines(_ lines: [FieldLine]) -> [FilterValue] {
        lines.map { .text("\($0.name): \($0.value)") }
    }

    private static func content(_ content: Event.Content) -> [FilterValue] {
        if case .whole(let bytes) = content { [.bytes(bytes)] } else { [] }
    }
}

/// A value that a field has.
enum FilterValue {
    case text(String)
    /// Text where it is UTF-8; in the file it is base64 where it is not.
    case bytes(Bytes)
    case number(FilterNumber)
    case bool(Bool)

    /// The value of a `bridge` object's member; nil for what has no single text.
    init?(_ value: JSON) {
        switch value {
        case .string(let text): self = .text(text)
        case .number(let text):
            if let number = FilterNumber(text) { self = .number(number) } else { return nil }
        case .bool(let flag): self = .bool(flag)
        case .null, .array, .object: return nil
        }
    }

    static func integer(_ value: Int) -> FilterValue { .number(FilterNumber(Int64(value))) }

    /// The text that a pattern is held against; nil for bytes that are not text.
    var text: String? {
        switch self {
        case .text(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        case .number(let number): number.description
        case .bool(let flag): flag ? "true" : "false"
        }
    }
}

extension [FilterValue] {
    fileprivate static func text(_ text: String?) -> [FilterValue] {
        text.map { [FilterValue.text($0)] } ?? []
    }

    fileprivate static func integer(_ value: Int?) -> [FilterValue] {
        value.map { [FilterValue.integer($0)] } ?? []
    }
}

extension Event.Kind {
    /// The value of the field `event`.
    fileprivate var filterName: String {
        switch self {
        case .session: "session"
        case .open: "open"
        case .request: "request"
        case .response: "response"
        case .frame: "frame"
        case .message: "message"
        case .piece: "piece"
        case .data: "data"
        case .gap: "gap"
        case .close: "close"
        case .note: "note"
        case .end: "end"
        }
    }
}
