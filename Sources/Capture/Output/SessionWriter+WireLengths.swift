import Wire

/// Tells how many bytes of the wire each event stands for, without building them.
///
/// Agrees with what `ConnectionEncoder` gives back. It remembers the heads whose pieces are
/// still to come, at most two for a direction of a connection, by their number in the session.
package struct WireLengths: Sendable {
    /// Far above what open connections have; only a damaged file has more.
    static let maximumHeads = 65_536

    package init() {}

    private struct Head: Sendable {
        var conn: Int
        /// A message's pieces stand for no bytes of their own: its frames do.
        var isMessage: Bool
        var isChunked: Bool
        var followsChunk = false
    }

    private var heads: [Int: Head] = [:] {
        didSet { if heads.count > Self.maximumHeads { heads.removeAll() } }
    }

    /// The bytes that the event's sender put on the wire; `number` is the event's own.
    package mutating func length(of kind: Event.Kind, number: Int, conn: Int) -> UInt64 {
        switch kind {
        case .session, .open, .close, .note, .end:
            return 0
        case .frame(let frame):
            return length(of: frame, number: number, conn: conn)
        case .message(let message):
            if message.content == .pieces {
                heads[number] = Head(conn: conn, isMessage: true, isChunked: false)
            }
            return 0
        case .data(let data):
            return UInt64(data.bytes.count)
        case .gap(let gap):
            return gap.length ?? 0
        case .request(let request):
            return headLength(
                request.raw, request.headers,
                startLine: request.method.utf8.count + request.target.utf8.count
                    + request.version.utf8.count + 9)
                + length(of: request.body, number: number, conn: conn)
        case .response(let response):
            return headLength(
                response.raw, response.headers,
                startLine: response.version.utf8.count + decimalSize(of: response.status)
                    + response.reason.utf8.count + 9)
                + length(of: response.body, number: number, conn: conn)
        case .piece(let piece):
            return length(of: piece)
        }
    }

    /// The bytes of a frame, or of its header where the payload comes in pieces.
    mutating func length(of frame: Event.FrameRecord, number: Int, conn: Int) -> UInt64 {
        if let raw = frame.raw { return UInt64(raw.count) }
        var length = UInt64(frame.header.encodedSize)
        switch frame.content {
        case .whole(let payload): length += UInt64(payload.count)
        case .pieces:
            heads[number] = Head(conn: conn, isMessage: false, isChunked: false)
        }
        return length
    }

    /// Forgets the heads of a connection that is over.
    package mutating func forget(conn: Int) {
        guard !heads.isEmpty else { return }
        heads = heads.filter { $0.value.conn != conn }
    }

    private func decimalSize(of status: Int) -> Int {
        max(3, Capture.decimalSize(of: UInt64(status.magnitude)))
    }

    /// Start line, field lines with `: ` and line ends, and the empty line (RFC 9112 §2.1).
    private func headLength(_ raw: Bytes?, _ lines: [FieldLine], startLine: Int) -> UInt64 {
        if let raw { return UInt64(raw.count) }
        return UInt64(startLine) + fieldsLength(lines)
    }

    /// Field lines and the empty line behind them.
    private func fieldsLength(_ lines: [FieldLine]) -> UInt64 {
        lines.reduce(2) { $0 + UInt64($1.name.utf8.count + $1.value.utf8.count + 4) }
    }

    private mutating func length(of body: Event.Body, number: Int, conn: Int) -> UInt64 {
        let isChunked = body.framing == .chunked
        switch body.content {
        case .pieces:
            heads[number] = Head(conn: conn, isMessage: false, isChunked: isChunked)
            return 0
        case .whole(let content):
            var length = UInt64(content.count)
            guard isChunked else { return length }
            var followsChunk = false
            length += linesLength(
                body.chunks, isEnd: !body.incomplete, followsChunk: &followsChunk)
            if !body.incomplete {
                length += trailersLength(body.trailers, body.rawTrailers)
            }
            return length
        }
    }

    private mutating func length(of piece: Event.Piece) -> UInt64 {
        guard var head = heads[piece.of] else { return UInt64(piece.content.count) }
        defer { heads[piece.of] = piece.last ? nil : head }
        guard !head.isMessage else { return 0 }
        var length = UInt64(piece.content.count)
        guard head.isChunked else { return length }
        let isEnd = piece.last && !piece.incomplete
        length += linesLength(piece.chunks, isEnd: isEnd, followsChunk: &head.followsChunk)
        if isEnd { length += trailersLength(piece.trailers, piece.rawTrailers) }
        return length
    }

    private func trailersLength(_ trailers: [FieldLine], _ raw: Bytes?) -> UInt64 {
        raw.map { UInt64($0.count) } ?? fieldsLength(trailers)
    }

    /// What stands around the data of chunks (RFC 9112 §7.1).
    private func linesLength(
        _ chunks: Event.Chunks?, isEnd: Bool, followsChunk: inout Bool
    ) -> UInt64 {
        let sizes = chunks?.sizes ?? []
        var length: UInt64 = 0
        for size in sizes {
            length += UInt64(hexSize(of: size) + (followsChunk ? 4 : 2))
            followsChunk = true
        }
        if isEnd {
            length += followsChunk ? 5 : 3
            followsChunk = true
        }
        guard let lines = chunks?.lines else { return length }
        return lines.reduce(0) { $0 + UInt64($1.count) }
    }
}
