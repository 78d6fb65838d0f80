package import Wire

/// What values have become from a recorded session to the one in which it is played, where the
/// `bind` rules of a rules file say so (docs/comparison-rules.md).
///
/// Values are learned as a comparison of both sessions learns them, and put where the rules have
/// the same name. A text that only looks like one is left alone.
package struct BoundValues {
    private let rules: [ComparisonRules.Rule]
    private var ledger: ComparisonLedger

    /// Makes a table that knows nothing yet.
    package init(_ rules: ComparisonRules) {
        self.rules = rules.rules
        ledger = ComparisonLedger(rules: rules)
    }

    /// Whether no rule binds anything.
    package var isEmpty: Bool { !rules.contains(where: Self.binds) }

    private static func binds(_ rule: ComparisonRules.Rule) -> Bool {
        if case .bind = rule.action { true } else { false }
    }

    /// Whether any rule binds values of a command of a type, an event or an exchange.
    package func binds(_ subject: String) -> Bool {
        rules.contains { Self.binds($0) && $0.isAbout(subject) }
    }

    /// Learns from one message, as it was recorded and as it came.
    ///
    /// - Parameter root: what the message is, as paths begin: `command`, `result`, `event`.
    package mutating func learn(
        _ recorded: JSON, _ live: JSON, as root: String, of subject: String
    ) {
        guard binds(subject) else { return }
        ledger.begin(subject)
        var comparison = FieldComparison(at: FieldPath(root))
        comparison.compare(recorded, live, .unknown, &ledger)
    }

    /// A recorded message with the live values; every other byte is as it was.
    package func filled(_ content: Bytes, as root: String, of subject: String) -> Bytes {
        guard binds(subject), let document = try? JSONDocument(content) else { return content }
        var edits: [(range: Range<Int>, value: Bytes)] = []
        for place in places(in: document, as: root, of: subject) {
            guard let live = ledger.values.second(for: place.text, name: place.name),
                live != place.text, let value = Self.written(live, like: place.view.kind)
            else { continue }
            edits.append((place.view.range, value))
        }
        guard !edits.isEmpty else { return content }
        var filled = Bytes()
        var copied = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            filled += content[copied..<edit.range.lowerBound]
            filled += edit.value
            copied = edit.range.upperBound
        }
        return filled + content[copied...]
    }

    /// The values of a message that rules bind, each with the name of its rule.
    package func values(
        in content: Bytes, as root: String, of subject: String
    ) -> [(name: String, text: String)] {
        guard binds(subject), let document = try? JSONDocument(content) else { return [] }
        return places(in: document, as: root, of: subject).map { ($0.name, $0.text) }
    }

    // MARK: Places

    private struct Place {
        var name: String
        var text: String
        var view: JSONView
    }

    private func places(
        in document: JSONDocument, as root: String, of subject: String
    ) -> [Place] {
        var found: [Place] = []
        let active = rules.filter { $0.isAbout(subject) }
        Self.find(document.root, at: FieldPath(root), active, &found)
        return found
    }

    /// Of several rules for one value the first one holds, as in a comparison.
    private static func find(
        _ view: JSONView, at path: FieldPath, _ rules: [ComparisonRules.Rule],
        _ found: inout [Place]
    ) {
        switch rules.first(where: { $0.path.matches(path) })?.action {
        case nil, .unordered: break
        case .bind(let name):
            if let text = text(view) { found.append(Place(name: name, text: text, view: view)) }
            return
        case .ignore, .type, .pattern, .numberTolerance, .timeTolerance: return
        }
        var path = path
        for (name, value) in view.members {
            path.steps.append(.member(name.string ?? ""))
            find(value, at: path, rules, &found)
            path.steps.removeLast()
        }
        for (index, element) in view.elements.enumerated() {
            path.steps.append(.index(index))
            find(element, at: path, rules, &found)
            path.steps.removeLast()
        }
    }

    /// The text of a value that can be tied, as a comparison has it.
    private static func text(_ view: JSONView) -> String? {
        switch view.kind {
        case .string: view.string
        case .number: view.numberText
        case .bool: view.bool.map { $0 ? "true" : "false" }
        case .null, .array, .object: nil
        }
    }

    /// A live value as JSON of the kind that stood there; nil where it can be none.
    private static func written(_ live: String, like kind: JSONKind) -> Bytes? {
        if kind == .string { return JSON.string(live).encoded }
        let bytes = Bytes(live.utf8)
        guard let value = try? JSON(parsing: bytes) else { return nil }
        switch (kind, value) {
        case (.number, .number), (.bool, .bool): return bytes
        default: return nil
        }
    }
}
