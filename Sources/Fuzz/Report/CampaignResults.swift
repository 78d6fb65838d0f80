import Capture
import PhoneBridge
package import Report
import Wire

extension CampaignSummary {
    /// The results in the model of all reports: one suite, a case for each check, so that a clean
    /// night shows what was checked.
    package var results: Results {
        var suite = Results.Suite(name: "\(judged.rawValue) under test")
        suite.duration = status.elapsed
        let figures = status.figures
        suite.figures = [
            Results.Figure("cases", figures.cases), Results.Figure("runs", figures.runs),
            Results.Figure("edges", figures.edges), Results.Figure("deaths", figures.deaths),
            Results.Figure("lost", figures.lost), Results.Figure("troubles", figures.troubles),
        ]
        suite.figures += Sometimes.allCases.map { word in
            Results.Figure(
                "reached_" + word.rawValue.replacing(" ", with: "_"), figures.reached[word] ?? 0)
        }
        var rules = Self.checks(of: judged)
        for observation in observations where !rules.contains(where: { $0.id == observation.check })
        {
            rules.append(
                Rule(
                    observation.check, observation.rating, judged, section: observation.section,
                    observation.demand))
        }
        suite.cases = rules.map(item)
        suite.cases += Sometimes.reachable(judging: judged).map(reached) + harness
        return Results(
            command: command, tool: tool, profile: judge.profile.name, rules: rules,
            suites: [suite])
    }

    private var observations: [Observation] {
        findings.map(\.record.finding.observation) + known.map(\.record.finding.observation)
            + apart.map(\.observation)
    }

    private func item(_ rule: Rule) -> Results.Case {
        var item = Results.Case(
            name: rule.id, rule: rule, outcome: .passed, exercised: status.figures.cases)
        for entry in ranked where entry.record.finding.observation.check == rule.id {
            add(entry.record.finding, excuse: entry.excuse, to: &item, rule)
        }
        for entry in known where entry.record.finding.observation.check == rule.id {
            switch entry.fate {
            case .stillThere, .changed:
                add(entry.record.finding, excuse: entry.excuse, to: &item, rule)
            case .fixed, .undecided: break
            }
        }
        let others = apart.filter { $0.observation.check == rule.id }
        for signal in others where signal.verdict == .withoutMutation {
            let counts = signal.observation.rating == .sure
            item.findings.append(
                Self.finding(
                    signal.observation, counts ? .counted : .remark, rule, judged,
                    text: "\(signal.observation.text) (without any mutation)"))
            item.tally.count(counts ? .counted : .remark)
        }
        if item.tally.counted > 0 {
            item.outcome = .failed
            item.message = item.findings.first { $0.standing == .counted }?.text
        } else if let words = item.findings.lazy.compactMap(\.excuse).first {
            item.outcome = .skipped
            item.message = "does not count: \(words)"
        } else if let signal = others.first {
            item.outcome = .skipped
            item.message =
                "\(signal.verdict.word), \(signal.rate): \(signal.observation.text)"
        } else if !isActive(rule) {
            item.outcome = .skipped
            item.message =
                judge.excuses[rule.id].map { "does not count: \($0)" }
                ?? "rated \(rule.rating.rawValue), which the profile does not count"
        } else if status.figures.cases == 0 {
            item.outcome = .skipped
            item.message = "no case was run"
        }
        return item
    }

    private func add(
        _ finding: FuzzFinding, excuse: String?, to item: inout Results.Case, _ rule: Rule
    ) {
        let standing = excuse.map { Profile.Standing.excused($0) } ?? .counted
        let steps = counted(finding.script.steps.count, "step")
        var seen = Self.finding(
            finding.observation, standing, rule, judged,
            text: "\(finding.observation.text) (\(finding.rate), \(steps): "
                + "\(folder)/\(finding.name))")
        seen.fingerprint = finding.name
        seen.places = [
            EventPlace(file: "\(folder)/\(finding.name)/\(FindingFolder.script)", line: 2)
        ]
        if let first = finding.observation.events.first {
            // The first line is the session's own.
            seen.places.append(
                EventPlace(
                    file: "\(folder)/\(finding.name)/failing.ndjson", line: first &+ 1))
            seen.time =
                VerdictText.timeline(finding.evidence.session).first { $0.seq == first }?.time ?? 0
        }
        item.findings.append(seen)
        item.tally.count(standing)
    }

    private static func finding(
        _ observation: Observation, _ standing: Profile.Standing, _ rule: Rule, _ side: Side,
        text: String
    ) -> Results.Finding {
        Results.Finding(
            Breach(
                rule: rule.rated(observation.rating), side: side, conn: 0, time: 0,
                events: observation.events, text: text),
            standing: standing, places: [])
    }

    /// What a night has to have come to at least once.
    private func reached(_ word: Sometimes) -> Results.Case {
        let count = status.figures.reached[word] ?? 0
        var item = Results.Case(
            name: "reached \(word.rawValue)", outcome: .passed, exercised: count)
        guard count == 0 else { return item }
        item.outcome = missed.contains(word) ? .error : .skipped
        item.message = "never reached"
        return item
    }

    /// What is no fault of the target.
    private var harness: [Results.Case] {
        let why = end?.fault
        var item = Results.Case(name: "harness", outcome: why == nil ? .passed : .error)
        item.message = why
        if status.figures.troubles > 0 {
            item.details = [
                counted(status.figures.troubles, "run") + " in which the harness failed"
            ]
        }
        return [item]
    }
}

extension Results.Tally {
    fileprivate mutating func count(_ standing: Profile.Standing) {
        switch standing {
        case .counted: counted += 1
        case .excused: excused += 1
        case .remark: remarks += 1
        }
    }
}

extension Results.Finding {
    fileprivate var excuse: String? {
        if case .excused(let words) = standing { words } else { nil }
    }
}
