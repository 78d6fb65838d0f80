import Capture
package import PhoneBridge
import Wire

/// How long the cases of a plan take against a target whose timers are real (fuzzing plan, 3.11).
///
/// Each is run against the reference peer in virtual time, which tells how long it waits on the link;
/// what a case costs besides has to be measured.
package struct PlanEstimate: Sendable {
    /// A case with the time that it takes, in nanoseconds of the machine's time.
    package struct Entry: Sendable, Equatable {
        package var index: Int
        /// The rows of its mutations.
        package var rows: [String]
        package var time: Int64
    }

    /// Cases one after the other from the first on.
    package let entries: [Entry]
    /// Those among them that are the pass through what is finite.
    package let conformanceCount: Int

    /// - Parameters:
    ///   - shard: of the cases each Nth from the Kth on.
    ///   - count: so many cases are estimated, from the first one on.
    ///   - overhead: what a case costs beside the times of the link, in nanoseconds.
    package init(
        _ plan: CasePlan, profile: Profile, shard: (number: Int, count: Int) = (1, 1), count: Int,
        overhead: Int64
    ) {
        let target = SimulatedTarget(profile: .reference)
        let scale = max(profile.timeScale, 1e-6)
        entries = stride(from: shard.number - 1, to: count, by: max(1, shard.count)).map { index in
            let script = plan.script(index)
            let time = Double(target.outcome(of: script).duration) / scale
            return Entry(
                index: index, rows: script.mutations.map(\.id),
                time: Int64(min(time, 1e18)) + max(0, overhead))
        }
        conformanceCount = plan.conformanceCount
    }

    /// The time of the cases up to that number.
    package func time(below index: Int) -> Int64 {
        entries.reduce(0) { $1.index < index ? $0 + $1.time : $0 }
    }

    /// Nanoseconds that a conversation takes behind the finite pass; nil where none was estimated.
    package var conversation: Int64? {
        let rest = entries.filter { $0.index >= conformanceCount }
        guard !rest.isEmpty else { return nil }
        return rest.reduce(0) { $0 + $1.time } / Int64(rest.count)
    }

    /// Cases that cannot be run within a budget: of the finite pass those whose turn comes too late,
    /// and of all those that take longer than all of it.
    ///
    /// - Parameters:
    ///   - budget: nanoseconds of the machine's time.
    ///   - jobs: so many cases are run at a time.
    package func unfit(budget: Int64, jobs: Int) -> [Entry] {
        var used: Int64 = 0
        let jobs = Int64(max(1, jobs))
        return entries.filter { entry in
            used += entry.time
            if entry.time > budget { return true }
            return entry.index < conformanceCount && used / jobs > budget
        }
    }
}

extension CasePlan {
    /// Sixteen hexadecimal digits of the texts of the first cases: the same on any machine.
    package func digest(count: Int) -> String {
        var hash = FNVHash()
        for index in 0..<max(0, count) { hash.combine(script(index).description) }
        return hash.text
    }
}
