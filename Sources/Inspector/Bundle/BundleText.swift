import Capture
import PhoneBridge
import Report
import Wire

/// The texts of a bundle, for people and for programs.
struct BundleText {
    private let about: BundleOutput.About
    private let folder: String
    private let reading: BundleReading
    private let redactor: Redactor

    /// Rules and marks that are told one by one in the text for an issue tracker.
    private static let maximumRules = 10
    private static let maximumMarks = 10

    init(
        about: BundleOutput.About, folder: String, _ reading: BundleReading, _ redactor: Redactor
    ) {
        self.about = about
        self.folder = folder
        self.reading = reading
        self.redactor = redactor
    }

    private var statistics: SessionStatistics { reading.statistics }
    private var broken: [Results.Case] {
        reading.suite.cases.filter { $0.tally.counted > 0 }
            .sorted { ($1.tally.counted, $0.name) < ($0.tally.counted, $1.name) }
    }

    // MARK: For people

    /// What the bundle is about, a line each.
    var summary: [String] { [length, rules, commands, losses].compactMap(\.self) }

    private var length: String {
        "\(counted(statistics.events, "event")) in \(timeSpan(statistics.duration))"
    }

    private var rules: String {
        let count = reading.suite.figure("rules")
        let remarks = reading.suite.cases.filter { $0.tally.remarks > 0 }
        let behind =
            remarks.isEmpty
            ? ""
            : "; \(counted(remarks.count, "remark")): " + Self.names(remarks)
        guard !broken.isEmpty else {
            return count == 0
                ? "no rule was put to the test"
                : "\(counted(count, "rule")) kept, none broken" + behind
        }
        return "\(grouped(broken.count)) of \(counted(count, "rule")) broken: "
            + Self.names(broken) + behind
    }

    private static func names(_ cases: [Results.Case]) -> String {
        cases.prefix(maximumRules).map(\.name).joined(separator: ", ")
            + (cases.count > maximumRules ? ", …" : "")
    }

    private var commands: String? {
        let all = statistics.allCommands
        guard all.commands > 0 else { return nil }
        let parts: [(Int, String)] = [
            (all.succeeded, "succeeded"), (all.failed, "failed"), (all.late, "late"),
            (all.duplicate, "answered twice"), (all.unanswered, "unanswered"), (all.open, "open"),
        ]
        return counted(all.commands, "command") + ": "
            + parts.filter { $0.0 > 0 }.map { "\(grouped($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    private var losses: String? {
        guard !reading.isComplete || statistics.gaps > 0 else { return nil }
        var parts: [String] = []
        if statistics.dropped > 0 {
            parts.append("\(counted(statistics.dropped, "event")) could not be recorded")
        }
        if statistics.gaps > 0 { parts.append(counted(statistics.gaps, "gap")) }
        return "not complete" + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    var check: String {
        CheckText(profile: about.profile.name, isColoured: false, showsAll: true)
            .text(reading.suite)
    }

    var statisticsText: String {
        StatisticsText(isColoured: false).text(name: "session.ndjson", statistics)
    }

    /// What is in the folder, and what to do with it.
    var readMe: String {
        """
        A session between a phone app and a board (Phone Bridge contract \
        \(statistics.info?.contract ?? "1.2")), made by \(about.tool).

        What it told about people was replaced before it was written: names, numbers, addresses,
        places, texts and times are stand-ins. Whose they are only the key tells, which is not here.

        session.html    the session; open it in a browser, it needs no network
        session.ndjson  the same, for bridgetap and other programs (a line of JSON an event)
        issue.md        a text for an issue tracker
        check.txt       which rules of the contract were broken, and where; check.ndjson for programs
        stats.txt       commands, latencies, connections; stats.json for programs
        facts.json      program, system, link, losses, and what was replaced

        To play it against a board, or as a board against an app; it ends with 1 while a rule is
        broken, or something else comes out than was recorded:

            \(reading.command)
            bridgetap replay --check session.ndjson --as board --listen ADDRESS:8080

        """
    }

    /// The text for an issue tracker: Markdown.
    var issue: String {
        var lines = [
            "### What happened", "",
            "<!-- What was done, what was expected, and what came instead. -->", "",
            "### What was recorded", "",
        ]
        lines += summary.map { "- \(Self.plain($0))" }
        if let info = statistics.info {
            lines.append(
                "- session `\(Self.code(info.id))`, recorded by \(Self.plain(info.tool))"
                    + " (\(Self.plain(info.source)))")
        }
        for (way, count) in reading.link.sorted.prefix(Self.maximumRules) {
            lines.append("- " + Self.plain(Self.text(way, count)))
        }
        if !reading.marks.isEmpty {
            let places = reading.marks.prefix(Self.maximumMarks).map {
                "\(clockTime($0.time)) (seq \($0.seq))"
            }
            lines.append("- marked at " + places.joined(separator: ", "))
        }
        if !broken.isEmpty {
            lines += ["", "### Broken rules", ""]
            for item in broken.prefix(Self.maximumRules) { lines += Self.lines(item) }
            if broken.count > Self.maximumRules {
                lines.append("- and \(broken.count - Self.maximumRules) more, in `check.txt`")
            }
        }
        lines += [
            "", "### To see it", "",
            "Unpack the attached `\(Self.code(folder)).zip`: `session.html` opens in a browser."
                + " Personal data was replaced.",
            "", "    \(reading.command)", "",
        ]
        return lines.joined(separator: "\n")
    }

    private static func lines(_ item: Results.Case) -> [String] {
        var lines: [String] = []
        let section = item.rule.map { " (\($0.rating.rawValue), \($0.section))" } ?? ""
        lines.append(
            "- `\(code(item.name))`\(plain(section)), \(counted(item.tally.counted, "time")):"
                + " \(plain(item.rule?.demand ?? ""))")
        if let first = item.findings.first(where: { $0.standing == .counted }) {
            let place = first.events.last.map { " (seq \($0))" } ?? ""
            lines.append("  First at \(clockTime(first.time))\(place): \(plain(first.text))")
        }
        return lines
    }

    private static func text(_ way: LinkFacts.Way, _ count: Int) -> String {
        var text =
            counted(count, way.isWebSocket ? "WebSocket" : "HTTP connection")
            + " from \(way.app) to \(way.board)"
        let facts = [
            way.userAgent, way.server.map { "server \($0)" },
            way.isWebSocket ? way.extensions ?? "no extensions" : nil,
        ].compactMap(\.self)
        if !facts.isEmpty { text += ": " + facts.joined(separator: "; ") }
        return text
    }

    /// Text that is no markup, whatever is in it.
    private static func plain(_ text: String) -> String {
        var result = ""
        for scalar in visible(text).unicodeScalars {
            if "\\`*_[]<>#|!&@".unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Text between two back-ticks.
    private static func code(_ text: String) -> String {
        visible(text).replacing("`", with: "'")
    }

    // MARK: For programs

    var checkLines: Bytes {
        let lines = ResultLines()
        var bytes = Bytes()
        for (rule, finding) in reading.findings {
            bytes += lines.line(finding, of: rule, in: reading.suite.name)
        }
        return bytes + lines.lines(reading.suite)
    }

    var statisticsLine: Bytes {
        statistics.json(name: "session.ndjson").encoded + [0x0a]
    }

    /// What the program, the link and the recording were, and what was replaced.
    var facts: Bytes {
        let ways = reading.link.sorted.map { way, count -> JSON in
            var members: [JSON.Member] = [
                .init("app", .string(way.app)), .init("board", .string(way.board)),
                .init("connections", .integer(count)), .init("websocket", .bool(way.isWebSocket)),
            ]
            let texts = [
                ("user_agent", way.userAgent), ("server", way.server),
                ("extensions", way.extensions),
            ]
            for (name, text) in texts {
                if let text { members.append(.init(name, .string(text))) }
            }
            return .object(members)
        }
        let facts: JSON = .object([
            .init("tool", .string(about.tool)),
            .init("system", .string(about.system)),
            .init(
                "made_at", .string(Timestamp(seconds: about.time).wholeSecondsText)),
            .init("profile", .string(about.profile.name)),
            .init("recorded_by", .string(statistics.info?.tool ?? "")),
            .init("source", .string(statistics.info?.source ?? "")),
            .init("contract", .string(statistics.info?.contract ?? "")),
            .init(
                "recording",
                .object([
                    .init("events", .integer(statistics.events)),
                    .init("dropped", .integer(statistics.dropped)),
                    .init("gaps", .integer(statistics.gaps)),
                    .init("complete", .bool(reading.isComplete)),
                ])),
            .init("link", .array(ways)),
            .init(
                "redaction",
                .object([
                    .init("session", statistics.info?.redacted ?? .null),
                    .init("touched", redactor.manifest.json),
                ])),
        ])
        return facts.encoded + [0x0a]
    }
}
