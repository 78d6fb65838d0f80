package import Capture
import Wire

/// A session as it crossed the link: every event a line, and its bytes below it.
///
/// Nothing is folded, paired or interpreted; it is for whoever doubts the other timeline.
package struct RawTimeline: Sendable {
    package init() {}

    /// The line of an event, with its bytes as text where they are text, else in hex.
    package func line(_ event: Event) -> TimelineLine {
        let (label, facts, body) = describe(event)
        var text = event.seq > 0 ? ["seq \(event.seq)"] : []
        text += facts
        if let first = event.firstTime { text.append("began \(clockTime(first))") }
        if let packet = event.packetTime { text.append("packet of \(clockTime(packet))") }
        var lines = body
        lines += event.bridge.map { "bridge " + visible($0.description, escapingBackslash: false) }
        return TimelineLine(
            isBroken: event.isBroken, time: event.time, conn: event.conn,
            direction: event.direction, label: Styled(label, .strong),
            text: [Styled(text.joined(separator: " · "))], body: lines)
    }

    private typealias Description = (label: String, facts: [String], body: [String])

    private func describe(_ event: Event) -> Description {
        switch event.kind {
        case .session(let session): return describe(session)
        case .open(let open):
            var facts = ["\(visible(open.app)) → \(visible(open.board))"]
            if let via = open.via { facts.append("via " + visible(via)) }
            if let continued = open.continued {
                facts.append(continued.upgraded ? "continued as WebSocket" : "continued")
                if let extensions = continued.extensions { facts.append(visible(extensions)) }
            }
            return ("open", facts, [])
        case .request(let request):
            let start = "\(request.method) \(request.target) HTTP/\(request.version)"
            return (
                "request", ["exchange \(request.exchange)"] + facts(request.body),
                head(start, request.headers, request.raw) + rows(request.body)
            )
        case .response(let response):
            let start = "HTTP/\(response.version) \(response.status) \(response.reason)"
            return (
                "response", ["exchange \(response.exchange)"] + facts(response.body),
                head(start, response.headers, response.raw) + rows(response.body)
            )
        case .frame(let frame): return describe(frame)
        case .message(let message):
            var facts = [name(message.opcode), counted(message.frames, "frame")]
            if message.compressed { facts.append("compressed") }
            if message.incomplete { facts.append("incomplete") }
            return ("message", facts + size(message.content), rows(message.content))
        case .piece(let piece):
            var facts = ["of \(piece.of)", "offset \(grouped(piece.offset))"]
            facts.append(byteCount(piece.content.count))
            if piece.last { facts.append("last") }
            if piece.incomplete { facts.append("incomplete") }
            return ("piece", facts, rows(piece.content) + fields(piece.trailers))
        case .data(let data): return ("data", [visible(data.why)], hexDump(data.bytes))
        case .gap(let gap):
            let length = gap.length.map { byteCount($0) } ?? "unknown length"
            return ("gap", [length, visible(gap.why)], [])
        case .close(let close):
            return ("close", [close.how.rawValue] + (close.detail.map { [visible($0)] } ?? []), [])
        case .note(let note):
            let about = note.to.map { ["about \($0)"] } ?? []
            return ("note", [visible(note.code)] + about, [visible(note.text)])
        case .end(let end):
            return (
                "end",
                [
                    counted(end.events, "event"), "app \(grouped(end.bytesApp)) bytes",
                    "board \(grouped(end.bytesBoard)) bytes", "dropped \(grouped(end.dropped))",
                ], []
            )
        }
    }

    private func describe(_ session: SessionInfo) -> Description {
        var facts = ["version \(session.version)", visible(session.id), visible(session.startedAt)]
        facts += [visible(session.source), "contract \(visible(session.contract))"]
        facts.append(visible(session.tool))
        let more = [
            ("listen", session.listen), ("upstream", session.upstream),
            ("interface", session.interface), ("link type", session.linkType),
            ("part", session.part.map { "\($0)" }),
            ("redacted", session.redacted.map { $0.description }),
        ]
        var body = more.compactMap { name, value in value.map { "\(name) \(visible($0))" } }
        body += session.labels.map { "label \(visible($0.name))=\(visible($0.value))" }
        return ("session", facts, body)
    }

    private func describe(_ frame: Event.FrameRecord) -> Description {
        let header = frame.header
        var facts = [name(header.opcode)]
        if !header.fin { facts.append("more follows") }
        if header.rsv != 0 { facts.append("rsv \(header.rsv)") }
        if let key = header.maskingKey {
            let digits = String(key.rawValue, radix: 16)
            facts.append(
                "mask " + String(repeating: "0", count: max(0, 8 - digits.count)) + digits)
        }
        facts.append(byteCount(header.payloadLength))
        if !header.isMinimal { facts.append("length not in its shortest form") }
        if frame.incomplete { facts.append("incomplete") }
        if let raw = frame.raw { facts.append("header \(hexPreview(raw))") }
        return ("frame", facts, rows(frame.content))
    }

    private func name(_ opcode: Opcode) -> String {
        switch opcode {
        case .continuation: "continuation"
        case .text: "text"
        case .binary: "binary"
        case .close: "close"
        case .ping: "ping"
        case .pong: "pong"
        default: "opcode \(opcode.rawValue)"
        }
    }

    private func facts(_ body: Event.Body) -> [String] {
        var facts: [String] = []
        switch body.framing {
        case .none: break
        case .length(let length): facts.append("length \(grouped(length))")
        case .chunked:
            facts.append("chunked in " + counted(body.chunks?.sizes.count ?? 0, "chunk"))
        case .close: facts.append("until close")
        }
        if case .pieces = body.content { facts.append("in pieces") }
        if body.incomplete { facts.append("incomplete") }
        return facts
    }

    private func head(_ start: String, _ fieldLines: [FieldLine], _ raw: Bytes?) -> [String] {
        // Where the head was not canonical, what crossed is shown, byte for byte.
        if let raw { return Array(rows(raw).reversed().drop(while: \.isEmpty).reversed()) }
        return [visible(start)] + fields(fieldLines)
    }

    private func fields(_ lines: [FieldLine]) -> [String] {
        lines.map { visible("\($0.name): \($0.value)") }
    }

    private func rows(_ body: Event.Body) -> [String] {
        let content = rows(body.content)
        return (content.isEmpty ? [] : [""] + content) + fields(body.trailers)
    }

    private func size(_ content: Event.Content) -> [String] {
        switch content {
        case .pieces: ["in pieces"]
        case .whole(let bytes): [byteCount(bytes.count)]
        }
    }

    private func rows(_ content: Event.Content) -> [String] {
        switch content {
        case .pieces: []
        case .whole(let bytes): rows(bytes)
        }
    }

    /// Text by its lines, everything else in hex.
    private func rows(_ bytes: Bytes) -> [String] {
        guard !bytes.isEmpty else { return [] }
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: {
                $0.value < 0x20 && !"\r\n\t".unicodeScalars.contains($0)
            })
        else { return hexDump(bytes) }
        var lines = text.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { visible(String($0)) }
    }
}

extension Event {
    /// Whether the event itself says that something is missing or broken.
    fileprivate var isBroken: Bool {
        switch kind {
        case .gap, .data: true
        case .close(let close): close.how != .fin
        case .request(let request): request.body.incomplete
        case .response(let response): response.body.incomplete
        case .frame(let frame): frame.incomplete
        case .message(let message): message.incomplete
        case .piece(let piece): piece.incomplete
        case .end(let end): end.dropped > 0
        case .note(let note): note.code == "recording_gap"
        case .session, .open: false
        }
    }
}
