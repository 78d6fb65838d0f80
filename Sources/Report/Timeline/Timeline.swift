package import Capture
import Wire

/// A session as people read it: events in, lines out.
///
/// A line says when, on which connection, which way, and what it meant. Commands carry numbers
/// that their results repeat, with latencies; what happens all the time is folded into a count;
/// what broke is marked. It looks at each event once and keeps only what is still open, so it
/// reads files of any length and recordings that go on.
package struct Timeline: Sendable {
    /// How long one fold may last, in nanoseconds; the whole session by default, shorter for
    /// somebody who watches it grow.
    private let maximumFold: Int64

    private var lines: [TimelineLine] = []
    private var isShown = true
    /// The event that is looked at; nil where a line tells of what did not happen.
    private var seq: Int?
    private var fold = QuietFold()
    /// Lines that become part of the fold if what follows is nothing: connections that have only
    /// been opened, polls without an answer yet.
    private var held: [TimelineLine] = []
    /// Connections whose every line is part of a fold.
    private var quietConnections: Set<Int> = []
    var connections: [Int: Connection] = [:]
    var ledger = CommandLedger()
    private var totals = Totals()

    /// So much may be held back before it is told as it is.
    private let maximumHeld = 64
    /// Connections whose end is missing in a file are forgotten beyond this many.
    private let maximumConnections = 10_000

    /// What is known of a connection while it is open.
    struct Connection: Sendable {
        var opened: Int64
        /// The requests without a response yet.
        var exchanges: [Int: Exchange] = [:]
        /// Data frames whose message has not come yet, by sender.
        var fragments: [Side: Fragments] = [:]
        /// The sides whose sending has ended.
        var ended: Set<Side> = []
        /// Who looks for broken rules in the frames of each side; none before the upgrade, and
        /// none where it is not in the file, for then nobody knows what was agreed on.
        var judges: [Side: FrameJudge] = [:]
    }

    /// A request that waits for its response.
    struct Exchange: Sendable {
        var time: Int64
        var isPoll: Bool
    }

    /// Frames of one unfinished message.
    struct Fragments: Sendable {
        var frames = 0
        var bytes: UInt64 = 0
        var time: Int64
        var isFinished = false
    }

    private struct Totals {
        var connections = 0
        var broken = 0
        var lastTime: Int64 = 0
        var hasEnd = false
    }

    /// Begins a timeline; `maximumFold` bounds how long quiet things are counted together.
    package init(maximumFold: Int64 = .max) {
        self.maximumFold = maximumFold
    }

    /// Takes the next event; gives the lines that are due.
    ///
    /// An event that is not shown still counts: its command is paired, its connection known.
    package mutating func receive(_ event: Event, isShown: Bool = true) -> [TimelineLine] {
        totals.lastTime = max(totals.lastTime, event.time)
        seq = nil
        for entry in ledger.overdue(before: event.time) {
            self.isShown = entry.isShown
            show(noAnswer(entry, time: entry.deadline ?? event.time, why: nil))
        }
        self.isShown = isShown
        seq = event.seq > 0 ? event.seq : nil
        switch event.kind {
        case .session(let session): heading(session)
        case .open(let open): opened(open, event)
        case .request(let request): self.request(request, event)
        case .response(let response): self.response(response, event)
        case .frame(let frame): self.frame(frame, event)
        case .message(let message): self.message(message, event)
        case .piece(let piece): self.piece(piece, event)
        case .data(let data): undecoded(data, event)
        case .gap(let gap): self.gap(gap, event)
        case .close(let close): closed(close, event)
        case .note(let note): self.note(note, event)
        case .end(let end): ended(end, event)
        }
        return takeLines()
    }

    /// A remark about the file where the reading has come to, such as a last line cut short.
    package mutating func remark(_ text: String) -> [TimelineLine] {
        isShown = true
        seq = nil
        show(
            TimelineLine(
                isBroken: true, time: totals.lastTime, label: Styled("file", .bad),
                text: [Styled(visible(text), .bad)]))
        return takeLines()
    }

    /// Gives what was held back, where nothing came for a while.
    package mutating func settle() -> [TimelineLine] {
        if !held.isEmpty { flush() }
        return takeLines()
    }

    /// What is held back or still counted, as it would be told now.
    package var pending: [TimelineLine] { fold.counts.map(\.line) + held }

    /// Puts a line of somebody else's behind all that happened before it.
    package mutating func insert(_ line: TimelineLine) -> [TimelineLine] {
        isShown = true
        seq = line.seq
        show(line)
        return takeLines()
    }

    /// The last lines: what was held back, and the session in a sentence.
    package mutating func finish() -> [TimelineLine] {
        isShown = true
        flush()
        lines.append(TimelineLine(time: nil, label: "", text: summary))
        return takeLines()
    }

    private mutating func takeLines() -> [TimelineLine] {
        defer { lines = [] }
        return lines
    }

    // MARK: Showing, holding, folding

    /// Shows a line, after all that happened before it.
    mutating func show(_ line: TimelineLine) {
        if line.isBroken { totals.broken += 1 }
        guard isShown else { return }
        flush()
        quietConnections.remove(line.conn)
        lines.append(placed(line))
    }

    /// Holds a line back until it is known whether anything comes of it.
    mutating func hold(_ line: TimelineLine) {
        guard isShown else { return }
        if held.count >= maximumHeld { flush() }
        held.append(placed(line))
    }

    private func placed(_ line: TimelineLine) -> TimelineLine {
        var line = line
        line.seq = seq
        return line
    }

    /// Counts something quiet; `absorbing` says whether it takes the connection's held lines.
    mutating func quiet(_ thing: QuietFold.Thing, _ event: Event, absorbing: Bool = false) {
        guard isShown else { return }
        if let start = fold.start, span(from: start, to: event.time) >= maximumFold { flush() }
        let absorbed = absorbing ? held.filter { $0.conn == event.conn } : []
        let first = absorbed.compactMap(\.seq).min() ?? event.seq
        fold.add(
            thing, conn: event.conn, time: event.time,
            events: event.seq > 0 ? min(first, event.seq)...event.seq : nil)
        guard !absorbed.isEmpty else { return }
        if held.contains(where: { $0.conn == event.conn && $0.label.text == "open" }) {
            quietConnections.insert(event.conn)
        }
        held.removeAll { $0.conn == event.conn }
    }

    /// Whether a poll of this connection is still held back.
    func isHeld(_ conn: Int) -> Bool {
        held.contains { $0.conn == conn && $0.label.text == "poll" }
    }

    private mutating func flush() {
        lines += fold.take().map(\.line)
        lines += held
        held = []
    }

    /// Whether lines are wanted of the event that is being looked at.
    var wantsLines: Bool { isShown }

    // MARK: The session and its connections

    private mutating func heading(_ session: SessionInfo) {
        var parts = [visible(session.startedAt), visible(session.source)]
        if let listen = session.listen, let upstream = session.upstream {
            parts.append("\(visible(listen)) → \(visible(upstream))")
        } else if let only = session.listen ?? session.upstream ?? session.interface {
            parts.append(visible(only))
        }
        parts.append("contract " + visible(session.contract))
        parts.append("by " + visible(session.tool))
        if let part = session.part { parts.append("part \(part)") }
        if session.redacted != nil { parts.append("redacted") }
        for label in session.labels {
            parts.append("\(visible(label.name))=\(visible(label.value))")
        }
        show(
            TimelineLine(
                time: nil, label: Styled("session " + visible(session.id), .strong),
                text: [Styled("· " + parts.joined(separator: " · "), .dim)]))
    }

    private mutating func opened(_ open: Event.Open, _ event: Event) {
        if connections.count >= maximumConnections { connections = [:] }
        connections[event.conn] = Connection(opened: event.time)
        totals.connections += 1
        var text = "\(visible(open.app)) → \(visible(open.board))"
        if let continued = open.continued {
            text += continued.upgraded ? " · goes on as WebSocket" : " · goes on"
            if let extensions = continued.extensions { text += ", \(visible(extensions))" }
        }
        hold(
            TimelineLine(
                time: event.time, conn: event.conn, label: "open", text: [Styled(text)]))
    }

    private mutating func closed(_ close: Event.Close, _ event: Event) {
        for side in Side.allCases { leftOver(side, event) }
        let side = event.from ?? .app
        let endsBoth = close.how != .fin
        var connection = connections[event.conn] ?? Connection(opened: event.time)
        connection.ended.insert(side)
        if endsBoth { connection.ended = Set(Side.allCases) }
        let isOver = connection.ended.count == 2
        connections[event.conn] = isOver ? nil : connection
        if isOver { fold.connectionEnded(event.conn) }

        if quietConnections.contains(event.conn), close.how == .fin {
            if isOver { quietConnections.remove(event.conn) }
        } else {
            var text = endsBoth ? "by \(side.rawValue)" : isOver ? "both ends are closed" : ""
            if isOver {
                text += " · open for \(timeSpan(span(from: connection.opened, to: event.time)))"
            }
            if let detail = close.detail {
                text += (text.isEmpty ? "" : " · ") + visible(detail)
            }
            show(
                TimelineLine(
                    isBroken: endsBoth, time: event.time, conn: event.conn,
                    direction: .from(side),
                    label: Styled(close.how.rawValue, endsBoth ? .bad : .plain),
                    text: [Styled(text, endsBoth ? .plain : .dim)]))
        }
        guard isOver else { return }
        let wasShown = isShown
        seq = nil
        for entry in ledger.connectionEnded(event.conn) {
            isShown = entry.isShown
            show(noAnswer(entry, time: event.time, why: "the connection ended first"))
        }
        isShown = wasShown
    }

    private func noAnswer(
        _ entry: CommandLedger.Entry, time: Int64, why: String?
    ) -> TimelineLine {
        let why = why ?? "nothing within " + timeSpan(entry.allowance ?? 0)
        return TimelineLine(
            isBroken: true, time: time, conn: entry.conn, label: Styled("no answer", .bad),
            text: [
                Styled("#\(entry.number) ", .strong),
                Styled("\(visible(entry.type)) \(visible(entry.id)) · \(why)"),
            ], id: entry.id,
            command: .init(number: entry.number, type: entry.type, step: .unanswered))
    }

    private mutating func ended(_ end: Event.End, _ event: Event) {
        totals.hasEnd = true
        var text = counted(end.events, "event")
        text += ", app sent \(byteCount(end.bytesApp)), board sent \(byteCount(end.bytesBoard))"
        show(
            TimelineLine(
                isBroken: end.dropped > 0, time: event.time, label: "end",
                text: [
                    Styled(text, .dim),
                    Styled(end.dropped > 0 ? ", \(grouped(end.dropped)) not recorded" : "", .bad),
                ]))
    }

    private var summary: [Styled] {
        let counts = ledger.counts
        var commands = counted(counts.commands, "command")
        if counts.commands > 0 {
            var outcomes = ["\(grouped(counts.succeeded)) ok"]
            if counts.failed > 0 { outcomes.append("\(grouped(counts.failed)) failed") }
            if counts.unanswered > 0 {
                outcomes.append("\(grouped(counts.unanswered)) unanswered")
            }
            if counts.late > 0 { outcomes.append("\(grouped(counts.late)) late") }
            if counts.duplicate > 0 {
                outcomes.append(counted(counts.duplicate, "duplicate result"))
            }
            commands += " (" + outcomes.joined(separator: ", ") + ")"
        }
        var text = [
            Styled(
                [commands, counted(totals.connections, "connection"), timeSpan(totals.lastTime)]
                    .joined(separator: " · "), .dim)
        ]
        if totals.broken > 0 {
            text.append(Styled(" · \(counted(totals.broken, "line")) marked !", .bad))
        }
        if !totals.hasEnd { text.append(Styled(" · no end line", .warning)) }
        return text
    }
}
