extension ComparisonRules {
    /// What is to be said of a rule after a comparison.
    package struct Remark: Sendable, Equatable, CustomStringConvertible {
        package enum Kind: String, Sendable {
            /// It was of no use.
            case unused
            /// It lets too much pass.
            case broad
        }

        package var rule: Rule
        package var kind: Kind
        /// A sentence without a full stop.
        package var text: String

        /// With its place in the file and its name.
        package var description: String { "\(rule.place): \(rule.name): \(text)" }

        init(_ rule: Rule, _ kind: Kind, _ text: String) {
            self.rule = rule
            self.kind = kind
            self.text = text
        }
    }
}
