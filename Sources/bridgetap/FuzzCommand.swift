import Arguments
import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Simulator
import Wire

/// What `bridgetap fuzz` was asked for.
struct FuzzCommandOptions: TargetedOptions {
    var target = TargetSettings()
    /// Whether a real app and a real board talk, and their traffic is mutated.
    var isInline = false
    /// Where the board is, for `isInline`.
    var board: Endpoint?
    var allowFrom: [CIDR] = []
    /// Whether the target is the reference peer in virtual time.
    var isSimulated = false
    var defects: [Defect] = []
    var profile: String?
    var corpus: String?
    var isCulling = false
    /// Corpora that are merged into it.
    var others: [String] = []
    var findings = "findings"
    var seed: UInt64?
    var time: Duration?
    var runs: Int?
    var wantedFindings: Int?
    var plateau: Duration?
    var jobs = 1
    var shard: Shard?
    var levels: Set<FuzzLevel> = []
    var resumes = false
    var baseline: String?
    var reproduced: String?
    var times = 10
    var minimised: String?
    var isDry = false
    var junit: String?
    var sarif: String?
    var html: String?
    var isJSON = false

    static let command = Command<Job>(
        "fuzz", summary: "looks for bugs of a board or an app, for minutes or for a night",
        details: """
            Plays the other side against the target, case after case: correct exchanges with one \
            thing or two done wrong on purpose, at five levels: bytes, http, frames, json, session. \
            What breaks the contract is run again on fresh targets and without the mutation, made as \
            short as it can be, and left as a folder in --findings: a script of a few lines, both \
            sessions, and the verdict in words. Nothing else is a finding; what comes too seldom or \
            is not clear is told apart.

            With --inline an app and a board that are both there talk through this program, and few of \
            their messages are mutated, so that the session lives. Each side is judged by what it \
            really got; what is seen is done again to later messages of the kind, and then some are \
            left alone. The session goes to --findings, with a note behind each message that was \
            changed. --spawn and --stimulus are about the board then.

            The cases follow from the seed and their number alone. --shard splits them over machines \
            without coordination, and "bridgetap findings merge" joins what was found. Findings of \
            earlier campaigns in --findings are run first. docs/fuzzing.md tells how to run a night.

            Ends with 0 where nothing was found, 1 where a bug is there that --baseline does not know, \
            3 where the target could not be used, 5 where no case was run, or where a night has never \
            come to what it has to (docs/fuzzing.md). Ctrl-C ends it behind the case under way, and a \
            second one now; both report.
            """,
        options: FuzzCommandOptions(), arguments: arguments,
        exclusive: [
            ["--reproduce", "--minimise", "--dry-run", "--resume", "--cull"],
            ["--reproduce", "--corpus"], ["--minimise", "--corpus"],
        ]
            + [
                "--as", "--to", "--corpus", "--jobs", "--shard", "--resume", "--reproduce",
                "--minimise", "--dry-run", "--html", "--restart", "--on-state", "--probe", "--cull",
                "--stop-at-plateau", "--raw",
            ].map { ["--inline", $0] },
        companions: [
            ("--times", needs: "--reproduce"), ("--upstream", needs: "--inline"),
            ("--allow-from", needs: "--inline"), ("--cull", needs: "--corpus"),
            ("--from", needs: "--cull"),
        ],
        examples: [
            Example(
                "bridgetap fuzz --as app --to simulated --defect B16 --for 10s",
                "the reference board in virtual time, with a planted defect"),
            Example(
                "bridgetap fuzz --as app --spawn './board --port {port}' --jobs 4 --for 8h",
                "a night against four boards of a new build"),
            Example(
                "bridgetap fuzz --as board --listen 192.168.42.1:8080 --effects own --for 1h",
                "an app on a phone, which comes to this machine"),
            Example(
                "bridgetap fuzz --inline --listen 127.0.0.1:8080 --upstream 192.168.42.1:8080",
                "between an app and a board, for ten minutes"),
            Example(
                "bridgetap fuzz --reproduce findings/alive-3fa94c11 --as app --to simulated",
                "does it still come?"),
        ],
        check: { (options) throws(UsageError) in try options.check() },
        action: { options in { try options.run() } })

    /// Where `--to` and `--listen` lead.
    enum Place<Address: Sendable>: Sendable {
        case simulated
        case address(Address)
    }

    /// `--to`.
    var to: Place<WebSocketURL>? {
        get { isSimulated ? .simulated : target.url.map { .address($0) } }
        set {
            switch newValue {
            case .simulated?: isSimulated = true
            case .address(let url)?: target.url = url
            case nil: break
            }
        }
    }

    /// `--listen`.
    var listen: Place<Endpoint>? {
        get { isSimulated ? .simulated : target.listen.map { .address($0) } }
        set {
            switch newValue {
            case .simulated?: isSimulated = true
            case .address(let place)?: target.listen = place
            case nil: break
            }
        }
    }

    /// `--upstream`.
    var upstream: Place<Endpoint>? {
        get { isSimulated ? .simulated : board.map { .address($0) } }
        set {
            switch newValue {
            case .simulated?: isSimulated = true
            case .address(let place)?: board = place
            case nil: break
            }
        }
    }

    private static let arguments: [Argument<FuzzCommandOptions>] =
        Argument.target.filter { $0.name == "--as" } + [
            .option(
                "to", \.to, .place(.webSocketURL, "URL"),
                help: "where the board is, such as ws://192.168.42.1:8080/api/phone-bridge, or "
                    + "simulated: the reference board in virtual time"),
            .option(
                "listen", \.listen, .place(.endpoint, "HOST:PORT"),
                help: "where the app comes to; port 0 takes any free one. Or simulated: the "
                    + "reference app in virtual time"),
            .flag(
                "inline", \.isInline,
                help:
                    "stand between an app, which comes to --listen, and a board at --upstream, and "
                    + "mutate some of what they say"),
            .option(
                "upstream", \.upstream, .place(.endpoint, "HOST:PORT"),
                help: "for --inline: where the board is, or simulated: both reference peers in "
                    + "virtual time"),
            .options(
                "allow-from", \.allowFrom, .cidr,
                help: "for --inline: who may connect, besides this machine; needed to listen "
                    + "elsewhere than on loopback"),
            .option(
                "probe", \.target.probe, .text("COMMAND"),
                help: "prints pid, rss (in KiB) and fds of a target that was not spawned, such as "
                    + "pid=7 rss=48128 fds=23; read behind each case"),
            .options(
                "defect", \.defects, .defect,
                help: "plant a defect in the simulated peer, such as B21"),
        ] + Argument.target.filter { !["--as", "--to", "--listen"].contains($0.name) } + [
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "the target's profile: its numbers, and which likely rules count (default: "
                    + "contract)"),
            .option(
                "for", \.time, .duration(),
                help: "end after this time, shrinking included (default: 10min, or none with "
                    + "--runs or --stop-at-plateau)"),
            .option(
                "runs", \.runs, .integer(in: 1...1_000_000_000_000),
                help: "end after so many cases of the plan, those of an earlier run included"),
            .option(
                "stop-at-findings", \.wantedFindings, .integer(in: 1...1_000_000),
                help: "end when so many bugs were found that --baseline does not know"),
            .option(
                "stop-at-plateau", \.plateau, .duration(),
                help: "end when for so long nothing new was found or seen"),
            .option(
                "seed", \.seed, .seed,
                help: "where the choices come from; chosen and printed if it is not given"),
            .option(
                "only", \.levels, .levels,
                help: "mutate at these levels only, such as json,session; the others are bytes, "
                    + "http and frames"),
            .option(
                "corpus", \.corpus, .text("DIR"),
                help:
                    "scripts (.fuzz) and sessions to start from; what shows something new waits in new/ "
                    + "in it, "
                    + "and joins them when the next campaign begins"),
            .flag(
                "cull",
                \.isCulling,
                help: "run no campaign but the corpus, keep of it what shows something that no "
                    + "shorter entry does, and write what each is for to index.txt in it"),
            .options(
                "from", \.others, .text("DIR"),
                help: "--cull: another corpus, such as another machine's, whose entries are "
                    + "merged into it"),
            .option(
                "findings", \.findings, .text("DIR"),
                help: "where findings and the state go (default: findings); made if it is not there"
            ),
            .option(
                "baseline", \.baseline, .file,
                help: "buckets that are known and do not count (default: baseline.ndjson in "
                    + "--findings)"),
            .option(
                "jobs", \.jobs, .integer(in: 1...64),
                help: "so many cases at a time, each with a target of its own"),
            .option("shard", \.shard, .shard, help: "of the cases, each Nth from the Kth on"),
            .flag(
                "resume", \.resumes,
                help: "go on with the campaign in --findings, with its seed and its next case"),
            .option(
                "reproduce", \.reproduced, .text("FINDING"),
                help: "run a finding's script, from its folder or file, and its control"),
            .option(
                "times", \.times, .integer(in: 1...10_000),
                help: "how often --reproduce runs it (default: 10)"),
            .option(
                "minimise", \.minimised, .text("FINDING"),
                help: "make a finding's script shorter, if it can be"),
            .flag(
                "dry-run", \.isDry,
                help: "only see whether the target is there, how fast it is, and what would be "
                    + "checked"),
            .option("junit", \.junit, .file, help: "also write a JUnit XML report, a case a check"),
            .option("sarif", \.sarif, .file, help: "also write a SARIF report"),
            .option("html", \.html, .file, help: "also write one page; it needs no network"),
            .flag("json", \.isJSON, help: "findings and figures as NDJSON, a line a second"),
        ]

    private func check() throws(UsageError) {
        try ReportFile.checkPage(html)
        guard !isInline else { return try checkInline() }
        guard let played = target.played else {
            throw .rule(
                message: "--as SIDE is missing",
                hint: "--as app plays the app against a board, --as board the board against an app")
        }
        guard isSimulated else {
            guard defects.isEmpty else {
                throw .rule(
                    message: "--defect is for the simulated peers",
                    hint: "--to simulated, or --spawn 'bridgetap board --defect ID …'")
            }
            try checkJobs(jobs)
            return
        }
        let given = [
            ("--to", target.url != nil), ("--listen", target.listen != nil),
            ("--spawn", target.spawn != nil), ("--restart", target.restart != nil),
            ("--stimulus", target.stimulus != nil), ("--before", target.before != nil),
            ("--after", target.after != nil), ("--on-state", target.onState != nil),
            ("--effects", target.effects != nil),
            ("--target-ready-text", target.readyText != nil),
            ("--target-ready-file", target.readyFile != nil),
            ("--probe", target.probe != nil),
        ]
        if let (flag, _) = given.first(where: { $0.1 }) {
            throw .rule(message: "\(flag) means nothing with the simulated peer", hint: nil)
        }
        let side: Defect.Side = played == .app ? .board : .app
        if let defect = defects.first(where: { $0.side != side }) {
            throw .rule(
                message: "\(defect.rawValue) is no defect of the side under test, the "
                    + (side == .board ? "board" : "app"),
                hint: "bridgetap \(side == .board ? "board" : "app") --list-defects")
        }
    }

    private func run() throws -> ExitCode {
        if isInline { return try FuzzInline(self).run() }
        if let reproduced { return try FuzzAgain(self).reproduce(reproduced) }
        if let minimised { return try FuzzAgain(self).minimise(minimised) }
        if isCulling { return try FuzzCull(self).run() }
        if isDry { return try FuzzDryRun(self).run() }
        return try FuzzJob(self).run()
    }

    /// Nanoseconds that it may take.
    var timeLimit: Int64? {
        guard let time else {
            let isBounded = runs != nil || plateau != nil
            return isBounded ? nil : 600 * nanosecondsPerSecond
        }
        return Self.nanoseconds(time)
    }

    /// Nil for more than there are.
    static func nanoseconds(_ time: Duration) -> Int64? {
        let (seconds, attoseconds) = time.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: nanosecondsPerSecond)
        let (sum, over) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || over ? nil : sum
    }

    /// The profile that the target is judged by.
    func loadProfile() throws -> Profile {
        if profile == nil, isSimulated { return .reference }
        return try ProfileInput.load(profile ?? "contract")
    }

    /// Whether the target is nobody's: it was started for this, or is the simulated peer.
    var isOwnTarget: Bool { isSimulated || target.spawn != nil }

    /// Whether reports may show what messages say.
    var showsValues: Bool { isOwnTarget || target.isRaw }

    /// The side that is played.
    var played: Side { target.played ?? .app }

    /// The simulated target, with its defects.
    func simulatedTarget(_ profile: Profile) -> SimulatedTarget {
        var simulated = SimulatedTarget(profile: profile)
        simulated.defects = Set(defects)
        simulated.tool = Version.tool
        return simulated
    }

    /// The flags of the command line that reach the target, as for a shell.
    var targetFlags: String {
        guard !isSimulated else {
            var words = ["--as", played.rawValue]
            words += [played == .app ? "--to" : "--listen", "simulated"]
            for defect in defects { words += ["--defect", defect.rawValue] }
            if let profile { words += ["--profile", ShellWord.quoted(profile)] }
            return words.joined(separator: " ")
        }
        let names: Set<String> = [
            "--as", "--to", "--listen", "--defect", "--spawn", "--restart", "--stimulus",
            "--before", "--after", "--on-state", "--effects", "--target-ready-text",
            "--target-ready-file", "--profile", "--probe",
        ]
        var words: [String] = []
        var rest = CommandLine.arguments.dropFirst(2)
        while let word = rest.popFirst() {
            let name = String(word.prefix { $0 != "=" })
            guard names.contains(name) else { continue }
            words.append(ShellWord.quoted(word))
            if name == word, let value = rest.popFirst() { words.append(ShellWord.quoted(value)) }
        }
        return words.joined(separator: " ")
    }

    /// The day, as in `2026-12-31`.
    static var today: String {
        String(Timestamp(seconds: Int64(Glibc.time(nil))).wholeSecondsText.prefix(10))
    }
}

extension ArgumentValue where Value == UInt64 {
    /// A number of 64 bits.
    static var seed: ArgumentValue {
        ArgumentValue("N") { (text) throws(ValueError) in
            guard let seed = UInt64(text) else {
                throw ValueError("\"\(text)\" is no seed; it is a whole number below 2^64")
            }
            return seed
        }
    }
}

extension ArgumentValue where Value == Set<FuzzLevel> {
    /// Levels with commas between them.
    static var levels: ArgumentValue {
        ArgumentValue("LEVELS") { (text) throws(ValueError) in
            var levels: Set<FuzzLevel> = []
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let level = FuzzLevel(rawValue: String(word)) else {
                    let known = FuzzLevel.allCases.map(\.rawValue)
                    let near = nearestWord(to: String(word), among: known)
                    throw ValueError(
                        "\"\(word)\" is no level; "
                            + (near.map { "did you mean \"\($0)\"?" }
                                ?? "levels are \(known.joined(separator: ", "))"))
                }
                levels.insert(level)
            }
            return levels
        }
    }
}

extension ArgumentValue {
    /// `simulated`, or an address.
    static func place<Address>(
        _ address: ArgumentValue<Address>, _ placeholder: String
    ) -> ArgumentValue where Value == FuzzCommandOptions.Place<Address> {
        ArgumentValue("\(placeholder)|simulated") { (text) throws(ValueError) in
            text == "simulated" ? .simulated : .address(try address.parse(text))
        }
    }
}
