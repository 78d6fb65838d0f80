import Capture
import Network
import Wire

/// What faults strike: a whole message with all that frames it, or a part of a larger one.
struct FaultUnit {
    var bytes: Bytes
    /// Where its content stands in `bytes`; empty where there is none, or none that may be changed.
    var content: Range<Int>
    /// What it is, with its meaning, for filters.
    var event: Event

    /// Whether nothing of it is still to come, or was passed on before.
    var isWhole: Bool {
        switch event.kind {
        case .frame(let frame): frame.content != .pieces && !frame.incomplete
        case .message(let message): message.content != .pieces
        case .request(let request): request.body.content != .pieces
        case .response(let response): response.body.content != .pieces
        default: false
        }
    }
}

/// What has to be done for a direction, in this order.
enum FaultAction: Equatable {
    /// Pass these bytes on at this time; times never fall.
    case send(Bytes, at: Int64)
    /// Tear the connection down at this time.
    case reset(at: Int64)
    /// Say in the session that a fault was injected.
    case note(String)
}

/// One direction of a connection on which faults strike; pure, times are arguments.
struct FaultLane {
    private let terms: [FaultSpec.Term]
    private var random: SeededGenerator
    /// Nothing leaves before this.
    private var free: Int64 = .min
    /// What waits for the next unit: to change places with it, or to leave with it.
    private var held: (bytes: Bytes, goesFirst: Bool, until: Int64)?
    private var isDown = false
    /// What a striker does later, by time.
    private var asides: [(step: MessageStrike.Step, at: Int64)] = []
    /// Whether no striker may put anything between what comes: parts of something large do.
    private(set) var isLeftAlone = false

    /// So much may be done later at the same time.
    private static let maximumAsides = 64
    private static let reorderTime = nanosecondsPerSecond
    private static let mergeTime = 50 * nanosecondsPerMillisecond
    private static let segmentGap = nanosecondsPerMillisecond

    init(_ spec: FaultSpec, seed: UInt64) {
        terms = spec.terms
        random = SeededGenerator(seed: seed)
    }

    /// When `deadlineReached` wants to be called; nil for never.
    var deadline: Int64? {
        switch (held?.until, asides.first?.at) {
        case (let held?, let aside?): min(held, aside)
        case (let held, let aside): held ?? aside
        }
    }

    /// When everything has left that came so far.
    func end(now: Int64) -> Int64 { max(now, free) }

    // MARK: Input

    /// A unit came.
    mutating func pass(_ unit: FaultUnit, now: Int64) -> [FaultAction] {
        guard !isDown else { return [] }
        var unit = unit
        var actions: [FaultAction] = []
        var copies = 1
        var segments = 1
        var holds: (goesFirst: Bool, time: Int64)?
        var bitsPerSecond: Int64?
        var start = max(now, free)
        for term in terms where strikes(term, unit.event) {
            switch term.kind {
            case .delay(let range):
                let time = range.lowerBound + Int64(random.below(Int(range.count)))
                start = max(start, now + time)
                actions.append(note("delayed by \(time / nanosecondsPerMillisecond) ms", unit))
            case .drop:
                actions.append(note("dropped", unit))
                copies = 0
            case .duplicate:
                actions.append(note("sent twice", unit))
                copies *= 2
            case .reorder:
                guard held == nil else { continue }
                holds = (false, Self.reorderTime)
                actions.append(note("held back behind the next message", unit))
            case .merge:
                guard held == nil, holds == nil else { continue }
                holds = (true, Self.mergeTime)
                actions.append(note("sent together with the next message", unit))
            case .truncate:
                guard let count = truncate(&unit) else { continue }
                actions.append(note("cut short by \(count) bytes", unit))
            case .corrupt:
                guard let place = corrupt(&unit) else { continue }
                actions.append(note("one bit changed in byte \(place) of its content", unit))
            case .reset:
                isDown = true
                actions.append(note("connection reset in its place", unit))
                actions.append(.reset(at: start))
                return actions
            case .stall(let time):
                start += time
                actions.append(note("stalled for \(time / nanosecondsPerMillisecond) ms", unit))
            case .throttle(let rate): bitsPerSecond = rate
            case .split:
                segments = min(8, max(2, unit.bytes.count))
                actions.append(note("sent in \(segments) segments", unit))
            }
        }
        free = start
        guard copies > 0 else { return actions }
        var bytes = unit.bytes
        for _ in 1..<copies { bytes += unit.bytes }
        if let holds {
            held = (bytes, holds.goesFirst, now + holds.time)
            return actions
        }
        if let waiting = held {
            held = nil
            bytes = waiting.goesFirst ? waiting.bytes + bytes : bytes + waiting.bytes
        }
        return actions + send(bytes, segments: segments, bitsPerSecond: bitsPerSecond)
    }

    /// A unit came, in whose place something else is done.
    mutating func pass(
        _ strike: MessageStrike, _ unit: FaultUnit, now: Int64
    ) -> [FaultAction] {
        guard !isDown else { return [] }
        var actions = [note(strike.note, unit)]
        for step in strike.steps {
            if step.delay > 0, asides.count < Self.maximumAsides {
                asides.append((step, now + step.delay))
            } else {
                actions += perform(step.act, now: now)
            }
        }
        // The times of one strike never fall, and equal ones keep their order.
        let order = asides.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        asides = order.map(\.element)
        return actions
    }

    private mutating func perform(_ act: MessageStrike.Act, now: Int64) -> [FaultAction] {
        guard !isDown else { return [] }
        free = max(now, free)
        switch act {
        case .send(let bytes): return [.send(bytes, at: free)]
        case .reset:
            isDown = true
            return [.reset(at: free)]
        }
    }

    /// From now on nothing is put between what comes.
    mutating func leaveAlone() -> [FaultAction] {
        guard !isLeftAlone else { return [] }
        isLeftAlone = true
        let count = asides.count
        asides = []
        guard count > 0 else { return [] }
        return [.note("what was to be done later is not: something large comes in parts")]
    }

    /// Nothing came for which something is held, or it is time for what is done later.
    mutating func deadlineReached(now: Int64) -> [FaultAction] {
        var actions: [FaultAction] = []
        while let first = asides.first, first.at <= now {
            asides.removeFirst()
            actions += perform(first.step.act, now: now)
        }
        guard let held, held.until <= now else { return actions }
        return actions + flush(now: now)
    }

    /// What is held leaves; nothing is done later any more.
    mutating func flush(now: Int64) -> [FaultAction] {
        asides = []
        guard let held, !isDown else { return [] }
        self.held = nil
        free = max(now, free)
        return send(held.bytes, segments: 1, bitsPerSecond: nil)
    }

    // MARK: Faults

    private mutating func strikes(_ term: FaultSpec.Term, _ event: Event) -> Bool {
        if let filter = term.filter, !filter.matches(event) { return false }
        guard term.probability < 1 else { return true }
        return Double(random.next() >> 11) / Double(UInt64(1) << 53) < term.probability
    }

    private mutating func send(
        _ bytes: Bytes, segments: Int, bitsPerSecond: Int64?
    ) -> [FaultAction] {
        var segments = segments
        if let bitsPerSecond {
            // A tenth of a second in each, so that it flows.
            let size = max(1, bitsPerSecond / 80)
            segments = max(segments, Int((Int64(bytes.count) + size - 1) / size))
        }
        guard segments > 1, bytes.count > 1 else {
            spend(bytes.count, bitsPerSecond)
            return [.send(bytes, at: free)]
        }
        segments = min(segments, bytes.count)
        var actions: [FaultAction] = []
        for index in 0..<segments {
            let part = bytes[
                bytes.count * index / segments..<bytes.count * (index + 1) / segments]
            spend(part.count, bitsPerSecond)
            actions.append(.send(Bytes(part), at: free))
            if bitsPerSecond == nil, index + 1 < segments { free += Self.segmentGap }
        }
        return actions
    }

    /// The time that bytes take on a slow line.
    private mutating func spend(_ count: Int, _ bitsPerSecond: Int64?) {
        guard let bitsPerSecond else { return }
        free += Int64(Double(count) * 8 / Double(bitsPerSecond) * 1e9)
    }

    /// Turns one bit over, and tells in which byte.
    private mutating func corrupt(_ unit: inout FaultUnit) -> Int? {
        guard !unit.content.isEmpty else { return nil }
        let place = random.below(unit.content.count)
        unit.bytes[unit.content.lowerBound + place] ^= 1 << UInt8(random.below(8))
        return place
    }

    /// Cuts the content of a frame, or of a message with a length, and tells by how many bytes.
    private mutating func truncate(_ unit: inout FaultUnit) -> Int? {
        guard !unit.content.isEmpty else { return nil }
        let kept = random.below(unit.content.count)
        let count = unit.content.count - kept
        var encoder = ConnectionEncoder()
        var event = unit.event
        switch event.kind {
        case .frame(var frame):
            guard case .whole(let payload) = frame.content, !frame.incomplete else { return nil }
            frame.content = .whole(Bytes(payload.prefix(kept)))
            frame.header.payloadLength = UInt64(kept)
            frame.header.lengthForm = LengthForm(minimalFor: UInt64(kept))
            event.kind = .frame(frame)
        case .request(var request):
            guard cut(&request.body, &request.headers, to: kept) else { return nil }
            request.raw = nil
            event.kind = .request(request)
        case .response(var response):
            guard cut(&response.body, &response.headers, to: kept) else { return nil }
            response.raw = nil
            event.kind = .response(response)
        default: return nil
        }
        var bytes = Bytes()
        guard encoder.encode(event, into: &bytes) == .bytes else { return nil }
        unit.bytes = bytes
        unit.content = bytes.count - kept..<bytes.count
        return count
    }

    private func cut(
        _ body: inout Event.Body, _ fields: inout [FieldLine], to count: Int
    ) -> Bool {
        guard case .whole(let content) = body.content,
            let line = fields.firstIndex(where: { $0.isNamed("Content-Length") })
        else { return false }
        body.content = .whole(Bytes(content.prefix(count)))
        fields[line].value = "\(count)"
        return true
    }

    private func note(_ what: String, _ unit: FaultUnit) -> FaultAction {
        .note("\(FaultWords.name(unit.event)): \(what)")
    }
}

/// Names units for notes.
enum FaultWords {
    /// What an event is, in a few words: `result c1`, `poll`, `frame`.
    static func name(_ event: Event) -> String {
        let side = event.from?.rawValue ?? "link"
        guard let meaning = event.bridge.values.first,
            let kind = meaning["kind"]?.stringValue
        else {
            let kind =
                switch event.kind {
                case .request: "request"
                case .response: "response"
                case .frame: "frame"
                case .message: "message"
                default: "bytes"
                }
            return "\(kind) of the \(side)"
        }
        return "\(kind)\(meaning["id"]?.stringValue.map { " " + $0 } ?? "") of the \(side)"
    }
}
