import Wire

/// Merges several sessions into one by their wall-clock times (capture format, "Merging").
///
/// `t` counts from the earliest `started_at`; connections are numbered anew in order of opening;
/// events of one time stand in the order of the inputs. Each input is read as it is used: memory
/// is what the readers need, and what is open. A note tells where each input begins, and where a
/// connection has the ends of an open one of another input: it was recorded at two places, and
/// both stand there.
package struct SessionMerger {
    /// What comes next.
    package enum Item: Sendable, Equatable {
        case event(Event)
        /// A remark on the input with this name.
        case remark(SessionRemark, name: String)
    }

    private struct Input {
        var reader: SessionReader
        let name: String
        let session: SessionInfo
        /// Nanoseconds from the merged session's beginning to its own.
        let offset: Int64
        var isBegun = false
        /// The event that it gives next; nil at its end.
        var next: Event?
        var conns: [Int: Int] = [:]
        var ended: [Int: Set<Side>] = [:]
        /// Heads whose pieces are still to come, by their number in the input.
        var heads: [Int: Int] = [:]
        var numbers = SequenceMap()
    }

    /// The two ends of a connection, as an input has them.
    private struct Ends: Hashable {
        var app: String
        var board: String
    }

    private var inputs: [Input] = []
    private var queue: [Item] = []
    private var lastConn = 0
    private var lastSeq = 0
    private var lastTime: Int64 = 0
    private var open: [Ends: (input: Int, conn: Int)] = [:]
    private var endsOf: [Int: [Ends]] = [:]
    private var total = Event.End(events: 0, bytesApp: 0, bytesBoard: 0, dropped: 0)
    private var ends = 0
    private var isEnded = false
    /// The merged session's first line, which is given as its first event.
    package let session: SessionInfo

    /// Begins to read; throws where an input cannot be read, or has no time.
    package init(_ groups: MergeInputs, ports: Set<UInt16> = []) throws(SessionError) {
        var starts: [Int64] = []
        for group in groups.groups {
            guard let start = SessionTime.nanoseconds(parsing: group.session.startedAt) else {
                throw .badStart(name: group.name, startedAt: group.session.startedAt)
            }
            starts.append(start)
        }
        let epoch = starts.min() ?? 0
        session = Self.session(groups, starts, epoch)
        for (var group, start) in zip(groups.groups, starts) {
            inputs.append(
                Input(
                    reader: try group.reader(ports: ports), name: group.name,
                    session: group.session,
                    offset: start.subtractingReportingOverflow(epoch).partialValue))
        }
        queue.append(.event(Event(time: 0, kind: .session(session))))
        for index in inputs.indices { try advance(index) }
    }

    private static func session(
        _ groups: MergeInputs, _ starts: [Int64], _ epoch: Int64
    ) -> SessionInfo {
        let groups = groups.groups
        let first = groups.indices.min { (starts[$0], $0) < (starts[$1], $1) }
        var id = FNVHash()
        for group in groups {
            id.combine(group.session.id)
            id.combine(0 as UInt8)
        }
        var session =
            first.map { groups[$0].session }
            ?? SessionInfo(id: "", startedAt: "", tool: "bridgetap", source: "pcap")
        session.id = id.text
        session.part = nil
        // What one input alone promises, the others may break.
        if groups.contains(where: { $0.session.redacted != session.redacted }) {
            session.redacted = nil
        }
        session.startedAt = SessionTime.text(nanoseconds: epoch)
        session.labels.append(
            FieldLine("merged", groups.map(\.name).joined(separator: ", ")))
        return session
    }

    /// The next event or remark; nil at the end.
    package mutating func next() throws(SessionError) -> Item? {
        while queue.isEmpty {
            guard let index = earliest else {
                guard !isEnded else { return nil }
                isEnded = true
                finish()
                continue
            }
            try step(index)
        }
        return queue.isEmpty ? nil : queue.removeFirst()
    }

    /// The input whose turn it is.
    private var earliest: Int? {
        var best: (index: Int, time: Int64)?
        for (index, input) in inputs.enumerated() {
            guard let time = Self.time(of: input) else { continue }
            if best.map({ time < $0.time }) ?? true { best = (index, time) }
        }
        return best?.index
    }

    private static func time(of input: Input) -> Int64? {
        guard input.isBegun else { return input.offset }
        return input.next.map { clamped($0.time, input.offset) }
    }

    private static func clamped(_ time: Int64, _ offset: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(offset)
        return overflow ? .max : sum
    }

    private mutating func step(_ index: Int) throws(SessionError) {
        guard inputs[index].isBegun else {
            inputs[index].isBegun = true
            let input = inputs[index]
            note(
                "merged",
                "\(input.name) begins: session \(input.session.id), from \(input.session.source)",
                at: input.offset)
            return
        }
        guard let event = inputs[index].next else { return }
        inputs[index].next = nil
        take(event, from: index)
        try advance(index)
    }

    /// Reads an input up to its next event.
    private mutating func advance(_ index: Int) throws(SessionError) {
        while let item = try inputs[index].reader.next() {
            switch item {
            case .remark(let remark):
                queue.append(.remark(remark, name: inputs[index].reader.name))
            case .event(let event):
                if case .session = event.kind { continue }
                inputs[index].next = event
                return
            }
        }
    }

    // MARK: Events

    private mutating func note(
        _ code: String, _ text: String, at time: Int64, conn: Int = 0, to: Int? = nil
    ) {
        give(
            Event(
                time: time, conn: conn,
                kind: .note(Event.Note(code: code, text: text, to: to))))
    }

    @discardableResult
    private mutating func give(_ event: Event) -> Int {
        lastSeq += 1
        var event = event
        event.seq = lastSeq
        event.time = max(event.time, lastTime)
        lastTime = event.time
        queue.append(.event(event))
        return lastSeq
    }

    private mutating func take(_ original: Event, from index: Int) {
        var event = original
        let offset = inputs[index].offset
        event.time = Self.clamped(event.time, offset)
        event.firstTime = event.firstTime.map { Self.clamped($0, offset) }
        event.packetTime = event.packetTime.map { Self.clamped($0, offset) }
        switch event.kind {
        case .session:
            return
        case .end(let end):
            ends += 1
            total.bytesApp &+= end.bytesApp
            total.bytesBoard &+= end.bytesBoard
            total.dropped &+= end.dropped
            return
        case .open:
            lastConn += 1
            inputs[index].conns[original.conn] = lastConn
            inputs[index].ended[original.conn] = nil
        case .piece(var piece):
            piece.of = inputs[index].heads[piece.of] ?? 0
            piece.ofPart = nil
            event.kind = .piece(piece)
        case .note(var note):
            note.to = note.to.flatMap { inputs[index].numbers.place(of: $0)?.seq }
            note.toPart = nil
            event.kind = .note(note)
        case .request, .response, .frame, .message, .data, .gap, .close:
            break
        }
        if event.conn != 0 { event.conn = conn(original.conn, of: index) }
        let seq = give(event)
        inputs[index].numbers.append(original.seq, seq: seq, part: 1)
        if event.kind.hasPieces { inputs[index].heads[original.seq] = seq }
        if case .piece(let piece) = original.kind, piece.last {
            inputs[index].heads[piece.of] = nil
        }
        switch event.kind {
        case .open(let open): opened(open, event.conn, seq, of: index, at: event.time)
        case .close(let close): closed(close, original, event.conn, of: index)
        default: break
        }
    }

    private mutating func conn(_ number: Int, of index: Int) -> Int {
        if let known = inputs[index].conns[number] { return known }
        lastConn += 1
        inputs[index].conns[number] = lastConn
        return lastConn
    }

    // MARK: Connections

    private static func ends(of open: Event.Open) -> [Ends] {
        var ends: [Ends] = []
        if IPEndpoint(parsing: open.app) != nil {
            ends.append(Ends(app: open.app, board: open.board))
        }
        // A proxy has two connections; a capture at the board sees the second one.
        let via = (open.via ?? "").split(separator: " ").map(String.init)
        if via.count == 2 { ends.append(Ends(app: via[0], board: via[1])) }
        return ends
    }

    private mutating func opened(
        _ connection: Event.Open, _ conn: Int, _ seq: Int, of index: Int, at time: Int64
    ) {
        let all = Self.ends(of: connection)
        for ends in all {
            if let other = open[ends], other.input != index {
                note(
                    "same_connection",
                    "connection \(conn) of \(inputs[index].name) has the ends of connection "
                        + "\(other.conn) of \(inputs[other.input].name): it was recorded twice",
                    at: time, conn: conn, to: seq)
            } else {
                open[ends] = (index, conn)
            }
        }
        endsOf[conn] = all
    }

    private mutating func closed(
        _ close: Event.Close, _ original: Event, _ conn: Int, of index: Int
    ) {
        let sides = close.how == .fin ? original.from.map { [$0] } ?? [] : Side.allCases
        inputs[index].ended[original.conn, default: []].formUnion(sides)
        guard inputs[index].ended[original.conn]?.count == 2 else { return }
        inputs[index].ended[original.conn] = nil
        inputs[index].conns[original.conn] = nil
        for ends in endsOf.removeValue(forKey: conn) ?? [] where open[ends]?.conn == conn {
            open[ends] = nil
        }
    }

    /// The last line, if every input has one.
    private mutating func finish() {
        guard ends == inputs.count else { return }
        total.events = lastSeq
        give(Event(time: lastTime, kind: .end(total)))
    }
}
