package import Wire

/// Gives back the bytes of one connection from its events: the inverse of `ConnectionDecoder`
/// (capture format, promise 1).
///
/// Events of one direction have to come in their order; the two directions are independent.
package struct ConnectionEncoder: Sendable {
    /// What an event stands for on the wire.
    package enum Outcome: Sendable, Equatable {
        /// The event stands for no bytes of its own: a message, a note, an opening.
        case nothing
        /// Its bytes were appended.
        case bytes
        /// Bytes are missing here, `length` of them if known.
        case missing(length: UInt64?)
        /// The event contradicts those before it; nothing was appended.
        case contradiction(String)
    }

    /// A head whose content comes in pieces.
    private struct OpenHead {
        enum Kind {
            case payload(MaskingKey?)
            case chunked
            case body
            /// A message's: no bytes of the wire.
            case message
        }

        var kind: Kind
        var from: Side?
        /// Content bytes so far.
        var offset: UInt64 = 0
        /// A gap came since the last piece, so that the next may stand further on.
        var hasGap = false
        var chunks = ChunkWriter()
    }

    private var heads: [Int: OpenHead] = [:]

    package init() {}

    /// Whether pieces of an earlier event are still to come.
    package var hasOpenHeads: Bool { !heads.isEmpty }

    /// Appends the bytes that the event's sender put on the wire.
    package mutating func encode(_ event: Event, into bytes: inout Bytes) -> Outcome {
        switch event.kind {
        case .session, .open, .close, .note, .end:
            return .nothing
        case .gap(let gap):
            for number in heads.keys where heads[number]?.from == event.from {
                heads[number]?.hasGap = true
            }
            return .missing(length: gap.length)
        case .data(let data):
            bytes += data.bytes
            return .bytes
        case .request(let request):
            let head = HTTPHead(
                startLine: .request(method: request.method, target: request.target),
                version: request.version, fieldLines: request.headers, raw: request.raw)
            head.encode(into: &bytes)
            return encode(request.body, of: event, into: &bytes)
        case .response(let response):
            let head = HTTPHead(
                startLine: .status(code: response.status, reason: response.reason),
                version: response.version, fieldLines: response.headers, raw: response.raw)
            head.encode(into: &bytes)
            return encode(response.body, of: event, into: &bytes)
        case .frame(let frame):
            frame.header.encode(into: &bytes)
            switch frame.content {
            case .whole(let payload):
                append(payload, maskingKey: frame.header.maskingKey, offset: 0, to: &bytes)
            case .pieces:
                heads[event.seq] = OpenHead(
                    kind: .payload(frame.header.maskingKey), from: event.from)
            }
            return .bytes
        case .message(let message):
            if message.content == .pieces {
                heads[event.seq] = OpenHead(kind: .message, from: event.from)
            }
            return .nothing
        case .piece(let piece):
            return encode(piece, into: &bytes)
        }
    }

    private mutating func encode(
        _ body: Event.Body, of event: Event, into bytes: inout Bytes
    ) -> Outcome {
        let isChunked = body.framing == .chunked
        switch body.content {
        case .pieces:
            heads[event.seq] = OpenHead(kind: isChunked ? .chunked : .body, from: event.from)
        case .whole(let content) where isChunked:
            var writer = ChunkWriter()
            guard
                writer.append(
                    content, chunks: body.chunks ?? Event.Chunks(), isLast: true,
                    incomplete: body.incomplete, to: &bytes)
            else { return .contradiction("the chunk sizes do not add up to the body") }
            if !body.incomplete {
                HTTPEncoder.encodeTrailers(
                    body.trailers, raw: body.rawTrailers, into: &bytes)
            }
        case .whole(let content):
            bytes += content
        }
        return .bytes
    }

    private mutating func encode(_ piece: Event.Piece, into bytes: inout Bytes) -> Outcome {
        guard var head = heads[piece.of] else {
            return .contradiction("a piece of event \(piece.of), which has no open pieces")
        }
        guard head.offset == piece.offset || head.hasGap && head.offset < piece.offset else {
            return .contradiction(
                "a piece of event \(piece.of) at offset \(piece.offset), expected \(head.offset)")
        }
        head.offset = piece.offset
        head.hasGap = false
        var outcome = Outcome.bytes
        switch head.kind {
        case .message:
            outcome = .nothing
        case .body:
            bytes += piece.content
        case .payload(let key):
            append(piece.content, maskingKey: key, offset: head.offset, to: &bytes)
        case .chunked:
            guard
                head.chunks.append(
                    piece.content, chunks: piece.chunks ?? Event.Chunks(), isLast: piece.last,
                    incomplete: piece.incomplete, to: &bytes)
            else { return .contradiction("the chunk sizes do not add up to the piece") }
            if piece.last, !piece.incomplete {
                HTTPEncoder.encodeTrailers(
                    piece.trailers, raw: piece.rawTrailers, into: &bytes)
            }
        }
        head.offset &+= UInt64(piece.content.count)
        heads[piece.of] = piece.last ? nil : head
        return outcome
    }

    private func append(
        _ payload: Bytes, maskingKey: MaskingKey?, offset: UInt64, to bytes: inout Bytes
    ) {
        let start = bytes.count
        bytes += payload
        maskingKey?.apply(to: &bytes, from: start, offset: offset)
    }
}

/// Puts the framing back around the data of a chunked body (RFC 9112 §7.1).
private struct ChunkWriter: Sendable {
    /// Data bytes that the current chunk still lacks.
    private var remaining: UInt64 = 0
    private var followsChunk = false

    /// Appends content with the lines of the chunks that begin in it; false if they do not fit.
    mutating func append(
        _ content: Bytes, chunks: Event.Chunks, isLast: Bool, incomplete: Bool,
        to bytes: inout Bytes
    ) -> Bool {
        let isEnd = isLast && !incomplete
        if let lines = chunks.lines, lines.count != chunks.sizes.count + (isEnd ? 1 : 0) {
            return false
        }
        var rest = content[...]
        takeData(&rest, into: &bytes)
        for (index, size) in chunks.sizes.enumerated() {
            guard remaining == 0, size > 0 else { return false }
            appendLine(chunks.lines?[index], size: size, to: &bytes)
            remaining = size
            takeData(&rest, into: &bytes)
        }
        guard rest.isEmpty, !isEnd || remaining == 0 else { return false }
        if isEnd { appendLine(chunks.lines?.last, size: 0, to: &bytes) }
        return true
    }

    private mutating func takeData(_ rest: inout ArraySlice<UInt8>, into bytes: inout Bytes) {
        let count = Int(min(remaining, UInt64(rest.count)))
        bytes += rest.prefix(count)
        rest = rest.dropFirst(count)
        remaining -= UInt64(count)
    }

    private mutating func appendLine(_ line: Bytes?, size: UInt64, to bytes: inout Bytes) {
        bytes += line ?? ContentAccumulator.canonicalLine(size: size, followsChunk: followsChunk)
        followsChunk = true
    }
}
