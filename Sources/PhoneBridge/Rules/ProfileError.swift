package import Wire

/// What is wrong with the text of a profile.
package struct ProfileError: Error, Sendable, Equatable {
    package var reason: Reason
    /// Nil where no place is to blame.
    package var place: JSON5.Place?

    package init(_ reason: Reason, at place: JSON5.Place? = nil) {
        self.reason = reason
        self.place = place
    }

    package enum Reason: Sendable, Equatable {
        case syntax(JSON5Error)
        case unknownKey(String, nearest: String?)
        case keyTwice(String)
        case missingKey(String)
        /// Another kind of value than the key takes.
        case wrongValue(key: String, expected: String)
        case unknownRule(String, nearest: String?)
        /// A rule whose rating does not let a profile switch it on.
        case notCountable(String, Rule.Rating)
        case notADate(String)
        /// The profile that `extends` names cannot be had; with the words of whoever looked for it.
        case cannotExtend(String, why: String)
    }
}

extension ProfileError: CustomStringConvertible {
    /// Where and what, such as `line 3, column 5: unknown key "slack"; did you mean "slack_ms"?`.
    package var description: String {
        if case .syntax(let error) = reason { return error.description }
        return (place.map { "\($0): " } ?? "") + text
    }

    private var text: String {
        switch reason {
        case .syntax(let error): error.text
        case .unknownKey(let key, let nearest):
            "unknown key \(Self.quoted(key))" + Self.suggestion(nearest)
        case .keyTwice(let key): "\(key) is given twice"
        case .missingKey(let key): "\(key) is missing"
        case .wrongValue(let key, let expected): "\(key) takes \(expected)"
        case .unknownRule(let id, let nearest):
            "there is no rule \(Self.quoted(id))" + Self.suggestion(nearest)
        case .notCountable(let id, .sure): "\(id) is rated S: it always counts"
        case .notCountable(let id, .weak): "\(id) is rated W: it never counts"
        case .notCountable(let id, .likely): "\(id) is rated L"
        case .notADate(let text): "\(Self.quoted(text)) is no date; write it like 2026-12-31"
        case .cannotExtend(let name, let why): "cannot extend \(Self.quoted(name)): \(why)"
        }
    }

    private static func quoted(_ text: String) -> String { "\(JSON.string(text))" }

    private static func suggestion(_ nearest: String?) -> String {
        nearest.map { "; did you mean \"\($0)\"?" } ?? ""
    }
}
