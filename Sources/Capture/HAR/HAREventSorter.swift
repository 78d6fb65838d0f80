import Wire

/// A step of an entry on its way into the session.
struct HARStep: Equatable {
    /// What happens: times count from 1970, `conn` is the entry's number, `seq` the step's own.
    var event: Event
    /// Instead of an event: the entry is over.
    var isEnd = false
}

/// Puts the steps of all entries in the order of time; steps of one time stay in their order.
///
/// Up to `maximumMemory` bytes are sorted in memory. What is more is written as sorted runs,
/// which are then read side by side: 16 KiB for each of them, that is 1 MiB of memory for each
/// GiB of steps.
struct HAREventSorter {
    private let maximumMemory: Int
    private let spool = SpoolFile(maximumMemory: 0)
    private var steps: [HARStep] = []
    private var size = 0
    private var runs: [Run] = []
    private var isSorted = false
    private var given = 0
    private var lastSeq = 0

    private struct Key: Comparable {
        var time: Int64
        var seq: Int

        static func < (left: Key, right: Key) -> Bool {
            (left.time, left.seq) < (right.time, right.seq)
        }
    }

    /// A sorted stretch of the spool, and what was read of it.
    private struct Run {
        var offset: UInt64
        let end: UInt64
        var buffer = Bytes()
        var position = 0
        /// The key of the next step; nil at the end.
        var key: Key?
    }

    private static let bufferSize = 16 << 10
    /// Time, number, length of the line and kind.
    private static let headSize = 25

    init(maximumMemory: Int = 16 << 20) {
        self.maximumMemory = maximumMemory
    }

    /// Takes a step, and gives it its number.
    @discardableResult
    mutating func append(_ event: Event, isEnd: Bool = false) throws(OutputError) -> Int {
        lastSeq += 1
        var event = event
        event.seq = lastSeq
        size += Self.size(of: event)
        steps.append(HARStep(event: event, isEnd: isEnd))
        if size > maximumMemory { try writeRun() }
        return lastSeq
    }

    /// The next step in the order of time; nil at the end.
    ///
    /// No step is taken afterwards.
    mutating func next() throws(OutputError) -> HARStep? {
        if !isSorted {
            isSorted = true
            if !runs.isEmpty, !steps.isEmpty { try writeRun() }
            sort()
            for index in runs.indices { try readKey(&runs[index]) }
        }
        guard runs.isEmpty else { return try nextOfRuns() }
        guard given < steps.count else { return nil }
        given += 1
        return steps[given - 1]
    }

    private mutating func sort() {
        steps.sort {
            ($0.event.time, $0.event.seq) < ($1.event.time, $1.event.seq)
        }
    }

    /// About what an event costs in memory.
    static func size(of event: Event) -> Int {
        switch event.kind {
        case .frame(let frame):
            if case .whole(let bytes) = frame.content { 256 + bytes.count } else { 256 }
        case .piece(let piece): 256 + piece.content.count
        case .request(let request): 512 + size(of: request.headers, request.body)
        case .response(let response): 512 + size(of: response.headers, response.body)
        case .note(let note): 256 + note.text.utf8.count
        case .open(let open): 256 + (open.via?.utf8.count ?? 0)
        default: 256
        }
    }

    private static func size(of fields: [FieldLine], _ body: Event.Body) -> Int {
        let text = fields.reduce(0) { $0 + 64 + $1.name.utf8.count + $1.value.utf8.count }
        if case .whole(let bytes) = body.content { return text + bytes.count }
        return text
    }

    // MARK: Runs

    private mutating func writeRun() throws(OutputError) {
        sort()
        let start = spool.count
        let encoder = EventEncoder()
        var line = Bytes()
        var head = Bytes()
        for step in steps {
            line.removeAll(keepingCapacity: true)
            encoder.encode(step.event, into: &line)
            head.removeAll(keepingCapacity: true)
            head.append(bigEndian: UInt64(bitPattern: step.event.time))
            head.append(bigEndian: UInt64(step.event.seq))
            head.append(bigEndian: UInt64(line.count))
            head.append(step.isEnd ? 1 : 0)
            try spool.append(head.span)
            try spool.append(line.span)
        }
        runs.append(Run(offset: start, end: spool.count))
        steps = []
        size = 0
    }

    private mutating func nextOfRuns() throws(OutputError) -> HARStep? {
        var first: (index: Int, key: Key)?
        for (index, run) in runs.enumerated() {
            guard let key = run.key else { continue }
            if first.map({ key < $0.key }) ?? true { first = (index, key) }
        }
        guard let first else { return nil }
        return try readStep(&runs[first.index])
    }

    /// The file was changed behind our back: EIO.
    private static let damaged = OutputError(errno: 5, call: "pread", path: "a temporary file")

    private static func decode(_ bytes: Bytes, _ range: Range<Int>) throws(OutputError) -> Event {
        let line: EventDecoder.Line
        do { line = try EventDecoder().decode(bytes.span.extracting(range)) } catch {
            throw damaged
        }
        guard case .event(let event) = line else { throw damaged }
        return event
    }

    private func readKey(_ run: inout Run) throws(OutputError) {
        try fill(&run, Self.headSize)
        guard run.buffer.count - run.position >= Self.headSize else {
            run.key = nil
            run.buffer = []
            return
        }
        run.key = Key(
            time: Int64(bitPattern: run.buffer.bigEndian(at: run.position)),
            seq: Int(truncatingIfNeeded: run.buffer.bigEndian(at: run.position + 8)))
    }

    private func readStep(_ run: inout Run) throws(OutputError) -> HARStep? {
        let count = Int(clamping: run.buffer.bigEndian(at: run.position + 16))
        let isEnd = run.buffer[run.position + 24] == 1
        run.position += Self.headSize
        try fill(&run, count)
        guard run.buffer.count - run.position >= count else { throw Self.damaged }
        let event = try Self.decode(run.buffer, run.position..<run.position + count)
        run.position += count
        try readKey(&run)
        return HARStep(event: event, isEnd: isEnd)
    }

    /// Sees to it that `count` bytes are in the buffer, if the run has them.
    private func fill(_ run: inout Run, _ count: Int) throws(OutputError) {
        guard run.buffer.count - run.position < count else { return }
        run.buffer.removeSubrange(..<run.position)
        run.position = 0
        let wanted = max(Self.bufferSize, count - run.buffer.count)
        let available = Int(clamping: run.end - run.offset)
        let before = run.buffer.count
        try spool.read(at: run.offset, count: min(wanted, available), into: &run.buffer)
        run.offset += UInt64(run.buffer.count - before)
    }
}
