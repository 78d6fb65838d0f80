package import Capture

/// The numbers of a campaign.
package struct CampaignFigures: Sendable, Equatable {
    /// Cases of the plan that were run.
    package var cases = 0
    /// All runs: those of confirmation, controls and minimising too.
    package var runs = 0
    /// Nanoseconds of the protocol's time that all runs took.
    package var protocolTime: Int64 = 0
    /// In how many cases each of these was reached.
    package var reached: [Sometimes: Int] = [:]
    /// Cases with each mutation, by its row.
    package var mutations: [String: Int] = [:]
    /// Different states of the target and shapes of answers.
    package var edges = 0
    /// When the latest new one of them was seen, in nanoseconds since the beginning.
    package var lastEdge: Int64?
    /// When the latest finding was made.
    package var lastFinding: Int64?
    /// Deaths of the target, which was started again.
    package var deaths = 0
    /// Runs for which there was no target.
    package var lost = 0
    /// Runs in which the harness failed.
    package var troubles = 0
    /// Things that were seen again and again, and were not looked into each time.
    package var alike = 0

    package init() {}

    /// What a campaign should have reached and has not.
    package func unreached(judging side: Side) -> [Sometimes] {
        Sometimes.reachable(judging: side).filter { reached[$0] == nil }
    }

    mutating func add(_ record: CaseRecord) {
        cases += 1
        for reached in record.reached { self.reached[reached, default: 0] += 1 }
        for mutation in record.mutations { mutations[mutation, default: 0] += 1 }
    }
}

/// What is known of a case of the plan once nothing of it is left to be looked into.
package struct CaseRecord: Sendable, Equatable {
    package var index: Int
    /// The rows of its mutations.
    package var mutations: [String]
    package var reached: Set<Sometimes>
    /// What no case before had shown.
    package var newShapes: [UInt64]

    package init(
        index: Int, mutations: [String] = [], reached: Set<Sometimes> = [],
        newShapes: [UInt64] = []
    ) {
        self.index = index
        self.mutations = mutations
        self.reached = reached
        self.newShapes = newShapes
    }
}

/// The cases of a campaign that are over, with what they have shown together.
package struct CampaignProgress: Sendable, Equatable {
    /// All cases of the shard below this number are over.
    package var below = 0
    /// Those above it that are over.
    package var also: Set<Int> = []
    /// Cases, what they reached and their mutations; the other figures are a run's own.
    package var figures = CampaignFigures()
    package var shapes: Set<UInt64> = []
    private let number: Int
    private let count: Int

    /// So many shapes are kept.
    package static let maximumShapes = 1 << 20

    /// - Parameter shard: of the cases each Nth from the Kth on.
    package init(shard: (number: Int, count: Int)) {
        number = shard.number
        count = max(1, shard.count)
    }

    /// Whether the case is one of the shard.
    package func isOfShard(_ index: Int) -> Bool { index % count == number - 1 }

    /// Takes a case that is over; once is enough.
    package mutating func add(_ record: CaseRecord) {
        guard record.index >= below, record.index < .max, also.insert(record.index).inserted else {
            return
        }
        figures.add(record)
        for shape in record.newShapes where shapes.count < Self.maximumShapes {
            shapes.insert(shape)
        }
        while !also.isEmpty, !isOfShard(below) || also.remove(below) != nil { below += 1 }
    }
}

/// Something that was seen and is no finding: it is shown apart.
package struct ApartSignal: Sendable {
    package var signal: Signal
    package var verdict: Investigation.Verdict
    package var observation: Observation
    package var script: FuzzScript
    package var rate: Investigation.Rate
    /// The case that showed it; nil where it was no case of a plan.
    package var firstCase: Int?
    /// How often it was looked into.
    package var count = 1

    package init(
        signal: Signal, verdict: Investigation.Verdict, observation: Observation,
        script: FuzzScript, rate: Investigation.Rate, firstCase: Int?
    ) {
        self.signal = signal
        self.verdict = verdict
        self.observation = observation
        self.script = script
        self.rate = rate
        self.firstCase = firstCase
    }
}
