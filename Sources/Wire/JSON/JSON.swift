/// A JSON value: order, duplicate members and the text of numbers are kept (RFC 8259).
///
/// White space and the spelling of strings are not; `JSONDocument` keeps those too.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number's text as in the source, such as `1e400` or `5000.0`.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    /// A member of an object.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }

        /// Whether name and value are the same.
        package static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameScalars(as: right.name) && left.value == right.value
        }
    }

    /// Whether both are the same, order and number texts included.
    ///
    /// Strings are compared by their scalars: a composed and a decomposed "é" differ on the wire.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.hasSameScalars(as: right)
        case (.string(let left), .string(let right)): left.hasSameScalars(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// How deep a parsed value can be nested: comparing and releasing one is recursive.
    package static let maximumDepth = 512

    /// A number without a fraction.
    package static func integer(_ value: some BinaryInteger) -> JSON { .number("\(value)") }

    /// The value of the last member with this name, as JavaScript and Go take it; nil for none
    /// and for other values.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.hasSameScalars(as: name) }?.value
    }

    /// The element at `index`, which may be out of bounds; nil then and for other values.
    package subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text of a string; nil for other values.
    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a number that is an integer of 64 bits, however it is spelt; nil otherwise.
    package var integerValue: Int64? {
        guard case .number(let text) = self else { return nil }
        return exactInteger(ofJSONNumber: text.utf8.span)
    }

    /// The text of a number; nil for other values.
    package var numberText: String? {
        if case .number(let text) = self { text } else { nil }
    }

    /// The value of a boolean; nil for other values.
    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an array; nil for other values.
    package var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object, duplicates included; nil for other values.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The kind of the value.
    package var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Whether both say the same: the order of members does not matter, that of equal names
    /// does; numbers are compared by their text.
    package func isEquivalent(to other: JSON) -> Bool {
        switch (self, other) {
        case (.array(let left), .array(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(Self.byName(left), Self.byName(right)).allSatisfy {
                    $0.name.hasSameScalars(as: $1.name) && $0.value.isEquivalent(to: $1.value)
                }
        default: self == other
        }
    }

    private static func byName(_ members: [Member]) -> [Member] {
        members.enumerated().sorted { left, right in
            if left.element.name.hasSameScalars(as: right.element.name) {
                return left.offset < right.offset
            }
            return left.element.name.utf8.lexicographicallyPrecedes(right.element.name.utf8)
        }.map(\.element)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Makes a string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Makes a number.
    package init(integerLiteral value: Int64) { self = .number("\(value)") }
    /// Makes a boolean.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an array.
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// Makes an object whose members stand in the order of the literal.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    /// Makes `null`.
    package init(nilLiteral: ()) { self = .null }
}
