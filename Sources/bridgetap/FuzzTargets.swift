import Capture
import Fuzz
import Network
import PhoneBridge
import Replay

/// A campaign against implementations over the network: a runner a job, all on one loop.
final class FuzzTargets {
    private let desk: FuzzDesk
    private let loop: UVLoop
    private var runners: [(runner: TargetRunner, isBusy: Bool)] = []
    private var screen: FuzzScreen
    private var interruptions = 0
    private var isOver = false
    private var fault: (any Error)?
    private var ticks: ScheduledAction?

    init(
        _ desk: FuzzDesk, target: TargetOptions, profile: Profile, jobs: Int, isJSON: Bool
    ) throws {
        self.desk = desk
        screen = FuzzScreen(isJSON: isJSON)
        loop = try Self.makeLoop()
        var options = TargetRunner.Options()
        options.profile = profile
        options.tool = Version.tool
        for job in 1...max(1, jobs) {
            runners.append((TargetRunner(target, options: options, on: loop, job: job), false))
        }
    }

    static func makeLoop() throws -> UVLoop {
        do {
            return try UVLoop()
        } catch {
            throw Failure(.internalFault, "cannot start the event loop: \(error)")
        }
    }

    /// Runs it to its end.
    func run() throws -> (summary: CampaignSummary, novel: [NovelCase]) {
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) { [weak self] in self?.interrupt() }
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
        tick()
        pump()
        loop.run()
        ProcessStreams.showStatus(nil)
        try desk.finish()
        if let fault = fault ?? desk.fault { throw fault }
        return desk.outcome
    }

    /// The first time it ends behind the cases under way, the second time now.
    private func interrupt() {
        interruptions += 1
        desk.stop()
        if interruptions == 1 {
            ProcessStreams.remark(.note, "ending behind the cases under way; again to end now")
            pump()
        } else {
            finish()
        }
    }

    /// Gives each idle runner something to do.
    private func pump() {
        guard !isOver else { return }
        for index in runners.indices where !runners[index].isBusy {
            switch desk.next() {
            case .run(let job):
                runners[index].isBusy = true
                runners[index].runner.run(
                    job.script, isFresh: job.isFresh, keepsSession: job.keepsSession
                ) { [weak self] outcome in
                    guard let self, !isOver else { return }
                    runners[index].isBusy = false
                    desk.receive(job, outcome)
                    pump()
                }
            case .wait: return
            case .over: return finish()
            }
        }
    }

    private func tick() {
        guard !isOver else { return }
        let status = desk.status
        if screen.isDue(status.elapsed) {
            do {
                try screen.show(status)
            } catch {
                fault = error
                finish()
                return
            }
        }
        ticks = loop.schedule(after: 250 * nanosecondsPerMillisecond) { [weak self] in self?.tick()
        }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        ticks?.cancel()
        var open = runners.count
        for (runner, _) in runners {
            runner.end { [loop] in
                open -= 1
                if open == 0 { loop.stop() }
            }
        }
    }
}

/// One target, run script by script, for who waits for each outcome.
final class FuzzTarget {
    private enum Kind {
        case simulated(SimulatedTarget)
        case real(TargetRunner, UVLoop)
    }

    private let kind: Kind
    /// Whether a signal wanted it to end.
    private(set) var isInterrupted = false
    /// The simulated target's runs; each is another.
    private var runs = 0

    init(_ options: FuzzCommandOptions, profile: Profile) throws {
        guard !options.isSimulated else {
            kind = .simulated(options.simulatedTarget(profile))
            Interruption.listen()
            return
        }
        let loop = try FuzzTargets.makeLoop()
        var running = TargetRunner.Options()
        running.profile = profile
        running.tool = Version.tool
        let runner = TargetRunner(try options.targetOptions(), options: running, on: loop)
        kind = .real(runner, loop)
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) { [weak self] in
                    self?.isInterrupted = true
                    loop.stop()
                }
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
    }

    /// Whether it knows nothing of the runs before.
    var canBeFresh: Bool {
        switch kind {
        case .simulated: true
        case .real(let runner, _): runner.canBeFresh
        }
    }

    /// Runs a script; nil where a signal came first.
    func outcome(of script: FuzzScript, keepsSession: Bool = false) -> CaseOutcome? {
        switch kind {
        case .simulated(let target):
            if Interruption.isRequested { isInterrupted = true }
            guard !isInterrupted else { return nil }
            runs += 1
            return target.outcome(of: script, run: runs, keepsSession: keepsSession)
        case .real(let runner, let loop):
            guard !isInterrupted else { return nil }
            var outcome: CaseOutcome?
            let run = runner.run(script, isFresh: true, keepsSession: keepsSession) {
                outcome = $0
                loop.stop()
            }
            loop.run()
            if outcome == nil { run.cancel() }
            return outcome
        }
    }

    /// Ends it.
    func end() {
        guard case .real(let runner, let loop) = kind else { return }
        var isOver = false
        runner.end {
            isOver = true
            loop.stop()
        }
        if !isOver { loop.run() }
    }
}
