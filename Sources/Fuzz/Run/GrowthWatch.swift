import Capture
import Network
import PhoneBridge

/// Follows the memory and the handles of one life of a target from case to case.
struct GrowthWatch {
    private var memory = GrowthJudge(.memory)
    private var handles = GrowthJudge(.handles)
    /// The process that was measured last; nil where nobody tells.
    private(set) var pid: Int32?

    /// Whether what there is looks like growth.
    var isSuspicious: Bool { memory.isSuspicious || handles.isSuspicious }

    /// Takes a measure behind a case; tells what grows.
    mutating func receive(_ measure: ProcessMeasure) -> [Observation] {
        if let pid = measure.pid { self.pid = pid }
        var seen: [Observation] = []
        if let value = measure.memory, let growth = memory.receive(value) {
            seen.append(.growth(.memory, growth))
        }
        if let value = measure.handles, let growth = handles.receive(value) {
            seen.append(.growth(.handles, growth))
        }
        return seen
    }
}

extension Observation {
    /// Whether it takes many runs to see it.
    package var isGrowth: Bool { Growing(rawValue: check) != nil }

    /// What of a process grows.
    enum Growing: String, CaseIterable {
        case memory = "memory-flat"
        case handles = "handles-flat"

        var demand: String {
            switch self {
            case .memory: "Case after case, the memory of the peer's process stays within a bound"
            case .handles:
                "Case after case, the peer's process does not keep more and more files and "
                    + "connections open"
            }
        }

        /// The check as a rule of reports.
        func rule(of side: Side) -> Rule {
            Rule(rawValue, .sure, side, section: Self.section, demand)
        }

        static let section = "fuzzing plan, U6"
    }

    /// A figure of the target that goes on growing (U6).
    fileprivate static func growth(
        _ what: Growing, _ growth: GrowthJudge.Growth
    ) -> Observation {
        let text: String
        switch what {
        case .memory:
            func size(_ bytes: Double) -> String { "\(Int(max(0, min(bytes, 9e15))) >> 10) KiB" }
            text =
                "its memory grew from \(size(growth.from)) to \(size(growth.to)) in "
                + "\(growth.count) cases, by \(size(growth.slope)) a case, and goes on growing"
        case .handles:
            let perCase = Double(Int(min(growth.slope, 1e6) * 100)) / 100
            text =
                "its open handles grew from \(Int(growth.from)) to \(Int(growth.to)) in "
                + "\(growth.count) cases, by \(perCase) a case, and go on growing"
        }
        return Observation(
            check: what.rawValue, rating: .sure, section: Self.Growing.section,
            demand: what.demand, text: text, isUniversal: true)
    }
}
