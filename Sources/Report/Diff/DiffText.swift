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
        entry(
            pair.outcome, "\(visible(pair.type)) \(pair.ordinal)",
            ids(pair.first?.id, pair.second?.id), (pair.first?.seq, pair.second?.seq),
            details(pair))
    }

    /// An HTTP exchange that differs, or of which something is to be told; else nothing.
    package func text(_ pair: SessionDiff.ExchangePair) -> String {
        entry(
            pair.outcome, "\(pair.kind.rawValue) \(pair.ordinal)",
            ids(pair.first?.id, pair.second?.id), (pair.first?.seq, pair.second?.seq),
            details(pair))
    }

    /// An event of the app that differs, or of which something is to be told.
    package func text(_ pair: SessionDiff.EventPair) -> String {
        entry(
            pair.outcome, "\(visible(pair.name)) \(pair.ordinal)", "",
            (pair.first?.seq, pair.second?.seq), details(pair))
    }

    private func entry(
        _ outcome: SessionDiff.Outcome, _ name: String, _ ids: String,
        _ places: (Int?, Int?), _ details: [String]
    ) -> String {
        guard outcome != .same || !details.isEmpty || showsSame else { return "" }
        let id = ids.isEmpty ? "" : "  \(visible(ids))"
        return "\(painted(outcome))  \(name)\(id)\(self.places(places.0, places.1))\n"
            + details.map { "    \($0)\n" }.joined()
    }

    private func ids(_ first: String?, _ second: String?) -> String {
        guard let first, let second, first != second else { return first ?? second ?? "" }
        return "\(first) → \(second)"
    }

    /// What is to be said of a command, a line each, without its name.
    package func details(_ pair: SessionDiff.CommandPair) -> [String] {
        pair.remarks.map { visible($0) } + lines(pair.differences, pair.left)
            + (pair.candidate.map(lines) ?? [])
    }

    /// What is to be said of an event.
    package func details(_ pair: SessionDiff.EventPair) -> [String] {
        pair.remarks.map { visible($0) } + lines(pair.differences, pair.left)
    }

    /// What is to be said of an HTTP exchange.
    package func details(_ pair: SessionDiff.ExchangePair) -> [String] {
        pair.remarks.map { visible($0) } + lines(pair.differences, pair.left)
    }

    /// What is to be said of a command but for its own differences.
    func remarks(_ pair: SessionDiff.CommandPair) -> [String] {
        pair.remarks.map { visible($0) } + (pair.candidate.map(lines) ?? [])
    }

    private func lines(_ candidate: SessionDiff.Candidate) -> [String] {
        let command = candidate.command
        let name = "\(visible(command.type)) \(command.ordinal)  \(visible(command.id))"
        let differences = lines(candidate.differences, candidate.left)
        return [
            "closest is \(name)  (event \(command.seq))"
                + (differences.isEmpty ? ", which says the same" : "")
        ] + differences.map { "    " + $0 }
    }

    private func places(_ first: Int?, _ second: Int?) -> String {
        let places = [first.map { "A \($0)" }, second.map { "B \($0)" }].compactMap { $0 }
        return "  (event \(places.joined(separator: ", ")))"
    }

    private func lines(_ differences: [FieldDifference], _ left: Int) -> [String] {
        var lines = differences.filter { showsSame || !Self.isExpected($0.kind) }
            .map { difference in
                let words = [Self.word(difference.kind), difference.why].compactMap { $0 }
                let why = words.isEmpty ? "" : "  (\(visible(words.joined(separator: ": "))))"
                return "\(visible(difference.path))  \(mask.text(difference))\(why)"
            }
        let own = differences.count { $0.kind == .phone }
        if own > 0, !showsSame {
            lines.append(
                "\(counted(own, "value")) of the phone's own \(own == 1 ? "differs" : "differ")")
        }
        if left > 0 { lines.append("and \(counted(left, "difference")) more") }
        return lines
    }

    /// Whether no two sessions are the same in this.
    static func isExpected(_ kind: FieldDifference.Kind) -> Bool {
        switch kind {
        case .moment, .bound, .allowed, .phone: true
        case .changed, .added, .removed, .form, .method, .wording, .addition: false
        }
    }

    /// Why a difference does not count.
    static func word(_ kind: FieldDifference.Kind) -> String? {
        switch kind {
        case .changed, .added, .removed: nil
        case .form: "the same in another form"
        case .method: "the platform's own way"
        case .wording: "the words only"
        case .moment: "when it took place"
        case .addition: "a field that the contract does not know"
        case .bound: "what the other has become"
        case .allowed: "a rule lets it differ"
        case .phone: "the phone's own"
        }
    }

    /// What differs of the whole, and the sum.
    package func end(_ diff: borrowing SessionDiff) -> String {
        var result = ""
        for fact in diff.facts {
            let word = fact.counts ? painted(.changed) : padded("remark")
            result += "\(word)  \(fact.name): \(visible(fact.first)) → \(visible(fact.second))\n"
        }
        return result + sum(diff) + "\n"
    }

    /// What differs, counted, in one line.
    package func sum(_ diff: borrowing SessionDiff) -> String {
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
        if diff.changedExchanges > 0 {
            sum +=
                "; \(counted(diff.changedExchanges, "exchange")) over HTTP differ"
                + (diff.changedExchanges == 1 ? "s" : "")
        }
        let facts = diff.facts.count { $0.counts }
        if facts > 0 { sum += "; \(counted(facts, "difference")) of the link" }
        return sum
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
        case .skipped: colour = 36
        case .changed, .routeChanged: colour = 33
        case .late, .unanswered, .duplicate, .extra, .missing: colour = 31
        }
        return "\u{1b}[\(colour)m\(word)\u{1b}[0m"
    }
}
