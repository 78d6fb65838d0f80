/// What is wrong with a text of JSON5 that somebody wrote by hand, with its place.
package struct JSON5FieldError: Error, Sendable, Equatable {
    package var reason: Reason
    package var place: JSON5.Place

    package init(_ reason: Reason, at place: JSON5.Place) {
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
        /// A text that the key does not take; the sentence goes on with why.
        case badText(String, why: String)
    }
}

extension JSON5FieldError: CustomStringConvertible {
    /// Where and what, such as `line 3, column 5: unknown key "slack"; did you mean "slack_ms"?`.
    package var description: String { "\(place): \(text)" }

    /// Says that a word is none of those that may stand here.
    package init(unknown word: String, among words: [String], at place: JSON5.Place) {
        let nearest = nearestWord(to: word, among: words)
        self.init(
            .badText(
                word,
                why: "is none of \(words.joined(separator: ", "))"
                    + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")), at: place)
    }

    private var text: String {
        switch reason {
        case .syntax(let error): error.text
        case .badText(let word, let why): "\(JSON.string(word)) \(why)"
        case .unknownKey(let key, let nearest):
            "unknown key \(JSON.string(key))"
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
        case .keyTwice(let key): "\(key) is given twice"
        case .missingKey(let key): "\(key) is missing"
        case .wrongValue(let key, let expected): "\(key) takes \(expected)"
        }
    }
}

extension JSON5 {
    /// Reads a text that somebody wrote by hand.
    package init(written bytes: Bytes) throws(JSON5FieldError) {
        do throws(JSON5Error) {
            try self.init(parsing: bytes)
        } catch {
            throw JSON5FieldError(.syntax(error), at: error.place)
        }
    }

    /// The members of an object by name, of which all are among `keys` and none stands twice.
    ///
    /// - Parameter what: what the object is, such as `a rule`.
    package func fields(
        of what: String, keys: [String], required: [String] = []
    ) throws(JSON5FieldError) -> [String: Member] {
        guard case .object(let members) = content else {
            throw JSON5FieldError(.wrongValue(key: what, expected: "an object"), at: place)
        }
        var fields: [String: Member] = [:]
        for member in members {
            guard keys.contains(member.name) else {
                throw JSON5FieldError(
                    .unknownKey(member.name, nearest: nearestWord(to: member.name, among: keys)),
                    at: member.place)
            }
            guard fields.updateValue(member, forKey: member.name) == nil else {
                throw JSON5FieldError(.keyTwice(member.name), at: member.place)
            }
        }
        for key in required where fields[key] == nil {
            throw JSON5FieldError(.missingKey(key), at: place)
        }
        return fields
    }
}

extension JSON5.Member {
    /// The text, which is not empty.
    package func text(_ expected: String = "a text") throws(JSON5FieldError) -> String {
        guard case .string(let text) = value.content, !text.isEmpty else { throw wrong(expected) }
        return text
    }

    /// The elements of a list.
    package func elements(_ expected: String = "a list") throws(JSON5FieldError) -> [JSON5] {
        guard case .array(let elements) = value.content else { throw wrong(expected) }
        return elements
    }

    /// Says that it takes another value.
    package func wrong(_ expected: String) -> JSON5FieldError {
        JSON5FieldError(.wrongValue(key: name, expected: expected), at: value.place)
    }
}
