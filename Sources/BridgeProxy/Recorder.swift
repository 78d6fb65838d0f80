package import Capture
package import Network
package import PhoneBridge
package import Wire

/// Puts what crosses the link into the session's outputs, in order and with its meaning.
///
/// Events are collected during a turn of the loop and written by `commit` at its end, before
/// anything is passed on (capture format, promise 2).
package final class Recorder {
    /// Called when something was recorded, so that the owner can have the turn's end committed.
    package var willCommit: (() -> Void)?
    /// Called with each breach of a rule, once its note stands among the events.
    package var found: ((LiveCheck.Finding) -> Void)?
    /// Holds what is recorded against the rules; nil where nobody wants to know.
    package private(set) var check: LiveCheck?
    /// What has been recorded so far.
    package private(set) var statistics = RecordingStatistics()

    private let loop: any EventLoop
    private let outputs: [any SessionOutput]
    private let startedAt: Int64
    private let clock: (() -> Int64)?
    private var batch: EventBatch
    private var meaning: MeaningReader
    /// Where the commands stand that outcomes are about; nil where nobody tells of any.
    private var commands: CommandPlaces?
    private var connections = 0

    /// Makes a recorder whose session begins now.
    ///
    /// - Parameters:
    ///   - gathersFrames: off for outputs that look at events.
    ///   - meaning: a new reader; a copy costs less than to make one.
    ///   - clock: gives nanoseconds since the session began, where the loop's monotonic time is
    ///     not what events are stamped with.
    package init(
        outputs: [any SessionOutput], loop: any EventLoop, contract: Contract,
        check: LiveCheck? = nil, tellsOutcomes: Bool = false, gathersFrames: Bool = true,
        meaning: MeaningReader? = nil, clock: (() -> Int64)? = nil
    ) {
        self.check = check
        commands = tellsOutcomes ? CommandPlaces() : nil
        // The rules want events.
        batch = EventBatch(gathersFrames: gathersFrames && check == nil && !tellsOutcomes)
        self.outputs = outputs
        self.loop = loop
        self.clock = clock
        startedAt = loop.now
        self.meaning = meaning ?? MeaningReader(contract: contract)
    }

    /// Nanoseconds since the session began.
    package var time: Int64 { clock?() ?? loop.now - startedAt }

    /// How each output stands.
    package var statuses: [OutputStatus] { outputs.map(\.status) }

    /// Why an output is not being written at the moment; nil when all are.
    package var trouble: OutputError? { outputs.lazy.compactMap(\.status.pausedBy).first }

    /// Events that could not be written, in the output that lacks most.
    package var dropped: Int { outputs.map(\.status.dropped).max() ?? 0 }

    /// Collects the events that `body` adds, at the session's time.
    func record(_ body: (inout EventBatch, Int64) -> Void) {
        body(&batch, time)
        willCommit?()
    }

    /// Puts a remark of the tool's own into the session.
    package func note(code: String, text: String, conn: Int = 0, to: Int? = nil) {
        record { batch, time in
            batch.append(
                Event(
                    time: time, conn: conn,
                    kind: .note(Event.Note(code: code, text: text, to: to))))
        }
    }

    /// Notes what the board's own side got for a command (capture format, `outcome`); the note
    /// is about the event that last sent it, where that is still known.
    ///
    /// For a recorder that was made to be told outcomes.
    package func outcome(of id: String, _ response: JSON) {
        commit()
        let note = Event.Note(
            code: "outcome", text: response.description, to: commands?.place(of: id))
        record { batch, time in batch.append(Event(time: time, conn: 0, kind: .note(note))) }
    }

    /// Writes what was collected to every output.
    package func commit() {
        guard !batch.isEmpty else { return }
        // In one call: exclusive access is looked after once a turn and not once an event.
        Self.read(&batch, with: &meaning, into: &statistics)
        if commands != nil { for event in batch.events { commands?.receive(event) } }
        judge()
        for output in outputs {
            output.receive(batch)
            output.flush(now: time)
        }
        batch.removeAll()
    }

    /// Holds the turn's events against the rules; breaches stand behind them as notes.
    private func judge() {
        guard check != nil else { return }
        var findings: [LiveCheck.Finding] = []
        for event in batch.events { findings += check?.receive(event) ?? [] }
        note(findings)
    }

    private func note(_ findings: [LiveCheck.Finding]) {
        for finding in findings {
            if let event = finding.note(at: time) {
                batch.append(event)
                statistics.events += 1
            }
            found?(finding)
        }
    }

    /// Writes notes that no event of the link brought.
    private func write(_ findings: [LiveCheck.Finding]) {
        note(findings)
        guard !batch.isEmpty else { return }
        for output in outputs {
            output.receive(batch)
            output.flush(now: time)
        }
        batch.removeAll()
    }

    private static func read(
        _ batch: inout EventBatch, with meaning: inout MeaningReader,
        into statistics: inout RecordingStatistics
    ) {
        batch.update(
            event: { event in
                meaning.annotate(&event)
                statistics.count(event)
            },
            frame: { frame, payload, text in
                meaning.annotate(frame, payload: payload, into: &text)
                statistics.count(frame.header)
            })
    }

    /// Lets outputs that are in trouble try again, and others begin a new part when it is due;
    /// what should have come by now and has not is a breach.
    package func tick() {
        commit()
        if let findings = check?.advance(to: time) { write(findings) }
        for output in outputs where output.nextDeadline.map({ $0 <= time }) == true {
            output.flush(now: time)
        }
    }

    /// Writes the `end` lines and closes the outputs; gives how they stand.
    package func finish() -> [OutputStatus] {
        commit()
        if let findings = check?.finish() { write(findings) }
        let end = time
        return outputs.map { $0.close(now: end) }
    }

    /// Counts packets that were dropped before they came here; each stands for an event.
    func admit(droppedPackets count: Int) {
        statistics.droppedPackets += count
        for output in outputs { output.admit(dropped: count) }
    }

    /// Takes over the figures of a source that counts for itself.
    func follow(_ session: PacketSession, packets: UInt64) {
        statistics.connections = session.connections
        statistics.openConnections = session.openConnections
        statistics.bytesApp = session.bytesApp
        statistics.bytesBoard = session.bytesBoard
        statistics.packets = packets
    }

    // MARK: Connections

    func nextConnection() -> Int {
        connections += 1
        statistics.connections += 1
        return connections
    }

    func opened(conn: Int, app: String, board: String, via: String, since accepted: Int64) {
        let first = accepted - startedAt
        record { batch, time in
            batch.append(
                Event(
                    time: time, firstTime: first < time ? first : nil, conn: conn,
                    kind: .open(Event.Open(app: app, board: board, via: via))))
        }
    }

    /// A connection between the program itself and a peer was opened.
    func opened(conn: Int, app: String, board: String) {
        statistics.openConnections += 1
        record { batch, time in
            batch.append(
                Event(
                    time: time, conn: conn, kind: .open(Event.Open(app: app, board: board))))
        }
    }

    /// A connection of that kind is over.
    func tapClosed(_ conn: Int) {
        statistics.openConnections -= 1
    }

    func connectionCount(open: Int) {
        statistics.openConnections = open
    }

    func connectionClosed(_ conn: Int, open: Int) {
        statistics.openConnections = open
    }

    func count(_ bytes: Int, from side: Side) {
        switch side {
        case .app: statistics.bytesApp += UInt64(bytes)
        case .board: statistics.bytesBoard += UInt64(bytes)
        }
    }
}

/// Figures of a recording.
package struct RecordingStatistics: Equatable, Sendable {
    package var openConnections = 0
    package var connections = 0
    package var events = 0
    /// Frames of data, requests and responses.
    package var messages = 0
    package var requests = 0
    /// Connections that became WebSockets.
    package var webSockets = 0
    package var bytesApp: UInt64 = 0
    package var bytesBoard: UInt64 = 0
    /// Packets of an interface; nil where there are none to count.
    package var packets: UInt64?
    /// Packets that were dropped before they could be read.
    package var droppedPackets = 0

    /// Bytes of both sides.
    package var bytes: UInt64 { bytesApp &+ bytesBoard }

    package init() {}

    mutating func count(_ event: borrowing Event) {
        if case .frame(let frame) = event.kind { return count(frame.header) }
        events += 1
        switch event.kind {
        case .request:
            messages += 1
            requests += 1
        case .response(let response):
            messages += 1
            if response.status == 101 { webSockets += 1 }
        case .session, .open, .frame, .message, .piece, .data, .gap, .close, .note, .end:
            break
        }
    }

    /// Counts a frame.
    mutating func count(_ frame: FrameHeader) {
        events += 1
        if frame.fin, !frame.opcode.isControl { messages += 1 }
    }
}
