import Arguments
import Capture
import Fuzz
import Glibc
import Report
import Wire

/// What `bridgetap findings` was asked for.
struct FindingsOptions: Sendable {
    /// What can be done about findings.
    enum Task: String, CaseIterable, Sendable {
        case list
        case accept
        case waive
        case duplicate
        case falseAlarm = "false-alarm"
        case merge
        case export
    }

    var task = Task.list
    var folders: [String] = []
    var since: String?
    var until: String?
    var reason: String?
    var baseline: String?
    var isJSON = false
    var output: String?
    var isRecording = false
    var isRaw = false

    static let command = Command<Job>(
        "findings", summary: "says what is to be done about findings of fuzz",
        details: """
            "list" names the findings in folders, and how each stands. "accept" says that a finding is \
            known: it does not turn the next night red. "waive" does so until a day, with a reason. \
            "duplicate A B" says that A is the bug of B, "false-alarm" that the target is right and the \
            check is wrong. These take the folders of findings, and are \
            written to baseline.ndjson beside them, a line a bucket; a decision is about one bucket, \
            never about all of a check. "merge A B ALL" joins the findings of A and B, such as those \
            of two shards, in ALL.

            "export -o DIR" makes tests of findings: a session of what takes place where the bug is not \
            there, for "bridgetap replay DIR", with its rules file and the script. With --recording it \
            writes what took place where the bug was. What a target that was not spawned said of people \
            is masked, but with --raw.

            "list" ends with 1 where a finding is there that counts, else with 0.
            """,
        options: FindingsOptions(),
        arguments: [
            .operand(
                \.task, .choice("TASK"),
                help: "list, accept, waive, duplicate, false-alarm, merge or export"),
            .operands(
                \.folders, .text("DIR"),
                help: "a folder of --findings, or of one finding in it"),
            .option(
                "since", \.since, .day, help: "list: only what was seen on this day or later"),
            .option("until", \.until, .day, help: "waive: the last day that it holds"),
            .option("reason", \.reason, .text("TEXT"), help: "why, for who reads it later"),
            .option(
                "baseline", \.baseline, .file,
                help: "where decisions are kept (default: baseline.ndjson beside the findings)"),
            .flag("json", \.isJSON, help: "list: as NDJSON, a line a finding"),
            .option(
                "output", short: "o", \.output, .text("DIR"),
                help: "export: where the sessions go"),
            .flag(
                "recording", \.isRecording, help: "export: sessions of the bug, as they took place"),
            .flag(
                "raw", \.isRaw, help: "export: mask nothing, whosever the target was"),
        ],
        examples: [
            Example("bridgetap findings list findings", "what was found, and what is known"),
            Example(
                "bridgetap findings waive findings/alive-0c3b1d22 --until 2026-12-31 --reason "
                    + "'fixed in 1.3'",
                "leaves one bucket alone for a while"),
            Example(
                "bridgetap findings merge shard-1 shard-2 all", "joins what two machines found"),
            Example(
                "bridgetap findings export findings -o regressions",
                "a suite that \"bridgetap replay regressions\" plays in CI"),
        ],
        check: { (options) throws(UsageError) in try options.check() },
        action: { options in { try options.run() } })

    private func check() throws(UsageError) {
        if task == .waive, reason == nil {
            throw .rule(message: "a waiver needs --reason", hint: "say why, for who reads it later")
        }
        if until != nil, task != .waive {
            throw .rule(message: "--until is for waive", hint: nil)
        }
        if since != nil, task != .list { throw .rule(message: "--since is for list", hint: nil) }
        if isJSON, task != .list { throw .rule(message: "--json is for list", hint: nil) }
        if task != .export, output != nil || isRecording || isRaw {
            throw .rule(message: "-o, --recording and --raw are for export", hint: nil)
        }
        if task == .export, output == nil {
            throw .rule(message: "export needs -o DIR", hint: "where do the sessions go?")
        }
        if task == .duplicate || task == .merge, folders.count < 2 {
            throw .rule(
                message: "\(task.rawValue) takes two folders at least",
                hint: task == .merge ? "the last one is where the others go" : "A is the bug of B")
        }
    }

    private func run() throws -> ExitCode {
        switch task {
        case .list: return try list()
        case .accept: return try decide { _ in .accepted }
        case .waive: return try decide { _ in .waived(until: until) }
        case .duplicate: return try duplicate()
        case .falseAlarm: return try decide { _ in .falseAlarm }
        case .merge: return try merge()
        case .export: return try export()
        }
    }

    // MARK: Folders

    /// The findings of a folder, which may be one of them, with the folder around them.
    private func find(_ path: String) throws -> (store: FindingsStore, records: [FindingRecord]) {
        guard let file = FileIdentity(path), !file.isRegular else {
            throw Failure(.badInput, "\(path) is no folder")
        }
        let folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard FileIdentity("\(folder)/\(FindingFolder.record)") != nil else {
            let store = FindingsStore(folder)
            return (store, try store.load())
        }
        let parts = folder.split(separator: "/")
        let above = (folder.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
        return (FindingsStore(above.isEmpty ? "." : above), [try FindingsStore.read(folder)])
    }

    private func baselinePath(_ store: FindingsStore) -> String {
        baseline ?? store.baselinePath
    }

    // MARK: Tasks

    private func export() throws -> ExitCode {
        var export = try FindingsExport(to: output ?? ".", isRecording: isRecording, isRaw: isRaw)
        for folder in folders {
            let (_, records) = try find(folder)
            guard !records.isEmpty else {
                throw Failure(.badInput, "there is no finding in \(folder)")
            }
            for record in records { try export.write(record) }
        }
        try export.finish()
        return export.count > 0 ? .done : .nothingExercised
    }

    private func list() throws -> ExitCode {
        let today = FuzzCommandOptions.today
        var counts = 0
        var table: [[String]] = []
        for folder in folders {
            let (store, records) = try find(folder)
            let baseline = try FindingsStore.baseline(
                baselinePath(store), isNeeded: self.baseline != nil)
            for record in records {
                if let since, record.circumstances.lastSeen < since { continue }
                let finding = record.finding
                let excuse = baseline.excuse(finding.name, today: today)
                if excuse == nil { counts += 1 }
                if isJSON {
                    try ProcessStreams.output(
                        CampaignLines.line(finding, excuse: excuse, in: store.folder))
                } else {
                    table.append([
                        excuse == nil ? "!" : "~", finding.name, finding.verdict.word,
                        "\(finding.rate)", counted(finding.script.steps.count, "step"),
                        record.circumstances.lastSeen, excuse.map { visible($0) } ?? "",
                    ])
                }
            }
        }
        let widths = (0..<7).map { column in table.map { columns($0[column]) }.max() ?? 0 }
        for row in table {
            var line = ""
            for (column, text) in row.enumerated() where !text.isEmpty {
                line += text + String(repeating: " ", count: widths[column] - columns(text) + 2)
            }
            while line.last == " " { line.removeLast() }
            try ProcessStreams.output(line + "\n")
        }
        if !isJSON {
            try ProcessStreams.output(
                "\(counted(table.count, "finding")), \(grouped(counts)) that \(counts == 1 ? "counts" : "count")\n"
            )
        }
        return counts > 0 ? .found : .done
    }

    private func decide(
        _ standing: (FindingRecord) throws -> Baseline.Standing
    ) throws -> ExitCode {
        try decide(folders, standing)
    }

    private func decide(
        _ folders: [String], _ standing: (FindingRecord) throws -> Baseline.Standing
    ) throws -> ExitCode {
        var decided = 0
        for folder in folders {
            let (store, records) = try find(folder)
            let path = baselinePath(store)
            var baseline = try FindingsStore.baseline(path, isNeeded: false)
            for record in records {
                baseline.set(
                    Baseline.Entry(
                        bucket: record.finding.name, check: record.finding.observation.check,
                        standing: try standing(record), reason: reason ?? ""))
                decided += 1
            }
            guard !records.isEmpty else {
                throw Failure(.badInput, "there is no finding in \(folder)")
            }
            try FindingsStore.replace(path, with: baseline.text)
        }
        try ProcessStreams.output("\(counted(decided, "finding"))\n")
        return .done
    }

    private func duplicate() throws -> ExitCode {
        let (_, others) = try find(folders[folders.count - 1])
        guard others.count == 1 else {
            throw Failure(
                .usage, "\(folders[folders.count - 1]) is not the folder of one finding",
                hint: "name the finding that the others are the same as last")
        }
        let other = others[0].finding.name
        return try decide(Array(folders.dropLast())) { record in
            guard record.finding.name != other else {
                throw Failure(.usage, "\(other) cannot be a duplicate of itself")
            }
            return .duplicate(of: other)
        }
    }

    private func merge() throws -> ExitCode {
        let target = FindingsStore(folders[folders.count - 1])
        try target.make()
        var all: [String: FindingRecord] = [:]
        for record in try target.load() { all[record.finding.name] = record }
        var decisions = try FindingsStore.baseline(baselinePath(target), isNeeded: false)
        let mine = Set(decisions.entries.map(\.bucket))
        var changed: Set<String> = []
        for folder in folders.dropLast() {
            let (store, records) = try find(folder)
            for record in records {
                let name = record.finding.name
                all[name] = all[name].map { $0.merged(with: record) } ?? record
                changed.insert(name)
            }
            let baseline = try FindingsStore.baseline(store.baselinePath, isNeeded: false)
            for entry in baseline.entries where !mine.contains(entry.bucket) {
                decisions.set(entry)
            }
        }
        for name in changed.sorted() {
            if let record = all[name] { try target.write(record) }
        }
        if !decisions.entries.isEmpty {
            try FindingsStore.replace(baselinePath(target), with: decisions.text)
        }
        try ProcessStreams.output("\(counted(all.count, "finding")) in \(target.folder)\n")
        return .done
    }
}

extension ArgumentValue where Value == String {
    /// A day such as `2026-12-31`.
    static var day: ArgumentValue {
        ArgumentValue("DATE") { (text) throws(ValueError) in
            guard text.utf8.count == 10, Timestamp("\(text)T00:00:00Z") != nil else {
                throw ValueError("\"\(text)\" is no day; write it like 2026-12-31")
            }
            return text
        }
    }
}
