import Arguments
import Capture
import Glibc
import Report
import Wire

/// What `bridgetap diff` was asked for.
struct DiffOptions: Sendable {
    var files: [String] = []
    var rules: String?
    var junit: String?
    var html: String?
    var isJSON = false
    var showsAll = false

    static let command = Command<Job>(
        "diff", summary: "what differs between two sessions, command by command",
        details: """
            Commands belong together by id and type, else by type and route, in order. Each comes \
            out as same, changed, late, unanswered, duplicate, extra, missing or route changed, \
            seen from the first session; differences are shown field by field. Events of the \
            app, HTTP exchanges, connections and heartbeats are compared too. What the contract lets differ is \
            told and does not count: the form of an instant, fields that it does not know, a \
            platform's own method. Values that tell about a person are masked, but for --json.

            Ends with 0 where nothing differs, 1 where something does, 4 where an input cannot \
            be read, 5 where neither has a command or an event.
            """,
        options: DiffOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "two session files, packed or not, or pcap, pcapng or HAR files; - is "
                    + "standard input"),
            .option(
                "rules", \.rules, .file,
                help: "what may vary from one session to the next (docs/comparison-rules.md)"),
            .option("junit", \.junit, .file, help: "also write a JUnit XML report"),
            .option(
                "html", \.html, .file,
                help: "also write one page with both sessions side by side, open at the first "
                    + "difference; it needs no network and hides what messages say"),
            .flag("json", \.isJSON, help: "commands, events and the sum as NDJSON"),
            .flag("all", \.showsAll, help: "what is the same too"),
        ],
        exclusive: [["--json", "--all"]],
        examples: [
            Example("bridgetap diff lab.ndjson new.ndjson", "what did the new build change?"),
            Example(
                "bridgetap diff --json board.pcap browser.har | jq 'select(.outcome != \"same\")'",
                "for other programs"),
            Example(
                "bridgetap diff --rules lab.rules.json5 lab.ndjson new.ndjson",
                "some fields are never the same"),
        ],
        check: { (options) throws(UsageError) in
            if options.files.count != 2 {
                throw .rule(
                    message: "two sessions are compared, not \(options.files.count)",
                    hint: "bridgetap convert makes one file of the parts of a session")
            }
            if options.files == ["-", "-"] {
                throw .rule(message: "standard input is one session", hint: "give - once")
            }
            try ReportFile.checkPage(options.html)
            if options.junit == "-", options.isJSON {
                throw .rule(
                    message: "standard output can be one thing only",
                    hint: "give --junit the name of a file")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        let report = try junit.map { try ReportFile($0, flag: "--junit", inputs: files) }
        let rules = try RulesInput.load(self.rules)
        let page = try html.map { try ReportFile($0, flag: "--html", inputs: files) }
        var rows = [page.map { _ in SessionRows() }, page.map { _ in SessionRows() }]
        let first = try SessionInputs.diffSession(files[0], rows: &rows[0])
        let second = try SessionInputs.diffSession(files[1], rows: &rows[1])
        var items: [ComparedItem] = []
        var diff = SessionDiff(first, second, rules: rules)
        let layout = DiffText(
            isColoured: ProcessStreams.isColoured(STDOUT_FILENO), showsSame: showsAll)
        let lines = DiffLines()
        var results = DiffResults(diff)
        var output = Bytes()
        if !isJSON { output += Bytes(layout.head(diff).utf8) }
        while let pair = try part({ () throws(OutputError) in try diff.nextCommand() }) {
            results.add(pair)
            if page != nil { items.append(ComparedItem(pair)) }
            output += isJSON ? lines.line(pair) : Bytes(layout.text(pair).utf8)
            try write(&output)
        }
        while let pair = try part({ () throws(OutputError) in try diff.nextExchange() }) {
            results.add(pair)
            if page != nil { items.append(ComparedItem(pair)) }
            output += isJSON ? lines.line(pair) : Bytes(layout.text(pair).utf8)
            try write(&output)
        }
        while let pair = try part({ () throws(OutputError) in try diff.nextEvent() }) {
            results.add(pair)
            if page != nil { items.append(ComparedItem(pair)) }
            output += isJSON ? lines.line(pair) : Bytes(layout.text(pair).utf8)
            try write(&output)
        }
        output += isJSON ? lines.end(diff) : Bytes(layout.end(diff).utf8)
        if junit != "-" { try ProcessStreams.output(output) }
        if let path = self.rules { RulesInput.warn(diff.ruleRemarks, of: path) }
        if let report {
            let results = Results(
                command: "diff", tool: Version.tool, suites: [results.finish(diff)])
            try report.finish(Bytes(JUnitText(results).text.utf8))
        }
        if let page, let left = rows[0], let right = rows[1] {
            items += diff.facts.filter(\.counts).map { ComparedItem($0) }
            try write(page, diff, items, (left, right))
        }
        if diff.isEmpty { return .nothingExercised }
        return diff.isDifferent ? .found : .done
    }

    /// Writes the page.
    private func write(
        _ file: ReportFile, _ diff: borrowing SessionDiff, _ items: [ComparedItem],
        _ rows: (first: SessionRows, second: SessionRows)
    ) throws {
        let page = ComparisonPage(title: "bridgetap diff", showsValues: false)
        let sum = DiffText(isColoured: false).sum(diff)
        try file.write(page.head)
        try page.write(
            ComparisonPage.Comparison(
                name: files.joined(separator: " and "),
                verdict: diff.isDifferent ? "different" : "same", isDifferent: diff.isDifferent,
                summary: sum, sides: (diff.first.name, diff.second.name), items: items,
                rows: rows), to: file.write)
        try file.finish(page.tail)
    }

    /// A step of the comparison, which reads what was put aside.
    private func part<Pair>(_ step: () throws(OutputError) -> Pair?) throws -> Pair? {
        do { return try step() } catch { throw SessionInputs.failure(.cannotSpool(error)) }
    }

    /// Writes what is a block already.
    private func write(_ output: inout Bytes) throws {
        guard output.count >= 64 * 1024 else { return }
        // Standard output is for the report then.
        if junit != "-" { try ProcessStreams.output(output) }
        output.removeAll(keepingCapacity: true)
    }
}
