import Wire

/// Tells whether the bytes that crossed can be rebuilt from events.
package protocol SessionRebuild {
    /// Takes the next event of a file; gives back why its bytes cannot be rebuilt, if so.
    mutating func rebuild(_ event: Event) -> String?
}

/// Rebuilds the bytes of each event and holds them against what the event says of them.
package struct RebuildCheck: SessionRebuild, Sendable {
    private var encoders: [Int: ConnectionEncoder] = [:]
    /// Bytes of the event under way; kept for its memory.
    private var bytes = Bytes()

    package init() {}

    package mutating func rebuild(_ event: Event) -> String? {
        switch event.kind {
        case .session, .open, .note, .end, .data:
            return nil
        case .close(let close):
            // A second close finds nothing, which is right.
            if close.how != .fin { encoders[event.conn] = nil }
            return nil
        case .request(let request):
            let head = HTTPHead(
                startLine: .request(method: request.method, target: request.target),
                version: request.version, fieldLines: request.headers, raw: request.raw)
            if let why = check(head, .requests) ?? check(request.body) { return why }
        case .response(let response):
            let head = HTTPHead(
                startLine: .status(code: response.status, reason: response.reason),
                version: response.version, fieldLines: response.headers, raw: response.raw)
            if let why = check(head, .responses) ?? check(response.body) { return why }
        case .frame(let frame):
            if let why = check(frame) { return why }
        case .message, .piece, .gap:
            break
        }
        var encoder = encoders.removeValue(forKey: event.conn) ?? ConnectionEncoder()
        bytes.removeAll(keepingCapacity: true)
        let outcome = encoder.encode(event, into: &bytes)
        encoders[event.conn] = encoder.hasOpenHeads ? encoder : nil
        if case .contradiction(let why) = outcome { return why }
        return nil
    }

    private func check(_ frame: Event.FrameRecord) -> String? {
        guard case .whole(let payload) = frame.content, frame.raw == nil else { return nil }
        let count = UInt64(payload.count)
        let length = frame.header.payloadLength
        if frame.incomplete ? count >= length && length > 0 : count != length {
            return "the frame's length is \(length), its payload has \(count) bytes"
        }
        return nil
    }

    private func check(_ body: Event.Body) -> String? {
        guard case .length(let length) = body.framing, case .whole(let content) = body.content,
            !body.incomplete, UInt64(content.count) != length
        else { return nil }
        return "the body's length is \(length), it has \(content.count) bytes"
    }

    /// Whether the head's bytes read as the head.
    private mutating func check(_ head: HTTPHead, _ role: HTTPDecoder.Role) -> String? {
        bytes.removeAll(keepingCapacity: true)
        head.encode(into: &bytes)
        var decoder = HTTPDecoder(role)
        var position = 0
        guard case .head(let decoded, _)? = decoder.next(bytes.span, at: &position),
            position == bytes.count
        else { return "the head's bytes are no head" }
        guard decoded.startLine == head.startLine, decoded.version == head.version,
            decoded.fieldLines == head.fieldLines
        else { return "the head's bytes read otherwise than its fields" }
        return nil
    }
}
