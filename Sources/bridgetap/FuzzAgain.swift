import Capture
import Fuzz
import Glibc
import PhoneBridge
import Report
import Wire

/// Runs one finding again, or makes its script shorter.
struct FuzzAgain {
    private let options: FuzzCommandOptions
    private let profile: Profile
    private let judge: Judge

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        profile = try options.loadProfile()
        judge = Judge(profile: profile, today: FuzzCommandOptions.today)
    }

    /// The script of a folder or file, and what it is known to show.
    private func find(_ path: String) throws -> (script: FuzzScript, record: FindingRecord?) {
        guard let file = FileIdentity(path) else {
            throw Failure(.badInput, "\(path): \(SystemError(ENOENT, call: "stat"))")
        }
        let record = file.isRegular ? nil : try FindingsStore.read(path)
        let script = try record?.finding.script ?? FindingsStore.readScript(path)
        guard script.played == options.played else {
            throw Failure(
                .usage, "\(path) plays the \(script.played.rawValue)",
                hint: "--as \(script.played.rawValue)")
        }
        return (script, record)
    }

    // MARK: Again

    /// Runs a script some times, and its control once.
    func reproduce(_ path: String) throws -> ExitCode {
        let (script, record) = try find(path)
        let target = try FuzzTarget(options, profile: profile)
        defer { target.end() }
        var hits = 0
        var runs = 0
        var voids: [String] = []
        for number in 1...options.times {
            guard let outcome = target.outcome(of: script, keepsSession: false) else { break }
            if let why = Self.void(outcome) {
                voids.append(why)
                try tell(number, "not run: \(visible(why))", nil)
                if runs == 0, voids.count >= 3 { break }
                continue
            }
            runs += 1
            let counted = outcome.observations.filter { judge.counts($0, in: script) }
            let shown = counted.first { observation in
                record.map { $0.finding.signals.contains(Signal(observation)) } ?? true
            }
            if let shown {
                hits += 1
                try tell(number, "\(shown.check): \(visible(shown.text))", shown)
            } else if let other = counted.first {
                try tell(number, "something else, \(other.check): \(visible(other.text))", other)
            } else {
                try tell(number, "nothing", nil)
            }
        }
        guard runs > 0 else {
            if target.isInterrupted { return .interrupted }
            throw Failure(.unreachable, "the target could not be used: \(voids.last ?? "")")
        }
        try tellControl(script, record, target)
        let rate = Investigation.Rate(hits, of: runs)
        if options.isJSON {
            try print(["kind": "end", "k": .integer(hits), "n": .integer(runs)])
        } else {
            try ProcessStreams.output("\(rate) \(hits == 0 ? "it does not come" : "it comes")\n")
        }
        if target.isInterrupted { return .interrupted }
        return hits > 0 ? .found : .done
    }

    private func tellControl(
        _ script: FuzzScript, _ record: FindingRecord?, _ target: FuzzTarget
    ) throws {
        guard !script.mutations.isEmpty, let outcome = target.outcome(of: script.control),
            Self.void(outcome) == nil
        else { return }
        let counted = outcome.observations.filter { judge.counts($0, in: script.control) }
        let words = counted.first.map { "shows \($0.check): \(visible($0.text))" } ?? "passes"
        if options.isJSON {
            try print(["kind": "control", "passes": .bool(counted.isEmpty)])
        } else {
            try ProcessStreams.output("control  \(words)\n")
        }
    }

    private func tell(_ number: Int, _ words: String, _ seen: Observation?) throws {
        guard options.isJSON else {
            return try ProcessStreams.output("\(number)  \(words)\n")
        }
        try print([
            "kind": "run", "number": .integer(number),
            "check": seen.map { .string($0.check) } ?? .null,
            "seen": seen.map { .string($0.text) } ?? .null,
        ])
    }

    private func print(_ json: JSON) throws {
        try ProcessStreams.output(json.encoded + [UInt8(ascii: "\n")])
    }

    /// Why a run says nothing; nil where it does.
    private static func void(_ outcome: CaseOutcome) -> String? {
        switch outcome.target {
        case .well, .died: nil
        case .lost(let why), .trouble(let why): why
        }
    }

    // MARK: Shorter

    /// Makes a finding's script shorter, and writes its folder anew.
    func minimise(_ path: String) throws -> ExitCode {
        let (script, record) = try find(path)
        let target = try FuzzTarget(options, profile: profile)
        defer { target.end() }
        guard let first = target.outcome(of: script) else { return .interrupted }
        if let why = Self.void(first) {
            throw Failure(.unreachable, "the target could not be used: \(why)")
        }
        let counted = first.observations.filter { judge.counts($0, in: script) }
        guard
            let shown = counted.first(where: { observation in
                record.map { $0.finding.signals.contains(Signal(observation)) } ?? true
            })
        else {
            try ProcessStreams.output("it does not come\n")
            return .done
        }
        var settings = Investigation.Settings()
        settings.maximumQuestions = 5000
        var investigation = Investigation(script, showed: shown, settings: settings)
        while let question = investigation.next() {
            guard let outcome = target.outcome(of: question.script, keepsSession: true) else {
                investigation.conclude()
                break
            }
            ProcessStreams.showStatusOnTerminal(
                "\(investigation.script.steps.count) steps, question \(investigation.questions)")
            let observations = outcome.observations.filter {
                judge.counts($0, in: question.script)
            }
            investigation.receive(
                Self.void(outcome) == nil
                    ? .judged(observations, Investigation.Evidence(outcome)) : .void)
        }
        ProcessStreams.showStatus(nil)
        try keep(investigation, record, path, isFresh: target.canBeFresh)
        return target.isInterrupted ? .interrupted : .found
    }

    private func keep(
        _ investigation: Investigation, _ record: FindingRecord?, _ path: String, isFresh: Bool
    ) throws {
        guard let verdict = investigation.verdict, verdict.isFinding else {
            let word = investigation.verdict?.word ?? "undecided"
            return try ProcessStreams.output("\(word), \(investigation.rate); left as it is\n")
        }
        let before = record?.finding.script.steps.count ?? investigation.original.steps.count
        let after = investigation.script.steps.count
        let finding = FuzzFinding(
            investigation, verdict: verdict, firstCase: record?.finding.firstCase,
            isFresh: isFresh)
        var circumstances = record?.circumstances ?? FindingRecord.Circumstances()
        circumstances.tool = Version.tool
        circumstances.profile = profile.name
        circumstances.flags = options.targetFlags
        circumstances.isOwnTarget = options.isOwnTarget
        circumstances.lastSeen = FuzzCommandOptions.today
        if circumstances.firstSeen.isEmpty { circumstances.firstSeen = circumstances.lastSeen }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let above = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
        let store = FindingsStore(record == nil ? options.findings : above.isEmpty ? "." : above)
        try store.make()
        let shorter =
            record?.with(shorter: finding, circumstances) ?? FindingRecord(finding, circumstances)
        try store.write(shorter)
        try ProcessStreams.output(
            "\(verdict.word) in \(finding.rate): \(before) steps, now \(after) "
                + "(\(counted(finding.questions, "question")))\n"
                + "  \(store.path(of: shorter.finding.name))\n\n\(finding.script)")
    }
}
