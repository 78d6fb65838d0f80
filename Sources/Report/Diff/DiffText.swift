import Capture
import PhoneBridge
import Wire

/// What is told of two sessions that were compared.
///
///     A  lab.ndjson: 2 commands, 1 WebSocket connection
///     B  new.ndjson: 2 commands, 1 WebSocket connection
///     changed        contacts_query 1  c1 → k7
///         result.data.contacts[0].name  ‹name, 5 characters› → ‹name, 4 characters›
///     1 same, 1 changed
///
/// Values that tell about a person are masked.
package struct DiffText: Sendable {
    private let isColoured: Bool
    private let showsSame: Bool
    private let mask = PersonalMask()

    package init(isColoured: Bool, showsSame: Bool = false) {
        self.isColoured = isColoured
        self.showsSame = showsSame
    }

    /// What the two sessions are.
    package func head(_ diff: borrowing SessionDiff) -> String {
        line("A", diff.first) + line("B", diff.second)
    }

    private func line(_ letter: String, _ session: DiffSession) -> String {
        var parts = [
            counted(session.commands.count, "command"),
            counted(session.events.count, "event"),
            counted(session.links.count, "WebSocket connection"),
        ]
        if session.appHeartbeats > 0 { parts.append(counted(session.appHeartbeats, "heartbeat")) }
        return "\(letter)  \(visible(session.name)): \(parts.joined(separator: ", "))\n"
    }

    /// A command that differs, or of which something is to be told; else nothing.
    package func text(_ pair: SessionDiff.CommandPair) -> String {
        guard
            pair.outcome != .same || !pair.differences.isEmpty || !pair.remarks.isEmpty
                || showsSame
        else { return "" }
        let ids = [pair.first?.id, pair.second?.id].compactMap { $0 }
        var name = ids.first ?? ""
        if ids.count == 2, ids[0] != ids[1] { name += " → \(ids[1])" }
        var result =
            "\(painted(pair.outcome))  \(visible(pair.type)) \(pair.ordinal)  \(visible(name))"
        result += places(pair.first?.seq, pair.second?.seq) + "\n"
        for line in details(pair) { result += "    \(line)\n" }
        return result
    }

    /// What is to be said of a command, a line each, without its name.
    func details(_ pair: SessionDiff.CommandPair) -> [String] {
        pair.remarks + lines(pair.differences, pair.left)
    }

    /// What is to be said of an event.
    func details(_ pair: SessionDiff.EventPair) -> [String] {
        lines(pair.differences.filter { $0.kind != .moment || showsSame }, pair.left)
    }

    /// An event of the app that differs, or of which something is to be told.
    package func text(_ pair: SessionDiff.EventPair) -> String {
        guard
            pair.outcome != .same || pair.differences.contains(where: { $0.kind != .moment })
                || showsSame
        else { return "" }
        return "\(painted(pair.outcome))  \(visible(pair.name)) \(pair.ordinal)"
            + places(pair.first?.seq, pair.second?.seq) + "\n"
            + details(pair).map { "    \($0)\n" }.joined()
    }

    private func places(_ first: Int?, _ second: Int?) -> String {
        let places = [first.map { "A \($0)" }, second.map { "B \($0)" }].compactMap { $0 }
        return "  (event \(places.joined(separator: ", ")))"
    }

    private func lines(_ differences: [FieldDifference], _ left: Int) -> [String] {
        var lines = differences.map { difference in
            let word = Self.word(difference.kind).map { "  (\($0))" } ?? ""
            return "\(visible(difference.path))  \(mask.text(difference))\(word)"
        }
        if left > 0 { lines.append("and \(counted(left, "difference")) more") }
        return lines
    }

    /// Why a difference does not count.
    static func word(_ kind: FieldDifference.Kind) -> String? {
        switch kind {
        case .changed, .added, .removed: nil
        case .form: "the same in another form"
        case .method: "the platform's own way"
        case .wording: "the words only"
        case .moment: "when it was reported"
        case .addition: "a field that the contract does not know"
        }
    }

    /// What differs of the whole, and the sum.
    package func end(_ diff: borrowing SessionDiff) -> String {
        var result = ""
        for fact in diff.facts {
            let word = fact.counts ? painted(.changed) : padded("remark")
            result += "\(word)  \(fact.name): \(visible(fact.first)) → \(visible(fact.second))\n"
        }
        var parts: [String] = []
        for outcome in SessionDiff.Outcome.allCases {
            let count = diff.counts[outcome, default: 0]
            if count > 0 { parts.append("\(grouped(count)) \(outcome.word)") }
        }
        var sum = parts.isEmpty ? "no commands" : parts.joined(separator: ", ")
        if diff.changedEvents > 0 {
            sum +=
                "; \(counted(diff.changedEvents, "event")) of the app differ"
                + (diff.changedEvents == 1 ? "s" : "")
        }
        let facts = diff.facts.count { $0.counts }
        if facts > 0 { sum += "; \(counted(facts, "difference")) of the link" }
        return result + sum + "\n"
    }

    private static let width = 13

    private func padded(_ word: String) -> String {
        word + String(repeating: " ", count: max(0, Self.width - word.count))
    }

    private func painted(_ outcome: SessionDiff.Outcome) -> String {
        let word = padded(outcome.word)
        guard isColoured else { return word }
        let colour: Int
        switch outcome {
        case .same: colour = 2
        case .changed, .routeChanged: colour = 33
        case .late, .unanswered, .duplicate, .extra, .missing: colour = 31
        }
        return "\u{1b}[\(colour)m\(word)\u{1b}[0m"
    }
}
