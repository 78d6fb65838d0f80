import Arguments
import Capture
import Glibc
import Network
import PhoneBridge
import Replay
import Report
import Simulator
import Wire

/// What `bridgetap replay` was asked for.
struct ReplayCommandOptions: TargetedOptions {
    var files: [String] = []
    var target = TargetSettings()
    var speed = StepSchedule.Speed.max
    var profile = "contract"
    var rules: String?
    var isStrict = false
    var checks = false
    var minimumExercised = 100
    var jobs = 1
    var shard: Shard?
    var junit: String?
    var html: String?
    var output: String?
    var isJSON = false
    var explains = false
    var updates = false
    var showsAll = false

    static let command = Command<Job>(
        "replay", summary: "plays a recorded session against a new board or a new app",
        details: """
            Plays one side of each session against a live peer and says whether it is the same, \
            or what differs. What was recorded as an answer stays one under the live ids; what \
            came of an answer (an event_id) is carried on. Late answers, missing heartbeats and \
            times that ran out keep their length at every speed; all other waits shrink.

            A folder stands for all sessions in it. Nothing is sent to anybody but the target.

            Ends with 0 where all is the same, 1 where something differs, 3 where the target \
            could not be used, 4 where a session cannot be read, 5 where less than \
            --min-exercised was put to the test.
            """,
        options: ReplayCommandOptions(),
        arguments: [
            .operands(\.files, .file, help: "session files, or folders of them")
        ] + Argument.target + [
            .option(
                "speed", \.speed, .speed,
                help: "real, a factor such as 4, or max (default): as fast as causes allow"),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "the target's profile, with its time_scale (default: contract)"),
            .option(
                "rules", \.rules, .file,
                help: "what may vary from run to run (docs/comparison-rules.md); by default "
                    + "NAME.rules.json5 beside the session, where there is one"),
            .flag(
                "strict-order", \.isStrict,
                help: "the peer has to do everything in the recorded order"),
            .flag(
                "check", \.checks,
                help: "rules that the peer breaks count even where the recorded one broke "
                    + "them: of a session that shows a bug, tell whether it is there"),
            .option(
                "min-exercised", \.minimumExercised, .integer(in: 0...100),
                help: "how many percent of the commands must be put to the test (default: 100)"),
            .option(
                "jobs", \.jobs, .integer(in: 1...64),
                help: "so many sessions at a time, each with a spawned target of its own"),
            .option("shard", \.shard, .shard, help: "of the sessions, each Nth from the Kth on"),
            .option("junit", \.junit, .file, help: "also write a JUnit XML report"),
            .option(
                "html", \.html, .file,
                help: "also write one page with both sessions side by side, open at the first "
                    + "difference; it needs no network. Without --spawn it hides what messages say"),
            .flag("json", \.isJSON, help: "everything compared and the sums as NDJSON"),
            .flag("all", \.showsAll, help: "name what is the same too"),
            .option(
                "output", short: "o", \.output, .file,
                help: "keep the session that really takes place; a folder where several are played"
            ),
            .flag(
                "update", \.updates,
                help: "take what takes place as the session from now on; shows what that changes"),
            .flag(
                "explain", \.explains,
                help: "play nothing; say what the sessions need, which values flow, what is waited "
                    + "for"),
        ],
        exclusive: [
            ["--json", "--all"], ["--output", "--update"], ["--explain", "--update"],
            ["--explain", "--html"],
        ],
        examples: [
            Example(
                "bridgetap replay captures --as app --to ws://127.0.0.1:0/api/phone-bridge "
                    + "--spawn './board --port {port}'",
                "does today's board do what it did?"),
            Example(
                "bridgetap replay bug.ndjson --as board --listen 192.168.42.1:8080 --effects own",
                "an app on a phone, which comes to this machine"),
            Example("bridgetap replay bug.ndjson --as app --explain", "what does it need?"),
        ],
        check: { (options) throws(UsageError) in try options.check() },
        action: { options in { try options.run() } })

    private func check() throws(UsageError) {
        if files.isEmpty {
            throw .rule(
                message: "no session is given", hint: "name a session file or a folder of them")
        }
        if files.contains("-") {
            throw .rule(
                message: "a session is read from a file", hint: "bridgetap convert - -o FILE")
        }
        try ReportFile.checkPage(html)
        if explains {
            guard target.played != nil else {
                throw .rule(message: "--as is missing", hint: "--as app or --as board")
            }
            return
        }
        try checkJobs(jobs)
    }

    private func run() throws -> ExitCode {
        let paths = try ReplayFiles.find(files, shard: shard)
        let profile = try ProfileInput.load(self.profile)
        if explains { return try explain(paths) }
        let report = try junit.map { try ReportFile($0, flag: "--junit", inputs: paths) }
        let page = try html.map { try ReportFile($0, flag: "--html", inputs: paths) }
        let job = try ReplayJob(self, paths: paths, profile: profile)
        return try job.run(report, page: page)
    }

    /// Says what sessions need, and plays nothing.
    private func explain(_ paths: [String]) throws -> ExitCode {
        let text = ReplayText(isColoured: false)
        for path in paths {
            var reader = try SessionInputs.open([path])
            let session: LoadedSession
            do throws(LoadedSession.Failure) {
                session = try LoadedSession(
                    path, &reader, contract: .current, profile: .contract)
            } catch {
                throw ReplayJob.failure(error)
            }
            let rules = try RulesInput.load(self.rules ?? ReplayFiles.rules(path))
            let script =
                target.played == .board
                ? ReplayScript.board(session.recorded, states: rules.states)
                : ReplayScript.app(session.recorded, canStimulate: true)
            try ProcessStreams.output(text.explanation(of: script, rules: rules, name: path))
        }
        return .done
    }
}

/// Part K of N.
struct Shard: Sendable, Equatable {
    var number: Int
    var count: Int
}

extension ArgumentValue where Value == Shard {
    static var shard: ArgumentValue {
        ArgumentValue("K/N") { (text) throws(ValueError) in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                .map { Int($0) }
            guard parts.count == 2, let number = parts[0], let count = parts[1],
                (1...10_000).contains(count), (1...count).contains(number)
            else { throw ValueError("\"\(text)\" is no part; write it like 2/5") }
            return Shard(number: number, count: count)
        }
    }
}

extension ArgumentValue where Value == StepSchedule.Speed {
    static var speed: ArgumentValue {
        ArgumentValue("SPEED") { (text) throws(ValueError) in
            switch text {
            case "real": return .real
            case "max": return .max
            default:
                let digits = text.hasSuffix("x") ? String(text.dropLast()) : text
                guard let factor = Double(digits), factor >= 0.001, factor <= 1e6 else {
                    throw ValueError("\"\(text)\" is no speed; write real, max or a factor like 4")
                }
                return .times(factor)
            }
        }
    }
}
