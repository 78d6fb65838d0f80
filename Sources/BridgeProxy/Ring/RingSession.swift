package import Capture
import PhoneBridge
package import Wire

/// What was in a ring at a time, to be written as a session.
///
/// What is left out before the window is told: a note (`recording_gap`) wherever events are
/// missing, and a `gap` (`ring`) with the bytes of each connection and side. Of a connection of
/// which nothing is kept, an `open` with `continued` stands where the window begins.
package struct RingSession: Sendable {
    /// What a `gap` says of what the ring has let go.
    package static let gapReason = "ring"
    /// The code of the note with which a ring's file begins.
    package static let noteCode = "ring"

    /// The first line.
    package let info: SessionInfo
    /// Whether the ring was full before its time was over.
    package let isCut: Bool
    private let memory: RingMemory
    private let window: RingWindow
    private let end: Int64

    init(info: SessionInfo, before memory: RingMemory, window: RingWindow, isCut: Bool, end: Int64)
    {
        self.info = info
        self.isCut = isCut
        self.window = window
        self.end = end
        var memory = memory
        memory.forgetCommands(at: window.oldest?.time ?? end)
        self.memory = memory
    }

    /// Nanoseconds of the session that its window covers.
    package var duration: Int64 {
        window.oldest.map { max(0, end.clampedSubtracting($0.time)) } ?? 0
    }

    /// Events in its window.
    package var count: Int { window.count }

    /// Writes it, and closes the output.
    ///
    /// - Parameter remark: the text of a note in front.
    @discardableResult
    package func write(to output: any SessionOutput, remark: String? = nil) -> Written {
        var writing = Writing(output)
        let (events, others) = memory.prelude
        let start = window.oldest?.time ?? end
        if let remark {
            writing.add(
                Event(
                    time: events.first?.event.time ?? start,
                    kind: .note(Event.Note(code: Self.noteCode, text: remark))))
        }
        for kept in events { writing.add(kept) }
        writing.begin(memory, others, at: start)
        let shift = writing.count - memory.last
        for event in window.events { writing.add(event, shift: shift, first: memory.last + 1) }
        output.close(now: end)
        return Written(shift: shift, undecodable: writing.undecodable)
    }

    /// What became of a session that was written.
    package struct Written: Sendable, Equatable {
        /// What has to be added to the number of an event of the window to find it there.
        package var shift: Int
        /// Messages that can be read as they stand in `message` events, and not from their
        /// frames alone: these refer to frames that are left out (RFC 7692 §7.1.1).
        package var undecodable: Int
    }

    /// It as NDJSON, of which 64 MiB are kept; empty where there is no memory.
    ///
    /// `shift` is that of `write`.
    package func inMemory() -> (bytes: Bytes, shift: Int) {
        let memory = SessionMemory()
        do {
            let written = write(
                to: try SessionWriter(session: info) { (_) throws(OutputError) in memory })
            return (memory.bytes, written.shift)
        } catch {
            return ([], 0)
        }
    }
}

/// Numbers what is written, and tells what is left out.
private struct Writing {
    private let output: any SessionOutput
    /// Lines so far.
    private(set) var count = 0
    /// The number of the last event in the recording.
    private var last = 0
    /// The numbers of what stands before the window, by those in the recording.
    private var numbers: [Int: Int] = [:]
    /// What was written or told of each connection.
    private var told: [Int: RingMemory.Carried] = [:]
    private var time = Int64.min
    private var lengths: WireLengths?
    /// Connections of which something is left out.
    private var torn: Set<Int> = []
    private var extensions: [Int: String] = [:]
    private(set) var undecodable = 0

    init(_ output: any SessionOutput) {
        self.output = output
    }

    /// Adds an event that is numbered as it comes.
    mutating func add(_ event: Event) {
        count += 1
        var event = event
        event.seq = count
        time = max(time, event.time)
        lookForLoss(event)
        output.receive(event)
    }

    private mutating func lookForLoss(_ event: Event) {
        switch event.kind {
        case .open(let open):
            extensions[event.conn] = open.continued?.extensions
            if open.continued != nil { torn.insert(event.conn) }
        case .response(let response) where response.status == 101:
            extensions[event.conn] =
                response.headers.first { $0.isNamed("Sec-WebSocket-Extensions") }?.value
        case .gap: torn.insert(event.conn)
        case .message(let message) where message.compressed && torn.contains(event.conn):
            let fresh =
                event.from == .app ? "client_no_context_takeover" : "server_no_context_takeover"
            if extensions[event.conn]?.contains(fresh) != true { undecodable += 1 }
        default: break
        }
    }

    /// Adds an event from before the window.
    mutating func add(_ kept: RingMemory.Kept) {
        var event = kept.event
        leaveOut(upTo: event.seq, at: event.firstTime ?? event.time)
        gaps(event.conn, upTo: kept.before, at: event.firstTime ?? event.time)
        last = event.seq
        translate(&event) { numbers[$0] }
        add(event)
        numbers[kept.event.seq] = count
        if let from = event.from { told[event.conn]?[from] &+= kept.length }
    }

    /// Tells what is left out up to the beginning of the window, and of what else is open there.
    mutating func begin(
        _ memory: RingMemory, _ others: [RingMemory.Connection], at time: Int64
    ) {
        leaveOut(upTo: memory.last + 1, at: time)
        for conn in told.keys.sorted() {
            guard let connection = memory.connections[conn] else { continue }
            gaps(conn, upTo: connection.carried, at: time)
        }
        for connection in others {
            var event = connection.opening.event
            guard case .open(var open) = event.kind else { continue }
            open.continued = connection.continued
            event.kind = .open(open)
            event.firstTime = nil
            event.packetTime = nil
            event.time = time
            add(event)
        }
        lengths = memory.lengths
    }

    /// Adds an event of the window; `first` is the number of its first one in the recording.
    mutating func add(_ event: Event, shift: Int, first: Int) {
        var event = event
        if case .piece(let piece) = event.kind, piece.of < first {
            // Its head is not in the file, so nobody could tell what it is a piece of.
            event.kind = .gap(
                Event.Gap(
                    length: lengths?.length(of: event.kind, number: event.seq, conn: event.conn),
                    why: RingSession.gapReason))
            event.bridge = []
        }
        translate(&event) { $0 >= first ? $0 + shift : numbers[$0] }
        add(event)
    }

    private func translate(_ event: inout Event, _ number: (Int) -> Int?) {
        switch event.kind {
        case .piece(var piece):
            guard let of = number(piece.of) else { return }
            piece.of = of
            event.kind = .piece(piece)
        case .note(var note):
            let to = note.to.flatMap(number)
            // It is about no command that was never sent.
            if note.code == "outcome", note.to != nil, to == nil { note.code = "outcome_left_out" }
            note.to = to
            event.kind = .note(note)
        default: break
        }
    }

    private mutating func leaveOut(upTo next: Int, at time: Int64) {
        let missing = next - last - 1
        guard missing > 0 else { return }
        add(
            Event(
                time: max(self.time, time),
                kind: .note(
                    Event.Note(
                        code: "recording_gap",
                        text: missing == 1
                            ? "1 event here is not in the ring"
                            : "\(missing) events here are not in the ring"))))
    }

    private mutating func gaps(_ conn: Int, upTo carried: RingMemory.Carried, at time: Int64) {
        let known = told[conn, default: RingMemory.Carried()]
        for side in Side.allCases where carried[side] > known[side] {
            add(
                Event(
                    time: max(self.time, time), conn: conn, from: side,
                    kind: .gap(
                        Event.Gap(
                            length: carried[side] - known[side], why: RingSession.gapReason))))
        }
        told[conn] = carried
    }
}
