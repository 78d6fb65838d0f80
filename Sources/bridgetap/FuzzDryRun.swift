import Capture
import Fuzz
import Glibc
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
            for seen in outcome.observations where judge.counts(seen, in: script) {
                if !broken.contains(where: { Signal($0) == Signal(seen) }) { broken.append(seen) }
            }
        }
        try tellChecks(plan)
        try tellSpeed(seconds.sorted()[seconds.count / 2], plan, isFresh: target.canBeFresh)
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
