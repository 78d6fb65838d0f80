import Wire

/// Puts the entries of a HAR, whose steps come in the order of time, together as connections.
///
/// Entries with one `connection` follow one another on it. One that overlaps another, as those
/// of HTTP/2 do, or that comes after an upgrade or a close, has a connection of its own: in a
/// session an answer belongs to the request before it. What a HAR does not tell is how
/// connections end: those of browsers end with their last entry.
struct HARSession {
    /// An entry under way.
    private struct Entry {
        var conn: Int
        var exchange: Int
        /// What of the connections it belongs to; empty for one of its own.
        var key: String
        /// Our own writer tells how it ends.
        var isOurs: Bool
        var endsConnection: Bool
        /// The last step that pieces may refer to, and its number in the session.
        var head: (step: Int, seq: Int)?
    }

    /// A connection by its key, as long as more entries may use it.
    private struct Line {
        var conn: Int
        var exchange = 0
        var isBusy = true
    }

    private let epoch: Int64
    /// Entries that are still to come, by key.
    private var uses: [String: Int]
    private var entries: [Int: Entry] = [:]
    private var lines: [String: Line] = [:]
    private var ended: [Int: Set<Side>] = [:]
    private var lastConn = 0
    private var lengths = WireLengths()
    private var bytesApp: UInt64 = 0
    private var bytesBoard: UInt64 = 0
    private var now: Int64 = 0
    private(set) var batch = EventBatch()
    private(set) var remarks: HARRemarks

    init(epoch: Int64, uses: [String: Int], remarks: HARRemarks) {
        self.epoch = epoch
        self.uses = uses
        self.remarks = remarks
    }

    /// The events since the last call.
    mutating func take() -> [Event] { batch.take() }

    /// Takes the next step.
    mutating func receive(_ step: HARStep) {
        let number = step.event.conn
        var event = step.event
        event.time -= epoch
        event.firstTime = event.firstTime.map { max(0, $0 - epoch) }
        event.packetTime = event.packetTime.map { max(0, $0 - epoch) }
        now = max(now, event.time)
        if case .open(let open) = event.kind {
            begin(number, open, event)
            return
        }
        guard var entry = entries[number] else { return }
        if step.isEnd {
            entries[number] = nil
            finish(entry)
            return
        }
        event.conn = entry.conn
        guard !isBehindEnd(event) else {
            remarks.behindEnd += 1
            return
        }
        switch event.kind {
        case .request(var request):
            request.exchange = entry.exchange
            event.kind = .request(request)
            if request.headers.has(token: "close", in: "Connection") {
                entry.endsConnection = true
            }
        case .response(var response):
            response.exchange = entry.exchange
            event.kind = .response(response)
            if response.status == 101
                || response.headers.has(token: "close", in: "Connection")
            {
                entry.endsConnection = true
            }
        case .piece(var piece):
            piece.of = entry.head?.seq ?? 0
            event.kind = .piece(piece)
        case .close(let close):
            entry.endsConnection = true
            let sides = close.how == .fin ? event.from.map { [$0] } ?? [] : Side.allCases
            ended[entry.conn, default: []].formUnion(sides)
        default:
            break
        }
        let isHead = event.kind.hasPieces
        let seq = append(event)
        if isHead { entry.head = (step.event.seq, seq) }
        entries[number] = entry
    }

    /// Whether its side had ended before, as no honest file says.
    private func isBehindEnd(_ event: Event) -> Bool {
        guard let ended = ended[event.conn] else { return false }
        if case .note = event.kind { return false }
        return event.from.map { ended.contains($0) } ?? false
    }

    /// Ends the session: what is not as it crossed was told before, so only the last line.
    mutating func finish() {
        append(
            Event(
                time: now,
                kind: .end(
                    Event.End(
                        events: batch.nextSeq - 1, bytesApp: bytesApp, bytesBoard: bytesBoard,
                        dropped: 0))))
    }

    /// A remark about the file.
    mutating func note(_ text: String) {
        append(Event(time: now, kind: .note(Event.Note(code: "har", text: text))))
    }

    @discardableResult
    private mutating func append(_ event: Event) -> Int {
        let length = lengths.length(of: event.kind, number: batch.nextSeq, conn: event.conn)
        switch event.from {
        case .app: bytesApp &+= length
        case .board: bytesBoard &+= length
        case nil: break
        }
        return batch.append(event)
    }

    private mutating func begin(_ number: Int, _ open: Event.Open, _ event: Event) {
        let parts = (open.via ?? "").split(
            separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        var key = String(parts.first ?? "")
        let via = parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
        if !key.isEmpty {
            uses[key, default: 1] -= 1
            if var line = lines[key] {
                if line.isBusy {
                    key = ""
                    remarks.overlapping += 1
                } else {
                    line.isBusy = true
                    line.exchange += 1
                    lines[key] = line
                    entries[number] = Entry(
                        conn: line.conn, exchange: line.exchange, key: key,
                        isOurs: open.app != Self.unknown, endsConnection: false)
                    return
                }
            }
        }
        lastConn += 1
        if !key.isEmpty { lines[key] = Line(conn: lastConn, exchange: 1) }
        entries[number] = Entry(
            conn: lastConn, exchange: 1, key: key, isOurs: open.app != Self.unknown,
            endsConnection: false)
        var open = open
        open.via = via
        append(Event(time: event.time, conn: lastConn, kind: .open(open)))
    }

    /// What stands for the address of the app, which no browser writes.
    static let unknown = "unknown"

    private mutating func finish(_ entry: Entry) {
        var isLast = entry.endsConnection || entry.key.isEmpty
        if !entry.key.isEmpty {
            if uses[entry.key, default: 0] <= 0 {
                isLast = true
                uses[entry.key] = nil
            }
            if isLast { lines[entry.key] = nil } else { lines[entry.key]?.isBusy = false }
        }
        guard isLast else { return }
        let done = ended.removeValue(forKey: entry.conn) ?? []
        guard !entry.isOurs else { return }
        for side in Side.allCases where !done.contains(side) {
            append(
                Event(
                    time: now, conn: entry.conn, from: side,
                    kind: .close(Event.Close(how: .fin, detail: "assumed: a HAR does not tell"))))
        }
    }
}

extension Event.Kind {
    /// Whether `piece` events follow with its content.
    var hasPieces: Bool {
        switch self {
        case .frame(let frame): frame.content == .pieces
        case .request(let request): request.body.content == .pieces
        case .response(let response): response.body.content == .pieces
        case .message(let message): message.content == .pieces
        default: false
        }
    }
}
