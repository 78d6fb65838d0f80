import Arguments
import BridgeProxy
import Capture
import Fuzz
import Glibc
import PhoneBridge
import Replay
import Report
import Simulator
import Wire

/// What `bridgetap demo` was asked for.
struct DemoOptions: Sendable {
    var folder = "bridgetap-demo"

    static let command = Command<Job>(
        "demo",
        summary:
            "the whole job without hardware: records, shows, checks, replays, and fuzzes",
        details: """
            A reference app and a reference board talk through the recorder, in one process and \
            in virtual time. The sessions are left in DIR, for the other commands to try.
            """,
        options: DemoOptions(),
        arguments: [
            .operand(
                \.folder, .text("DIR"), required: false,
                help: "where the sessions go (default: bridgetap-demo); made if it is not there")
        ],
        examples: [
            Example(
                "bridgetap demo",
                "records six sessions into bridgetap-demo, shows one, checks and replays all")
        ],
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw Failure(.badInput, "cannot make \(folder): \(SystemError(errno, call: "mkdir"))")
        }
        try ProcessStreams.output("Recording, in virtual time:\n")
        for example in ExampleSession.demonstration {
            let outcome: Rehearsal.Outcome
            do {
                outcome = try Rehearsal.record(example, tool: Version.tool)
            } catch {
                throw Failure(.internalFault, "the demonstration cannot begin: \(error)")
            }
            let path = "\(folder)/\(example.name).ndjson"
            try save(outcome.session, to: path)
            let seconds = outcome.duration / 1_000_000_000
            try ProcessStreams.output(
                "  \(path)  \(outcome.statistics.events) events in \(seconds) s: \(example.summary)\n"
            )
        }
        let shown = "\(folder)/\(ExampleSession.errors.name).ndjson"
        try ProcessStreams.output("\nbridgetap show \(shown):\n\n")
        var show = ShowOptions()
        show.files = [shown]
        var code = try show.run()
        var check = CheckOptions()
        check.files = ExampleSession.demonstration.map { "\(folder)/\($0.name).ndjson" }
        try ProcessStreams.output("\nbridgetap check \(folder)/*.ndjson:\n\n")
        let checked = try check.run()
        // That something is found is what it is to show.
        if code == .done, checked != .found { code = checked }
        let replayed = try replay()
        if code == .done, replayed != .found { code = replayed }
        let fuzzed = try fuzz()
        if code == .done, fuzzed != .found { code = fuzzed }
        try ProcessStreams.output(
            """

            Next:
              bridgetap show \(folder)/pip-queue.ndjson
              cat \(folder)/findings/*/verdict.txt
              bridgetap show --filter 'result ok=false' \(shown)
              jq -r 'select(.bridge) | .bridge[] | .kind' \(shown) | sort | uniq -c

            """)
        return code
    }

    /// Plays the sessions again, against a board that drops what a filter holds back.
    private func replay() throws -> ExitCode {
        let defect = Defect.b31
        try ProcessStreams.output(
            "\nReplaying them as the app, in virtual time, against a board with a defect\n"
                + "(\(defect.rawValue), \(defect.summary)):\n\n")
        var replay = ReferenceReplay()
        replay.defects = [defect]
        let text = ReplayText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO))
        var code = ExitCode.done
        for example in ExampleSession.demonstration {
            let path = "\(folder)/\(example.name).ndjson"
            var reader = try SessionInputs.open([path])
            let verdict: ReplayVerdict
            do {
                let session = try LoadedSession(
                    path, &reader, contract: .current, profile: .contract)
                verdict = try ReplayVerdict(
                    session, try replay.asApp(session.recorded), profile: .contract,
                    contract: .current)
            } catch {
                throw Failure(.internalFault, "the replay of \(path) failed: \(error)")
            }
            if verdict.isDifferent { code = .found }
            try ProcessStreams.output(
                text.text(
                    verdict, minimumExercised: 100,
                    again: "bridgetap replay \(path) --as app --spawn "
                        + "'bridgetap board --listen 127.0.0.1:{port} --defect "
                        + "\(defect.rawValue)'"))
        }
        return code
    }

    /// Looks for a bug that was planted, until it is found and made short.
    private func fuzz() throws -> ExitCode {
        let defect = Defect.b16
        try ProcessStreams.output(
            "\nFuzzing the board, in virtual time, with another defect\n"
                + "(\(defect.rawValue), \(defect.summary)):\n\n")
        var fuzz = FuzzCommandOptions()
        fuzz.target.played = .app
        fuzz.isSimulated = true
        fuzz.defects = [defect]
        fuzz.profile = "contract"
        fuzz.levels = [.session]
        fuzz.seed = 1
        fuzz.runs = 10
        fuzz.findings = "\(folder)/findings"
        return try FuzzJob(fuzz).run()
    }

    private func save(_ session: Bytes, to path: String) throws {
        do throws(OutputError) {
            let file = try SessionFile(path: path, overwrites: true)
            try file.append(session.span)
            try file.close()
        } catch {
            throw Failure(.badInput, "cannot write \(path): \(error)")
        }
    }
}
