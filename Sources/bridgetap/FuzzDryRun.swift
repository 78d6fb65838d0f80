import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Report
import Wire

/// Looks before a campaign whether the target is there, how fast it is, and what would be checked.
struct FuzzDryRun {
    private let options: FuzzCommandOptions
    private let profile: Profile
    private let judge: Judge

    /// So many exchanges without a mutation are tried.
    private static let exchanges = 5
    /// So many conversations behind the finite pass are estimated, and made twice.
    private static let conversations = 200
    /// Numbers of cases that are named for a row.
    private static let maximumNames = 12
    /// Seconds for a case from which on a night is a short one.
    private static let slow = 10.0

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        profile = try options.loadProfile()
        judge = Judge(profile: profile, today: FuzzCommandOptions.today)
    }

    func run() throws -> ExitCode {
        let corpus = try FuzzCorpus(
            options.corpus, playing: options.played, isNewCampaign: false)
        let plan = CasePlan(
            as: options.played, seed: options.seed ?? 1, profile: profile,
            corpus: corpus.scripts, levels: options.levels)
        let target = try FuzzTarget(options, profile: profile)
        defer { target.end() }
        var broken: [Observation] = []
        var seconds: [Double] = []
        var waited: Int64 = 0
        for index in 0..<Self.exchanges {
            // The exchanges of conversations, which are behind those of bytes and frames.
            let script = plan.script(plan.conformanceCount + index).control
            let start = FuzzDesk.now()
            guard let outcome = target.outcome(of: script) else { return .interrupted }
            switch outcome.target {
            case .lost(let why), .trouble(let why):
                throw Failure(.unreachable, "the target could not be used: \(why)")
            case .died(let how):
                try ProcessStreams.output("the target died in a clean exchange: \(visible(how))\n")
            case .well: break
            }
            seconds.append(Double(FuzzDesk.now() - start) / 1e9)
            waited += SimulatedTarget(profile: .reference).outcome(of: script).duration
            for seen in outcome.observations where judge.counts(seen, in: script) {
                if !broken.contains(where: { Signal($0) == Signal(seen) }) { broken.append(seen) }
            }
        }
        try tellChecks(plan)
        try tellPlan(plan, corpus)
        try tellSpeed(seconds.sorted()[seconds.count / 2], plan, isFresh: target.canBeFresh)
        if !options.isSimulated {
            let scaled = Double(waited) / max(profile.timeScale, 1e-6)
            let overhead = (seconds.reduce(0, +) * 1e9 - scaled) / Double(Self.exchanges)
            try tellEstimate(plan, overhead: Int64(max(0, min(overhead, 1e15))))
        }
        guard broken.isEmpty else {
            try ProcessStreams.output("\nbroken without any mutation:\n")
            for seen in broken {
                try ProcessStreams.output("! \(seen.check)\n    \(visible(seen.text))\n")
            }
            return .found
        }
        try ProcessStreams.output(
            "\n\(counted(Self.exchanges, "exchange")) without a mutation went well\n")
        return .done
    }

    private func tellChecks(_ plan: CasePlan) throws {
        let checks = CampaignSummary.checks(of: options.played.peer)
        let summary = CampaignSummary(
            command: "fuzz", tool: Version.tool, played: options.played, judge: judge,
            folder: options.findings)
        for (title, isActive) in [("checks that count", true), ("checks that do not count", false)]
        {
            let some = checks.filter { summary.isActive($0) == isActive }
            guard !some.isEmpty else { continue }
            try ProcessStreams.output("\(title) (profile \(profile.name)):\n")
            for check in some {
                let words = judge.excuses[check.id].map { "; \(visible($0))" } ?? ""
                try ProcessStreams.output("  \(check.rating.rawValue)  \(check.id)\(words)\n")
            }
        }
        try ProcessStreams.output("mutations:\n")
        for row in plan.rows {
            try ProcessStreams.output(
                "  \(row.rating.rawValue)  \(row.id)  \(CasePlan.summary(of: row))\n")
        }
    }

    /// Makes the plan twice, byte for byte.
    private func tellPlan(_ plan: CasePlan, _ corpus: FuzzCorpus) throws {
        let again = CasePlan(
            as: options.played, seed: plan.seed, profile: profile, corpus: corpus.scripts,
            levels: options.levels)
        let count = plan.conformanceCount + Self.conversations
        let digest = plan.digest(count: count)
        guard again.digest(count: count) == digest else {
            throw Failure(.internalFault, "the plan of seed \(plan.seed) is not the same twice")
        }
        try ProcessStreams.output(
            "\nthe plan of seed \(plan.seed) is the same twice: \(digest) over "
                + "\(counted(count, "case"))\n")
    }

    /// Says how long the cases take on this target, and names those that do not fit.
    private func tellEstimate(_ plan: CasePlan, overhead: Int64) throws {
        let shard = options.shard.map { (number: $0.number, count: $0.count) } ?? (1, 1)
        let count = min(
            plan.conformanceCount + Self.conversations, options.runs ?? .max)
        let estimate = PlanEstimate(
            plan, profile: profile, shard: shard, count: count, overhead: overhead)
        let jobs = Int64(options.jobs)
        var text = ""
        let pass = estimate.time(below: plan.conformanceCount) / jobs
        if pass > 0 {
            text += "the pass through bytes, http and frames takes about \(timeSpan(pass))"
            text += jobs > 1 ? " with \(counted(jobs, "job"))\n" : "\n"
        }
        if let time = estimate.conversation, time > 0 {
            let hour = 3600 * nanosecondsPerSecond / time * jobs
            text += "conversations take about \(timeSpan(time)) each, \(grouped(hour)) an hour\n"
        }
        if let budget = options.timeLimit {
            text += unfit(estimate.unfit(budget: budget, jobs: options.jobs), budget)
        }
        try ProcessStreams.output(text)
    }

    private func unfit(_ entries: [PlanEstimate.Entry], _ budget: Int64) -> String {
        guard !entries.isEmpty else { return "they fit into \(timeSpan(budget))\n" }
        var text = "\(counted(entries.count, "case")) will not fit into \(timeSpan(budget)):\n"
        var byRow: [(row: String, entries: [PlanEstimate.Entry])] = []
        for entry in entries {
            let row = entry.rows.joined(separator: " ")
            if let index = byRow.firstIndex(where: { $0.row == row }) {
                byRow[index].entries.append(entry)
            } else {
                byRow.append((row, [entry]))
            }
        }
        for (row, some) in byRow {
            let numbers = Self.ranges(some.map(\.index))
            let more = numbers.count - Self.maximumNames
            let longest = some.map(\.time).max() ?? 0
            text += "  \(row.isEmpty ? "no mutation" : row): "
            text += numbers.prefix(Self.maximumNames).joined(separator: ", ")
            if more > 0 { text += " and more" }
            text += "; up to \(timeSpan(longest)) each\n"
        }
        return text
    }

    /// Numbers that go up, those without a gap in one.
    private static func ranges(_ numbers: [Int]) -> [String] {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { range in
            range.count == 1
                ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
    }

    private func tellSpeed(_ median: Double, _ plan: CasePlan, isFresh: Bool) throws {
        let time = timeSpan(Int64(median * 1e9))
        let hour = Int(min(3600 / max(median, 1e-6) * Double(options.jobs), 1e12))
        try ProcessStreams.output(
            "\na case takes \(time), about \(grouped(hour)) an hour; the pass through bytes, http and "
                + "frames has \(grouped(plan.conformanceCount)) cases\n")
        if !isFresh {
            try ProcessStreams.output(
                "the target cannot be started anew: findings will be said to be not fresh\n")
        }
        if median > Self.slow {
            ProcessStreams.remark(.warning, "the target is slow: \(time) a case")
            ProcessStreams.remark(
                .hint, "several copies (--spawn with --jobs), or a time_scale in its profile")
        }
    }
}
