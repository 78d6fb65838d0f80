import Wire

/// What a comparison learns on its way through two sessions: what values have become, and which
/// rules were of use.
struct ComparisonLedger {
    /// Whether values that answers bring into being differ from session to session, as they do
    /// where one session was made by playing the other.
    let mapsValues: Bool
    var values: ValueTable
    /// While it is only tried whether two values may be the same, nothing is learned.
    var isTrial = false
    private let rules: [ComparisonRules.Rule]
    private let patterns: [Regex<AnyRegexOutput>?]
    private var uses: [Use]
    /// The rules for what is compared just now.
    private var active: [Int] = []
    private var subject: String?
    /// Values without members that were compared.
    private var leaves = 0

    /// What a rule did.
    private struct Use {
        var matches = 0
        /// Values without members that it stood for.
        var leaves = 0
        /// A value that the contract requires, and that it hid.
        var hidden: String?
    }

    init(
        mapsValues: Bool = false, values: ValueTable = ValueTable(),
        rules: ComparisonRules = ComparisonRules()
    ) {
        self.mapsValues = mapsValues
        self.values = values
        self.rules = rules.rules
        patterns = rules.rules.map { rule in
            guard case .pattern(let text) = rule.action else { return nil }
            return try? Regex(text).matchingSemantics(.unicodeScalar)
        }
        uses = Array(repeating: Use(), count: rules.rules.count)
    }

    /// Whether also what is the same to the byte has to be looked at.
    var seesAll: Bool { mapsValues || !rules.isEmpty }

    /// A command of a type, an event or an exchange is compared from now on.
    mutating func begin(_ subject: String) {
        guard subject != self.subject else { return }
        self.subject = subject
        active = rules.indices.filter { rules[$0].isAbout(subject) }
    }

    /// Whether this is what is compared just now.
    func isAbout(_ subject: String) -> Bool { self.subject == subject }

    /// The rule for a value; nil for none.
    func rule(for path: FieldPath) -> Int? {
        active.first { rules[$0].path.matches(path) }
    }

    func action(_ rule: Int) -> ComparisonRules.Action { rules[rule].action }
    func why(_ rule: Int) -> String? { rules[rule].why }

    /// Texts that a pattern is tried on: longer ones do not match.
    static let maximumText = 65_536

    /// Whether a text matches a rule's pattern, from its first character to its last.
    func matches(_ rule: Int, _ text: String) -> Bool {
        guard text.utf8.count <= Self.maximumText, let pattern = patterns[rule] else {
            return false
        }
        return (try? pattern.wholeMatch(in: text)) != nil
    }

    /// A value was compared.
    mutating func sawLeaf() {
        if !isTrial { leaves += 1 }
    }

    /// A rule stood for a value with so many values in it.
    mutating func used(_ rule: Int, leaves: Int) {
        guard !isTrial else { return }
        uses[rule].matches += 1
        uses[rule].leaves += leaves
        self.leaves += leaves
    }

    /// A rule stood for a list whose elements were compared by themselves.
    mutating func used(_ rule: Int) {
        if !isTrial { uses[rule].matches += 1 }
    }

    /// A rule hid that a value differs which the contract requires.
    mutating func hid(_ rule: Int, _ path: FieldPath) {
        guard !isTrial, uses[rule].hidden == nil,
            rules[rule].path.isWide || rules[rule].on == "*"
        else { return }
        uses[rule].hidden = path.text
    }

    // MARK: What is to be said of the rules

    /// Fewer compared values than this say nothing of how much a rule takes.
    private static let minimumLeaves = 8

    /// What is to be said of the rules, once all was compared.
    func remarks(subjects: [String]) -> [ComparisonRules.Remark] {
        zip(rules, uses).flatMap { rule, use in
            var remarks: [ComparisonRules.Remark] = []
            if use.matches == 0 {
                let isKnown = rule.on == "*" || subjects.contains(rule.on)
                let nearest = isKnown ? nil : nearestWord(to: rule.on, among: subjects)
                remarks.append(
                    .init(
                        rule, .unused,
                        "it is about nothing that was compared"
                            + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")))
            }
            if let hidden = use.hidden {
                remarks.append(
                    .init(rule, .broad, "it hides \(hidden), which the contract requires"))
            }
            if rule.action == .ignore || rule.action == .type, leaves >= Self.minimumLeaves,
                use.leaves > leaves / 2
            {
                remarks.append(
                    .init(
                        rule, .broad,
                        "it stands for \(use.leaves) of \(leaves) values, more than half"))
            }
            return remarks
        }
    }
}
