import Network
import Report

/// What a campaign is to do.
package struct CampaignOptions: Sendable {
    /// Where the choices come from.
    package var seed: UInt64 = 0
    /// Cases of the plan at most; nil for no limit.
    ///
    /// A shard does its part of them.
    package var cases: Int?
    /// Nanoseconds of the caller's time at most, shrinking included; nil for no limit.
    package var time: Int64?
    /// Ends when so many buckets were found that nobody knew of; nil for no limit.
    package var findings: Int?
    /// Ends when nothing new was seen for so many nanoseconds; nil for no limit.
    package var plateau: Int64?
    /// Names of buckets that are known, and do not count.
    package var excused: Set<String> = []
    /// Of the cases each Nth from the Kth on, `(number: K, count: N)`.
    package var shard = (number: 1, count: 1)
    package var investigation = Investigation.Settings()
    /// Whether each run has a fresh target.
    package var isFresh = true
    package var judge: Judge
    /// Findings of earlier campaigns; they are run first.
    package var known: [KnownFinding] = []

    package init(judge: Judge) {
        self.judge = judge
    }

    /// What is found late has to be made short in time as well: of the time the last tenth, and not
    /// more than this, in nanoseconds.
    private static let maximumClosing = 600 * nanosecondsPerSecond

    /// Whether the time is nearly over.
    func isClosing(_ elapsed: Int64) -> Bool {
        guard let time else { return false }
        return elapsed >= time - min(time / 10, Self.maximumClosing)
    }
}

/// A finding of an earlier campaign.
package struct KnownFinding: Sendable {
    package var name: String
    package var script: FuzzScript
    package var signals: Set<Signal>
    package var signal: Signal
    /// Whether there was time to make its script short.
    package var isMinimised: Bool

    package init(
        name: String, script: FuzzScript, signal: Signal, signals: Set<Signal>,
        isMinimised: Bool = true
    ) {
        self.isMinimised = isMinimised
        self.name = name
        self.script = script
        self.signal = signal
        self.signals = signals.union([signal])
    }

    /// Whether a script that shows a signal shows this bug.
    func explains(_ signal: Signal, kinds: Set<String>) -> Bool {
        signals.contains(signal)
            && StepKind.needed(of: StepKind.kinds(of: script)).isSubset(of: kinds)
    }

    /// What became of it.
    package enum Fate: Sendable, Hashable {
        /// It comes as before, so often.
        case stillThere(Investigation.Rate)
        /// It does not come any more.
        case fixed
        /// Its script shows something else now.
        case changed(Observation)
        /// The target was not there.
        case undecided
    }
}

/// How a campaign came to its end.
package enum CampaignEnd: Sendable, Hashable {
    /// All cases of the plan were run.
    case cases
    /// The time was over.
    case time
    /// So many buckets were found as were wanted.
    case findings(Int)
    /// Nothing new was seen for so many nanoseconds.
    case plateau(Int64)
    /// Somebody wanted it to end.
    case interrupted
    /// No run ever had a target: why, in words.
    case neverUsable(String)
    /// The target is gone and does not come back: why, in words.
    case targetLost(String)
    /// The harness fails again and again: why, in words.
    case broken(String)
}

extension CampaignEnd {
    /// The word for it in reports for programs.
    package var word: String {
        switch self {
        case .cases: "cases"
        case .time: "time"
        case .findings: "findings"
        case .plateau: "plateau"
        case .interrupted: "interrupted"
        case .neverUsable: "never-usable"
        case .targetLost: "target-lost"
        case .broken: "harness-broken"
        }
    }

    /// The same for people, without a full stop.
    package var words: String {
        switch self {
        case .cases: "all cases were run"
        case .time: "the time is over"
        case .findings(let count): "\(counted(count, "finding")) as wanted"
        case .plateau(let time): "a plateau, nothing new for \(timeSpan(time))"
        case .interrupted: "interrupted"
        case .neverUsable(let why): "the target could not be used: \(visible(why))"
        case .targetLost(let why): "the target is gone: \(visible(why))"
        case .broken(let why): "the harness fails: \(visible(why))"
        }
    }

    /// Whether it ran as long as it was to.
    package var isComplete: Bool {
        switch self {
        case .cases, .time, .findings, .plateau: true
        case .interrupted, .neverUsable, .targetLost, .broken: false
        }
    }

    /// Why there is no verdict; nil where it came to an end of its own.
    package var fault: String? {
        switch self {
        case .neverUsable, .targetLost, .broken: words
        case .cases, .time, .findings, .plateau, .interrupted: nil
        }
    }
}
