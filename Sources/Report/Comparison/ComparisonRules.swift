package import Wire

/// What may vary from one session of a scenario to the next, and how (docs/comparison-rules.md).
///
/// Of several rules for one value, the first one in the file holds.
package struct ComparisonRules: Sendable, Equatable {
    /// What the sessions are about.
    package var description: String?
    package internal(set) var rules: [Rule] = []
    /// States that a phone is brought into, in the order of the file.
    package internal(set) var states: [State] = []
    /// What must be so before a session can be played, in words.
    package internal(set) var preconditions: [String] = []

    package init() {}

    /// How one kind of value may vary.
    package struct Rule: Sendable, Equatable {
        /// A type of command, a name of an event, a kind of HTTP exchange, or `*`.
        package var on: String
        var path: PathPattern
        var action: Action
        /// Why it is so, for whoever reads a report.
        package var why: String?
        /// Where it stands in the file.
        package var place: JSON5.Place

        /// As a report names it, such as `ignore result.data.text of clipboard_read`.
        package var name: String {
            "\(action.word) \(path.text)" + (on == "*" ? "" : " of \(on)")
        }

        func isAbout(_ subject: String) -> Bool { on == "*" || on == subject }
    }

    /// What holds for a value.
    enum Action: Sendable, Equatable {
        /// Nothing.
        case ignore
        /// It keeps its kind: a text that is not empty stays one, an instant stays one.
        case type
        /// It matches, from its first character to its last.
        case pattern(String)
        /// Numbers differ by so much at most.
        case numberTolerance(Double)
        /// Instants differ by so many nanoseconds at most.
        case timeTolerance(Int64)
        /// The elements of a list come in any order; where `by` is given, those belong together
        /// that have the same there.
        case unordered(by: String?)
        /// Each value of the first session has become one of the second, wherever the name is.
        case bind(String)

        /// As a rules file says it.
        var word: String {
            switch self {
            case .ignore: "ignore"
            case .type: "type"
            case .pattern: "pattern"
            case .numberTolerance, .timeTolerance: "tolerance"
            case .unordered: "unordered"
            case .bind: "bind"
            }
        }

        static let words = ["ignore", "type", "pattern", "tolerance", "unordered", "bind"]
    }

    /// A state that the phone is brought into before a command.
    package struct State: Sendable, Equatable {
        /// The id of a command, or its type.
        package var command: String
        /// Which one of that type, counted from 1; nil for the first, and for an id.
        package var ordinal: Int?
        /// The name of the state and its value, such as `contacts=denied`.
        package var state: String
        package var place: JSON5.Place

        /// Whether it is meant for a command.
        package func isBefore(id: String, type: String, ordinal: Int) -> Bool {
            if let wanted = self.ordinal { return command == type && ordinal == wanted }
            return command == id || command == type && ordinal == 1
        }
    }
}
