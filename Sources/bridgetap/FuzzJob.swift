import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Report
import Wire

/// Runs a campaign to its end, and reports.
struct FuzzJob {
    private let options: FuzzCommandOptions
    private let store: FindingsStore
    private let profile: Profile
    private let today = FuzzCommandOptions.today

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        store = FindingsStore(options.findings)
        profile = try options.loadProfile()
    }

    func run() throws -> ExitCode {
        ProfileInput.warnOfEndedWaivers(profile, today: today)
        // Made first: nobody wants to hear at the end that they cannot be.
        let reports = try FuzzReports(options)
        let corpus = try FuzzCorpus(
            options.corpus, playing: options.played, isNewCampaign: !options.resumes)
        let (desk, plan) = try makeDesk(corpus)
        let outcome: (summary: CampaignSummary, novel: [NovelCase])
        if options.isSimulated {
            let threads = FuzzThreads(
                desk, target: options.simulatedTarget(profile), count: options.jobs,
                isJSON: options.isJSON)
            outcome = try threads.run()
        } else {
            let targets = try FuzzTargets(
                desk, target: try options.targetOptions(), profile: profile, jobs: options.jobs,
                isJSON: options.isJSON)
            outcome = try targets.run()
        }
        try corpus.add(outcome.novel, seed: plan.seed, plan: plan)
        try reports.finish(outcome.summary)
        return Self.code(outcome.summary)
    }

    // MARK: The campaign

    private func makeDesk(_ corpus: FuzzCorpus) throws -> (FuzzDesk, CasePlan) {
        let before = try stateBefore()
        let seed = before?.identity.seed ?? options.seed ?? Self.randomSeed()
        if options.seed == nil, before == nil { ProcessStreams.remark(.note, "seed \(seed)") }
        let plan = CasePlan(
            as: options.played, seed: seed, profile: profile, corpus: corpus.scripts,
            levels: options.levels)
        let shard = options.shard.map { (number: $0.number, count: $0.count) } ?? (1, 1)
        let identity = identity(seed, corpus, shard)
        let known = try store.load().filter { $0.finding.script.played == options.played }
        let mine = before == nil ? [] : known.filter { $0.circumstances.seeds.contains(seed) }
        var campaign = Campaign(
            try campaignOptions(
                seed, shard,
                known.filter { record in
                    !mine.contains { $0.finding.name == record.finding.name }
                })
        ) { plan.script($0) }
        var log = CampaignLog(identity, shard: shard)
        if let before {
            if let difference = identity.difference(from: before.identity) {
                throw Failure(
                    .usage,
                    "--resume: the campaign in \(store.folder) is another one: \(difference)",
                    hint: "without --resume a new campaign begins there")
            }
            log = before
            campaign.restore(before.progress)
            for record in mine { campaign.restore(record.finding) }
        }
        var circumstances = FindingRecord.Circumstances()
        circumstances.tool = Version.tool
        circumstances.profile = profile.name
        circumstances.seeds = [seed]
        circumstances.flags = options.targetFlags
        circumstances.isOwnTarget = options.isOwnTarget
        circumstances.firstSeen = today
        circumstances.lastSeen = today
        let desk = try FuzzDesk(
            options, campaign: campaign, log: log, store: store, baseline: try baseline(),
            known: known, corpusShapes: corpus.shapes, circumstances: circumstances)
        return (desk, plan)
    }

    private func campaignOptions(
        _ seed: UInt64, _ shard: (number: Int, count: Int), _ known: [FindingRecord]
    ) throws -> CampaignOptions {
        var campaign = CampaignOptions(judge: Judge(profile: profile, today: today))
        campaign.seed = seed
        campaign.shard = shard
        campaign.cases = options.runs
        campaign.time = options.timeLimit
        campaign.findings = options.wantedFindings
        campaign.plateau = options.plateau.flatMap(FuzzCommandOptions.nanoseconds)
        let baseline = try baseline()
        campaign.excused = Set(
            baseline.entries.map(\.bucket).filter { baseline.excuse($0, today: today) != nil })
        // In virtual time they cost nothing.
        if options.isSimulated { campaign.investigation.finalRepeats = 10 }
        if !options.isSimulated, let target = try? options.targetOptions() {
            campaign.isFresh = target.launch != .byOthers
        }
        campaign.known = known.map { record in
            KnownFinding(
                name: record.finding.name, script: record.finding.script,
                signal: record.finding.bucket.signal, signals: record.finding.signals,
                isMinimised: record.finding.isMinimised)
        }
        return campaign
    }

    private func identity(
        _ seed: UInt64, _ corpus: FuzzCorpus, _ shard: (number: Int, count: Int)
    ) -> CampaignLog.Identity {
        var identity = CampaignLog.Identity()
        identity.tool = Version.tool
        identity.planVersion = CasePlan.version
        identity.seed = seed
        identity.side = options.played.rawValue
        identity.profile = "\(profile.name) \(profile.digest)"
        identity.corpus = corpus.digest
        identity.levels = options.levels.map(\.rawValue).sorted().joined(separator: ",")
        identity.shard = "\(shard.number)/\(shard.count)"
        return identity
    }

    /// The state that is gone on with; nil without `--resume`.
    private func stateBefore() throws -> CampaignLog? {
        guard options.resumes else { return nil }
        guard FileIdentity(store.statePath) != nil else {
            throw Failure(
                .badInput, "--resume: there is no campaign in \(store.folder)",
                hint: "leave --resume out to begin one")
        }
        let shard = options.shard.map { (number: $0.number, count: $0.count) } ?? (1, 1)
        guard
            let log = CampaignLog(
                parsing: try FindingsStore.bytes(store.statePath), shard: shard)
        else {
            throw Failure(.badInput, "\(store.statePath) is no state of a campaign")
        }
        if let seed = options.seed, seed != log.identity.seed {
            throw Failure(
                .usage,
                "--resume: the campaign in \(store.folder) has the seed \(log.identity.seed)")
        }
        return log
    }

    private func baseline() throws -> Baseline {
        if let path = options.baseline {
            return try FindingsStore.baseline(path, isNeeded: true)
        }
        return try FindingsStore.baseline(store.baselinePath, isNeeded: false)
    }

    /// Small enough to be typed.
    private static func randomSeed() -> UInt64 { .random(in: 0..<1_000_000_000) }

    // MARK: The end

    private static func code(_ summary: CampaignSummary) -> ExitCode {
        switch summary.end {
        case .neverUsable?: return .unreachable
        case .broken?: return .internalFault
        case .interrupted?: return .interrupted
        case .targetLost?: return summary.isRed ? .found : .unreachable
        case .cases?, .time?, .findings?, .plateau?, nil: break
        }
        if summary.isRed { return .found }
        return summary.status.figures.cases == 0 || !summary.missed.isEmpty
            ? .nothingExercised : .done
    }
}
