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
        /// A close frame.
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
    private let maximumSize: Int

    /// What a session is allowed to hold when it is played, in bytes.
    package static let defaultMaximumSize = 256 << 20

    package init(contract: Contract = .current, maximumSize: Int = defaultMaximumSize) {
        meaning = MeaningReader(contract: contract)
        self.maximumSize = maximumSize
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
            try take(response, event)
        case .frame(let frame): try take(frame, event)
        case .message(let message): try take(message, event)
        case .close(let close):
            add(.ended(from: event.from ?? .app, close.how), event)
        case .note(let note):
            guard note.code == "outcome", let to = note.to else { return }
            add(.outcome(of: to), event)
        case .data(let data):
            add(
                .unplayable(
                    from: event.from, "bytes that are neither HTTP nor WebSocket: \(data.why)"),
                event)
        case .gap(let gap):
            add(.unplayable(from: event.from, "bytes that are not in the file: \(gap.why)"), event)
        case .open, .response, .piece, .end: break
        }
    }

    private mutating func add(_ kind: Kind, _ event: Event) {
        items.append(
            Item(
                seq: event.seq, time: event.time, conn: event.conn, kind: kind,
                meaning: Array(event.bridge)))
    }

    private mutating func count(_ bytes: Int) throws(Failure) {
        size += bytes
        guard size <= maximumSize else { throw .tooLarge(limit: maximumSize) }
    }

    private mutating func take(_ request: Event.Request, _ event: Event) throws(Failure) {
        // One that was cut short is played as far as it went.
        guard case .whole(let body) = request.body.content else {
            return add(.unplayable(from: .app, "a request whose body is over 1 MiB"), event)
        }
        try count(body.count)
        add(.request(request), event)
    }

    private mutating func take(_ response: Event.Response, _ event: Event) throws(Failure) {
        guard case .whole(let body) = response.body.content, !response.body.incomplete else {
            return add(
                .unplayable(from: .board, "a response whose body is cut or over 1 MiB"), event)
        }
        try count(body.count)
        add(.response(response), event)
    }

    private mutating func take(_ frame: Event.FrameRecord, _ event: Event) throws(Failure) {
        guard let from = event.from else { return }
        guard case .whole(let payload) = frame.content, !frame.incomplete else {
            return add(.unplayable(from: from, "a frame that is cut or over 1 MiB"), event)
        }
        switch frame.header.opcode {
        case .close: add(.closeFrame(from: from, ClosePayload(payload)), event)
        case .ping: add(.ping(from: from, payload), event)
        case .text, .binary:
            // Others are parts of a message, which follows.
            guard frame.header.isWholeMessage else {
                firstFrames[event.conn, default: [:]][from] = payload.count
                return
            }
            try count(payload.count)
            add(
                .message(
                    from: from, opcode: frame.header.opcode, content: payload, framing: .whole),
                event)
        default: break
        }
    }

    private mutating func take(_ message: Event.Message, _ event: Event) throws(Failure) {
        guard let from = event.from else { return }
        guard case .whole(let content) = message.content, !message.incomplete else {
            return add(.unplayable(from: from, "a message that is cut or over 1 MiB"), event)
        }
        try count(content.count)
        add(
            .message(
                from: from, opcode: message.opcode, content: content,
                framing: framing(of: message, content.count, from, event.conn)), event)
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
