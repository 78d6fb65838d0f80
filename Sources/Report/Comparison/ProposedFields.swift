import PhoneBridge
import Wire

/// Proposes rules for fields that vary, by what was seen of them.
struct ProposedFields {
    typealias Field = RulesLearner.Field
    typealias Sighting = RulesLearner.Sighting

    private let fields: [(field: Field, sighting: Sighting)]
    private let sessions: Int
    private let mask = PersonalMask()

    init(_ fields: [(field: Field, sighting: Sighting)], sessions: Int) {
        self.fields = fields
        self.sessions = sessions
    }

    /// Adds a rule for each field, or a remark where none should be.
    func propose(_ proposal: inout RulesProposal) {
        let bound = boundFields()
        for (field, sighting) in fields {
            let subject = "\(field.path) of \(field.subject)"
            guard let path = try? PathPattern(field.path) else { continue }
            guard sighting.pairs.allSatisfy({ $0.first != nil && $0.second != nil }) else {
                proposal.remarks.append("\(subject) is not there in every session")
                continue
            }
            guard Set(sighting.values.map(\.kind)).count == 1 else {
                proposal.remarks.append("\(subject) is of several types")
                continue
            }
            var (kind, action) = Self.judged(sighting)
            if kind == .id, bound.contains(field) { action = .bind(sighting.name) }
            proposal.rules.append(
                RulesProposal.Rule(
                    rule: ComparisonRules.Rule(
                        on: field.subject, path: path, action: action,
                        place: RulesProposal.noPlace),
                    kind: kind, evidence: evidence(sighting)))
        }
    }

    /// The values that were seen, without what they tell about a person.
    private func evidence(_ sighting: Sighting) -> String {
        var texts: [String] = []
        for value in sighting.values {
            let text = mask.text(value, sighting.personal)
            if !texts.contains(text) { texts.append(text) }
            if texts.count > 4 { break }
        }
        let shown = texts.prefix(4).joined(separator: ", ") + (texts.count > 4 ? ", …" : "")
        let distinct = Set(sighting.values.map { "\($0)" }).count
        return "\(counted(distinct, "value")) in \(counted(sessions, "session")): \(shown)"
    }

    // MARK: Kinds

    private static func judged(
        _ sighting: Sighting
    ) -> (RulesProposal.Kind, ComparisonRules.Action) {
        let values = sighting.values
        let numbers = values.compactMap { $0.numberText.flatMap(Double.init) }
        if numbers.count == values.count { return judged(numbers: numbers, sighting) }
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count else { return (.other, .type) }
        if texts.allSatisfy({ Timestamp($0) != nil }) { return (.instant, .type) }
        switch sighting.personal {
        case .id: return (.id, ValueShape(texts).map { .pattern($0.pattern) } ?? .type)
        case Contract.Personal.none?, nil:
            if sighting.personal != nil, texts.allSatisfy(isWord) {
                return (.word, .pattern(Set(texts).sorted().joined(separator: "|")))
            }
            if let shape = ValueShape(texts), shape.hasDigits {
                return (.id, .pattern(shape.pattern))
            }
            return (.text, .type)
        case .some: return (.text, .type)
        }
    }

    /// A word of a program, such as `background`.
    private static func isWord(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static func judged(
        numbers: [Double], _ sighting: Sighting
    ) -> (RulesProposal.Kind, ComparisonRules.Action) {
        let isWhole = sighting.values.allSatisfy { $0.integerValue != nil }
        // Pairs of one first session: what is always greater in the later one is counted up.
        let isCounter =
            isWhole
            && sighting.pairs.allSatisfy { pair in
                guard let first = pair.first?.integerValue, let second = pair.second?.integerValue
                else { return false }
                return second > first
            }
        if isCounter { return (.counter, .type) }
        let spread = (numbers.max() ?? 0) - (numbers.min() ?? 0)
        guard spread.isFinite, spread < 1e15 else { return (.level, .type) }
        return (.level, .numberTolerance(rounded(2 * spread)))
    }

    /// A number with two digits that is not less.
    private static func rounded(_ number: Double) -> Double {
        var unit = 1e-12
        while number / unit >= 100 { unit *= 10 }
        let digits = (number / unit - 1e-9).rounded(.up)
        // In decimal, so that the text is as short as it looks.
        return unit < 1 ? digits / (1 / unit).rounded() : digits * unit
    }

    // MARK: Values that are used again

    /// Fields with ids that come again elsewhere in the same session, and map one to one.
    private func boundFields() -> Set<Field> {
        var groups: [String: [Int]] = [:]
        for (index, entry) in fields.enumerated() {
            let isID =
                entry.sighting.pairs.allSatisfy {
                    $0.first?.stringValue != nil && $0.second?.stringValue != nil
                } && Self.judged(entry.sighting).0 == .id
            if isID { groups[entry.sighting.name, default: []].append(index) }
        }
        var bound: Set<Field> = []
        for (name, places) in groups where places.count > 1 {
            let sets = places.map { place in
                Set(fields[place].sighting.pairs.compactMap { $0.first?.stringValue })
            }
            let shared = places.indices.filter { place in
                sets.indices.contains { $0 != place && !sets[$0].isDisjoint(with: sets[place]) }
            }
            guard shared.count > 1, sessions == 2 || isOneToOne(shared.map { places[$0] }, name)
            else { continue }
            for place in shared { bound.insert(fields[places[place]].field) }
        }
        return bound
    }

    /// Whether no value of another session stands for two of the first.
    private func isOneToOne(_ places: [Int], _ name: String) -> Bool {
        var former: [String: String] = [:]
        for place in places {
            for pair in fields[place].sighting.pairs {
                guard let first = pair.first?.stringValue, let second = pair.second?.stringValue
                else { return false }
                if let known = former.updateValue(first, forKey: second), known != first {
                    return false
                }
            }
        }
        return true
    }
}
