import Arguments
import Capture
import Glibc
import Inspector
import PhoneBridge
import Report
import Wire

/// What `bridgetap check` was asked for.
struct CheckOptions: Sendable {
    var files: [String] = []
    var profile = Profile.contract.name
    var junit: String?
    var sarif: String?
    var html: String?
    var isJSON = false
    var showsAll = false
    var requiresComplete = false

    static let command = Command<Job>(
        "check", summary: "does a session keep the rules of the contract?",
        details: """
            Each broken rule is told once, with its demand, the contract's section, and the first \
            places where it is broken. Rules rated S (sure) count; those rated L (likely) count \
            where the profile says so, those rated W (weak) never. What the profile knows of its \
            target is listed and does not count. Parts of one session are checked together, \
            sessions one after the other; of a stream, breaches are told as they happen.

            Ends with 0 where no rule that counts is broken, 1 where one is, 4 where an input \
            cannot be read, 5 where a session puts no rule to the test.
            """,
        options: CheckOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "session files, packed or not, or pcap or pcapng files; - is standard input"),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "the target's numbers, and what counts for it: contract (default), "
                    + "board-1.2, or a file (docs/profiles.md)"),
            .option("junit", \.junit, .file, help: "also write a JUnit XML report"),
            .option("sarif", \.sarif, .file, help: "also write a SARIF 2.1.0 report"),
            .option(
                "html", \.html, .file,
                help: "also write one page with the sessions and their broken rules, which opens "
                    + "without a network"),
            .flag("json", \.isJSON, help: "findings, cases and suites as NDJSON"),
            .flag(
                "all", \.showsAll,
                help: "every place of each rule, and what does not count in full"),
            .flag(
                "require-complete", \.requiresComplete,
                help: "end with 4 where a session is torn, cut or admits that something is missing"
            ),
        ],
        exclusive: [["--json", "--all"]],
        examples: [
            Example("bridgetap check lab.ndjson", "what was wrong in this session?"),
            Example(
                "bridgetap check --profile board-1.2 --junit check.xml captures/*.ndjson",
                "in a CI job"),
            Example(
                "bridgetap check --html check.html lab.ndjson", "to look at what is broken"),
            Example(
                "ssh board tcpdump -U -s0 -w - port 8080 | bridgetap check -",
                "while it happens"),
        ],
        check: { (options) throws(UsageError) in
            try ReportFile.checkPage(options.html)
            if options.files.count(where: { $0 == "-" }) > 1 {
                throw .rule(message: "standard input is one session", hint: "give - once")
            }
            let outputs = [options.junit == "-", options.sarif == "-", options.isJSON]
            if outputs.count(where: { $0 }) > 1 {
                throw .rule(
                    message: "standard output can be one thing only",
                    hint: "give --junit or --sarif the name of a file")
            }
        },
        action: { options in { try options.run() } })

    /// Checks all sessions, and writes the reports.
    func run() throws -> ExitCode { try CheckJob(self).run() }
}

/// One run of the check over all files.
private final class CheckJob {
    private let options: CheckOptions
    private let profile: Profile
    private let today: String
    private let progress: Progress
    private let layout: CheckText
    private let lines = ResultLines()
    private var suites: [Results.Suite] = []
    private var buffer: Bytes = []
    private var isOutputClosed = false
    /// Why standard output could not be written; told once the reports are.
    private var outputFailure: Failure?
    /// Whether a finding of this session was told as it happened.
    private var hasToldLive = false
    private var isReadable = true
    private var isComplete = true
    /// The pages of the sessions so far, where a page was asked for.
    private var pages: [(name: String, log: SessionLog)] = []

    init(_ options: CheckOptions) throws {
        self.options = options
        profile = try ProfileInput.load(options.profile)
        today = String(Timestamp(seconds: Int64(time(nil))).wholeSecondsText.prefix(10))
        layout = CheckText(
            profile: profile.name, isColoured: ProcessStreams.isColoured(STDOUT_FILENO),
            showsAll: options.showsAll)
        progress = Progress(options.files.map { SessionFileInput(path: $0) })
    }

    /// Whether standard output is for people.
    private var isText: Bool { !options.isJSON && options.junit != "-" && options.sarif != "-" }

    func run() throws -> ExitCode {
        // Made first: nobody wants to hear at the end that they cannot be.
        let junit = try report(options.junit, "--junit")
        let sarif = try report(options.sarif, "--sarif")
        let html = try report(options.html, "--html")
        ProfileInput.warnOfEndedWaivers(profile, today: today)
        Interruption.listen()
        let inputs = options.files.map { SessionFileInput(path: $0) }
        for group in SessionGroups.group(inputs.map { progress.watched($0) }) {
            guard !Interruption.isRequested else { break }
            try check(group)
        }
        progress.clear()
        if isText, suites.count > 1 { try print(layout.total(suites)) }
        try flush()
        let results = Results(
            command: "check", tool: Version.tool, profile: profile.name,
            rules: RuleChecker.rules, suites: suites)
        try junit?.finish(Bytes(JUnitText(results).text.utf8))
        try sarif?.finish(Bytes(SARIFText(results).text.utf8))
        if let html {
            try OfflinePage(pages, tab: .rules).write { try html.write($0) }
            try html.finish([])
        }
        if let outputFailure { throw outputFailure }
        return code
    }

    private func report(_ path: String?, _ flag: String) throws -> ReportFile? {
        guard let path else { return nil }
        return try ReportFile(path, flag: flag, inputs: options.files)
    }

    private var code: ExitCode {
        if Interruption.isRequested { return .interrupted }
        if !isReadable || (options.requiresComplete && !isComplete) { return .badInput }
        if suites.contains(where: { $0.count(.failed) > 0 }) { return .found }
        return suites.contains { $0.figure("rules") == 0 } ? .nothingExercised : .done
    }

    // MARK: One session

    private func check(_ group: [any SessionInput]) throws {
        let name = SessionGroups.name(of: group)
        let isLive = group.contains { $0.isStream }
        hasToldLive = false
        var session = SessionCheck(name: name, profile: profile, today: today)
        var page = options.html.map { _ in
            SessionFeed(
                name: name, replay: ViewedSession.replay(group.map(\.name)), profile: profile,
                today: today)
        }
        var failure: Failure?
        do {
            var reader = try SessionReader(group)
            while let item = try reader.next() {
                switch item {
                case .event(let event):
                    try page?.receive(event)
                    let found = session.receive(
                        event, at: reader.position, name: reader.name)
                    if !found.isEmpty { try tell(found, of: name, isLive: isLive) }
                case .remark(let remark):
                    // A file that was left in the middle is not torn.
                    guard !Interruption.isRequested else { break }
                    SessionInputs.warn(remark, name: reader.name)
                    try page?.remark("\(remark.position.text): \(remark.text)")
                    try tell(session.lost(), of: name, isLive: isLive)
                }
            }
            try page?.finish()
        } catch let error as SessionError {
            failure = SessionInputs.failure(error)
        } catch let error as OutputError {
            throw SessionInputs.failure(.cannotSpool(error))
        }
        if let page { pages.append((name, page.log)) }
        let (last, suite) = session.finish()
        try tell(last, of: name, isLive: isLive)
        try end(suite, failure, isComplete: session.isComplete, isLive: isLive)
    }

    private func end(
        _ suite: Results.Suite, _ failure: Failure?, isComplete: Bool, isLive: Bool
    ) throws {
        var suite = suite
        if let failure {
            failure.tell()
            isReadable = false
            suite.cases.append(error("session-is-readable", failure.message))
        } else if Interruption.isRequested {
            suite.cases.append(
                error("session-is-read-to-its-end", "the check was interrupted"))
        } else if !isComplete {
            self.isComplete = false
            if options.requiresComplete {
                suite.cases.append(
                    error("session-is-complete", "the session is torn, cut or lacks something"))
            }
        }
        if failure == nil, suite.figure("rules") == 0 {
            suite.cases.append(
                error("session-exercises-rules", "nothing in it puts a rule to the test"))
        }
        suites.append(suite)
        if options.isJSON {
            buffer += lines.lines(suite)
            try flush()
        } else if isText {
            try print(
                (hasToldLive ? "\n" : "")
                    + layout.text(
                        suite, showsFindings: !isLive || options.showsAll,
                        isOneOfSeveral: options.files.count > 1))
        }
    }

    private func error(_ name: String, _ message: String) -> Results.Case {
        Results.Case(name: name, outcome: .error, message: message)
    }

    private func tell(
        _ found: [(Rule, Results.Finding)], of name: String, isLive: Bool
    ) throws {
        guard options.isJSON || (isLive && isText) else { return }
        for (rule, finding) in found {
            if options.isJSON {
                buffer += lines.line(finding, of: rule, in: name)
            } else if finding.standing != .remark || options.showsAll {
                buffer += Bytes(layout.line(finding, of: rule).utf8)
            }
        }
        if !options.isJSON, !buffer.isEmpty { hasToldLive = true }
        if isLive || buffer.count > 64 * 1024 { try flush() }
    }

    // MARK: Output

    private func print(_ text: String) throws {
        buffer += Bytes(text.utf8)
        try flush()
    }

    /// A reader that went away, or a full disk, does not keep the files from being checked.
    private func flush() throws {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: true) }
        guard !isOutputClosed else { return }
        do {
            try ProcessStreams.output(buffer)
        } catch is ProcessStreams.OutputClosed {
            isOutputClosed = true
        } catch let failure as Failure {
            isOutputClosed = true
            outputFailure = failure
        }
    }
}
