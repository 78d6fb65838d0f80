import Wire

/// Rules that were learned from sessions, for a person to look at.
package struct RulesProposal: Sendable {
    /// What kind of value varies.
    package enum Kind: String, Sendable {
        case id
        case instant
        case counter
        case level
        /// One of a few words.
        case word
        case text = "free text"
        case order
        case other = "another value"
    }

    /// A rule with what speaks for it.
    package struct Rule: Sendable, Equatable {
        package var rule: ComparisonRules.Rule
        package var kind: Kind
        /// What was seen, without what it tells about a person.
        package var evidence: String
    }

    /// What the sessions are called; the first one was held against each of the others.
    package let sessions: [String]
    package internal(set) var rules: [Rule] = []
    /// What differs and has no rule, a sentence each.
    package internal(set) var remarks: [String] = []
    /// How many differences each session but the first has left with the rules.
    package internal(set) var left: [Int] = []

    /// A rule that stands in no file yet.
    static let noPlace = JSON5.Place(line: 0, column: 0)

    init(sessions: [String]) {
        self.sessions = sessions
    }

    /// The rules alone.
    package var comparisonRules: ComparisonRules {
        var rules = ComparisonRules()
        rules.rules = self.rules.map(\.rule)
        return rules
    }

    /// Remarks that the text quotes; more are counted.
    private static let maximumRemarks = 50

    /// A rules file, JSON5 with the evidence in comments.
    package var text: String {
        var text = "// Learned from \(counted(sessions.count, "session")); look at each rule "
        text += "before you use it.\n//   \(visible(sessions.first ?? ""))\n"
        for (name, left) in zip(sessions.dropFirst(), left) {
            text += "//   \(visible(name)): "
            text +=
                left == 0
                ? "the same with these rules\n"
                : "\(counted(left, "difference")) left with these rules\n"
        }
        if !remarks.isEmpty {
            text += "// What has no rule:\n"
            for remark in remarks.prefix(Self.maximumRemarks) {
                text += "//   \(visible(remark))\n"
            }
            let more = remarks.count - Self.maximumRemarks
            if more > 0 { text += "//   and \(grouped(more)) more\n" }
        }
        text += "{\n    version: 1,\n    rules: [\n"
        for rule in rules { text += Self.text(rule) }
        return text + "    ],\n}\n"
    }

    private static func text(_ item: Rule) -> String {
        let rule = item.rule
        var members = [
            "on: \(JSON.string(rule.on))", "path: \(JSON.string(rule.path.text))",
            "do: \"\(rule.action.word)\"",
        ]
        switch rule.action {
        case .pattern(let pattern): members.append("pattern: \(JSON.string(pattern))")
        case .numberTolerance(let most): members.append("tolerance: \(most)")
        case .timeTolerance(let most): members.append("tolerance: \"\(most / 1_000_000)ms\"")
        case .unordered(let key?): members.append("by: \(JSON.string(key))")
        case .bind(let name): members.append("bind: \(JSON.string(name))")
        case .ignore, .type, .unordered(nil): break
        }
        return "        // \(item.kind.rawValue): \(visible(item.evidence))\n"
            + "        { \(members.joined(separator: ", ")) },\n"
    }
}
