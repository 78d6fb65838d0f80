package import Wire

/// Looks into one thing that a script has shown: does it come again on fresh targets, does the same
/// exchange without the mutation pass, and what is the shortest script that shows it.
///
/// It is a pure machine that asks one question at a time; whoever holds it runs the scripts.
package struct Investigation: Sendable {
    /// A script to be run, and why.
    package struct Question: Sendable {
        package var script: FuzzScript
        package var reason: Reason
    }

    /// Why a script is run.
    package enum Reason: Sendable, Hashable {
        /// Repeat k of n.
        case confirm(Int, Int)
        /// The exchange without the mutation.
        case control
        /// Does a shorter script show it too?
        case minimise
        /// Repeat k of n of the minimised script.
        case finalConfirm(Int, Int)
        /// What else does the minimised script show, with a look at the target behind it?
        case surroundings
    }

    /// What a run has shown.
    package enum Answer: Sendable {
        /// Observations that count.
        case judged([Observation], Evidence)
        /// There was no target to be judged: the run says nothing.
        case void
    }

    /// What a run leaves to be looked at.
    package struct Evidence: Sendable, Equatable {
        /// The session that took place: NDJSON.
        package var session: Bytes = []
        /// The last lines that the target wrote, where it was started for it.
        package var output: [String] = []

        package init(session: Bytes = [], output: [String] = []) {
            self.session = session
            self.output = output
        }

        package init(_ outcome: CaseOutcome) {
            self.init(session: outcome.session, output: outcome.output)
        }
    }

    /// How often it came.
    package struct Rate: Sendable, Hashable, CustomStringConvertible {
        package var hits: Int
        package var runs: Int

        package init(_ hits: Int, of runs: Int) {
            self.hits = hits
            self.runs = runs
        }

        /// Whether it came each time.
        var isFull: Bool { hits == runs }

        package var description: String { "\(hits)/\(runs)" }
    }

    /// How it ended.
    package enum Verdict: Sendable, Hashable {
        /// It comes again, and the control passes.
        case confirmed
        /// Seen once with evidence; the repeats say how often it comes.
        case keptAsSeen
        /// It comes again without any mutation as well.
        case withoutMutation
        /// It came again, but too seldom.
        case flaky
        /// It never came again.
        case unconfirmed
        /// The target was not there, or time ran out before it was clear.
        case undecided

        /// Whether it is a finding.
        package var isFinding: Bool { self == .confirmed || self == .keptAsSeen }
    }

    /// How much is asked.
    package struct Settings: Sendable {
        /// Repeats on fresh targets: n.
        package var repeats = 3
        /// So many of them have to show it: k.
        package var needed = 2
        /// Repeats of the minimised script, of which as large a part has to show it: more where they
        /// cost nothing.
        package var finalRepeats = 3
        /// Questions of a minimisation at most.
        package var maximumQuestions = 600

        package init() {}
    }

    package let signal: Signal
    /// The script that showed it first.
    package let original: FuzzScript
    /// The best script so far, with what it showed and what it left.
    package private(set) var script: FuzzScript
    package private(set) var observation: Observation
    package private(set) var evidence = Evidence()
    /// The session of the control; empty where none was needed.
    package private(set) var control: Bytes = []
    package private(set) var rate = Rate(0, of: 0)
    package private(set) var isMinimised = false
    /// What the minimised script and a look at the target show together.
    package private(set) var signals: Set<Signal>
    /// Nil while it is under way.
    package private(set) var verdict: Verdict?
    /// Questions of the minimisation.
    package var questions: Int { minimiser?.questions ?? 0 }

    private let settings: Settings
    private var phase = Phase.confirm
    private var minimiser: Minimiser?
    private var hits = 0
    private var runs = 0
    private var voids = 0
    /// Runs in a row in which the shorter script that is asked about has shown it.
    private var shows = 0
    /// What was asked for last: for `control` the script whose control it is.
    private var pending: FuzzScript?
    private var pendingEvidence = Evidence()
    private var pendingObservation: Observation?
    /// Controls that are known to pass.
    private var passedControls: Set<FuzzScript> = []
    private var confirmed: Confirmed?
    /// Longer scripts that were accepted, ever closer to the shortest, with the sessions of their
    /// controls.
    private var longer: [(script: FuzzScript, control: Bytes)] = []
    /// The one that came most often, the shortest of them, with the session of its control.
    private var best: (shown: Confirmed, control: Bytes)?

    /// What was confirmed before it was made shorter.
    private struct Confirmed: Sendable {
        var script: FuzzScript
        var observation: Observation
        var evidence: Evidence
        var rate: Rate
    }

    private enum Phase: Sendable {
        case confirm
        case control
        case minimise
        /// The control of a shorter script.
        case minimiseControl
        case finalConfirm
        case surroundings
    }

    /// So many runs in a row may say nothing.
    private static let maximumVoids = 3

    package init(
        _ script: FuzzScript, showed observation: Observation, settings: Settings
    ) {
        original = script
        self.script = script
        self.observation = observation
        signal = Signal(observation)
        signals = [signal]
        self.settings = settings
    }

    /// The script to be run next; nil when there is a verdict.
    package func next() -> Question? {
        guard verdict == nil else { return nil }
        switch phase {
        case .confirm:
            return Question(
                script: original, reason: .confirm(runs + 1, settings.repeats))
        case .control:
            return Question(script: script.control, reason: .control)
        case .minimise:
            return pending.map { Question(script: $0, reason: .minimise) }
        case .minimiseControl:
            return pending.map { Question(script: $0.control, reason: .control) }
        case .finalConfirm:
            return Question(
                script: script, reason: .finalConfirm(runs + 1, settings.finalRepeats))
        case .surroundings:
            return Question(script: surroundings, reason: .surroundings)
        }
    }

    /// Takes what came of the question.
    package mutating func receive(_ answer: Answer) {
        guard verdict == nil else { return }
        guard case .judged(let observations, let evidence) = answer else {
            voids += 1
            if voids >= Self.maximumVoids { conclude() }
            return
        }
        voids = 0
        let shown = observations.first { Signal($0) == signal }
        switch phase {
        case .confirm: confirm(shown, evidence)
        case .control: takeControl(shown, evidence)
        case .minimise: takeShorter(shown, evidence)
        case .minimiseControl: takeShorterControl(shown, evidence)
        case .finalConfirm: confirmFinally(shown, evidence)
        case .surroundings:
            signals.formUnion(observations.map(Signal.init))
            verdict = .confirmed
        }
    }

    /// Ends it with what is known: there is no time for more.
    package mutating func conclude() {
        guard verdict == nil else { return }
        if let best, isOftenEnough(best.shown.rate) {
            takeBest(best)
            verdict = .confirmed
        } else if let confirmed {
            // The repeats of what is shorter may not be through.
            if rate.runs == 0 { rate = confirmed.rate }
            verdict = .confirmed
        } else {
            rate = Rate(hits, of: runs)
            verdict = Judge.isSafetyBreach(observation) ? .keptAsSeen : .undecided
        }
    }

    // MARK: Confirmation

    private mutating func confirm(_ shown: Observation?, _ evidence: Evidence) {
        runs += 1
        if let shown {
            hits += 1
            if hits == 1 { take(original, shown, evidence) }
        }
        guard runs == settings.repeats else { return }
        rate = Rate(hits, of: runs)
        if hits >= settings.needed || Judge.isSafetyBreach(observation) {
            if original.mutations.isEmpty {
                // Nothing can be left out: it is the exchange itself.
                verdict = hits >= settings.needed ? .withoutMutation : .keptAsSeen
            } else {
                phase = .control
                runs = 0
            }
        } else {
            verdict = hits == 0 ? .unconfirmed : .flaky
        }
    }

    private mutating func takeControl(_ shown: Observation?, _ evidence: Evidence) {
        control = evidence.session
        guard shown == nil else {
            verdict = .withoutMutation
            return
        }
        // It has to pass as often as the script may fail.
        runs += 1
        guard runs == settings.needed else { return }
        passedControls.insert(original.control)
        guard rate.hits >= settings.needed else {
            verdict = .keptAsSeen
            return
        }
        guard settings.maximumQuestions > 0 else {
            verdict = .confirmed
            return
        }
        confirmed = Confirmed(
            script: script, observation: observation, evidence: self.evidence, rate: rate)
        minimiser = Minimiser(script, limit: settings.maximumQuestions)
        askShorter()
    }

    // MARK: Minimising

    private mutating func askShorter() {
        shows = 0
        pending = minimiser?.next()
        if pending == nil {
            isMinimised = true
            phase = .finalConfirm
            hits = 0
            runs = 0
            rate = Rate(0, of: 0)
        } else {
            phase = .minimise
        }
    }

    private mutating func takeShorter(_ shown: Observation?, _ evidence: Evidence) {
        guard let shown, let candidate = pending else {
            minimiser?.answer(false)
            askShorter()
            return
        }
        pendingObservation = shown
        pendingEvidence = evidence
        // What always came must not become a matter of chance.
        shows += 1
        guard shows >= (rate.isFull ? settings.repeats : 1) else { return }
        if passedControls.contains(candidate.control) {
            accept()
        } else {
            phase = .minimiseControl
        }
    }

    private mutating func takeShorterControl(_ shown: Observation?, _ evidence: Evidence) {
        guard shown == nil, let candidate = pending else {
            // What the control needs was dropped.
            minimiser?.answer(false)
            askShorter()
            return
        }
        passedControls.insert(candidate.control)
        control = evidence.session
        accept()
    }

    /// So many longer scripts are kept.
    private static let maximumLonger = 8

    private mutating func accept() {
        if let pending, let pendingObservation {
            longer.append((script, control))
            if longer.count > Self.maximumLonger {
                // The first ones differ most from the shortest.
                for index in [5, 3, 1] { longer.remove(at: index) }
            }
            take(pending, pendingObservation, pendingEvidence)
        }
        minimiser?.answer(true)
        askShorter()
    }

    private mutating func take(
        _ script: FuzzScript, _ observation: Observation, _ evidence: Evidence
    ) {
        self.script = script
        self.observation = observation
        self.evidence = evidence
    }

    private mutating func restore(_ best: Confirmed) {
        take(best.script, best.observation, best.evidence)
        rate = best.rate
        isMinimised = false
    }

    private mutating func confirmFinally(_ shown: Observation?, _ evidence: Evidence) {
        runs += 1
        if let shown {
            hits += 1
            take(script, shown, evidence)
        }
        guard runs == settings.finalRepeats else { return }
        rate = Rate(hits, of: runs)
        if hits > (best?.shown.rate.hits ?? 0) {
            let shown = Confirmed(
                script: self.script, observation: observation, evidence: self.evidence, rate: rate)
            best = (shown, control)
        }
        if confirmed?.rate.isFull == true, !rate.isFull, let next = longer.popLast() {
            // What always came has come to be a matter of chance: with a step more it may not be.
            (script, control) = next
            hits = 0
            runs = 0
            rate = Rate(0, of: 0)
        } else if let best, isOftenEnough(best.shown.rate) {
            takeBest(best)
            phase = .surroundings
        } else {
            // It got shorter by chance.
            if let confirmed { restore(confirmed) }
            verdict = .confirmed
        }
    }

    private mutating func takeBest(_ best: (shown: Confirmed, control: Bytes)) {
        take(best.shown.script, best.shown.observation, best.shown.evidence)
        (rate, control) = (best.shown.rate, best.control)
    }

    private func isOftenEnough(_ rate: Rate) -> Bool {
        rate.hits * settings.repeats >= settings.needed * rate.runs
    }

    /// How long after the minimised script its consequences are waited for.
    private static let aftermath: Int64 = 15_000_000_000

    /// The minimised script with the look at the target that stood behind the original one.
    private var surroundings: FuzzScript {
        var script = script
        let tail = original.steps.reversed().prefix { step in
            guard step.mark == nil else { return false }
            switch step.action {
            case .heal, .wait, .alive, .bystander: return true
            case .request(let request): return request.method == "GET"
            default: return false
            }
        }
        script.steps.append(FuzzStep(.wait(Self.aftermath)))
        script.steps += tail.reversed()
        return script
    }
}
