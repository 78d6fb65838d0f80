/// Which step of a script is due when: pure bookkeeping over causes and waits.
///
/// Steps are taken in their order, each once everything before it is over; an answer only waits
/// for its own command, so it may overtake. What the peer does may come early. Times are
/// nanoseconds of one monotonic clock.
package struct StepSchedule {
    /// How fast a script is played.
    package enum Speed: Sendable, Equatable {
        /// As it was recorded.
        case real
        /// So many times as fast.
        case times(Double)
        /// As fast as causes allow.
        case max

        /// What the recorded times are divided by; nil where they play no part.
        var factor: Double? {
            switch self {
            case .real: 1
            case .times(let factor): factor
            case .max: nil
            }
        }
    }

    /// How far a step has come.
    package enum State: Equatable, Sendable {
        case waiting
        /// Its turn has been given out, and it is not over yet.
        case running
        case done(at: Int64)
        /// It was to happen and did not.
        case failed(at: Int64, String)
        /// It could not be put to the test.
        case skipped(String)

        var isOver: Bool {
            switch self {
            case .waiting, .running: false
            case .done, .failed, .skipped: true
            }
        }
    }

    /// What there is to do now.
    package enum Turn: Equatable, Sendable {
        /// A step of ours is due.
        case act(Int)
        /// The peer did not do this in time.
        case overdue(Int)
        /// All is over.
        case finished
    }

    package let script: ReplayScript
    package private(set) var states: [State]
    private let speed: Speed
    /// Durations of the protocol are divided by it.
    private let timeScale: Double
    /// What the peer gets at least, in nanoseconds, whatever the scale.
    private let patience: Int64
    /// Everything the peer does has to come in the recorded order.
    private let isStrict: Bool

    /// When it began; nothing is due before.
    private var start: Int64?
    /// Everything before it is over, or holds nobody up.
    private var frontier = 0
    /// When the frontier's peer step is overdue.
    private var deadline: Int64?
    /// Steps that wait for others than all before them, by what they wait for.
    private var followers: [Int: [Int]] = [:]
    /// Such steps whose causes are there, with when they are due; the first is last.
    private var ready: [(due: Int64, step: Int)] = []

    /// - Parameters:
    ///   - timeScale: what the target divides its durations by.
    ///   - patience: what the peer gets for each thing it has to do, in nanoseconds.
    package init(
        _ script: ReplayScript, speed: Speed = .max, timeScale: Double = 1,
        patience: Int64 = 10_000_000_000, isStrict: Bool = false
    ) {
        self.script = script
        self.speed = speed
        self.timeScale = max(1, timeScale)
        self.patience = patience
        self.isStrict = isStrict
        states = Array(repeating: .waiting, count: script.steps.count)
        for (index, step) in script.steps.enumerated() {
            guard case .cause(let cause, let earlier) = step.needs else { continue }
            followers[cause, default: []].append(index)
            if let earlier, earlier != cause { followers[earlier, default: []].append(index) }
        }
    }

    /// The script begins.
    package mutating func begin(at now: Int64) {
        start = now
    }

    /// When `next` wants to be called again.
    package var nextDeadline: Int64? {
        guard start != nil else { return nil }
        var earliest = ready.last?.due ?? .max
        if let deadline { earliest = min(earliest, deadline) }
        if frontier < states.count, states[frontier] == .waiting,
            case .everythingBefore = script.steps[frontier].needs,
            script.steps[frontier].kind.isOurs
        {
            earliest = min(earliest, due(frontier))
        }
        return earliest == .max ? nil : earliest
    }

    /// The next thing that is due at `now`; nil when there is nothing to do yet.
    package mutating func next(at now: Int64) -> Turn? {
        guard start != nil else { return nil }
        advance(at: now)
        while let (due, step) = ready.last, due <= now {
            ready.removeLast()
            guard states[step] == .waiting else { continue }
            states[step] = .running
            return .act(step)
        }
        guard frontier < states.count else { return .finished }
        let step = script.steps[frontier]
        guard states[frontier] == .waiting else { return nil }
        if step.kind.isOurs {
            guard case .everythingBefore = step.needs, due(frontier) <= now else { return nil }
            states[frontier] = .running
            return .act(frontier)
        }
        guard let deadline, deadline <= now else { return nil }
        return .overdue(frontier)
    }

    /// Moves the frontier behind what is over.
    private mutating func advance(at now: Int64) {
        let before = frontier
        while frontier < states.count {
            guard states[frontier].isOver || !holdsOthers(frontier) else { break }
            frontier += 1
        }
        guard frontier < states.count else {
            deadline = nil
            return
        }
        if frontier != before || deadline == nil {
            deadline =
                script.steps[frontier].kind.isOurs
                ? nil : now + patience + scaled(script.steps[frontier].allowance)
        }
    }

    /// Whether others wait for a step: what answers a thing that nobody waits for does not hold
    /// them up either, as long as that has not come.
    private func holdsOthers(_ index: Int) -> Bool {
        let step = script.steps[index]
        guard step.holdsOthers, case .cause(let cause, _) = step.needs else {
            return step.holdsOthers
        }
        return states[cause].isOver || script.steps[cause].holdsOthers
    }

    private func scaled(_ duration: Int64) -> Int64 {
        Int64(min(Double(duration) / timeScale, 9e18))
    }

    /// When a step of ours is due, once its causes are there.
    private func due(_ index: Int) -> Int64 {
        let step = script.steps[index]
        let start = start ?? 0
        var time = start
        if let wait = step.wait, let end = endTime(of: wait.after) {
            time = max(time, end + scaled(wait.duration))
        }
        if let spacing = step.spacing, let end = endTime(of: spacing.after) {
            time = max(time, end + spacing.duration)
        }
        if let factor = speed.factor {
            time = max(time, start + Int64(min(Double(step.time) / factor / timeScale, 9e18)))
        }
        return time
    }

    private func endTime(of index: Int) -> Int64? {
        guard states.indices.contains(index) else { return nil }
        return switch states[index] {
        case .done(let time), .failed(let time, _): time
        case .waiting, .running, .skipped: nil
        }
    }

    // MARK: What happens

    /// A step is over, and worked.
    package mutating func done(_ index: Int, at now: Int64) {
        settle(index, .done(at: now))
    }

    /// A step is over, and did not work.
    package mutating func fail(_ index: Int, _ why: String, at now: Int64) {
        settle(index, .failed(at: now, why))
    }

    /// A step cannot be put to the test.
    package mutating func skip(_ index: Int, _ why: String) {
        settle(index, .skipped(why))
    }

    private mutating func settle(_ index: Int, _ state: State) {
        guard states.indices.contains(index), !states[index].isOver else { return }
        states[index] = state
        for follower in followers.removeValue(forKey: index) ?? [] { consider(follower) }
    }

    /// Lets a step go on whose causes are all over.
    private mutating func consider(_ index: Int) {
        guard states[index] == .waiting,
            case .cause(let cause, let earlier) = script.steps[index].needs
        else { return }
        switch states[cause] {
        case .done: break
        case .failed(let time, _): return settle(index, .failed(at: time, Self.noCause))
        case .skipped(let why): return settle(index, .skipped(why))
        case .waiting, .running: return
        }
        // What the peer does happens when it does.
        guard script.steps[index].kind.isOurs else { return }
        if let earlier, !states[earlier].isOver { return }
        let entry = (due: due(index), step: index)
        // Mostly it is due behind all others, so that it is looked for from the front.
        let place = ready.firstIndex { $0 < entry } ?? ready.endIndex
        ready.insert(entry, at: place)
    }

    /// Why a step fails whose cause failed.
    package static let noCause = "what it rests on did not happen"

    /// Whether a peer's step may be taken as having happened now.
    package func mayHappen(_ index: Int) -> Bool {
        !states[index].isOver && (!isStrict || index == frontier)
    }

    /// The step of the peer that all others wait for; nil where it is our turn.
    package var awaited: Int? {
        guard frontier < states.count, states[frontier] == .waiting,
            !script.steps[frontier].kind.isOurs
        else { return nil }
        return frontier
    }

    /// Whether everything is over.
    package var isFinished: Bool { frontier >= states.count }
}
