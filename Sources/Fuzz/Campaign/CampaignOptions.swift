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
}

/// A finding of an earlier campaign.
package struct KnownFinding: Sendable {
    package var name: String
    package var script: FuzzScript
    package var signals: Set<Signal>
    package var signal: Signal

    package init(name: String, script: FuzzScript, signal: Signal, signals: Set<Signal>) {
        self.name = name
        self.script = script
        self.signal = signal
        self.signals = signals.union([signal])
    }

    /// Whether a script that shows a signal shows this bug.
    func explains(_ signal: Signal, kinds: Set<String>) -> Bool {
        signals.contains(signal) && StepKind.kinds(of: script).allSatisfy(kinds.contains)
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
    /// Somebody wanted it to end.
    case interrupted
    /// No run ever had a target: why, in words.
    case neverUsable(String)
    /// The target is gone and does not come back: why, in words.
    case targetLost(String)
    /// The harness fails again and again: why, in words.
    case broken(String)
}
