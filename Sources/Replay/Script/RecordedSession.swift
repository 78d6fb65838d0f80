package import Capture
package import PhoneBridge
package import Wire

/// What crossed the link in a session, in the form in which it can be played: whole messages and
/// exchanges with their meaning, in order.
///
/// It is in memory as a whole: what is played depends on what came before and after.
package struct RecordedSession: Sendable {
    /// One thing that crossed.
    package struct Item: Sendable {
        /// The event that completed it.
        package var seq: Int
        /// Nanoseconds since the session began.
        package var time: Int64
        package var conn: Int
        package var kind: Kind
        /// Its meaning in the contract (capture format, "The protocol's own meaning").
        package var meaning: [JSON]
    }

    package enum Kind: Sendable {
        case request(Event.Request)
        /// A final response.
        case response(Event.Response)
        /// A whole data message, decompressed.
        case message(
            from: Side, opcode: Opcode, content: Bytes, framing: MessageWriter.Framing)
        case ping(from: Side, Bytes)
        /// A frame that no endpoint would send, as it crossed, and why: it breaks RFC 6455, or is a
        /// part of a message that does.
        case brokenFrame(from: Side, Frame, why: String)
        /// A close frame in good order.
        case closeFrame(from: Side, ClosePayload)
        /// A side stopped sending, or the connection broke.
        case ended(from: Side, Event.Ending)
        /// The board's own side got something for the command at this `seq`.
        case outcome(of: Int)
        /// Something that cannot be played, and why.
        case unplayable(from: Side?, String)
    }

    package private(set) var info: SessionInfo?
    package private(set) var items: [Item] = []
    /// Bytes of contents that are kept.
    package private(set) var size = 0
    /// When the last event was.
    package private(set) var end: Int64 = 0
    private var meaning: MeaningReader
    /// Lengths of the first frames of messages that are under way, by connection and side.
    private var firstFrames: [Int: [Side: Int]] = [:]
    private var frames = FrameFaults()
    private var parts = MessageParts()
    /// What is over the limit of an event and comes in pieces, by its head event's `seq`.
    private var large: [Int: LargeContent] = [:]
    private let maximumSize: Int

    /// What a session is allowed to hold when it is played, in bytes.
    package static let defaultMaximumSize = 256 << 20

    package init(contract: Contract = .current, maximumSize: Int = defaultMaximumSize) {
        meaning = MeaningReader(contract: contract)
        self.maximumSize = maximumSize
    }

    /// Content that comes in pieces.
    private struct LargeContent {
        var head: Event
        var content = Bytes()
    }

    /// Why a session cannot be played.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case tooLarge(limit: Int)

        package var description: String {
            switch self {
            case .tooLarge(let limit):
                "the session holds more than \(limit >> 20) MiB of messages; "
                    + "replay a part of it (bridgetap convert --help)"
            }
        }
    }

    /// Takes the next event.
    package mutating func receive(_ original: Event) throws(Failure) {
        var event = original
        let stored = event.bridge
        meaning.annotate(&event)
        // What the recorder understood stands: it may have known what is not in this file.
        if !stored.isEmpty { event.bridge = stored }
        end = max(end, event.time)
        switch event.kind {
        case .session(let info): if self.info == nil { self.info = info }
        case .request(let request): try take(request, event)
        case .response(let response) where response.status >= 200 || response.status == 101:
            frames.opened(response, on: event.conn)
            try take(response, event)
        case .frame(let frame): try take(frame, event)
        case .message(let message): try take(message, event)
        case .close(let close):
            add(.ended(from: event.from ?? .app, close.how), event)
        case .note(let note):
            if note.code == Event.Note.notInflated || note.code == Event.Note.inflationGivenUp,
                let from = event.from
            {
                place(parts.notInflated(from: FrameSender(conn: event.conn, side: from)))
            }
            guard note.code == "outcome", let to = note.to else { return }
            add(.outcome(of: to), event)
        case .data(let data):
            add(
                .unplayable(
                    from: event.from, "bytes that are neither HTTP nor WebSocket: \(data.why)"),
                event)
        case .gap(let gap):
            if let from = event.from { missing(from: from, event) }
            add(.unplayable(from: event.from, "bytes that are not in the file: \(gap.why)"), event)
        case .piece(let piece): try take(piece)
        case .open, .response, .end: break
        }
    }

    // MARK: Content in pieces

    /// Names what is over the limit, until its last piece is there.
    private mutating func begin(_ what: String, _ from: Side, _ event: Event) {
        add(.unplayable(from: from, "\(what) over 1 MiB that is not all in the file"), event)
        large[event.seq] = LargeContent(head: event)
    }

    private mutating func take(_ piece: Event.Piece) throws(Failure) {
        guard piece.ofPart == nil, var entry = large.removeValue(forKey: piece.of),
            piece.offset == UInt64(entry.content.count), !piece.incomplete
        else { return }
        try count(piece.content.count)
        entry.content += piece.content
        guard piece.last else {
            large[piece.of] = entry
            return
        }
        var whole = entry.head
        switch whole.kind {
        case .request(var request):
            request.body.content = .whole(entry.content)
            whole.kind = .request(request)
        case .response(var response):
            response.body.content = .whole(entry.content)
            whole.kind = .response(response)
        case .frame(var frame):
            frame.content = .whole(entry.content)
            whole.kind = .frame(frame)
        case .message(var message):
            message.content = .whole(entry.content)
            whole.kind = .message(message)
        default: return
        }
        // It was counted piece by piece.
        size -= entry.content.count
        if whole.bridge.isEmpty { meaning.annotate(&whole) }
        let known = items.count
        switch whole.kind {
        case .request(let request): try take(request, whole)
        case .response(let response): try take(response, whole)
        case .frame(let frame): try take(frame, whole, isJudged: true)
        case .message(let message): try take(message, whole)
        default: break
        }
        // It stands where it began: its reader may have ended the connection within it.
        guard items.count > known,
            let place = items.dropLast().lastIndex(where: { $0.seq == whole.seq })
        else { return }
        items[place] = items.removeLast()
    }

    private mutating func add(_ kind: Kind, _ event: Event) {
        items.append(Self.item(kind, event))
    }

    private static func item(_ kind: Kind, _ event: Event) -> Item {
        Item(
            seq: event.seq, time: event.time, conn: event.conn, kind: kind,
            meaning: Array(event.bridge))
    }

    private mutating func count(_ bytes: Int) throws(Failure) {
        size += bytes
        guard size <= maximumSize else { throw .tooLarge(limit: maximumSize) }
    }

    private mutating func take(_ request: Event.Request, _ event: Event) throws(Failure) {
        // One that was cut short is played as far as it went.
        guard case .whole(let body) = request.body.content else {
            return begin("a request's body", .app, event)
        }
        try count(body.count)
        add(.request(request), event)
    }

    private mutating func take(_ response: Event.Response, _ event: Event) throws(Failure) {
        guard !response.body.incomplete else {
            return add(.unplayable(from: .board, "a response whose body is cut"), event)
        }
        guard case .whole(let body) = response.body.content else {
            return begin("a response's body", .board, event)
        }
        try count(body.count)
        add(.response(response), event)
    }

    // MARK: WebSocket

    private mutating func take(
        _ frame: Event.FrameRecord, _ event: Event, isJudged: Bool = false
    ) throws(Failure) {
        guard let from = event.from else { return }
        guard !frame.incomplete else {
            return add(.unplayable(from: from, "a frame that is cut"), event)
        }
        let sender = FrameSender(conn: event.conn, side: from)
        let (position, fault) = isJudged ? (.alone, nil) : frames.look(at: frame, from: sender)
        guard case .whole(let payload) = frame.content else {
            if let fault { add(.unplayable(from: from, fault), event) }
            if case .alone = position {
                if fault == nil, frame.header.isWholeMessage { begin("a message", from, event) }
            } else {
                // The message comes, too.
                release(parts.unplayable(from: sender))
            }
            return
        }
        let isFirst: Bool
        switch position {
        case .behindGap: return
        case .alone:
            if !frame.header.opcode.isControl { parts.alone(from: sender) }
            parts.settled(sender)
            guard let fault else { return try take(frame.header, payload, from, event) }
            try count(payload.count)
            return add(
                .brokenFrame(
                    from: from, Frame(header: frame.header, payload: payload), why: fault), event)
        case .first:
            isFirst = true
            firstFrames[event.conn, default: [:]][from] = payload.count
        case .further: isFirst = false
        }
        parts.settled(sender)
        let item = Self.item(
            .brokenFrame(
                from: from, Frame(header: frame.header, payload: payload),
                why: fault ?? "a part of a message that cannot be sent as one"), event)
        try count(payload.count)
        switch parts.take(item, from: sender, isFirst: isFirst, isBroken: fault != nil) {
        case .kept: break
        case .played(let earlier):
            place(earlier)
            items.append(item)
        }
    }

    /// Takes a frame that is in good order and stands by itself.
    private mutating func take(
        _ header: FrameHeader, _ payload: Bytes, _ from: Side, _ event: Event
    ) throws(Failure) {
        switch header.opcode {
        case .close: add(.closeFrame(from: from, ClosePayload(payload)), event)
        case .ping: add(.ping(from: from, payload), event)
        case .text, .binary:
            try count(payload.count)
            add(
                .message(from: from, opcode: header.opcode, content: payload, framing: .whole),
                event)
        default: break
        }
    }

    private mutating func take(_ message: Event.Message, _ event: Event) throws(Failure) {
        guard let from = event.from else { return }
        var isPlayable = !message.incomplete
        if case .whole(let content) = message.content, message.opcode == .text {
            isPlayable = isPlayable && isValidUTF8(content.span)
        }
        let (isTaken, frames) = parts.message(
            from: FrameSender(conn: event.conn, side: from), isPlayable: isPlayable,
            hasEnd: !message.incomplete)
        if isTaken { release(frames) } else { place(frames) }
        guard isTaken else { return }
        guard !message.incomplete else {
            return add(.unplayable(from: from, "a message that is cut"), event)
        }
        guard case .whole(let content) = message.content else {
            return begin("a message", from, event)
        }
        try count(content.count)
        add(
            .message(
                from: from, opcode: message.opcode, content: content,
                framing: framing(of: message, content.count, from, event.conn)), event)
    }

    /// Puts frames that are played after all where they crossed.
    private mutating func place(_ frames: [Item]) {
        guard let first = frames.first else { return }
        let start = (items.lastIndex { $0.seq < first.seq } ?? -1) + 1
        let later = items[start...] + frames
        items.removeSubrange(start...)
        items += later.sorted { $0.seq < $1.seq }
    }

    /// Forgets frames for which a message stands.
    private mutating func release(_ frames: [Item]) {
        for case .brokenFrame(_, let frame, _) in frames.map(\.kind) {
            size -= frame.payload.count
        }
    }

    /// Bytes of a side are not in the file.
    private mutating func missing(from side: Side, _ event: Event) {
        let sender = FrameSender(conn: event.conn, side: side)
        frames.missing(from: sender)
        let needless = parts.missing(from: sender)
        guard !needless.isEmpty else { return }
        release(items.filter { needless.contains($0.seq) })
        items.removeAll { needless.contains($0.seq) }
        add(.unplayable(from: side, "a message that is cut"), event)
    }

    /// How its sender cuts messages into frames, as far as this one shows.
    private func framing(
        of message: Event.Message, _ count: Int, _ from: Side, _ conn: Int
    ) -> MessageWriter.Framing {
        guard message.frames > 1 else { return .whole }
        guard !message.compressed, let first = firstFrames[conn]?[from], first > 0, first < count
        else { return .board }
        return .fragments(of: first)
    }
}
