package import Capture
package import PhoneBridge
import Wire

/// Finds out which fields vary among sessions of one scenario, and proposes a rule for each.
///
/// The first session is held against each of the others. A proposal always keeps a check of the
/// value's shape, so that one which vanishes is still a difference. What no rule should let pass
/// is told instead.
package struct RulesLearner {
    private let sessions: [DiffSession]
    private let contract: Contract

    /// - Parameter sessions: two at least; those of one scenario, played or recorded again.
    package init(_ sessions: [DiffSession], contract: Contract = .current) {
        self.sessions = sessions
        self.contract = contract
    }

    /// A field that varies: of which message, and where in it.
    struct Field: Hashable {
        var subject: String
        var path: String
    }

    /// What was seen of a field.
    struct Sighting {
        /// Values of the first session with those of another one, in order.
        var pairs: [(first: JSON?, second: JSON?)] = []
        var personal: Contract.Personal?
        /// Its last name.
        var name = ""
        /// The list that it is an element of, or stands in: path, and the place of its index.
        var list: String?

        /// Pairs that are kept: the first ones say what kind of value it is.
        static let maximumPairs = 1_000

        var values: [JSON] { pairs.flatMap { [$0.first, $0.second].compactMap { $0 } } }
    }

    /// Compares all sessions, and says what to make of it.
    package func proposal() throws(OutputError) -> RulesProposal {
        var seen = try sightings(ComparisonRules())
        var lists: [RulesProposal.Rule] = []
        let candidates = listRules(seen.fields)
        if !candidates.isEmpty {
            // A list whose elements come in any order has fewer differences where that may be.
            var rules = ComparisonRules()
            rules.rules = candidates.map(\.rule)
            let again = try sightings(rules)
            let before = Self.counts(seen.fields)
            let after = Self.counts(again.fields)
            lists = candidates.filter { candidate in
                let list = Field(subject: candidate.rule.on, path: candidate.rule.path.text)
                return after[list, default: 0] < before[list, default: 0]
            }
            rules.rules = lists.map(\.rule)
            if !lists.isEmpty { seen = try sightings(rules) }
        }
        var proposal = RulesProposal(sessions: sessions.map(\.name))
        proposal.remarks = seen.remarks
        proposal.rules = lists
        ProposedFields(seen.fields, sessions: sessions.count).propose(&proposal)
        proposal.left = try leftOver(proposal.comparisonRules)
        return proposal
    }

    // MARK: What varies

    private struct Seen {
        var fields: [(field: Field, sighting: Sighting)] = []
        var places: [Field: Int] = [:]
        var remarks: [String] = []

        mutating func add(
            _ differences: [FieldDifference], of subject: String, named name: String
        ) {
            for difference in differences where difference.counts {
                guard let place = difference.place, let pattern = place.patternText,
                    !Self.isVital(place)
                else {
                    remarks.append("\(name): \(difference.path) differs, which no rule should hide")
                    continue
                }
                let field = Field(subject: subject, path: pattern)
                if places[field] == nil {
                    places[field] = fields.count
                    fields.append((field, Sighting()))
                }
                guard let index = places[field] else { continue }
                fields[index].sighting.personal = difference.personal
                fields[index].sighting.name = place.name
                fields[index].sighting.list = place.listPattern
                if fields[index].sighting.pairs.count < Sighting.maximumPairs {
                    fields[index].sighting.pairs.append((difference.first, difference.second))
                }
            }
        }

        /// Whether a difference there is one of behaviour, whatever the values are.
        private static func isVital(_ place: FieldPath) -> Bool {
            switch place.steps.first {
            case .member("status"), .member("poll"): return true
            default: break
            }
            let names = place.steps.compactMap { step in
                if case .member(let name) = step { name } else { nil }
            }
            return names == ["command", "type"] || names.dropFirst().first == "error"
        }
    }

    private func sightings(_ rules: ComparisonRules) throws(OutputError) -> Seen {
        var seen = Seen()
        guard let first = sessions.first else { return seen }
        for second in sessions.dropFirst() {
            var diff = SessionDiff(first, second, contract: contract, rules: rules)
            while let pair = try diff.nextCommand() {
                let name = "\(second.name): \(pair.type) \(pair.ordinal)"
                seen.add(pair.differences, of: pair.type, named: name)
                if pair.outcome.counts, pair.outcome != .changed {
                    seen.remarks.append("\(name): \(pair.outcome.word)")
                }
            }
            while let pair = try diff.nextExchange() {
                let name = "\(second.name): \(pair.kind.rawValue) \(pair.ordinal)"
                seen.add(pair.differences, of: pair.kind.rawValue, named: name)
                if pair.outcome.counts, pair.outcome != .changed {
                    seen.remarks.append("\(name): \(pair.outcome.word)")
                }
            }
            while let pair = try diff.nextEvent() {
                let name = "\(second.name): \(pair.name) \(pair.ordinal)"
                seen.add(pair.differences, of: pair.name, named: name)
                if pair.outcome.counts, pair.outcome != .changed {
                    seen.remarks.append("\(name): \(pair.outcome.word)")
                }
            }
            for fact in diff.facts where fact.counts {
                seen.remarks.append(
                    "\(second.name): \(fact.name): \(fact.first) → \(fact.second)")
            }
        }
        return seen
    }

    /// How many differences each session has left with the proposed rules.
    private func leftOver(_ rules: ComparisonRules) throws(OutputError) -> [Int] {
        guard let first = sessions.first else { return [] }
        var left: [Int] = []
        for second in sessions.dropFirst() {
            var diff = SessionDiff(first, second, contract: contract, rules: rules)
            var count = diff.facts.count { $0.counts }
            while let pair = try diff.nextCommand() { count += pair.outcome.counts ? 1 : 0 }
            while let pair = try diff.nextExchange() { count += pair.outcome.counts ? 1 : 0 }
            while let pair = try diff.nextEvent() { count += pair.outcome.counts ? 1 : 0 }
            left.append(count)
        }
        return left
    }

    // MARK: Lists

    /// A rule for each list in which something differs.
    private func listRules(
        _ fields: [(field: Field, sighting: Sighting)]
    ) -> [RulesProposal.Rule] {
        var seen: Set<Field> = []
        return fields.compactMap { field, sighting in
            guard let list = sighting.list, let path = try? PathPattern(list),
                seen.insert(Field(subject: field.subject, path: list)).inserted
            else { return nil }
            return RulesProposal.Rule(
                rule: ComparisonRules.Rule(
                    on: field.subject, path: path, action: .unordered(by: nil),
                    place: RulesProposal.noPlace),
                kind: .order, evidence: "the same elements in another order")
        }
    }

    private static func counts(
        _ fields: [(field: Field, sighting: Sighting)]
    ) -> [Field: Int] {
        var counts: [Field: Int] = [:]
        for (field, sighting) in fields {
            guard let list = sighting.list else { continue }
            counts[Field(subject: field.subject, path: list), default: 0] += sighting.pairs.count
        }
        return counts
    }
}

extension FieldPath {
    /// Its pattern, in which any index stands for one; nil where a name cannot be written.
    fileprivate var patternText: String? { Self.pattern(steps[...]) }

    /// The pattern of the innermost list that it stands in; nil for none.
    fileprivate var listPattern: String? {
        let index = steps.lastIndex { if case .index = $0 { true } else { false } }
        return index.flatMap { Self.pattern(steps[..<$0]) }
    }

    private static func pattern(_ steps: ArraySlice<Step>) -> String? {
        var text = ""
        for step in steps {
            switch step {
            case .index: text += "[*]"
            case .member(let name):
                let isPlain =
                    !name.isEmpty
                    && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
                if isPlain {
                    text += text.isEmpty ? name : ".\(name)"
                } else if !name.contains("\"") {
                    text += "[\"\(name)\"]"
                } else if !name.contains("'") {
                    text += "['\(name)']"
                } else {
                    return nil
                }
            }
        }
        return text
    }
}
