package import PhoneBridge
package import Wire

/// Shows values without what they tell about a person, for terminals and reports that travel.
///
/// What the contract calls personal, and what it does not know, shows its kind and its size;
/// numbers and booleans of unknown fields too, since they may be anything.
package struct PersonalMask: Sendable {
    /// Characters of a value that are shown where it may be seen.
    private static let maximumText = 120
    /// Characters that are shown where all may be seen.
    private static let maximumOpenText = 4000
    private let isOpen: Bool

    /// - Parameter isOpen: hides nothing, and shows more of a value.
    package init(isOpen: Bool = false) {
        self.isOpen = isOpen
    }

    /// A value as it may be shown; nil, one that is not there, is `absent`.
    package func text(_ value: JSON?, _ personal: Contract.Personal?) -> String {
        guard let value else { return "absent" }
        if isOpen {
            return cut(
                visible(value.description, escapingBackslash: false),
                toColumns: Self.maximumOpenText)
        }
        let kind = personal.map { $0 == .none ? "" : $0.rawValue + ", " } ?? "unknown field, "
        switch value {
        case .null: return "null"
        // What stands in them may be personal, whatever they are themselves.
        case .array(let elements):
            return elements.isEmpty ? "[]" : "‹\(kind)\(counted(elements.count, "element"))›"
        case .object(let members):
            return members.isEmpty ? "{}" : "‹\(kind)\(counted(members.count, "member"))›"
        case .bool, .number, .string: break
        }
        guard personal != Contract.Personal.none else {
            return cut(visible(value.description), toColumns: Self.maximumText)
        }
        guard case .string(let text) = value else { return "‹\(kind.dropLast(2))›" }
        return text.isEmpty ? "\"\"" : "‹\(kind)\(counted(text.count, "character"))›"
    }

    /// Both values of a difference, with the distance between two instants.
    package func text(_ difference: FieldDifference) -> String {
        let (first, second) = both(difference)
        return "\(first) → \(second)"
    }

    /// Both values of a difference; the second one as its distance from the first where they are
    /// instants that are hidden.
    package func both(_ difference: FieldDifference) -> (first: String, second: String) {
        let first = text(difference.first, difference.personal)
        let second = text(difference.second, difference.personal)
        guard !isOpen, difference.personal == .instant,
            let left = difference.first?.stringValue.flatMap({ Timestamp($0) }),
            let right = difference.second?.stringValue.flatMap({ Timestamp($0) })
        else {
            return first == second && difference.kind == .changed
                ? (first, "another") : (first, second)
        }
        let (seconds, overflow) = right.seconds.subtractingReportingOverflow(left.seconds)
        guard !overflow, seconds.magnitude < 9_000_000_000 else { return (first, "another") }
        if left == right { return ("‹instant›", "the same") }
        let span = timeSpan(Int64(seconds.magnitude) * 1_000_000_000)
        return (
            "‹instant›",
            "\(seconds == 0 ? "within a second" : span) \(right > left ? "later" : "earlier")"
        )
    }
}
