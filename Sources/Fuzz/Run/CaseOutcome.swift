package import Capture
package import PhoneBridge
package import Wire

/// What came of one run of a script.
package struct CaseOutcome: Sendable {
    /// What the side under test did wrong, each check at most once for a kind of observation.
    package var observations: [Observation] = []
    package var target = TargetCondition.well
    /// What a campaign must have reached at least once.
    package var reached: Set<Sometimes> = []
    /// Hashes of what the target showed: states with what was said in them, shapes of answers.
    package var shapes: Set<UInt64> = []
    /// The same in words, where the session is kept.
    package var shapeNames: [UInt64: String] = [:]
    /// How long it took, in nanoseconds of the protocol's time.
    package var duration: Int64 = 0
    /// The session that took place, as NDJSON; empty unless it was asked for.
    package var session: Bytes = []
    /// The last lines that a target wrote which was started for it.
    package var output: [String] = []

    /// So many lines are kept.
    package static let outputLines = 40

    package init() {}
}

/// Something that the side under test did wrong.
package struct Observation: Sendable, Hashable {
    /// A rule's id (`heartbeat-echoed`), or a universal check's (`alive`, `process`).
    package var check: String
    package var rating: Rule.Rating
    /// Where the demand stands: `contract, "Heartbeat"`.
    package var section: String
    /// What is demanded, as one sentence without a full stop.
    package var demand: String
    /// What was seen and what was due, as one sentence without a full stop.
    package var text: String
    /// The type of the command concerned.
    package var type: String?
    /// The `seq` of the events in the session that show it.
    package var events: [Int]
    /// Whether it is judged whatever was sent before (fuzzing plan, U1 to U11).
    package var isUniversal: Bool

    package init(
        check: String, rating: Rule.Rating, section: String, demand: String, text: String,
        type: String? = nil, events: [Int] = [], isUniversal: Bool
    ) {
        self.check = check
        self.rating = rating
        self.section = section
        self.demand = demand
        self.text = text
        self.type = type
        self.events = events
        self.isUniversal = isUniversal
    }
}

/// How the target is behind a case.
package enum TargetCondition: Sendable, Hashable {
    case well
    /// Its process is gone: how, in words.
    case died(String)
    /// It cannot be reached any more, or was never ready: why, in words.
    case lost(String)
    /// The harness failed, not the target: why, in words.
    case trouble(String)
}

/// What a night must have reached at least once, or it has tested little (fuzzing plan, benchmark
/// rules).
package enum Sometimes: String, Sendable, Hashable, CaseIterable {
    /// An answer behind its command's time-out.
    case lateAnswer = "late answer"
    /// The queue handed a command out again.
    case redelivery
    /// A second connection before the first had ended.
    case overlap = "overlap of links"
    /// A connection or command whose time ran out.
    case expiry
    /// A poll whose filter held something back.
    case filteredPoll = "filtered poll"
}

extension Sometimes {
    /// What a script can bring about with a side under test.
    package static func reachable(judging side: Side) -> [Sometimes] {
        switch side {
        case .board: allCases
        case .app: [.lateAnswer, .redelivery, .overlap]
        }
    }
}
