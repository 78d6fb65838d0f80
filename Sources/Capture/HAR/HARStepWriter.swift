import Wire

/// Writes the steps of one entry, in order and in pieces where they are large.
struct HARStepWriter {
    let conn: Int
    /// For the next step, in nanoseconds since 1970; an item's own may raise it.
    var time: Int64
    var firstTime: Int64?
    let texts: SpoolFile
    private(set) var badBase64 = 0
    private var closed: Set<Side> = []

    init(conn: Int, time: Int64, texts: SpoolFile) {
        self.conn = conn
        self.time = time
        self.texts = texts
    }

    /// Whether a side has sent a close frame.
    func hasClosed(_ side: Side) -> Bool { closed.contains(side) }

    /// Puts a text aside that the HAR has in another form.
    func put(_ bytes: Bytes) throws(OutputError) -> HAREntry.Text {
        let text = HAREntry.Text(offset: texts.count, count: bytes.count)
        try texts.append(bytes.span)
        return text
    }

    @discardableResult
    mutating func emit(
        _ kind: Event.Kind, from side: Side? = nil, packetTime: Int64? = nil,
        into sorter: inout HAREventSorter
    ) throws(OutputError) -> Int {
        var first = firstTime.flatMap { $0 < time ? $0 : nil }
        switch kind {
        case .note, .close, .gap: first = nil
        default: break
        }
        return try sorter.append(
            Event(
                time: time, firstTime: first, packetTime: packetTime, conn: conn, from: side,
                kind: kind))
    }

    /// The entry is over.
    mutating func end(into sorter: inout HAREventSorter) throws(OutputError) {
        try sorter.append(
            Event(time: time, conn: conn, kind: .note(Event.Note(code: "end", text: ""))),
            isEnd: true)
    }

    // MARK: Bodies

    /// Writes a message with its body, or the gap that stands for it.
    mutating func emit(
        _ body: HARBody, from side: Side, into sorter: inout HAREventSorter,
        as kind: (Event.Body) -> Event.Kind
    ) throws(OutputError) {
        let isChunked = body.framing == .chunked
        let count = UInt64(body.content?.count ?? 0)
        let chunks = isChunked ? Event.Chunks(sizes: count > 0 ? [count] : []) : nil
        if body.content?.isBroken ?? false { badBase64 += 1 }
        guard var content = body.content else {
            let empty = Event.Body(
                framing: body.framing, chunks: chunks, incomplete: body.isMissing)
            try emit(kind(empty), from: side, into: &sorter)
            if body.isMissing {
                try emit(
                    .gap(Event.Gap(length: body.missingLength, why: "har")), from: side,
                    into: &sorter)
            }
            return
        }
        guard content.isPieces else {
            let whole = Event.Body(
                content: .whole(try content.next()), framing: body.framing, chunks: chunks)
            try emit(kind(whole), from: side, into: &sorter)
            return
        }
        let head = try emit(
            kind(Event.Body(content: .pieces, framing: body.framing)), from: side, into: &sorter)
        try emitPieces(of: head, &content, chunks: chunks, from: side, into: &sorter)
    }

    private mutating func emitPieces(
        of head: Int, _ content: inout HARContent, chunks: Event.Chunks?, from side: Side,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        var offset: UInt64 = 0
        let count = UInt64(content.count)
        while offset < count {
            let bytes = try content.next()
            // What was put aside is there, so that it is never empty before the end.
            guard !bytes.isEmpty else { return }
            let isLast = offset + UInt64(bytes.count) == count
            let own = chunks.map { offset == 0 ? $0 : Event.Chunks() }
            try emit(
                .piece(
                    Event.Piece(
                        of: head, offset: offset, content: bytes, last: isLast, chunks: own)),
                from: side, into: &sorter)
            offset += UInt64(bytes.count)
        }
    }

    // MARK: Items

    /// Moves the time to that of an item; gives its own where that is earlier.
    private mutating func advance(to own: Int64?) -> Int64? {
        guard let own else { return nil }
        if own < time { return own }
        time = own
        return nil
    }

    /// Writes a message as a frame; an error of the browser's is a note.
    mutating func emit(
        _ item: HAREntry.Item, into sorter: inout HAREventSorter
    ) throws(OutputError) {
        let own = advance(to: item.time)
        if item.kind == .error || item.opcode == -1 {
            var text = Bytes()
            try texts.read(at: item.data.offset, count: min(item.data.count, 4096), into: &text)
            try emit(
                .note(
                    Event.Note(
                        code: "har_error", text: String(decoding: text, as: UTF8.self))),
                packetTime: own, into: &sorter)
            return
        }
        let side: Side = item.kind == .send ? .app : .board
        let opcode =
            (1...15).contains(item.opcode)
            ? Opcode(rawValue: UInt8(truncatingIfNeeded: item.opcode)) : .text
        var content = try HARContent(item.data, isBase64: opcode == .binary, in: texts)
        if content.isBroken { badBase64 += 1 }
        if opcode == .close {
            // What others write of a close frame is no payload: a reason, or nothing.
            let text = try content.next()
            try emitFrame(.close, Self.closePayload(text), from: side, own, into: &sorter)
            return
        }
        guard content.isPieces else {
            try emitFrame(opcode, try content.next(), from: side, own, into: &sorter)
            return
        }
        let head = try emit(
            .frame(
                Event.FrameRecord(
                    header: Self.header(opcode, count: content.count, from: side),
                    content: .pieces)), from: side, packetTime: own, into: &sorter)
        try emitPieces(of: head, &content, chunks: nil, from: side, into: &sorter)
    }

    private mutating func emitFrame(
        _ opcode: Opcode, _ payload: Bytes, from side: Side, _ own: Int64?,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        if opcode == .close { closed.insert(side) }
        try emit(
            .frame(
                Event.FrameRecord(
                    header: Self.header(opcode, count: payload.count, from: side),
                    content: .whole(payload))),
            from: side, packetTime: own, into: &sorter)
    }

    private static func header(_ opcode: Opcode, count: Int, from side: Side) -> FrameHeader {
        FrameHeader(
            opcode: opcode, maskingKey: side == .app ? MaskingKey(rawValue: 0) : nil,
            payloadLength: UInt64(count))
    }

    /// A close frame's payload, where the text is one in base64; else the reason of a normal end.
    private static func closePayload(_ text: Bytes) -> Bytes {
        guard !text.isEmpty else { return [] }
        var payload = Bytes()
        do {
            try decodeBase64(text.span, into: &payload)
            if case .status(let code, _) = ClosePayload(payload), code.isAllowedOnWire {
                return payload
            }
        } catch {
            // Then it is no base64.
        }
        return [0x03, 0xe8] + text.prefix(ClosePayload.maximumReason)
    }

    /// Writes what our own writer told beside the messages.
    mutating func emit(
        _ extra: HAREntry.Extra, into sorter: inout HAREventSorter
    ) throws(OutputError) {
        let own = advance(to: extra.time)
        switch extra.kind {
        case .control(let opcode, let payload):
            guard let side = extra.from, (0...15).contains(opcode) else { return }
            try emitFrame(
                Opcode(rawValue: UInt8(truncatingIfNeeded: opcode)), payload, from: side, own,
                into: &sorter)
        case .gap(let length, let why):
            try emit(
                .gap(Event.Gap(length: length, why: why)), from: extra.from, packetTime: own,
                into: &sorter)
        case .close(let how, let detail):
            try emit(
                .close(Event.Close(how: how, detail: detail)), from: extra.from ?? .board,
                packetTime: own, into: &sorter)
        case .note(let code, let text):
            try emit(
                .note(Event.Note(code: code, text: text)), from: extra.from, packetTime: own,
                into: &sorter)
        }
    }
}
