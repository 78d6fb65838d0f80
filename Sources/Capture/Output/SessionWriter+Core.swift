import Wire

/// The state machine of a session writer.
///
///     recording ──(write fails: what is torn is cut off)──> paused ──(each second)──┐
///         ^                                                                         │
///         └──(note, openings, gaps and closings that are missing are on file)───────┘
///     both ──(close)──> closed
///
/// What a failed write took is known by line, so nothing is told twice and nothing is passed
/// over: lines that are not on file give their `seq` back and become part of `lost`.
struct SessionWriterCore {
    /// How long a pause lasts before the next attempt, in nanoseconds (capture format,
    /// "Disk full").
    static let retryInterval: Int64 = 1_000_000_000
    /// A batch is written without waiting for the end of the turn once it is so large.
    static let maximumBatch = 1 << 20

    private enum State {
        case recording
        case paused(retryAt: Int64, OutputError)
        case closed
    }

    /// A line of the batch, with what has to be known should it not get onto the file.
    private struct Line {
        enum Kind: UInt8 {
            case session
            case event
            /// Lines that the writer adds itself.
            case ownNote, ownOpen, ownGap, ownClose, ownEnd
            /// Events whose loss has to be told of in its own way.
            case open, close
        }

        /// Where it ends in the batch.
        var end: Int
        /// The event's number in the session; 0 for the writer's own lines.
        var number: Int
        var conn: Int
        var from: Side?
        var wireLength: UInt64
        var kind: Kind
    }

    private let session: SessionInfo
    private let compression: SessionCompression
    private let rotation: Rotation?
    /// `Gap.why` for what is lost.
    private let lossReason: String
    private let openPart: (Int) throws(OutputError) -> any ByteOutput
    private let encoder = EventEncoder()

    private var state = State.recording {
        didSet {
            guard case .paused(_, let error) = state else { return }
            lastPause = error
            if case .recording = oldValue { pauses += 1 }
        }
    }
    private var pauses = 0
    private var lastPause: OutputError?
    private var file: BatchFile?
    private var batch = Bytes()
    private var lines: [Line] = []
    /// The `close` events of the batch, by line.
    private var closes: [Int: Event.Close] = [:]
    /// Connections that are over with the batch.
    private var overInBatch: [Int: OpenConnections.State] = [:]
    /// Events that a note of the batch tells of as missing.
    private var reportedInBatch = 0

    private var connections = OpenConnections()
    private var lengths = WireLengths()
    private var map = SequenceMap()
    private var lost = LostEvents()
    private var lastNumber = 0
    private var lastTime: Int64 = 0

    // Of the part under way.
    private var part = 1
    private var seq = 0
    private var hasSessionLine = false
    private var partBegan: Int64 = 0
    private var hasEvents = false
    private var bytesApp: UInt64 = 0
    private var bytesBoard: UInt64 = 0
    private var dropped = 0

    private var earlier = OutputStatus()

    init(
        session: SessionInfo, compression: SessionCompression, rotation: Rotation?,
        lossReason: String,
        openPart: @escaping (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) {
        self.session = session
        self.compression = compression
        self.rotation = rotation
        self.lossReason = lossReason
        self.openPart = openPart
        file = try Self.open(1, compression: compression, openPart)
        appendSessionLine()
    }

    private static func open(
        _ part: Int, compression: SessionCompression,
        _ openPart: (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) -> BatchFile {
        let compressor = try compression.makeCompressor()
        return BatchFile(try openPart(part), compressor: compressor)
    }

    // MARK: Input

    mutating func receive(_ batch: borrowing EventBatch) {
        batch.forEach(
            event: { receive($0) }, frame: { receive($0, payload: $1, bridge: $2) })
    }

    private mutating func receive(
        _ frame: borrowing GatheredFrame, payload: Span<UInt8>, bridge: Span<UInt8>
    ) {
        guard case .recording = state, frame.time >= lastTime else {
            receive(
                Event(
                    frame, payload: Bytes(copying: payload), bridge: Bytes(copying: bridge)))
            return
        }
        let number = frame.seq > lastNumber ? frame.seq : lastNumber &+ 1
        lastNumber = number
        lastTime = frame.time
        let length = UInt64(frame.header.encodedSize + payload.count)
        switch frame.from {
        case .app: bytesApp &+= length
        case .board: bytesBoard &+= length
        }
        hasEvents = true
        seq &+= 1
        encoder.encode(frame, payload: payload, bridge: bridge, seq: seq, into: &batch)
        lines.append(
            Line(
                end: batch.count, number: number, conn: frame.conn, from: frame.from,
                wireLength: length, kind: .event))
        map.append(number, seq: seq, part: part)
        if batch.count >= Self.maximumBatch { flush(now: lastTime) }
    }

    mutating func receive(_ event: borrowing Event) {
        if case .closed = state { return }
        switch event.kind {
        case .session, .end: return
        case .frame, .open, .request, .response, .message, .piece, .data, .gap, .close, .note: break
        }
        let number = event.seq > lastNumber ? event.seq : lastNumber &+ 1
        lastNumber = number
        let length = lengths.length(of: event.kind, number: number, conn: event.conn)
        switch event.from {
        case .app: bytesApp &+= length
        case .board: bytesBoard &+= length
        case nil: break
        }
        let over = connections.receive(event)
        if let over {
            lengths.forget(conn: event.conn)
            overInBatch[event.conn] = over
        }
        guard case .recording = state else {
            lose(event, number: number, length: length)
            return
        }
        guard event.time >= lastTime else {
            var later = copy event
            later.packetTime = event.packetTime ?? event.time
            later.time = lastTime
            append(later, number: number, length: length)
            return
        }
        lastTime = event.time
        append(event, number: number, length: length)
    }

    /// Encodes an event of the session into the batch.
    @inline(__always)
    private mutating func append(_ event: Event, number: Int, length: UInt64) {
        hasEvents = true
        switch event.kind {
        case .piece(let piece) where piece.ofPart == nil:
            appendPiece(piece, of: event, number: number, length: length)
        case .note(var note) where note.to != nil && note.toPart == nil:
            let place = note.to.flatMap { map.place(of: $0) }
            note.to = place?.seq
            note.toPart = place.flatMap { $0.part == part ? nil : $0.part }
            var event = event
            event.kind = .note(note)
            appendLine(event, .event, number: number, length: length)
        case .open:
            appendLine(event, .open, number: number, length: length)
        case .close(let close):
            closes[lines.count] = close
            appendLine(event, .close, number: number, length: length)
        case .session, .request, .response, .frame, .message, .piece, .data, .gap, .note, .end:
            appendLine(event, .event, number: number, length: length)
        }
        if batch.count >= Self.maximumBatch { flush(now: lastTime) }
    }

    private mutating func appendPiece(
        _ piece: Event.Piece, of event: Event, number: Int, length: UInt64
    ) {
        var event = event
        if let place = map.place(of: piece.of) {
            var piece = piece
            piece.of = place.seq
            piece.ofPart = place.part == part ? nil : place.part
            event.kind = .piece(piece)
        } else if length > 0 {
            // Its head is not in the file, so nobody could tell what it is a piece of.
            event.kind = .gap(Event.Gap(length: length, why: lossReason))
            event.bridge = []
        } else {
            dropped += 1
            map.drop(from: number)
            return
        }
        appendLine(event, .event, number: number, length: length)
    }

    @inline(__always)
    private mutating func appendLine(
        _ event: Event, _ kind: Line.Kind, number: Int = 0, length: UInt64 = 0
    ) {
        seq &+= 1
        encoder.encode(event, seq: seq, into: &batch)
        noteLine(of: event, kind, number: number, length: length)
    }

    /// Notes what stands behind the lines before.
    @inline(__always)
    private mutating func noteLine(
        of event: borrowing Event, _ kind: Line.Kind, number: Int, length: UInt64
    ) {
        lines.append(
            Line(
                end: batch.count, number: number, conn: event.conn, from: event.from,
                wireLength: length, kind: kind))
        if number > 0 { map.append(number, seq: seq, part: part) }
    }

    private mutating func appendSessionLine() {
        var info = session
        info.part = rotation == nil ? session.part : part
        encoder.encode(Event(time: lastTime, kind: .session(info)), into: &batch)
        lines.append(
            Line(
                end: batch.count, number: 0, conn: 0, from: nil, wireLength: 0, kind: .session))
        hasSessionLine = true
    }

    /// Adds a remark that has no number in the session, so that nothing refers to it.
    mutating func insert(_ note: Event.Note, at time: Int64) {
        lastTime = max(lastTime, time)
        switch state {
        case .recording: appendLine(Event(time: lastTime, kind: .note(note)), .event)
        case .paused: dropped &+= 1
        case .closed: break
        }
    }

    // MARK: Losing

    /// Counts events as dropped that never came here.
    mutating func admit(dropped count: Int) {
        dropped &+= count
    }

    /// An event came while nothing can be written.
    private mutating func lose(_ event: Event, number: Int, length: UInt64) {
        dropped += 1
        map.drop(from: number)
        lost.add(conn: event.conn, from: event.from, length: length, isEvent: true)
        switch event.kind {
        case .open: lost.addOpen(conn: event.conn)
        case .close(let close): lost.addClose(close, conn: event.conn, from: event.from)
        default: break
        }
        if let over = overInBatch.removeValue(forKey: event.conn) {
            lost.end(conn: event.conn, state: over)
        }
    }

    /// A line of the batch did not get onto the file.
    private mutating func lose(_ line: Line, at index: Int) {
        if line.kind != .session { seq -= 1 }
        switch line.kind {
        case .session:
            hasSessionLine = false
        case .ownNote:
            lost.restore(events: reportedInBatch)
        case .ownEnd:
            break
        case .ownOpen:
            lost.addOpen(conn: line.conn)
        case .ownGap:
            lost.add(conn: line.conn, from: line.from, length: line.wireLength, isEvent: false)
        case .event, .open, .close, .ownClose:
            if line.kind != .ownClose {
                dropped += 1
                lost.add(
                    conn: line.conn, from: line.from, length: line.wireLength, isEvent: true)
            }
            if line.kind == .open { lost.addOpen(conn: line.conn) }
            if let close = closes[index] {
                lost.addClose(close, conn: line.conn, from: line.from)
            }
        }
        if line.kind != .session, let over = overInBatch[line.conn] {
            lost.end(conn: line.conn, state: over)
        }
    }

    // MARK: Writing

    mutating func flush(now: Int64) {
        switch state {
        case .closed:
            return
        case .paused(let retryAt, _):
            guard now >= retryAt else { return }
            resume(now: now)
        case .recording:
            writeBatch(now: now)
        }
        if isPartOver(now: now) { rotate(now: now) }
    }

    /// Writes the batch and empties it; what is not on file then is lost, and the writer pauses.
    private mutating func writeBatch(now: Int64, isLast: Bool = false) {
        guard !batch.isEmpty || isLast, var file else { return }
        // Held once only, or its buffer would be copied.
        self.file = nil
        let outcome: BatchFile.Outcome
        do {
            let ends = lines
            outcome = file.write(batch.span, isLast: isLast) { written in
                ends.last { $0.end <= written }?.end ?? 0
            }
        }
        self.file = file
        if case .failed(let error, let kept) = outcome {
            let first = lines.firstIndex { $0.end > kept } ?? lines.count
            if let number = lines[first...].first(where: { $0.number > 0 })?.number {
                map.drop(from: number)
            }
            for index in first..<lines.count { lose(lines[index], at: index) }
            state = .paused(retryAt: now &+ Self.retryInterval, error)
        }
        emptyBatch()
    }

    private mutating func emptyBatch() {
        // A rare large batch does not hold its memory for the rest of the session.
        if batch.capacity > 4 * Self.maximumBatch { batch = [] }
        batch.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        if !closes.isEmpty { closes.removeAll() }
        if !overInBatch.isEmpty { overInBatch.removeAll() }
        reportedInBatch = 0
    }

    /// Tries to write again, beginning with what tells of the pause.
    private mutating func resume(now: Int64) {
        guard case .paused(_, let why) = state else { return }
        if file == nil {
            do {
                file = try Self.open(part, compression: compression, openPart)
            } catch {
                state = .paused(retryAt: now &+ Self.retryInterval, error)
                return
            }
        }
        lastTime = max(lastTime, now)
        if !hasSessionLine { appendSessionLine() }
        appendLosses(why: why)
        state = .recording
        writeBatch(now: now)
    }

    private mutating func appendLosses(why error: OutputError) {
        guard !lost.isEmpty else { return }
        let told = lost
        lost = LostEvents()
        reportedInBatch = told.events
        if told.events > 0 {
            let text = told.text(why: "\(error.call): \(error.name)")
            appendLine(
                Event(
                    time: lastTime, kind: .note(Event.Note(code: "recording_gap", text: text))),
                .ownNote)
        }
        for (conn, connection) in told.connections.sorted(by: { $0.key < $1.key }) {
            if let over = connection.over { overInBatch[conn] = over }
            if connection.lacksOpen, let state = connection.over ?? connections[conn] {
                appendLine(
                    Event(time: lastTime, conn: conn, kind: .open(state.continued)), .ownOpen)
            }
            for (side, length) in [(Side.app, connection.app), (.board, connection.board)]
            where length > 0 {
                appendLine(
                    Event(
                        time: lastTime, conn: conn, from: side,
                        kind: .gap(Event.Gap(length: length, why: lossReason))),
                    .ownGap, length: length)
            }
            for (side, close) in connection.closes {
                closes[lines.count] = close
                appendLine(
                    Event(time: lastTime, conn: conn, from: side, kind: .close(close)), .ownClose)
            }
        }
    }

    // MARK: Parts

    private func isPartOver(now: Int64) -> Bool {
        guard case .recording = state, let rotation, hasEvents, let file else { return false }
        if let size = rotation.maximumSize, file.goodSize >= size { return true }
        guard let duration = rotation.maximumDuration else { return false }
        return now >= partBegan.addingReportingOverflow(duration).partialValue
    }

    /// Ends the part and begins the next, which tells of the connections that are open.
    private mutating func rotate(now: Int64) {
        endPart(now: now)
        guard case .recording = state else { return }
        let ended = status
        earlier.written = ended.written
        earlier.dropped = ended.dropped
        earlier.size = ended.size
        part += 1
        seq = 0
        hasSessionLine = false
        partBegan = max(now, lastTime)
        hasEvents = false
        bytesApp = 0
        bytesBoard = 0
        dropped = 0
        file = nil
        do {
            file = try Self.open(part, compression: compression, openPart)
        } catch {
            for conn in connections.numbers { lost.addOpen(conn: conn) }
            state = .paused(retryAt: now &+ Self.retryInterval, error)
            return
        }
        appendSessionLine()
        for conn in connections.numbers {
            guard let state = connections[conn] else { continue }
            appendLine(
                Event(time: lastTime, conn: conn, kind: .open(state.continued)), .ownOpen)
        }
        writeBatch(now: now)
    }

    /// Writes the `end` line and closes the file.
    private mutating func endPart(now: Int64) {
        lastTime = max(lastTime, now)
        appendLine(
            Event(
                time: lastTime,
                kind: .end(
                    Event.End(
                        events: seq, bytesApp: bytesApp, bytesBoard: bytesBoard,
                        dropped: dropped))),
            .ownEnd)
        writeBatch(now: now, isLast: true)
        guard case .recording = state else { return }
        do {
            try file?.close()
        } catch {
            // What was written is written; a disk that fails at the end is told of.
            closeError = error
        }
    }

    /// Why a file could not be closed.
    private var closeError: OutputError?

    // MARK: State

    mutating func close(now: Int64) {
        switch state {
        case .closed:
            return
        case .paused:
            resume(now: now)
        case .recording:
            writeBatch(now: now)
        }
        if case .recording = state { endPart(now: now) }
        if case .paused(_, let error) = state {
            closeError = error
            do { try file?.close() } catch { closeError = error }
        }
        state = .closed
    }

    var nextDeadline: Int64? {
        switch state {
        case .closed: return nil
        case .paused(let retryAt, _): return retryAt
        case .recording:
            guard hasEvents, let duration = rotation?.maximumDuration else { return nil }
            return partBegan.addingReportingOverflow(duration).partialValue
        }
    }

    var status: OutputStatus {
        var status = earlier
        status.path = file?.path ?? earlier.path
        status.written += seq
        status.dropped += dropped
        status.size += file?.goodSize ?? 0
        status.parts = part
        status.pauses = pauses
        status.lastPause = lastPause
        switch state {
        case .recording: status.pausedBy = closeError
        case .paused(_, let error): status.pausedBy = error
        case .closed: status.pausedBy = closeError
        }
        return status
    }
}
