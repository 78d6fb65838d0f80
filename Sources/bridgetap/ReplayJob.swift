import Capture
import Glibc
import Inspector
import Network
import PhoneBridge
import Replay
import Report
import Wire

/// Plays the sessions of a command line on the real loop, and tells what came of them.
final class ReplayJob {
    private let options: ReplayCommandOptions
    private let paths: [String]
    private let profile: Profile
    private let loop: UVLoop
    private let text: ReplayText
    private let lines = ReplayLines()
    private var suites: [Int: Results.Suite] = [:]
    private var worst = ExitCode.done
    private var outcomes = (same: 0, different: 0, untested: 0, failed: 0, leftOut: 0)
    private var commands = (exercised: 0, all: 0)
    /// Sessions that may tell about people.
    private var personal = 0
    private var fault: (any Error)?
    private var ruleFiles: [Int: String] = [:]
    private let page: ComparisonPage
    /// Whether reports show what messages say.
    private let showsValues: Bool
    private var pageFile: ReportFile?
    /// Where what takes place is written until it takes the session's place.
    private var drafts: [Int: String] = [:]

    init(_ options: ReplayCommandOptions, paths: [String], profile: Profile) throws {
        self.options = options
        self.paths = paths
        self.profile = profile
        showsValues = options.target.spawn != nil || options.target.isRaw
        page = ComparisonPage(
            title: "bridgetap replay", showsValues: showsValues,
            inside: showsValues ? InspectorPage.asInside : nil)
        text = ReplayText(
            isColoured: ProcessStreams.isColoured(STDOUT_FILENO), showsSame: options.showsAll,
            width: ProcessStreams.outputWidth)
        do {
            loop = try UVLoop()
        } catch {
            throw Failure(.internalFault, "cannot start the event loop: \(error)")
        }
    }

    /// Plays all of them.
    ///
    /// - Parameters:
    ///   - report: takes the JUnit report.
    ///   - page: takes the page.
    func run(_ report: ReportFile?, page pageFile: ReportFile?) throws -> ExitCode {
        self.pageFile = pageFile
        try pageFile?.write(page.head)
        let entries = try paths.enumerated().map { index, path in
            ruleFiles[index] = options.rules ?? ReplayFiles.rules(path)
            return ReplaySuite.Entry(
                path: path, outputs: try outputs(index, path),
                rules: try RulesInput.load(ruleFiles[index]))
        }
        var playing = ReplayOptions()
        playing.speed = options.speed
        playing.isStrict = options.isStrict
        playing.countsRecordedBreaches = options.checks
        playing.profile = profile
        playing.tool = Version.tool
        // What is for programs does not show them.
        playing.keepsSession = options.html != nil && showsValues
        playing.keepsRows = options.html != nil || (!options.isJSON && options.junit != "-")
        let suite = ReplaySuite(
            entries, options: playing, target: try options.targetOptions(), loop: loop,
            jobs: options.jobs)
        let isSpawned = try options.targetOptions().isSpawned
        suite.onNote = { [paths] index, text in
            // What is spawned finds its way by itself.
            guard !isSpawned else { return }
            ProcessStreams.remark(.note, "\(ReplayFiles.name(paths[index])): \(text)")
        }
        suite.onOutcome = { [self] index, outcome, remaining in
            do {
                try take(index, outcome, remaining)
            } catch {
                fault = error
                suite.stop()
            }
        }
        suite.onEnd = { [loop] in loop.stop() }
        var isInterrupted = false
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) {
                    isInterrupted = true
                    suite.stop()
                }
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
        suite.start()
        loop.run()
        for draft in drafts.values { _ = unsafe unlink(draft) }
        if let fault { throw fault }
        try finish(report)
        return isInterrupted ? .interrupted : worst
    }

    // MARK: Outputs

    private func outputs(_ index: Int, _ path: String) throws -> [String] {
        if options.updates {
            guard path.hasSuffix(".ndjson") else {
                throw Failure(
                    .usage, "--update: \(path) is no .ndjson file",
                    hint: "bridgetap convert makes one of it")
            }
            let draft = "\(path).\(getpid())-\(index).ndjson"
            drafts[index] = draft
            return [draft]
        }
        guard let output = options.output else { return [] }
        var information = stat()
        let isFolder =
            output.hasSuffix("/")
            || (unsafe stat(output, &information) == 0
                && information.st_mode & S_IFMT == S_IFDIR)
        guard isFolder else {
            guard paths.count == 1 else {
                throw Failure(
                    .usage, "-o: \(output) is no folder, and \(paths.count) sessions are played",
                    hint: "name a folder")
            }
            return [output]
        }
        if unsafe mkdir(output, 0o700) != 0, errno != EEXIST {
            throw Failure(
                .badInput, "-o: cannot make \(output): \(SystemError(errno, call: "mkdir"))")
        }
        let folder = output.hasSuffix("/") ? String(output.dropLast()) : output
        return ["\(folder)/\(ReplayFiles.name(path)).ndjson"]
    }

    /// Whether what is left on the phone is somebody's.
    private var isPhoneReal: Bool { options.target.spawn == nil }

    /// Puts what took place in the session's place.
    private func update(_ index: Int) throws {
        guard let draft = drafts.removeValue(forKey: index) else { return }
        guard unsafe rename(draft, paths[index]) == 0 else {
            throw Failure(
                .badInput, "cannot replace \(paths[index]): \(SystemError(errno, call: "rename"))")
        }
    }

    // MARK: What comes of it

    private func take(
        _ index: Int, _ outcome: ReplaySuite.Outcome, _ remaining: [EffectGate.Remainder]
    ) throws {
        switch outcome {
        case .compared(let verdict): try take(index, verdict, remaining)
        case .unfit(let judged): try leaveOut(index, judged)
        case .unreadable(let failure): try fail(index, Self.failure(failure))
        case .unreachable(let error):
            let last = error.output.last(5).map { "\n    | \($0)" }.joined()
            try fail(index, Failure(.unreachable, "\(paths[index]): \(error)\(last)"))
        case .cannotWrite(let error):
            try fail(
                index, Failure(.badInput, "cannot write \(error.path): \(error)"))
        case .cannotListen(let address, let error):
            try fail(
                index,
                Failure(
                    .unreachable, "cannot listen on \(address): \(error)",
                    hint: error.kind == .addressInUse
                        ? "choose another port with --listen" : nil))
        }
    }

    private func take(
        _ index: Int, _ verdict: ReplayVerdict, _ remaining: [EffectGate.Remainder]
    ) throws {
        let isThin = !verdict.isExercised(percent: options.minimumExercised)
        if let file = ruleFiles[index] { RulesInput.warn(verdict.ruleRemarks, of: file) }
        if !verdict.excusedRules.isEmpty {
            let rules = verdict.excusedRules.sorted().joined(separator: ", ")
            ProcessStreams.remark(
                .note,
                "\(ReplayFiles.name(paths[index])): broken in the recording too, and not "
                    + "counted: \(rules); --check counts what a session shows")
        }
        if options.isJSON {
            try ProcessStreams.output(lines.lines(verdict))
        } else if options.junit != "-" {
            try ProcessStreams.output(
                text.text(
                    verdict, minimumExercised: options.minimumExercised, again: again(index),
                    remaining: isPhoneReal ? remaining : []))
        }
        if !verdict.isRecordComplete {
            ProcessStreams.remark(
                .warning, "\(paths[index]): what took place could not be written completely")
            raise(to: .incomplete)
        }
        suites[index] = verdict.suite(
            minimumExercised: options.minimumExercised)
        if var comparison = verdict.comparison(
            index: index, minimumExercised: options.minimumExercised, again: again(index))
        {
            if let session = verdict.session {
                let sessions = ReplayedSessions(
                    recorded: paths[index], live: session, profile: profile)
                comparison.sessionsPage = { try sessions.write(to: $0) }
            }
            try pageFile.map { try page.write(comparison, to: $0.write) }
        }
        if verdict.info?.mayBePersonal ?? true { personal += 1 }
        commands.exercised += verdict.exercised
        commands.all += verdict.commandCount
        if verdict.isDifferent {
            outcomes.different += 1
            if options.updates, verdict.canReplace, !isThin {
                try update(index)
            } else {
                if options.updates {
                    ProcessStreams.remark(
                        .warning,
                        "\(paths[index]) is not replaced: what took place is not all of it")
                }
                raise(to: .found)
            }
        } else if isThin {
            outcomes.untested += 1
            raise(to: .nothingExercised)
        } else {
            outcomes.same += 1
        }
    }

    /// A side that was told what to do when it was recorded is nobody's to be held to.
    private func leaveOut(_ index: Int, _ judged: Side) throws {
        let why = "the \(judged.rawValue) in it did what no \(judged.rawValue) does of itself"
        if !options.isJSON, options.junit != "-" {
            try ProcessStreams.output("left out   \(paths[index])  \(why)\n")
        }
        outcomes.leftOut += 1
        var suite = Results.Suite(name: paths[index])
        suite.cases.append(
            Results.Case(name: "session-is-played", outcome: .skipped, message: why))
        suites[index] = suite
    }

    private func fail(_ index: Int, _ failure: Failure) throws {
        failure.tell()
        outcomes.failed += 1
        raise(to: failure.code)
        var suite = Results.Suite(name: paths[index])
        suite.cases.append(
            Results.Case(name: "session-is-played", outcome: .error, message: failure.message))
        suites[index] = suite
        var comparison = ComparisonPage.Comparison(
            index: index, name: paths[index], verdict: "not played", isDifferent: true,
            summary: "it was not played", sides: ("recorded", "live"), items: [],
            rows: (SessionRows(), SessionRows()))
        comparison.remarks = [failure.message]
        try pageFile.map { try page.write(comparison, to: $0.write) }
    }

    /// What could not be done weighs more than what was found, and that more than what was not
    /// looked at.
    private func raise(to code: ExitCode) {
        let order: [ExitCode] = [
            .done, .incomplete, .nothingExercised, .found, .unreachable, .badInput, .usage,
        ]
        let place = { order.firstIndex(of: $0) ?? order.count }
        if place(code) > place(worst) { worst = code }
    }

    /// A suite is kept and shared, as a rule.
    private func warnOfPersonalData() {
        guard paths.count > 1, personal > 0 else { return }
        ProcessStreams.remark(
            .warning,
            "\(personal) of \(counted(paths.count, "session")) \(personal == 1 ? "is" : "are") not "
                + "redacted and may tell about people")
    }

    private func finish(_ report: ReportFile?) throws {
        warnOfPersonalData()
        if !options.isJSON, options.junit != "-", paths.count > 1 {
            var parts = ["\(outcomes.same) same"]
            if outcomes.different > 0 { parts.append("\(outcomes.different) different") }
            if outcomes.untested > 0 { parts.append("\(outcomes.untested) untested") }
            if outcomes.leftOut > 0 { parts.append("\(outcomes.leftOut) left out") }
            if outcomes.failed > 0 { parts.append("\(outcomes.failed) not played") }
            try ProcessStreams.output(
                "\(counted(paths.count, "session")): \(parts.joined(separator: ", ")); "
                    + "\(commands.exercised) of \(counted(commands.all, "command"))\n")
        }
        try pageFile?.finish(page.tail)
        guard let report else { return }
        let results = Results(
            command: "replay", tool: Version.tool, profile: profile.name,
            suites: suites.sorted { $0.key < $1.key }.map(\.value))
        try report.finish(Bytes(JUnitText(results).text.utf8))
    }

    /// The command that plays this session again.
    private func again(_ index: Int) -> String {
        var words = ["bridgetap", "replay", paths[index]]
        var arguments = Array(CommandLine.arguments.dropFirst(2))
        arguments.removeAll { options.files.contains($0) }
        words += arguments
        return words.map(Self.quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,@%+".contains($0) }
        return plain && !word.isEmpty
            ? word
            : "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
    }

    /// What ends a job whose input cannot be played.
    static func failure(_ failure: LoadedSession.Failure) -> Failure {
        switch failure {
        case .unreadable(let error): SessionInputs.failure(error)
        case .tooLarge(let error): Failure(.badInput, "\(error)")
        case .cannotSpool(let error): Failure(.badInput, "cannot put aside: \(error)")
        }
    }
}
