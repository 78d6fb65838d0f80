import Wire

/// Reads a session: one file, or all its rotated parts together as one.
///
/// Of parts, the `session` and `open` lines that only repeat what was known are left out, as is
/// every `end` but the last; `seq`, `of` and `to` count through, and a missing part is a remark
/// and, for each open connection and direction, a `gap`. Memory for one event and what is open.
package struct SessionReader {
    /// What comes next in the session.
    package enum Item: Sendable, Equatable {
        case event(Event)
        case remark(SessionRemark)
    }

    /// What comes next where events are read together: some of them, or a remark.
    package enum Portion: Sendable, Equatable {
        case events
        case remark(SessionRemark)
    }

    private var inputs: [any SessionInput]
    private let readsBridge: Bool
    private let isFollowing: Bool
    private let ports: Set<UInt16>

    private var file: SessionFileReader?
    /// Instead of `file`, where the input is of another kind.
    private var imported: (any ImportedSession)?
    private var inputIndex = -1
    /// Items that stand before the next one of the file.
    private var queue: [Item] = []

    private var id: String?
    private var part = 1
    /// The number of a part's first event in the session, less one.
    private var bases: [Int: Int] = [:]
    private var base = 0
    private var lastNumber = 0
    private var lastTime: Int64 = 0
    private var connections = OpenConnections()
    private var total = Event.End(events: 0, bytesApp: 0, bytesBoard: 0, dropped: 0)
    /// What ends it behind the events of the batch before.
    private var failure: SessionError?

    /// Reads one input.
    ///
    /// - Parameters:
    ///   - follows: its end is not taken for the end of the session; `next` gives nil and may
    ///     be called again, once more was written.
    ///   - ports: of packets only those of connections with one of them; all if empty.
    package init(
        _ source: any ByteSource, readsBridge: Bool = true, follows: Bool = false,
        ports: Set<UInt16> = []
    ) {
        self.ports = ports
        inputs = [OpenedInput(source: source)]
        self.readsBridge = readsBridge
        isFollowing = follows
    }

    /// Reads the parts of one session, given in any order.
    ///
    /// Each input is opened twice: for its first line, by which the parts are put in order, and
    /// in its turn. With one input it is opened once, so that may be a stream.
    package init(
        _ inputs: [any SessionInput], readsBridge: Bool = true, ports: Set<UInt16> = []
    ) throws(SessionError) {
        self.ports = ports
        self.inputs = inputs
        self.readsBridge = readsBridge
        isFollowing = false
        guard inputs.count > 1 else { return }
        var parts: [(part: Int, index: Int)] = []
        for (index, input) in inputs.enumerated() {
            parts.append((try Self.firstLine(of: input)?.part ?? 1, index))
        }
        parts.sort { ($0.part, $0.index) < ($1.part, $1.index) }
        self.inputs = parts.map { inputs[$0.index] }
    }

    /// The first line of an input of lines; nil for imports, which have no parts, and for what
    /// begins with something else.
    static func firstLine(of input: any SessionInput) throws(SessionError) -> SessionInfo? {
        let source: any ByteSource
        do { source = try input.open() } catch { throw .unreadable(error) }
        let (kind, start) = try SessionKind.look(at: source)
        guard kind == .lines else { return nil }
        var reader = SessionFileReader(ResumedSource(source, start: start))
        guard case .event(let event)? = try reader.next(), case .session(let info) = event.kind
        else { return nil }
        return info
    }

    /// The name of the input under way, or of the last one.
    package var name: String { file?.name ?? imported?.name ?? inputs.first?.name ?? "" }

    /// The place of what was read last.
    package var position: SessionPosition {
        var position = file?.position ?? imported?.position ?? SessionPosition(line: 0, offset: 0)
        position.input = max(0, inputIndex)
        return position
    }

    /// The session's first line, which `next` gives all the same; nil where something else
    /// stands first.
    package mutating func peekSession() throws(SessionError) -> SessionInfo? {
        guard let item = try next() else { return nil }
        queue.insert(item, at: 0)
        guard case .event(let event) = item, case .session(let session) = event.kind else {
            return nil
        }
        return session
    }

    /// The next event or remark; nil at the end, which for a followed input is for now.
    package mutating func next() throws(SessionError) -> Item? {
        while true {
            if !queue.isEmpty { return queue.removeFirst() }
            if file == nil, imported == nil {
                guard try openNext() else { return nil }
            }
            guard let item = imported == nil ? try file?.next() : try imported?.next() else {
                if isFollowing { return nil }
                guard inputIndex + 1 < inputs.count else { return nil }
                file = nil
                imported = nil
                continue
            }
            switch item {
            case .remark(let kind):
                return .remark(SessionRemark(position: position, kind: kind))
            case .event(let event):
                if let event = try receive(event) { return .event(event) }
            }
        }
    }

    /// Puts what comes next into `batch`, which is emptied before: as many events as are at hand,
    /// or none and a remark; nil at the end, which for a followed input is for now.
    package mutating func next(into batch: inout EventBatch) throws(SessionError) -> Portion? {
        batch.removeAll()
        if let failure = failure.take() { throw failure }
        if queue.isEmpty, file == nil, imported == nil {
            guard try openNext() else { return nil }
        }
        // The only input has its numbers, and nothing that parts would repeat.
        if queue.isEmpty, inputs.count == 1, let imported {
            switch try imported.next(into: &batch) {
            case .events?: return .events
            case .remark(let kind)?: return .remark(SessionRemark(position: position, kind: kind))
            case nil: return nil
            }
        }
        // So has the only file, of which the usual lines need no event of their own.
        while queue.isEmpty, inputs.count == 1, file != nil {
            switch try file?.nextFrames(into: &batch) {
            case .event(let event)?:
                do {
                    if let event = try receive(event) { batch.adopt(event) }
                } catch {
                    guard !batch.isEmpty else { throw error }
                    failure = error
                    return .events
                }
                if batch.isEmpty || !batch.isFull && file?.hasLine() ?? false { continue }
            case .remark(let kind)?:
                let remark = SessionRemark(position: position, kind: kind)
                guard !batch.isEmpty else { return .remark(remark) }
                queue.append(.remark(remark))
            case nil:
                guard !batch.isEmpty else { return nil }
            }
            return .events
        }
        switch try next() {
        case .event(let event)?:
            batch.adopt(event)
            return .events
        case .remark(let remark)?: return .remark(remark)
        case nil: return nil
        }
    }

    private mutating func openNext() throws(SessionError) -> Bool {
        guard inputIndex + 1 < inputs.count else { return false }
        inputIndex += 1
        let source: any ByteSource
        do { source = try inputs[inputIndex].open() } catch { throw .unreadable(error) }
        let (kind, start) = try SessionKind.look(at: source)
        guard kind == .lines || !isFollowing else { throw .cannotFollow(name: source.name) }
        imported = try kind.open(source, start: start, ports: ports)
        if imported == nil {
            file = SessionFileReader(
                ResumedSource(source, start: start), readsBridge: readsBridge,
                follows: isFollowing)
        }
        return true
    }

    // MARK: Parts

    /// Gives an event its number in the session; nil for one that only repeats what is known.
    private mutating func receive(_ event: consuming Event) throws(SessionError) -> Event? {
        switch event.kind {
        case .session(let info):
            return try receive(info, of: event)
        case .open(let open):
            let isKnown = connections[event.conn] != nil && open.continued != nil
            number(&event)
            _ = connections.receive(event)
            return isKnown ? nil : event
        case .end(let end):
            number(&event)
            total.events &+= end.events
            total.bytesApp &+= end.bytesApp
            total.bytesBoard &+= end.bytesBoard
            total.dropped &+= end.dropped
            guard inputIndex + 1 == inputs.count else { return nil }
            event.kind = .end(total)
            return event
        case .piece(var piece):
            let place = number(piece.of, part: piece.ofPart)
            piece.of = place ?? 0
            if place != nil { piece.ofPart = nil }
            number(&event)
            event.kind = .piece(piece)
            return event
        case .note(var note):
            number(&event)
            guard let to = note.to else { return event }
            let place = number(to, part: note.toPart)
            note.to = place
            if place != nil { note.toPart = nil }
            event.kind = .note(note)
            return event
        case .close, .response:
            number(&event)
            _ = connections.receive(event)
            return event
        case .request, .frame, .message, .data, .gap:
            number(&event)
            return event
        }
    }

    private mutating func number(_ event: inout Event) {
        event.seq = base &+ event.seq
        lastNumber = max(lastNumber, event.seq)
        lastTime = max(lastTime, event.time)
    }

    /// The number in the session of line `seq` of a part; nil if that part was not read.
    private func number(_ seq: Int, part: Int?) -> Int? {
        guard let part, part != self.part else { return base &+ seq }
        return bases[part].map { $0 &+ seq }
    }

    private mutating func receive(
        _ info: SessionInfo, of event: Event
    ) throws(SessionError) -> Event? {
        guard let id else {
            self.id = info.id
            part = info.part ?? 1
            bases[part] = 0
            if part > 1, inputs.count > 1 { queueGap(before: part, after: 0) }
            return event
        }
        guard info.id == id else {
            throw .otherSession(name: name, id: info.id, expected: id)
        }
        guard let next = info.part, next > part else {
            throw .partTwice(name: name, part: info.part ?? 1)
        }
        base = lastNumber
        let previous = part
        part = next
        bases[part] = base
        if next > previous + 1 { queueGap(before: next, after: previous) }
        return nil
    }

    /// Tells of the parts between two that were read.
    private mutating func queueGap(before next: Int, after previous: Int) {
        queue.append(
            .remark(
                SessionRemark(
                    position: position, kind: .missingParts(previous + 1...next - 1))))
        for conn in connections.numbers {
            for side in Side.allCases {
                lastNumber &+= 1
                queue.append(
                    .event(
                        Event(
                            seq: lastNumber, time: lastTime, conn: conn, from: side,
                            kind: .gap(Event.Gap(length: nil, why: "missing_part")))))
            }
        }
        base = lastNumber
        bases[next] = base
    }
}

/// A source that is open already, as an input.
private struct OpenedInput: SessionInput {
    let source: any ByteSource

    var name: String { source.name }

    func open() -> any ByteSource { source }
}
