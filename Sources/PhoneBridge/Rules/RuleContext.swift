package import Capture

/// What all groups of rules share: the tables, what is known of the link, and where breaches go.
package struct RuleContext: Sendable {
    package let contract: Contract
    package let profile: Profile
    /// Nanoseconds since the session began.
    package internal(set) var now: Int64 = 0
    /// Connections that are open, by number.
    package internal(set) var connections = ConnectionTable<ConnectionFacts>()
    /// Every command id that was seen.
    package internal(set) var commands: CommandBook
    /// When something was last missing, or could not be read, on any connection; nil for never.
    package internal(set) var lastHole: Int64?
    /// Connections of which a side is not known again since something of it was missing.
    package internal(set) var uncertain: Set<Int> = []
    /// The time of the first event; nil before it.
    package internal(set) var began: Int64?
    /// How often each rule was put to the test, by id.
    package var exercised: [String: Int] { counts.byID }
    private var counts = RuleCounts()
    private let isCounting: Bool

    var breaches: [Breach] = []
    /// Why breaches of a rule do not count, by rule id.
    private let excuses: [String: String]

    init(contract: Contract, profile: Profile, excuses: [String: String], counts: Bool) {
        isCounting = counts
        self.contract = contract
        self.profile = profile
        self.excuses = excuses
        commands = CommandBook(contract: contract)
    }

    /// Whether nothing can be missing since `time`, on any connection.
    ///
    /// - Parameter time: nanoseconds of the session.
    package func isCertain(since time: Int64) -> Bool {
        guard let began, began <= time, uncertain.isEmpty else { return false }
        return lastHole.map { $0 < time } ?? true
    }

    /// Milliseconds of the target's own time as nanoseconds of the session.
    package func nanoseconds(_ milliseconds: Int64) -> Int64 { profile.nanoseconds(milliseconds) }

    /// What measuring may add to a duration, in nanoseconds.
    package var slack: Int64 { profile.slack }

    /// A rule was put to the test, whatever came of it.
    package mutating func exercise(_ rule: Rule, times: Int = 1) {
        if isCounting { counts.add(rule, times: times) }
    }

    /// A rule is broken.
    ///
    /// - Parameters:
    ///   - rating: where the evidence is weaker than the rule, its own rating.
    ///   - events: the `seq` of what shows it; zeros are left out.
    ///   - text: one sentence without a full stop.
    package mutating func report(
        _ rule: Rule, rating: Rule.Rating? = nil, by side: Side, conn: Int = 0, events: [Int],
        command: Breach.Command? = nil, _ text: String
    ) {
        var rule = rule
        if let rating, rating > rule.rating { rule = rule.rated(rating) }
        breaches.append(
            Breach(
                rule: rule, side: side, conn: conn, time: now, events: events.filter { $0 > 0 },
                command: command, text: text, knownDeviation: excuses[rule.id]))
    }
}

extension Int64 {
    /// The sum of two times, held to the bounds of the type.
    package func clampedAdding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The time from `other` to this one, held to the bounds of the type.
    package func clampedSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
