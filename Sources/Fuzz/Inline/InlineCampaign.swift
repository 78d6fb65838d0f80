package import Capture
import Network
import PhoneBridge

/// Decides which live messages are mutated, and what comes of it (`fuzz --inline`).
///
/// It is a pure machine over messages, observations and time. One mutation is under way at a time,
/// so that what is seen behind it can be told from what others show; what it shows first is done
/// again to later messages of its class, and then some of them are left alone: that is the control.
package struct InlineCampaign: Sendable {
    /// How much a session is asked to bear; times are nanoseconds of the protocol's time.
    package struct Budget: Sendable {
        /// Nothing is mutated at first: what is seen then has no mutation for a reason.
        package var warmUp = 20 * nanosecondsPerSecond
        /// What is seen so long behind a mutation belongs to it; the next one is not before.
        ///
        /// An echo that is missing shows after a heartbeat's interval and 15 s.
        package var settling = 25 * nanosecondsPerSecond
        /// No answer to a command is told so long behind its time-out.
        package var silence = 34 * nanosecondsPerSecond
        /// The least of it in the machine's time, for targets whose time is scaled.
        package var leastSilence = 9 * nanosecondsPerSecond
        /// Mutations that end a connection are so far apart.
        package var betweenEnds = 120 * nanosecondsPerSecond
        /// A message of a class is waited for so long, to do the same to it again.
        package var patience = 600 * nanosecondsPerSecond
        /// What a mutation may still show when its time is over, in words that do not count.
        package var aftermath = 180 * nanosecondsPerSecond
        /// Mutations of the plan at most; nil for no limit.
        package var cases: Int?

        package init() {}
    }

    /// What has come of it.
    package enum Event: Sendable {
        case found(FuzzFinding)
        case apart(ApartSignal, of: Side)
    }

    /// What is under way.
    package struct Case: Sendable {
        package var reason: Reason
        /// The side that got the message.
        package var judged: Side
        package var startedAt: Int64
        package var until: Int64
        /// What was seen of that side since.
        package var observations: [Observation] = []
        fileprivate var script: FuzzScript
        fileprivate var recipe: InlineRecipe
        fileprivate var kind: String
    }

    /// Why a message is mutated, or looked at.
    package enum Reason: Sendable, Hashable {
        /// Mutation of the plan, by its number.
        case explore(Int)
        /// The same once more.
        case again
        /// A message of the same class is left alone.
        case control
    }

    package let judge: Judge
    private let plan: InlinePlan
    private let budget: Budget
    private let scale: Double
    private let start: Int64
    package private(set) var current: Case?
    package private(set) var findings: [FuzzFinding] = []
    package private(set) var apart: [Side: [ApartSignal]] = [:]
    /// What was done to each side, as far as it was mutated.
    package private(set) var figures: [Side: CampaignFigures] = [:]
    /// Mutations that were to go to a phone and may not.
    package private(set) var refused = 0
    /// Messages that could have been mutated, whether they were or not.
    package private(set) var messages = 0
    private var numbers: [String: Int] = [:]
    private var inquiry: Inquiry?
    private var waiting: [Inquiry] = []
    private var looked: [Signal: Int] = [:]
    private var lastEnd: Int64 = .min
    private var lastMutation: Int64 = .min
    private var events: [Event] = []
    private var count = 0

    private struct Inquiry: Sendable {
        var investigation: Investigation
        var recipe: InlineRecipe
        var kind: String
        var judged: Side
        var number: Int
        var since: Int64
    }

    /// Things that wait to be looked into.
    private static let maximumWaiting = 8
    /// The same thing is looked into so often, if it was not clear.
    private static let maximumLooks = 2
    /// Signals that are kept apart of each side.
    private static let maximumApart = 200

    /// - Parameters:
    ///   - timeScale: every duration of the target is divided by it.
    ///   - now: nanoseconds of a clock that never falls.
    package init(
        _ plan: InlinePlan, judge: Judge, budget: Budget = Budget(), timeScale: Double = 1,
        now: Int64
    ) {
        self.plan = plan
        self.judge = judge
        self.budget = budget
        scale = max(timeScale, 1e-6)
        start = now
    }

    /// What has come of it since the last call.
    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// Mutations of the plan that were made.
    package var cases: Int { count }

    /// Whether all mutations that were asked for are over.
    package var isDone: Bool {
        guard let cases = budget.cases else { return false }
        return count >= cases && current == nil && inquiry == nil && waiting.isEmpty
    }

    private func scaled(_ time: Int64) -> Int64 {
        Int64(max(0, min(Double(time) / scale, 4e18)))
    }

    // MARK: Messages

    /// What is done to a message; nil where it passes as it came.
    ///
    /// - Parameter mayStrike: whether the mutation can be made; what cannot is not tried again.
    package mutating func consider(
        _ message: LiveMessage, now: Int64, mayStrike: (InlineStrike) -> Admission
    ) -> InlineStrike? {
        let kind = message.kind(plan.contract)
        let number = numbers[kind] ?? 0
        numbers[kind] = number + 1
        messages += 1
        guard current == nil else { return nil }
        if inquiry != nil { return look(message, kind, number, now, mayStrike) }
        guard now - start >= scaled(budget.warmUp), budget.cases.map({ count < $0 }) ?? true,
            let strike = plan.strike(message, number: number),
            admits(strike, now, mayStrike)
        else { return nil }
        begin(strike, message, kind, .explore(count), now)
        figures[message.from.peer, default: CampaignFigures()].add(
            CaseRecord(index: count, mutations: [strike.mutation.id]))
        count += 1
        return strike
    }

    /// Whether a mutation can be made on the link as it is.
    package enum Admission: Sendable {
        case allowed
        /// It may not go to the phone (`--effects`).
        case refused
        /// The connection cannot bear it.
        case unfit
    }

    private mutating func admits(
        _ strike: InlineStrike, _ now: Int64, _ mayStrike: (InlineStrike) -> Admission
    ) -> Bool {
        if strike.endsLink, lastEnd != .min, now - lastEnd < scaled(budget.betweenEnds) {
            return false
        }
        switch mayStrike(strike) {
        case .allowed: return true
        case .refused:
            refused += 1
            return false
        case .unfit: return false
        }
    }

    private mutating func begin(
        _ strike: InlineStrike, _ message: LiveMessage, _ kind: String, _ reason: Reason,
        _ now: Int64
    ) {
        if strike.endsLink { lastEnd = now }
        lastMutation = now
        open(reason, strike.script, strike.recipe, message, kind, strike.lastDelay, now)
    }

    private mutating func open(
        _ reason: Reason, _ script: FuzzScript, _ recipe: InlineRecipe, _ message: LiveMessage,
        _ kind: String, _ delay: Int64, _ now: Int64
    ) {
        // A command's end is seen too, and that no answer came.
        let timeout = scaled(
            min(max(message.timeout ?? 0, 0), 60_000) * nanosecondsPerMillisecond)
        var time = max(scaled(budget.settling), timeout + scaled(5 * nanosecondsPerSecond))
        if case .command = message.sort {
            time = max(time, timeout + max(scaled(budget.silence), budget.leastSilence))
        }
        time += scaled(delay)
        current = Case(
            reason: reason, judged: message.from.peer, startedAt: now, until: now + time,
            script: script, recipe: recipe, kind: kind)
        figures[message.from.peer, default: CampaignFigures()].runs += 1
    }

    /// A message while something is looked into.
    private mutating func look(
        _ message: LiveMessage, _ kind: String, _ number: Int, _ now: Int64,
        _ mayStrike: (InlineStrike) -> Admission
    ) -> InlineStrike? {
        guard let inquiry, inquiry.kind == kind, let question = inquiry.investigation.next() else {
            return nil
        }
        if case .control = question.reason {
            open(.control, question.script, inquiry.recipe, message, kind, 0, now)
            return nil
        }
        guard let strike = plan.again(inquiry.recipe, message, number: number),
            admits(strike, now, mayStrike)
        else { return nil }
        begin(strike, message, kind, .again, now)
        return strike
    }

    // MARK: What is seen

    /// A side did something wrong.
    package mutating func observe(_ observation: Observation, of side: Side, now: Int64) {
        if current?.judged == side {
            current?.observations.append(observation)
            return
        }
        let script = FuzzScript(as: side.peer)
        guard judge.counts(observation, in: script) else { return }
        let signal = Signal(observation)
        guard !findings.contains(where: { $0.signals.contains(signal) && $0.bucket.side == side })
        else { return }
        // What a mutation has done may show late, or by way of the other side.
        let isLate = lastMutation != .min && now - lastMutation < scaled(budget.aftermath)
        setApart(
            ApartSignal(
                signal: signal, verdict: isLate ? .unconfirmed : .withoutMutation,
                observation: observation, script: script, rate: Investigation.Rate(0, of: 0),
                firstCase: nil), of: side)
    }

    private mutating func setApart(_ signal: ApartSignal, of side: Side) {
        var all = apart[side] ?? []
        if let index = all.firstIndex(where: {
            $0.signal == signal.signal && $0.verdict == signal.verdict
        }) {
            all[index].count += 1
        } else if all.count < Self.maximumApart {
            all.append(signal)
            events.append(.apart(signal, of: side))
        }
        apart[side] = all
    }

    // MARK: Time

    /// When something is due; nil for never.
    package var deadline: Int64? {
        current?.until ?? inquiry.map { $0.since + scaled(budget.patience) }
    }

    /// Whether what is under way has had its time.
    package func isDue(_ now: Int64) -> Bool { current.map { $0.until <= now } ?? false }

    /// Ends what is under way.
    ///
    /// - Parameters:
    ///   - observations: those of `current`, with their events numbered as in the evidence.
    ///   - evidence: the session around it.
    package mutating func endCase(
        _ observations: [Observation], _ evidence: Investigation.Evidence, now: Int64
    ) {
        guard let ended = current else { return }
        current = nil
        let script = ended.reason == .control ? ended.script.control : ended.script
        let counted = observations.filter { judge.counts($0, in: script) }
        switch ended.reason {
        case .explore(let number):
            explored(ended, number, counted, evidence, now)
        case .again, .control:
            inquiry?.investigation.receive(.judged(counted, evidence))
            inquiry?.since = now
            settle(now)
        }
    }

    private mutating func explored(
        _ ended: Case, _ number: Int, _ counted: [Observation],
        _ evidence: Investigation.Evidence, _ now: Int64
    ) {
        var seen: Set<Signal> = []
        for observation in counted {
            let signal = Signal(observation)
            guard seen.insert(signal).inserted else { continue }
            if let index = findings.firstIndex(where: {
                $0.bucket.side == ended.judged && $0.signals.contains(signal)
            }) {
                findings[index].count += 1
                findings[index].lastCase = number
                continue
            }
            guard looked[signal, default: 0] < Self.maximumLooks,
                waiting.count < Self.maximumWaiting,
                !waiting.contains(where: { $0.investigation.signal == signal })
            else { continue }
            looked[signal, default: 0] += 1
            var settings = Investigation.Settings()
            settings.maximumQuestions = 0
            waiting.append(
                Inquiry(
                    investigation: Investigation(
                        ended.script, showed: observation, settings: settings),
                    recipe: ended.recipe, kind: ended.kind, judged: ended.judged,
                    number: number, since: now))
        }
        startWaiting(now)
    }

    private mutating func startWaiting(_ now: Int64) {
        guard inquiry == nil, !waiting.isEmpty else { return }
        inquiry = waiting.removeFirst()
        inquiry?.since = now
    }

    /// Ends what is looked into once it is clear, and takes up the next.
    private mutating func settle(_ now: Int64) {
        guard var inquiry else { return }
        if let question = inquiry.investigation.next() {
            switch question.reason {
            case .confirm, .control: return
            // A script is made shorter against one side alone.
            case .minimise, .finalConfirm, .surroundings: inquiry.investigation.conclude()
            }
        }
        self.inquiry = nil
        keep(inquiry, now)
        startWaiting(now)
    }

    private mutating func keep(_ inquiry: Inquiry, _ now: Int64) {
        let investigation = inquiry.investigation
        let verdict = investigation.verdict ?? .undecided
        guard verdict.isFinding else {
            return setApart(
                ApartSignal(
                    signal: investigation.signal, verdict: verdict,
                    observation: investigation.observation, script: investigation.script,
                    rate: investigation.rate, firstCase: inquiry.number), of: inquiry.judged)
        }
        var finding = FuzzFinding(
            investigation, verdict: verdict, firstCase: inquiry.number, isFresh: false)
        // What it takes is what was done; the rest of the session stands around it.
        let marked = FuzzScript(
            as: investigation.script.played,
            investigation.script.steps.filter { $0.mark != nil || $0.action.isCommand })
        finding.bucket = Bucket(
            side: inquiry.judged, signal: investigation.signal,
            kinds: StepKind.kinds(of: marked))
        figures[inquiry.judged, default: CampaignFigures()].lastFinding = now - start
        findings.append(finding)
        events.append(.found(finding))
    }

    /// Time has passed: nothing came that could be looked at.
    package mutating func advance(to now: Int64) {
        guard current == nil, var waited = inquiry,
            now - waited.since >= scaled(budget.patience)
        else { return }
        waited.investigation.conclude()
        inquiry = nil
        keep(waited, now)
        startWaiting(now)
    }

    /// Ends it: what is being looked into is judged by what is known.
    package mutating func stop(now: Int64) {
        current = nil
        let open = [inquiry].compactMap(\.self) + waiting
        inquiry = nil
        waiting = []
        for var left in open {
            left.investigation.conclude()
            keep(left, now)
        }
    }
}

extension FuzzAction {
    /// Whether it is a command, by whatever way.
    fileprivate var isCommand: Bool {
        switch self {
        case .command, .stimulate: true
        default: false
        }
    }
}
