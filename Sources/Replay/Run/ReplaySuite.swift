package import Capture
package import Network
package import PhoneBridge
package import Report

/// Plays one session after the other, or several at a time against a target each.
///
/// Belongs to the thread of its loop.
package final class ReplaySuite {
    /// A session of the suite.
    package struct Entry: Sendable {
        /// The file, as it was given or found.
        package var path: String
        /// The files that what takes place is written to.
        package var outputs: [String]
        /// What may vary, and what the phone has to be brought into.
        package var rules: ComparisonRules

        package init(
            path: String, outputs: [String] = [], rules: ComparisonRules = ComparisonRules()
        ) {
            self.path = path
            self.outputs = outputs
            self.rules = rules
        }
    }

    /// What came of an entry.
    package enum Outcome {
        case compared(ReplayVerdict)
        /// It was left out: the side that would be judged is no real peer in it.
        case unfit(judged: Side)
        /// The session cannot be read.
        case unreadable(LoadedSession.Failure)
        /// The target could not be used, and nothing took place.
        case unreachable(TargetError)
        case cannotWrite(OutputError)
        case cannotListen(SocketAddress, NetworkError)
    }

    private let entries: [Entry]
    private let options: ReplayOptions
    private let target: TargetOptions
    private let loop: any EventLoop
    private let jobs: Int
    private var next = 0
    private var running: [Int: SessionReplay] = [:]
    private var targets: [Int: Target] = [:]
    private var isStopping = false

    /// Told what happens to an entry, in a short line.
    package var onNote: ((Int, String) -> Void)?
    /// Told what a spawned target writes.
    package var onOutput: ((Int, TargetOutput.Line) -> Void)?
    /// Told what came of each entry, in the order in which they end.
    package var onOutcome: ((Int, Outcome, [EffectGate.Remainder]) -> Void)?
    /// Called once when all is over.
    package var onEnd: (() -> Void)?

    /// - Parameter jobs: how many run at a time; each has a target of its own.
    package init(
        _ entries: [Entry], options: ReplayOptions, target: TargetOptions, loop: any EventLoop,
        jobs: Int = 1
    ) {
        self.entries = entries
        self.options = options
        self.target = target
        self.loop = loop
        self.jobs = max(1, jobs)
    }

    /// Begins.
    package func start() {
        for job in 1...max(1, min(jobs, entries.count)) {
            loop.schedule(at: loop.now) { [weak self] in self?.proceed(job) }
        }
    }

    /// Ends what is under way; `onEnd` is called when the targets are gone.
    package func stop() {
        isStopping = true
        for replay in running.values { replay.stop() }
        running = [:]
        for (job, target) in targets {
            target.stop { [weak self] _ in
                self?.targets[job] = nil
                self?.endIfDone()
            }
        }
        endIfDone()
    }

    private func endIfDone() {
        guard targets.isEmpty, running.isEmpty, isStopping || next >= entries.count else { return }
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?()
    }

    private func proceed(_ job: Int) {
        guard !isStopping, next < entries.count else { return endIfDone() }
        let index = next
        next += 1
        let entry = entries[index]
        let session: LoadedSession
        do throws(LoadedSession.Failure) {
            session = try load(entry.path)
        } catch {
            onOutcome?(index, .unreadable(error), [])
            loop.schedule(at: loop.now) { [weak self] in self?.proceed(job) }
            return
        }
        guard session.isFit(toJudge: target.played.peer) else {
            onOutcome?(index, .unfit(judged: target.played.peer), [])
            loop.schedule(at: loop.now) { [weak self] in self?.proceed(job) }
            return
        }
        let target = Target(target, on: loop, job: job)
        target.onOutput = { [weak self] line in self?.onOutput?(index, line) }
        let replay = SessionReplay(
            session, options: options, target: target, loop: loop, outputs: entry.outputs,
            rules: entry.rules)
        replay.onNote = { [weak self] text in self?.onNote?(index, text) }
        targets[job] = target
        running[job] = replay
        replay.start { [weak self] ending in
            guard let self else { return }
            let remaining = running[job]?.remaining ?? []
            running[job] = nil
            targets[job] = nil
            onOutcome?(index, outcome(session, entry.rules, ending), remaining)
            loop.schedule(at: loop.now) { [weak self] in self?.proceed(job) }
        }
    }

    private func load(_ path: String) throws(LoadedSession.Failure) -> LoadedSession {
        var reader: SessionReader
        do throws(SessionError) {
            reader = try SessionReader([SessionFileInput(path: path)])
        } catch {
            throw .unreadable(error)
        }
        return try LoadedSession(
            path, &reader, contract: options.contract, profile: options.profile,
            keepsRows: options.keepsRows)
    }

    private func outcome(
        _ session: LoadedSession, _ rules: ComparisonRules, _ ending: SessionReplay.Ending
    ) -> Outcome {
        switch ending {
        case .played(let result): compared(session, rules, result, nil)
        case .lost(let error, let result?): compared(session, rules, result, error)
        case .lost(let error, nil): .unreachable(error)
        case .cannotRecord(let error): .cannotWrite(error)
        case .cannotListen(let address, let error): .cannotListen(address, error)
        }
    }

    private func compared(
        _ session: LoadedSession, _ rules: ComparisonRules, _ result: ReplayResult,
        _ loss: TargetError?
    ) -> Outcome {
        if let trouble = result.trouble { return .cannotWrite(trouble) }
        do throws(OutputError) {
            return .compared(
                try ReplayVerdict(
                    session, result, loss: loss, rules: rules, profile: options.profile,
                    contract: options.contract,
                    countsRecordedBreaches: options.countsRecordedBreaches))
        } catch {
            return .cannotWrite(error)
        }
    }
}
