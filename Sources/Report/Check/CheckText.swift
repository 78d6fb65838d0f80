import Capture
package import PhoneBridge

/// What `check` prints of a session.
///
///     ! result-within-timeout  app, 4 times
///         A result comes within timeout_ms of its command
///         contract, "BridgeCommand"
///         00:12.522  seq 41, 57  calendar_create "cal_001": answered after 9.21 s
///         and 3 more
///
///     lab.ndjson: 1 of 23 rules broken; 1,204 events and 32 commands in 2 min 3 s
package struct CheckText: Sendable {
    private let profile: String
    private let isColoured: Bool
    /// Whether everything is shown in full: each place, and what does not count.
    private let showsAll: Bool

    /// So many places of a rule are shown; the rest is a number.
    private let maximumPlaces = 3

    package init(profile: String, isColoured: Bool, showsAll: Bool) {
        self.profile = profile
        self.isColoured = isColoured
        self.showsAll = showsAll
    }

    /// A finding by itself, for somebody who watches.
    package func line(_ finding: Results.Finding, of rule: Rule) -> String {
        mark(finding.standing) + " " + painted(rule.id, .strong) + "  " + findingText(finding)
            + "\n"
    }

    /// All of a suite; without the single findings where they were shown as they came, and with
    /// its name in front where it is one of several.
    package func text(
        _ suite: Results.Suite, showsFindings: Bool = true, isOneOfSeveral: Bool = false
    ) -> String {
        let broken = suite.cases.filter { $0.tally.counted > 0 }
        let excused = suite.cases.filter { $0.tally.excused > 0 }
        let remarks = suite.cases.filter { $0.tally.remarks > 0 }
        var text = ""
        if isOneOfSeveral, !(broken.isEmpty && excused.isEmpty && remarks.isEmpty) {
            text = painted(visible(suite.name), .strong) + "\n\n"
        }
        for item in broken {
            text += block(item, .counted, count: item.tally.counted, showsFindings) + "\n"
        }
        if !excused.isEmpty {
            text +=
                painted("known to the profile \(visible(profile)), and not counted:", .dim) + "\n"
            for item in excused {
                text += block(item, .excused(""), count: item.tally.excused, showsFindings)
            }
            text += "\n"
        }
        if !remarks.isEmpty {
            text += painted("remarks, which are not counted:", .dim) + "\n"
            for item in remarks {
                text +=
                    showsAll
                    ? block(item, .remark, count: item.tally.remarks, showsFindings)
                    : brief(item)
            }
            text += "\n"
        }
        return text + lastLine(suite)
    }

    /// One line behind several suites.
    package func total(_ suites: [Results.Suite]) -> String {
        let broken = suites.count { $0.count(.failed) > 0 }
        let unreadable = suites.count { $0.count(.error) > 0 }
        var parts = ["\(counted(suites.count, "session")): "]
        parts[0] += broken == 0 ? "no rule broken" : "\(grouped(broken)) with broken rules"
        if unreadable > 0 { parts.append("\(grouped(unreadable)) could not be checked") }
        return painted(parts.joined(separator: ", "), broken + unreadable > 0 ? .bad : .good)
            + "\n"
    }

    // MARK: Rules

    private func block(
        _ item: Results.Case, _ standing: Profile.Standing, count: Int, _ showsFindings: Bool
    ) -> String {
        let findings = item.findings.filter { $0.standing.word == standing.word }
        var text = heading(item, standing, findings, count: count) + "\n"
        if let rule = item.rule {
            text += "    \(rule.demand)\n    " + painted(rule.section, .dim) + "\n"
        }
        var words: [String] = []
        for case .excused(let excuse) in findings.map(\.standing) where !words.contains(excuse) {
            words.append(excuse)
            text += "    " + painted(visible(excuse), .dim) + "\n"
        }
        guard showsFindings else { return text }
        let shown = findings.prefix(showsAll ? .max : maximumPlaces)
        for finding in shown { text += "    " + findingText(finding) + "\n" }
        if count > shown.count { text += "    and \(grouped(count - shown.count)) more\n" }
        return text
    }

    private func brief(_ item: Results.Case) -> String {
        let findings = item.findings.filter { $0.standing == .remark }
        var text = heading(item, .remark, findings, count: item.tally.remarks)
        if let first = findings.first { text += ", first " + findingText(first) }
        return text + "\n"
    }

    private func heading(
        _ item: Results.Case, _ standing: Profile.Standing, _ findings: [Results.Finding],
        count: Int
    ) -> String {
        var sides: [String] = []
        for side in findings.compactMap(\.side?.rawValue) where !sides.contains(side) {
            sides.append(side)
        }
        let who = sides.isEmpty ? "" : sides.joined(separator: " and ") + ", "
        return mark(standing) + " " + painted(item.name, .strong) + "  " + who
            + counted(count, "time")
    }

    private func lastLine(_ suite: Results.Suite) -> String {
        let broken = suite.count(.failed)
        let rules = suite.figure("rules")
        var result: String
        if suite.session == nil {
            return "\(visible(suite.name)): " + painted("could not be checked", .bad) + "\n"
        } else if let error = suite.cases.first(where: { $0.outcome == .error }) {
            result = error.message ?? error.name
        } else if rules == 0 {
            result = "nothing in it puts a rule to the test"
        } else if broken == 0 {
            let kept = suite.cases.count { $0.outcome == .passed && $0.tally.total == 0 }
            result = (kept < rules ? "\(grouped(kept)) of " : "") + "\(counted(rules, "rule")) kept"
        } else {
            result = "\(grouped(broken)) of \(counted(rules, "rule")) broken"
        }
        result = painted(visible(result), broken > 0 || rules == 0 ? .bad : .good)
        let events = counted(suite.figure("events"), "event")
        let commands = counted(suite.figure("commands"), "command")
        var tail = "; \(events) and \(commands) in \(timeSpan(suite.duration))"
        let excused = suite.cases.count { $0.tally.excused > 0 }
        let remarks = suite.cases.count { $0.tally.remarks > 0 }
        if excused > 0 { tail += "; \(counted(excused, "known deviation"))" }
        if remarks > 0 { tail += "; \(counted(remarks, "remark"))" }
        return "\(visible(suite.name)): \(result)\(tail)\n"
    }

    // MARK: Colours

    private enum Style: String {
        case bad = "31"
        case good = "32"
        case warning = "33"
        case strong = "1"
        case dim = "2"
    }

    private func mark(_ standing: Profile.Standing) -> String {
        switch standing {
        case .counted: painted("!", .bad)
        case .excused: painted("~", .warning)
        case .remark: painted("-", .dim)
        }
    }

    private func painted(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }
}
