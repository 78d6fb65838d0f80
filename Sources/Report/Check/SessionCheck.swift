package import Capture
package import PhoneBridge

/// Holds one session against the rules, and makes a suite of what comes of it.
package struct SessionCheck: Sendable {
    private let profile: Profile
    private var checker: RuleChecker
    private var places = EventPlaces()
    private var suite: Results.Suite
    private var events = 0
    private var lastTime: Int64 = 0
    private var hasEnd = false
    private var isOfPackets = false
    private var losses = 0
    private var cases: [String: Results.Case] = [:]

    /// Of each rule so many findings are kept; the others are counted.
    package static let maximumFindings = 100

    /// Begins a check.
    ///
    /// - Parameters:
    ///   - name: what people call the session.
    ///   - today: the day, as in `2026-12-31`, by which waivers end.
    package init(name: String, profile: Profile, today: String) {
        self.profile = profile
        checker = RuleChecker(profile: profile, today: today)
        suite = Results.Suite(name: name)
    }

    /// Whether nothing of the session is missing, as far as its files say.
    package var isComplete: Bool { losses == 0 && (hasEnd || isOfPackets) }

    /// Takes the next event; gives what it, or the silence before it, brought to light.
    ///
    /// - Parameter name: the file that it stands in.
    package mutating func receive(
        _ event: Event, at position: SessionPosition, name: @autoclosure () -> String
    ) -> [(Rule, Results.Finding)] {
        switch event.kind {
        case .session(let info):
            suite.session = info.id
            suite.startedAt = info.startedAt
            isOfPackets = position.isPacket
        case .end(let end):
            hasEnd = true
            if end.dropped > 0 { losses += 1 }
        case .gap: losses += 1
        case .note(let note) where note.code == "recording_gap": losses += 1
        case .open, .request, .response, .frame, .message, .piece, .data, .close, .note: break
        }
        if event.seq > 0 { events += 1 }
        lastTime = max(lastTime, event.time)
        places.add(seq: event.seq, at: position, name: name())
        return take(checker.receive(event))
    }

    /// Something could not be read; what was in it is not held against anybody.
    package mutating func lost() -> [(Rule, Results.Finding)] {
        losses += 1
        return take(checker.lost())
    }

    /// The session is over: the last findings, and the suite.
    package mutating func finish() -> (findings: [(Rule, Results.Finding)], suite: Results.Suite) {
        let last = take(checker.finish())
        suite.duration = lastTime
        let counts = checker.exercised
        for rule in RuleChecker.rules {
            let exercised = counts[rule.id] ?? 0
            var item =
                cases[rule.id] ?? Results.Case(name: rule.id, rule: rule, outcome: .passed)
            guard exercised > 0 || item.tally.total > 0 else { continue }
            item.exercised = max(exercised, item.tally.total)
            judge(&item)
            suite.cases.append(item)
        }
        suite.figures = [
            Results.Figure("events", events),
            Results.Figure("commands", checker.commandCount),
            Results.Figure("rules", suite.cases.count),
        ]
        return (last, suite)
    }

    private func judge(_ item: inout Results.Case) {
        let first = item.findings.first { $0.standing == .counted }
        if item.tally.counted > 0 {
            item.outcome = .failed
            item.message = told(item.tally.counted, first)
        } else if item.tally.excused > 0 {
            item.outcome = .skipped
            let words = item.findings.lazy.compactMap { finding -> String? in
                if case .excused(let words) = finding.standing { words } else { nil }
            }.first
            item.message = "does not count: \(words ?? "known")"
        }
    }

    private func told(_ count: Int, _ first: Results.Finding?) -> String {
        let times = counted(count, "time")
        return first.map { "\(times), first: \($0.text)" } ?? times
    }

    private mutating func take(_ breaches: [Breach]) -> [(Rule, Results.Finding)] {
        breaches.map { breach in
            let finding = Results.Finding(
                breach, standing: profile.standing(of: breach),
                places: breach.events.compactMap { places.place(of: $0) })
            let id = breach.rule.id
            // In its place: a case has much that a copy would count references of.
            Self.add(
                finding,
                to: &cases[
                    id,
                    default: Results.Case(
                        name: id, rule: RuleChecker.rule(id) ?? breach.rule, outcome: .passed)])
            return (breach.rule, finding)
        }
    }

    private static func add(_ finding: Results.Finding, to item: inout Results.Case) {
        item.tally.add(finding.standing)
        keep(finding, in: &item)
    }

    /// Keeps the first ones; one that counts is kept before one that does not.
    private static func keep(_ finding: Results.Finding, in item: inout Results.Case) {
        if item.findings.count < Self.maximumFindings {
            item.findings.append(finding)
        } else if finding.standing == .counted,
            let index = item.findings.lastIndex(where: { $0.standing != .counted })
        {
            item.findings.remove(at: index)
            item.findings.append(finding)
        }
    }
}
