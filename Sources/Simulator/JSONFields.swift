import Wire

/// Why a JSON value is not what a message needs.
package enum FieldError: Error, Equatable {
    /// The text is not JSON, or goes on behind its value.
    case notJSON
    /// A string holds half of a surrogate pair, which no exact comparison can tell from U+FFFD.
    case loneSurrogate
    /// A field is there with a value of another type.
    case wrongType(field: String, found: String, expected: String)

    /// The error in words, for the text of an answer.
    package var message: String {
        switch self {
        case .notJSON: "the body is not JSON"
        case .loneSurrogate: "a string holds half of a surrogate pair"
        case .wrongType(let field, let found, let expected):
            field.isEmpty
                ? "the body is \(found) where \(expected) was expected"
                : "\(field) is \(found) where \(expected) was expected"
        }
    }
}

/// Reads the members of one JSON object by name and type.
///
/// A member that is `null` counts as absent, and of several with one name the last counts.
struct JSONFields {
    let members: [JSON.Member]
    /// What stands in front of a field's name in errors, such as `command.`.
    let path: String
    /// Whether names match without regard to the case of ASCII letters (board-http-facts, "JSON").
    let ignoresCase: Bool

    /// Takes an object apart; `path` names it in errors.
    init(_ value: JSON, path: String = "", ignoresCase: Bool) throws(FieldError) {
        guard case .object(let members) = value else {
            throw .wrongType(field: path, found: value.typeName, expected: "an object")
        }
        self.members = members
        self.path = path.isEmpty ? "" : path + "."
        self.ignoresCase = ignoresCase
    }

    /// The member as it stands, `null` included.
    func raw(_ name: String) -> JSON? {
        members.last { matches($0.name, name) }?.value
    }

    /// The member, unless it is absent or `null`.
    func value(_ name: String) -> JSON? {
        guard let value = raw(name) else { return nil }
        if case .null = value { return nil }
        return value
    }

    func string(_ name: String) throws(FieldError) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw wrongType(name, value, "a string") }
        return text
    }

    func bool(_ name: String) throws(FieldError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value else { throw wrongType(name, value, "a boolean") }
        return flag
    }

    /// A number without a fractional part, in any spelling: `1179`, `1179.0`, `1.179e3`.
    func integer(_ name: String) throws(FieldError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.integerValue else { throw wrongType(name, value, "an integer") }
        return Int(number)
    }

    /// The text of a number.
    func number(_ name: String) throws(FieldError) -> String? {
        guard let value = value(name) else { return nil }
        guard case .number(let text) = value else { throw wrongType(name, value, "a number") }
        return text
    }

    func array(_ name: String) throws(FieldError) -> [JSON]? {
        guard let value = value(name) else { return nil }
        guard case .array(let elements) = value else { throw wrongType(name, value, "an array") }
        return elements
    }

    func strings(_ name: String) throws(FieldError) -> [String]? {
        guard let elements = try array(name) else { return nil }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else {
                throw wrongType(name, element, "an array of strings")
            }
            texts.append(text)
        }
        return texts
    }

    func object(_ name: String) throws(FieldError) -> JSONFields? {
        guard let value = value(name) else { return nil }
        return try JSONFields(value, path: path + name, ignoresCase: ignoresCase)
    }

    private func wrongType(_ name: String, _ value: JSON, _ expected: String) -> FieldError {
        .wrongType(field: path + name, found: value.typeName, expected: expected)
    }

    private func matches(_ a: String, _ b: String) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return zip(a.utf8, b.utf8).allSatisfy { x, y in
            x == y || (ignoresCase && lowercased(x) == lowercased(y))
        }
    }

    private func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
    }
}

extension JSON {
    /// What the value is, with its article, for an error's text.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
