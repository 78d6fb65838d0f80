import PhoneBridge
import Report

/// What a campaign says to a person.
///
///     ! heartbeat-echo-id-3fa94c11  confirmed in 3 of 3 repeats, 2 steps
///         An echo carries the id that the app's heartbeat had
///         contract, "Heartbeat"
///         the echo has the id "ping"; "heartbeat" was due
///         findings/heartbeat-echo-id-3fa94c11
package struct CampaignText: Sendable {
    private let isColoured: Bool

    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// A finding, as soon as it is known.
    package func text(_ finding: FuzzFinding, excuse: String?, in folder: String) -> String {
        let steps = counted(finding.script.steps.count, "step")
        var text = excuse == nil ? painted("!", "31") : painted("~", "33")
        text += " " + painted(finding.name, "1") + "  "
        text += Self.verdict(finding.verdict, finding.rate) + ", \(steps)\n"
        text += "    \(visible(finding.observation.demand))\n"
        text += "    " + painted(visible(finding.observation.section), "2") + "\n"
        text += "    \(visible(finding.observation.text))\n"
        text += "    \(folder)/\(finding.name)\n"
        if let excuse { text += "    " + painted("does not count: \(visible(excuse))", "2") + "\n" }
        return text
    }

    /// What became of a finding of an earlier campaign.
    package func text(_ name: String, _ fate: KnownFinding.Fate, excuse: String?) -> String {
        let words = excuse.map { " (does not count: \(visible($0)))" } ?? ""
        switch fate {
        case .stillThere(let rate):
            let mark = excuse == nil ? painted("!", "31") : painted("~", "33")
            return "\(mark) \(painted(name, "1"))  is still there, \(rate)\(words)\n"
        case .fixed: return "\(painted("+", "32")) \(painted(name, "1"))  does not come any more\n"
        case .changed(let observation):
            return "\(painted("!", "31")) \(painted(name, "1"))  has changed: "
                + "\(observation.check), \(visible(observation.text))\(words)\n"
        case .undecided:
            return "\(painted("-", "2")) \(painted(name, "1"))  could not be run\n"
        }
    }

    /// The end of a campaign.
    package func text(_ summary: CampaignSummary) -> String {
        var text = ""
        let broken = summary.apart.filter { $0.verdict == .withoutMutation }
        if !broken.isEmpty {
            text += "\nbroken without any mutation too:\n"
            for signal in broken {
                text += line(signal, counts: signal.observation.rating == .sure)
            }
        }
        let others = summary.apart.filter { $0.verdict != .withoutMutation }
        if !others.isEmpty {
            text += "\nseen and not clear, which does not count:\n"
            for signal in others.prefix(20) { text += line(signal, counts: false) }
            if others.count > 20 { text += "    and \(grouped(others.count - 20)) more\n" }
        }
        let figures = summary.status.figures
        let unreached = figures.unreached(judging: summary.judged)
        if !unreached.isEmpty, figures.cases > 0 {
            let words = unreached.map(\.rawValue).joined(separator: ", ")
            text +=
                summary.missed.isEmpty
                ? "\nnot reached yet: \(words)\n"
                : "\n\(painted("a failed night", "31")): it has never reached \(words)\n"
        }
        let excused = summary.judge.excuses.count
        if excused > 0 {
            text += "\nthe profile \(summary.judge.profile.name) excuses "
            text += "\(counted(excused, "check"))\n"
        }
        return text + "\n" + lastLine(summary) + "\n"
    }

    private func line(_ signal: ApartSignal, counts: Bool) -> String {
        let mark = counts ? painted("!", "31") : painted("-", "2")
        let place = signal.firstCase.map { ", case \($0)" } ?? ""
        return "\(mark) \(painted(signal.observation.check, "1"))  "
            + Self.verdict(signal.verdict, signal.rate)
            + "\(place)\n    \(visible(signal.observation.text))\n"
    }

    private func lastLine(_ summary: CampaignSummary) -> String {
        let figures = summary.status.figures
        let count = summary.findings.count { $0.excuse == nil }
        let old = summary.known.count(where: \.counts)
        var found = count == 0 ? "no finding" : counted(count, "finding")
        if old > 0 {
            found += count == 0 ? " that is new" : " that \(count == 1 ? "is" : "are") new"
        }
        if old > 0 { found += ", \(counted(old, "known one")) still there" }
        let excused = summary.status.excused + summary.known.count - old
        if excused > 0, summary.status.excused > 0 {
            found += ", \(grouped(summary.status.excused)) of the baseline"
        }
        var line = painted(found, summary.isRed ? "31" : "32")
        line += " in \(counted(figures.cases, "case")) and \(timeSpan(summary.status.elapsed))"
        line += " (\(counted(figures.runs, "run")), \(timeSpan(figures.protocolTime)) of the link)"
        return summary.end.map { "\($0.words); \(line)" } ?? line
    }

    private static func verdict(
        _ verdict: Investigation.Verdict, _ rate: Investigation.Rate
    ) -> String {
        let repeats = "\(rate.hits) of \(counted(rate.runs, "repeat"))"
        return switch verdict {
        case .confirmed: "confirmed in \(repeats)"
        case .keptAsSeen: "seen once with proof, and in \(repeats)"
        case .withoutMutation: "\(repeats)"
        case .flaky: "flaky, \(repeats)"
        case .unconfirmed: "unconfirmed, \(repeats)"
        case .undecided: "undecided"
        }
    }

    private func painted(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
