import Capture
import Fuzz
import Glibc
import PhoneBridge
import Replay
import Report
import Wire

/// Where a campaign meets the disk and the terminal: it asks the machine what is next, writes what
/// has come of it, and knows how it stands.
///
/// Used by one thread at a time.
final class FuzzDesk {
    private(set) var campaign: Campaign
    private let options: FuzzCommandOptions
    private let store: FindingsStore
    private let baseline: Baseline
    private let today: String
    private var circumstances: FindingRecord.Circumstances
    private var log: CampaignLog
    private var file: SessionFile?
    private let start: Int64
    private var current = ""
    private let resumed: Int
    /// Findings whose folder says less than is known.
    private var stale: Set<String> = []
    private var records: [String: FindingRecord] = [:]
    /// Why it cannot go on.
    private(set) var fault: (any Error)?
    private(set) var end: CampaignEnd?
    /// Cases that have shown something new, for the next campaign.
    private(set) var novel: [NovelCase] = []
    /// What the corpus shows already.
    private let corpusShapes: Set<UInt64>
    private static let maximumNovel = 500

    /// The state is put together into few lines when its file is larger than this.
    private static let maximumState: UInt64 = 16 << 20

    init(
        _ options: FuzzCommandOptions, campaign: Campaign, log: CampaignLog,
        store: FindingsStore, baseline: Baseline, known: [FindingRecord],
        corpusShapes: Set<UInt64>, circumstances: FindingRecord.Circumstances
    ) throws {
        self.corpusShapes = corpusShapes
        self.options = options
        self.campaign = campaign
        self.log = log
        self.store = store
        self.baseline = baseline
        self.circumstances = circumstances
        today = circumstances.lastSeen
        resumed = campaign.figures.cases
        start = Self.now()
        for record in known { records[record.finding.name] = record }
        try compact()
    }

    /// Nanoseconds since the beginning.
    var elapsed: Int64 { Self.now() - start }

    static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: The campaign

    /// What is to be done now.
    func next() -> Campaign.Step {
        if fault != nil { campaign.stop() }
        let step = campaign.next(elapsed: elapsed)
        take(campaign.takeEvents())
        switch step {
        case .run(let job): current = Self.words(job.reason)
        case .wait: break
        case .over(let end): self.end = end
        }
        return step
    }

    func receive(_ job: Campaign.Job, _ outcome: CaseOutcome) {
        campaign.receive(job, outcome, elapsed: elapsed)
        take(campaign.takeEvents())
    }

    /// Ends it behind what is under way.
    func stop() {
        campaign.stop()
        take(campaign.takeEvents())
    }

    private static func words(_ reason: Campaign.Reason) -> String {
        switch reason {
        case .explore(let index): "case \(index)"
        case .known(let name): "known finding \(name)"
        case .investigate(.confirm(let k, let n)): "repeat \(k) of \(n)"
        case .investigate(.control): "control"
        case .investigate(.minimise): "making a finding shorter"
        case .investigate(.finalConfirm(let k, let n)): "repeat \(k) of \(n) of the short script"
        case .investigate(.surroundings): "what else the short script shows"
        }
    }

    private func take(_ events: [Campaign.Event]) {
        for event in events where fault == nil {
            do {
                try take(event)
            } catch {
                fault = error
            }
        }
    }

    private func take(_ event: Campaign.Event) throws {
        switch event {
        case .explored(let record):
            try append(log.take(record))
            let shapes = record.newShapes.filter { !corpusShapes.contains($0) }
            if !shapes.isEmpty, novel.count < Self.maximumNovel {
                novel.append(NovelCase(index: record.index, shapes: shapes))
            }
        case .found(let finding):
            try write(finding)
            try tell(finding)
        case .seenAgain(let finding): try write(finding)
        case .apart(let signal): try tell(signal)
        case .known(let name, let fate): try tell(name, fate)
        case .shortened(let name, let shorter):
            guard let record = records[name] else { return }
            records[name] = record.with(shorter: shorter, circumstances)
            if let record = records[name] { try store.write(record) }
        case .died(let how):
            ProcessStreams.remark(.note, "the target died: \(visible(how))")
        case .lost(let why):
            ProcessStreams.remark(.warning, "the target is not there: \(visible(why))")
        case .trouble(let why):
            ProcessStreams.remark(.warning, "the harness failed: \(visible(why))")
        }
    }

    // MARK: The disk

    private func append(_ line: Bytes) throws {
        guard let file else { return }
        do throws(OutputError) {
            try file.append(line.span)
        } catch {
            throw SessionOutputs.failure(error)
        }
        if file.size > Self.maximumState { try compact() }
    }

    /// Begins the state's file anew, with what is known in a few lines.
    private func compact() throws {
        try store.make()
        try FindingsStore.replace(store.statePath, with: log.head)
        file = nil
        do throws(OutputError) {
            file = try SessionFile(appendingTo: store.statePath)
        } catch {
            throw SessionOutputs.failure(error)
        }
    }

    private func write(_ finding: FuzzFinding) throws {
        var about = circumstances
        if let earlier = records[finding.name] {
            about.firstSeen = earlier.circumstances.firstSeen
            about.seeds = earlier.circumstances.seeds
            for seed in circumstances.seeds where !about.seeds.contains(seed) {
                about.seeds.append(seed)
            }
        }
        let record = FindingRecord(finding, about)
        records[finding.name] = record
        try store.write(record)
        stale.remove(finding.name)
    }

    /// Writes what counts of findings have become, and closes the state.
    func finish() throws {
        for finding in campaign.findings
        where records[finding.name]?.finding.count != finding.count {
            try write(finding)
        }
        try? file?.close()
    }

    // MARK: The terminal

    private var isText: Bool {
        !options.isJSON && options.junit != "-" && options.sarif != "-"
    }

    private func tell(_ finding: FuzzFinding) throws {
        let excuse = baseline.excuse(finding.name, today: today)
        if options.isJSON {
            try ProcessStreams.output(CampaignLines.line(finding, excuse: excuse, in: store.folder))
        } else if isText {
            try ProcessStreams.output(
                CampaignText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO))
                    .text(shown(finding), excuse: excuse, in: store.folder))
        }
    }

    /// A finding as a terminal may show it.
    private func shown(_ finding: FuzzFinding) -> FuzzFinding {
        options.showsValues ? finding : FindingRecord(finding, circumstances).masked().finding
    }

    private func tell(_ signal: ApartSignal) throws {
        if options.isJSON { try ProcessStreams.output(CampaignLines.line(signal)) }
    }

    private func tell(_ name: String, _ fate: KnownFinding.Fate) throws {
        if case .stillThere = fate, var record = records[name] {
            record.circumstances.lastSeen = today
            record.circumstances.tool = circumstances.tool
            records[name] = record
            try store.write(record)
        }
        let excuse = baseline.excuse(name, today: today)
        if options.isJSON {
            try ProcessStreams.output(CampaignLines.line(name, fate, excuse: excuse))
        } else if isText {
            try ProcessStreams.output(
                CampaignText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO))
                    .text(name, fate, excuse: excuse))
        }
    }

    // MARK: How it stands

    /// What there is to report, and the cases that have shown something new.
    var outcome: (summary: CampaignSummary, novel: [NovelCase]) { (summary, novel) }

    var summary: CampaignSummary {
        var summary = CampaignSummary(
            command: "fuzz", tool: Version.tool, played: options.played,
            judge: campaign.options.judge, folder: store.folder)
        summary.findings = campaign.findings.map { finding in
            CampaignSummary.Entry(
                record: records[finding.name] ?? FindingRecord(finding, circumstances),
                excuse: baseline.excuse(finding.name, today: today))
        }
        summary.known = campaign.fates.sorted { $0.key < $1.key }.compactMap { name, fate in
            records[name].map {
                CampaignSummary.Known(
                    record: $0, fate: fate, excuse: baseline.excuse(name, today: today))
            }
        }
        summary.apart = campaign.apart
        summary.status = status
        summary.end = end
        return options.showsValues ? summary : summary.masked()
    }

    var status: CampaignStatus {
        var status = CampaignStatus()
        status.figures = campaign.figures
        let excused = campaign.findings.count { baseline.excuse($0.name, today: today) != nil }
        status.findings = campaign.findings.count - excused
        status.excused = excused
        for signal in campaign.apart {
            switch signal.verdict {
            case .flaky: status.flaky += 1
            case .withoutMutation: status.withoutMutation += 1
            case .unconfirmed, .undecided, .confirmed, .keptAsSeen: status.unconfirmed += 1
            }
        }
        for fate in campaign.fates.values {
            switch fate {
            case .stillThere, .changed: status.stillThere += 1
            case .fixed: status.fixed += 1
            case .undecided: break
            }
        }
        status.elapsed = elapsed
        status.limit = campaign.options.time
        status.cases = campaign.options.cases
        status.current = current
        status.resumed = resumed
        status.end = end
        status.judged = options.played.peer
        return status
    }
}
