import BridgeProxy
import Capture
package import Network
package import PhoneBridge
package import Replay
import Simulator
import Wire

/// Runs scripts against an implementation over the network: started by us, restarted by a command, or
/// kept running by others.
///
/// A board that was started is kept over several cases, since a start costs more than a case; what
/// has to be sure is run on a fresh one. An app comes to us once for each case.
package final class TargetRunner: CaseRunner {
    /// How a target is used.
    package struct Options: Sendable {
        package var profile = Profile.contract
        package var contract = Contract.current
        /// The first line's `tool` of sessions that are kept.
        package var tool = "bridgetap"
        /// A board that was started is started anew after so many cases.
        package var casesPerStart = 50
        /// No case takes longer, in nanoseconds of the protocol's time.
        package var maximumDuration = 1800 * nanosecondsPerSecond
        /// Rounds of a script end after this time, in nanoseconds.
        package var roundsTime = 900 * nanosecondsPerSecond

        package init() {}
    }

    /// Told each line that a spawned target writes.
    package var onOutput: ((TargetOutput.Line) -> Void)? {
        get { target.onOutput }
        set { target.onOutput = newValue }
    }
    /// How often the target was started.
    package private(set) var starts = 0

    private let target: Target
    private let loop: any EventLoop
    private let options: Options
    private let checker: RuleChecker
    private var isUp = false
    /// Why it is no use any more, in words.
    private var death: TargetError?
    private var casesSinceStart = 0
    private var current: Case?
    /// Runs so far, and when the first one could begin, in seconds since 1970.
    private var runs = 0
    private let start: Int64
    /// So long a queue may take to be emptied, in nanoseconds.
    private static let drainTime = 10 * nanosecondsPerSecond
    /// What the latest case may have left in the queue, and what takes it out.
    private var leftovers: FuzzScript?
    private var drainage: ScriptRun?
    /// What the target has taken since it was started.
    private var growth = GrowthWatch()

    package init(
        _ target: TargetOptions, options: Options, on loop: any EventLoop, job: Int = 1
    ) {
        self.target = Target(target, on: loop, job: job)
        self.loop = loop
        self.options = options
        start = loop.wallClock / nanosecondsPerSecond
        checker = RuleChecker(
            contract: options.contract, profile: options.profile, counts: false)
        self.target.onDeath = { [weak self] error in self?.died(error) }
    }

    package var canBeFresh: Bool { target.canRestart }

    // MARK: A case

    private final class Case: Cancellable {
        /// What is run now: of several rounds, each has other ids.
        var script: FuzzScript
        let whole: FuzzScript
        /// Counted from 1.
        var round = 1
        var endsRoundsAt: Int64 = .max
        /// What the rounds before have shown.
        var seen: [Observation] = []
        var isEnding = false
        let keepsSession: Bool
        var completion: ((CaseOutcome) -> Void)?
        var run: ScriptRun?
        var recording: CaseRecording?
        var timer: ScheduledAction?
        var startedAt: Int64 = 0

        init(
            _ script: FuzzScript, keepsSession: Bool,
            _ completion: @escaping (CaseOutcome) -> Void
        ) {
            self.script = script
            whole = script
            self.keepsSession = keepsSession
            self.completion = completion
        }

        func cancel() {
            completion = nil
            timer?.cancel()
            run?.stop()
        }
    }

    @discardableResult
    package func run(
        _ script: FuzzScript, isFresh: Bool, keepsSession: Bool,
        _ completion: @escaping (CaseOutcome) -> Void
    ) -> any Cancellable {
        runs += 1
        let fresh =
            target.canRestart
            ? script
            : FreshNames(start: start, run: runs, contract: options.contract)
                .applied(to: script)
        let current = Case(fresh, keepsSession: keepsSession, completion)
        self.current = current
        if isFresh || script.rounds > 1 || casesSinceStart >= casesPerStart { isStale = true }
        if script.rounds > 1 { current.endsRoundsAt = loop.now + options.roundsTime }
        loop.schedule(at: loop.now) { [weak self] in self?.prepare(current) }
        return current
    }

    /// Whether the next case needs a target that was started anew.
    private var isStale = false

    /// What may be growing is followed for longer.
    private var casesPerStart: Int {
        options.casesPerStart * (growth.isSuspicious ? Self.patience : 1)
    }

    private static let patience = 4

    private func prepare(_ current: Case) {
        guard current.completion != nil else { return }
        if case .listen(let endpoint) = target.options.reach {
            return listen(current, endpoint)
        }
        guard isUp, death == nil, !(isStale && target.canRestart), let place = target.endpoint
        else { return start(current) }
        drain(place) { [weak self] in
            guard current.completion != nil else { return }
            self?.begin(current, to: place)
        }
    }

    /// Takes what the case before has left out of the queue of a board that goes on running.
    private func drain(_ place: Endpoint, _ done: @escaping () -> Void) {
        guard let leftovers else { return done() }
        self.leftovers = nil
        let run = ScriptRun(leftovers, on: loop, driver: nil, options: playing)
        drainage = run
        var timer: ScheduledAction?
        let finish = { [weak self] in
            guard let self, drainage === run else { return }
            drainage = nil
            timer?.cancel()
            done()
        }
        run.onEnd = finish
        // One that does not answer is looked at by the case.
        timer = loop.schedule(after: Self.drainTime) {
            run.stop()
            finish()
        }
        run.start(to: place)
    }

    private var playing: ScriptOptions {
        var playing = ScriptOptions(contract: options.contract)
        playing.timeScale = options.profile.timeScale
        if case .dial(let url) = target.options.reach, url.path != "/" {
            playing.basePath = url.path
        }
        return playing
    }

    /// Brings a fresh target up.
    private func start(_ current: Case, listeningOn port: UInt16? = nil) {
        let wasUp = isUp || death != nil
        isUp = false
        death = nil
        isStale = false
        casesSinceStart = 0
        growth = GrowthWatch()
        guard wasUp else { return reallyStart(current, port) }
        target.stop { [weak self] _ in self?.reallyStart(current, port) }
    }

    private func reallyStart(_ current: Case, _ port: UInt16?) {
        starts += 1
        target.start(listeningOn: port, platform: current.script.platform) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error):
                // What there is of it waits for its end.
                death = error
                finish(current, lost: error)
            case .success(let place):
                isUp = true
                if case .dial = target.options.reach {
                    begin(current, to: place)
                } else {
                    current.run?.startServing()
                }
            }
        }
    }

    private func makeRun(_ current: Case) -> ScriptRun? {
        let recording: CaseRecording
        do throws(OutputError) {
            recording = try CaseRecording(
                current.script, on: loop, contract: options.contract, checker: checker,
                tool: options.tool, keepsSession: current.keepsSession)
        } catch {
            finish(current, trouble: "\(error)")
            return nil
        }
        let playing = self.playing
        let gate: EffectGate? =
            switch target.options.effects(isReferencePeer: false) {
            case .none: EffectGate(level: .none, contract: options.contract)
            case .own: EffectGate(level: .own, contract: options.contract)
            case .all: nil
            }
        let recorder = recording.recorder
        let run = ScriptRun(
            current.script, on: TappedLoop(loop, recorder: recorder), driver: target,
            options: playing, gate: gate)
        run.onOutcome = { id, response in recorder.outcome(of: id, response) }
        run.onHole = { recording.noteHole() }
        run.onEnd = { [weak self] in self?.finish(current) }
        current.run = run
        current.recording = recording
        current.startedAt = loop.now
        let limit = playing.scaled(options.maximumDuration)
        current.timer = loop.schedule(after: limit) { [weak self] in
            self?.finish(current, trouble: "the case did not come to its end")
        }
        return run
    }

    private func begin(_ current: Case, to place: Endpoint) {
        casesSinceStart += 1
        makeRun(current)?.start(to: place)
    }

    private func listen(_ current: Case, _ endpoint: Endpoint) {
        guard let address = endpoint.address else {
            return finish(
                current, trouble: "to listen takes a numeric address, not \(endpoint.host)")
        }
        guard let run = makeRun(current) else { return }
        let bound: SocketAddress
        do throws(NetworkError) {
            bound = try run.listen(on: address)
        } catch {
            return finish(current, trouble: "cannot listen on \(address): \(error)")
        }
        // One that others keep running comes by itself, again and again.
        if isUp, target.options.launch == .byOthers {
            run.startServing()
        } else {
            start(current, listeningOn: bound.port)
        }
    }

    // MARK: The end of a case

    private func died(_ error: TargetError) {
        death = error
        guard let current, current.completion != nil else { return }
        // A turn later, so that what it said before its end is on record.
        loop.schedule(after: 50 * nanosecondsPerMillisecond) { [weak self] in
            self?.finish(current)
        }
    }

    private func finish(_ current: Case, lost error: TargetError) {
        var outcome = CaseOutcome()
        outcome.target = .lost("\(error)")
        outcome.output = error.output.last(CaseOutcome.outputLines)
        complete(current, outcome)
    }

    private func finish(_ current: Case, trouble words: String) {
        var outcome = CaseOutcome()
        outcome.target = .trouble(words)
        complete(current, outcome)
    }

    private func finish(_ current: Case) {
        guard !current.isEnding, let run = current.run, let recording = current.recording else {
            return
        }
        current.isEnding = true
        current.timer?.cancel()
        var outcome = recording.outcome(of: run, profile: options.profile)
        let scale = max(options.profile.timeScale, 1e-6)
        outcome.duration = Int64(min(Double(loop.now - current.startedAt) * scale, 9e18))
        outcome.output = target.output.last(CaseOutcome.outputLines)
        if let death {
            outcome.target = .died("\(death)")
            outcome.observations.insert(.process("\(death)"), at: 0)
        }
        measure(current, outcome)
    }

    // MARK: What the target takes

    /// Whether a process lives on from case to case, and can be looked at.
    private var canMeasure: Bool {
        if case .listen = target.options.reach, target.canRestart { return false }
        return target.canMeasure
    }

    private func measure(_ current: Case, _ outcome: CaseOutcome) {
        guard canMeasure, case .well = outcome.target else { return conclude(current, outcome) }
        target.measure { [weak self] result in
            guard let self, current.completion != nil else { return }
            var outcome = outcome
            switch result {
            case .failure(let error):
                if let death {
                    outcome.target = .died("\(death)")
                    outcome.observations.insert(.process("\(death)"), at: 0)
                } else {
                    outcome.target = .trouble("\(error)")
                }
            case .success(let measure):
                if let before = growth.pid, let pid = measure.pid, pid != before {
                    let words = "its process \(before) is gone, and \(pid) is there"
                    growth = GrowthWatch()
                    outcome.target = .died(words)
                    outcome.observations.insert(.process(words), at: 0)
                }
                outcome.observations += growth.receive(measure)
            }
            goOn(current, outcome)
        }
    }

    /// Begins the next round, where there is one.
    private func goOn(_ current: Case, _ outcome: CaseOutcome) {
        var outcome = outcome
        let rounds = current.whole.rounds
        guard rounds > 1, case .well = outcome.target else { return conclude(current, outcome) }
        for observation in outcome.observations
        where !current.seen.contains(where: { $0.check == observation.check }) {
            current.seen.append(observation)
        }
        guard current.round < rounds, loop.now < current.endsRoundsAt,
            !outcome.observations.contains(where: \.isGrowth), let place = target.endpoint
        else {
            outcome.observations = current.seen
            return conclude(current, outcome)
        }
        current.round += 1
        current.script = current.whole.round(
            current.round, contract: options.contract, profile: options.profile)
        current.isEnding = false
        if case .listen(let endpoint) = target.options.reach {
            listen(current, endpoint)
        } else {
            begin(current, to: place)
        }
    }

    private func conclude(_ current: Case, _ outcome: CaseOutcome) {
        var outcome = outcome
        if current.whole.rounds > 1, !canMeasure {
            outcome.target = .trouble(
                "nobody can tell what the target's process takes: --spawn it, or --probe it")
        }
        // What is odd about a target is not to be blamed on the next case.
        if !outcome.observations.isEmpty { isStale = true }
        complete(current, outcome)
    }

    private func complete(_ current: Case, _ outcome: CaseOutcome) {
        let completion = current.completion
        if !target.canRestart {
            leftovers = QueueDrain.script(after: current.script, contract: options.contract)
        }
        current.cancel()
        if self.current === current { self.current = nil }
        guard case .listen = target.options.reach, target.canRestart, let completion else {
            completion?(outcome)
            return
        }
        // An app that was started for this case must not come to the next one.
        isUp = false
        death = nil
        target.stop { _ in completion(outcome) }
    }

    package func end(_ completion: @escaping () -> Void) {
        current?.cancel()
        current = nil
        drainage?.stop()
        target.stop { _ in completion() }
    }
}

extension Observation {
    /// A target that ended by itself (U2).
    static func process(_ words: String) -> Observation {
        Observation(
            check: "process", rating: .sure, section: "fuzzing plan, U2",
            demand: "Whatever is sent, the process of the peer goes on", text: words,
            isUniversal: true)
    }
}
