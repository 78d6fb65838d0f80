import PhoneBridge
import Wire

/// Decides what is run next, and what comes of it (fuzzing plan, decisions 2, 6 and 7).
///
/// It is a pure machine. Whoever holds it asks `next`, runs the scripts, several at a time where it
/// can, and hands what comes of them to `receive`; what is worth being told comes out of
/// `takeEvents`. Which scripts are explored depends on the plan alone.
package struct Campaign: Sendable {
    package private(set) var figures = CampaignFigures()
    package private(set) var findings: [FuzzFinding] = []
    package private(set) var apart: [ApartSignal] = []
    package private(set) var fates: [String: KnownFinding.Fate] = [:]
    package let options: CampaignOptions

    private let plan: @Sendable (Int) -> FuzzScript
    private var events: [Event] = []
    private var ending: CampaignEnd?
    private var lastJob = 0
    private var flights: [Int: Flight] = [:]

    /// The next index to be thought of, and those above it that an earlier run has done.
    private var nextCase = 0
    private var done: Set<Int> = []
    /// Cases that had no target, with how often they were tried.
    private var again: [(index: Int, tries: Int)] = []
    private var shapes: Set<UInt64> = []

    private var active: [Inquiry] = []
    private var waiting: [Inquiry] = []
    private var looked: [Signal: Int] = [:]
    private var knownRuns: KnownRuns

    /// Of inquiries that no case of the plan has begun.
    private var lastInquiry = 0

    private var wasWell = false
    private var lostInRow = 0
    private var troublesInRow = 0

    /// So many investigations are under way at once.
    private static let maximumActive = 4
    private static let maximumWaiting = 16
    /// The same thing is looked into so often, if nothing explains it.
    private static let maximumLooks = 6
    private static let maximumTries = 3

    private enum Flight: Sendable {
        case explore(index: Int, tries: Int)
        case known(Int)
        case inquiry(Int)
    }

    /// A case with what it has shown and is still to be looked into.
    fileprivate struct Inquiry: Sendable {
        var id: Int
        var script: FuzzScript
        var kinds: Set<String>
        /// The first is looked into.
        var observations: [Observation]
        /// Nil for what no case of the plan has shown.
        var record: CaseRecord?
        var investigation: Investigation?
        var isBusy = false
        /// The finding whose script is made shorter; nil for something new.
        var finding: String?
    }

    /// - Parameter plan: the script of each case; it depends on nothing but the index.
    package init(_ options: CampaignOptions, plan: @escaping @Sendable (Int) -> FuzzScript) {
        self.options = options
        self.plan = plan
        knownRuns = KnownRuns(options.known, repeats: options.investigation.repeats)
    }

    // MARK: Going on where an earlier run ended

    /// Takes the cases that an earlier run of the same campaign has done.
    package mutating func restore(_ progress: CampaignProgress) {
        nextCase = progress.below
        done = progress.also
        shapes = progress.shapes
        figures.cases = progress.figures.cases
        figures.reached = progress.figures.reached
        figures.mutations = progress.figures.mutations
        figures.edges = shapes.count
    }

    /// Takes a finding that an earlier run of the same campaign has made; one whose script could not
    /// be made short in time is gone on with.
    package mutating func restore(_ finding: FuzzFinding) {
        findings.removeAll { $0.name == finding.name }
        findings.append(finding)
        if !finding.isMinimised {
            shorten(finding.name, finding.script, showing: finding.observation)
        }
    }

    /// Takes something that an earlier run has shown apart.
    package mutating func restore(_ signal: ApartSignal) {
        apart.append(signal)
        looked[signal.signal, default: 0] += 1
    }

    // MARK: What is next

    /// What has come of it since the last call.
    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// Ends it: no case begins any more, and what is being looked into is judged by what is known.
    package mutating func stop() { end(.interrupted) }

    /// What is to be done now.
    ///
    /// - Parameter elapsed: nanoseconds since the beginning.
    package mutating func next(elapsed: Int64) -> Step {
        if let reason = reasonToEnd(elapsed) { end(reason) }
        if let ending { return flights.isEmpty ? .over(ending) : .wait }
        if let job = knownJob() ?? inquiryJob() { return .run(job) }
        // What was found is made short before something else is looked for in the time that is left.
        let isClosing = options.isClosing(elapsed) && !(active.isEmpty && waiting.isEmpty)
        if !isClosing, let job = exploreJob() { return .run(job) }
        if flights.isEmpty { end(.cases) }
        return flights.isEmpty ? .over(ending ?? .cases) : .wait
    }

    private func reasonToEnd(_ elapsed: Int64) -> CampaignEnd? {
        if let time = options.time, elapsed >= time { return .time }
        if let wanted = options.findings,
            findings.count(where: { !options.excused.contains($0.name) }) >= wanted
        {
            return .findings(wanted)
        }
        // While something is looked into, nothing new is to be expected.
        if let plateau = options.plateau, active.isEmpty, waiting.isEmpty {
            let latest = max(figures.lastEdge ?? 0, figures.lastFinding ?? 0)
            if elapsed - latest >= plateau { return .plateau(plateau) }
        }
        return nil
    }

    private mutating func end(_ end: CampaignEnd) {
        guard ending == nil else { return }
        ending = end
        for inquiry in active + waiting {
            if var investigation = inquiry.investigation {
                investigation.conclude()
                settle(investigation, of: inquiry)
            } else if inquiry.finding == nil, let observation = inquiry.observations.first {
                setApart(
                    ApartSignal(
                        signal: Signal(observation), verdict: .undecided,
                        observation: observation, script: inquiry.script,
                        rate: Investigation.Rate(0, of: 0), firstCase: inquiry.record?.index))
            }
        }
        active = []
        waiting = []
    }

    private mutating func job(
        _ script: FuzzScript, _ reason: Reason, _ flight: Flight, keepsSession: Bool
    ) -> Job {
        lastJob += 1
        flights[lastJob] = flight
        return Job(id: lastJob, script: script, reason: reason, keepsSession: keepsSession)
    }

    private mutating func knownJob() -> Job? {
        guard let (index, finding) = knownRuns.next() else { return nil }
        return job(finding.script, .known(finding.name), .known(index), keepsSession: false)
    }

    private mutating func inquiryJob() -> Job? {
        startWaiting()
        guard let index = active.firstIndex(where: { !$0.isBusy && $0.investigation != nil }),
            let question = active[index].investigation?.next()
        else { return nil }
        active[index].isBusy = true
        return job(
            question.script, .investigate(question.reason), .inquiry(active[index].id),
            keepsSession: true)
    }

    private mutating func exploreJob() -> Job? {
        if let (index, tries) = again.popLast() {
            return job(
                plan(index), .explore(index), .explore(index: index, tries: tries),
                keepsSession: false)
        }
        // The wait for those that are looked into is bounded.
        guard waiting.count < Self.maximumWaiting else { return nil }
        while true {
            let index = nextCase
            guard options.cases.map({ index < $0 }) ?? true, index < .max else { return nil }
            nextCase += 1
            guard index % options.shard.count == options.shard.number - 1,
                done.remove(index) == nil
            else { continue }
            return job(
                plan(index), .explore(index), .explore(index: index, tries: 0),
                keepsSession: false)
        }
    }

    // MARK: What came of it

    /// Takes what came of a job.
    ///
    /// - Parameter elapsed: nanoseconds since the beginning.
    package mutating func receive(_ job: Job, _ outcome: CaseOutcome, elapsed: Int64) {
        guard let flight = flights.removeValue(forKey: job.id) else { return }
        figures.runs += 1
        figures.protocolTime &+= outcome.duration
        let isJudged = look(at: outcome.target)
        let counted =
            isJudged
            ? outcome.observations.filter { options.judge.counts($0, in: job.script) } : []
        let findingCount = findings.count
        switch flight {
        case .explore(let index, let tries):
            explored(index, job.script, outcome, counted, isJudged, tries, elapsed)
        case .known(let index): receiveKnown(index, counted, isJudged)
        case .inquiry(let id):
            receive(
                id, isJudged ? .judged(counted, Investigation.Evidence(outcome)) : .void)
        }
        if findings.count > findingCount { figures.lastFinding = elapsed }
    }

    /// Whether there was a target to be judged.
    private mutating func look(at target: TargetCondition) -> Bool {
        switch target {
        case .well, .died:
            wasWell = true
            lostInRow = 0
            troublesInRow = 0
            if case .died(let how) = target {
                figures.deaths += 1
                events.append(.died(how))
            }
            return true
        case .lost(let why):
            figures.lost += 1
            lostInRow += 1
            events.append(.lost(why))
            if !wasWell, lostInRow >= 3 {
                end(.neverUsable(why))
            } else if lostInRow >= 10 {
                end(.targetLost(why))
            }
            return false
        case .trouble(let why):
            figures.troubles += 1
            troublesInRow += 1
            events.append(.trouble(why))
            if troublesInRow >= 20 { end(.broken(why)) }
            return false
        }
    }

    private mutating func explored(
        _ index: Int, _ script: FuzzScript, _ outcome: CaseOutcome, _ counted: [Observation],
        _ isJudged: Bool, _ tries: Int, _ elapsed: Int64
    ) {
        if !isJudged {
            if tries + 1 < Self.maximumTries { again.append((index, tries + 1)) }
            return
        }
        var record = CaseRecord(
            index: index, mutations: script.mutations.map(\.id), reached: outcome.reached)
        for shape in outcome.shapes
        where shapes.count < CampaignProgress.maximumShapes && shapes.insert(shape).inserted {
            record.newShapes.append(shape)
        }
        if !record.newShapes.isEmpty {
            record.newShapes.sort()
            figures.edges = shapes.count
            figures.lastEdge = elapsed
        }
        figures.add(record)
        guard !counted.isEmpty else {
            events.append(.explored(record))
            return
        }
        var inquiry = Inquiry(
            id: index, script: script, kinds: Set(StepKind.kinds(of: script)),
            observations: Self.inOrder(counted), record: record)
        drop(explained: &inquiry, isNew: true)
        if inquiry.observations.isEmpty {
            events.append(.explored(record))
        } else if ending == nil {
            waiting.append(inquiry)
        }
    }

    /// What is surest and came first is looked into first: the rest may follow from it.
    private static func inOrder(_ observations: [Observation]) -> [Observation] {
        func place(_ observation: Observation) -> (Int, Int, Int, String) {
            (
                observation.rating == .sure ? 0 : 1, observation.isUniversal ? 1 : 0,
                observation.events.first ?? .max, observation.check
            )
        }
        return observations.sorted { place($0) < place($1) }
    }

    /// Takes out what is known already, and what is looked into often enough.
    private mutating func drop(explained inquiry: inout Inquiry, isNew: Bool) {
        let kinds = inquiry.kinds
        var seen: Set<Signal> = []
        var told: Set<String> = []
        inquiry.observations = inquiry.observations.filter { observation in
            let signal = Signal(observation)
            guard seen.insert(signal).inserted else { return false }
            if let index = findings.firstIndex(where: { $0.explains(signal, kinds: kinds) }) {
                if told.insert(findings[index].name).inserted { count(index, inquiry.record) }
                return false
            }
            if options.known.contains(where: { $0.explains(signal, kinds: kinds) }) {
                figures.alike += 1
                return false
            }
            let others = isNew ? (active + waiting).count { $0.isAbout(signal) } : 0
            if looked[signal, default: 0] + others >= Self.maximumLooks || others > 1 {
                figures.alike += 1
                return false
            }
            return true
        }
    }

    private mutating func count(_ index: Int, _ record: CaseRecord?) {
        figures.alike += 1
        findings[index].count += 1
        if let record { findings[index].lastCase = record.index }
    }

    // MARK: Looking into it

    private mutating func startWaiting() {
        while active.count < Self.maximumActive, !waiting.isEmpty {
            var inquiry = waiting.removeFirst()
            if inquiry.finding == nil { drop(explained: &inquiry, isNew: false) }
            goOn(inquiry)
        }
    }

    /// Looks into the next thing that a case has shown, or is through with it.
    private mutating func goOn(_ inquiry: Inquiry) {
        var inquiry = inquiry
        guard let first = inquiry.observations.first else {
            if let record = inquiry.record { events.append(.explored(record)) }
            return
        }
        var settings = options.investigation
        var script = inquiry.script
        if first.isGrowth {
            // One run shows no slope, and hundreds of questions would take a night.
            script = script.soaked
            settings.maximumQuestions = 0
        }
        inquiry.investigation = Investigation(script, showed: first, settings: settings)
        inquiry.isBusy = false
        active.append(inquiry)
    }

    private mutating func receive(_ id: Int, _ answer: Investigation.Answer) {
        guard let index = active.firstIndex(where: { $0.id == id }) else { return }
        active[index].isBusy = false
        active[index].investigation?.receive(answer)
        guard let investigation = active[index].investigation, investigation.verdict != nil else {
            return
        }
        var inquiry = active.remove(at: index)
        settle(investigation, of: inquiry)
        inquiry.investigation = nil
        inquiry.observations.removeFirst()
        drop(explained: &inquiry, isNew: false)
        goOn(inquiry)
    }

    /// Begins to make the script of a finding shorter.
    private mutating func shorten(
        _ name: String, _ script: FuzzScript, showing observation: Observation
    ) {
        lastInquiry -= 1
        var inquiry = Inquiry(
            id: lastInquiry, script: script, kinds: [], observations: [observation], record: nil)
        inquiry.finding = name
        waiting.append(inquiry)
    }

    private mutating func settleShorter(
        _ investigation: Investigation, _ verdict: Investigation.Verdict, of name: String
    ) {
        // One that does not come this time is left as it is.
        guard verdict == .confirmed else { return }
        let shorter = FuzzFinding(
            investigation, verdict: verdict, firstCase: nil, isFresh: options.isFresh)
        guard let index = findings.firstIndex(where: { $0.name == name }) else {
            return events.append(.shortened(name, shorter))
        }
        findings[index].take(shorter: shorter)
        events.append(.seenAgain(findings[index]))
    }

    private mutating func settle(_ investigation: Investigation, of inquiry: Inquiry) {
        guard let verdict = investigation.verdict else { return }
        if let name = inquiry.finding { return settleShorter(investigation, verdict, of: name) }
        looked[investigation.signal, default: 0] += 1
        guard verdict.isFinding else {
            setApart(
                ApartSignal(
                    signal: investigation.signal, verdict: verdict,
                    observation: investigation.observation, script: investigation.script,
                    rate: investigation.rate, firstCase: inquiry.record?.index))
            return
        }
        keep(
            FuzzFinding(
                investigation, verdict: verdict, firstCase: inquiry.record?.index,
                isFresh: options.isFresh))
    }

    private mutating func setApart(_ signal: ApartSignal) {
        if let index = apart.firstIndex(where: {
            $0.signal == signal.signal && $0.verdict == signal.verdict
        }) {
            apart[index].count += 1
        } else if apart.count < 1000 {
            apart.append(signal)
            events.append(.apart(signal))
        }
    }

    /// One bug is one bucket: what another one explains, now that it is short, is put to it.
    private mutating func keep(_ finding: FuzzFinding) {
        if let index = findings.firstIndex(where: { $0.isSameBug(as: finding) }) {
            findings[index].signals.formUnion(finding.signals)
            findings[index].count += 1
            findings[index].lastCase = finding.firstCase ?? findings[index].lastCase
            if finding.isMinimised,
                finding.script.steps.count < findings[index].script.steps.count
            {
                findings[index].take(shorter: finding)
            }
            events.append(.seenAgain(findings[index]))
            return
        }
        var finding = finding
        for index in findings.indices
        where !findings[index].signals.isDisjoint(with: finding.signals) {
            finding.related.append(findings[index].name)
            findings[index].related.append(finding.name)
            events.append(.seenAgain(findings[index]))
        }
        findings.append(finding)
        events.append(.found(finding))
    }

    // MARK: Known findings

    private mutating func receiveKnown(_ index: Int, _ counted: [Observation], _ isJudged: Bool) {
        guard let over = knownRuns.receive(index, isJudged ? counted : nil) else { return }
        fates[over.finding.name] = over.fate
        events.append(.known(over.finding.name, over.fate))
        guard !over.finding.isMinimised, ending == nil, let shown = over.shown else { return }
        shorten(over.finding.name, over.finding.script, showing: shown)
    }
}

extension Campaign.Inquiry {
    fileprivate func isAbout(_ signal: Signal) -> Bool {
        observations.contains { Signal($0) == signal }
    }
}
