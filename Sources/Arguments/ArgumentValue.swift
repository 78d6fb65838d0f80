/// Why a value is refused: one sentence in lower case without a full stop.
///
/// It names the value and says what to write instead, as in
/// `"5" has no unit; write 5s, 5ms, 5min or 5h`.
package struct ValueError: Error, Equatable, Sendable {
    package let sentence: String

    package init(_ sentence: String) {
        self.sentence = sentence
    }
}

/// A kind of value: how it is called on a help page, and how it is parsed.
package struct ArgumentValue<Value: Sendable>: Sendable {
    /// What stands for it on a help page, in capitals.
    package let placeholder: String
    /// Parses one word; nothing outside of the word may be looked at.
    package let parse: @Sendable (String) throws(ValueError) -> Value

    package init(
        _ placeholder: String, parse: @escaping @Sendable (String) throws(ValueError) -> Value
    ) {
        self.placeholder = placeholder
        self.parse = parse
    }
}

extension ArgumentValue where Value == String {
    /// Any text but the empty one.
    package static func text(_ placeholder: String) -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            guard !text.isEmpty else { throw ValueError("the value is empty") }
            return text
        }
    }

    /// The path of a file, or `-`.
    package static var file: ArgumentValue { .text("FILE") }
}

extension ArgumentValue where Value == Int {
    /// A whole decimal number within bounds.
    package static func integer(
        _ placeholder: String = "N", in bounds: ClosedRange<Int>
    ) -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            guard let number = Int(text) else {
                throw ValueError("\(quoted(text)) is not a whole number")
            }
            guard bounds.contains(number) else {
                let range =
                    bounds.upperBound == .max
                    ? "\(bounds.lowerBound) is the least"
                    : "it goes from \(bounds.lowerBound) to \(bounds.upperBound)"
                throw ValueError("\(number) is out of range; \(range)")
            }
            return number
        }
    }
}

extension ArgumentValue where Value == Double {
    /// A decimal number greater than zero.
    package static func positiveNumber(_ placeholder: String = "N") -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            guard let number = Double(text), number.isFinite else {
                throw ValueError("\(quoted(text)) is not a number")
            }
            guard number > 0 else { throw ValueError("\(text) is not greater than 0") }
            return number
        }
    }
}

extension ArgumentValue
where
    Value: CaseIterable & RawRepresentable, Value.RawValue == String
{
    /// One of the words of an enumeration.
    package static func choice(_ placeholder: String) -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            if let value = Value(rawValue: text) { return value }
            let words = Value.allCases.map(\.rawValue)
            if let nearest = nearest(to: text, among: words) {
                throw ValueError("unknown word \(quoted(text)); did you mean \"\(nearest)\"?")
            }
            throw ValueError(
                "unknown word \(quoted(text)); it is one of \(words.joined(separator: ", "))")
        }
    }
}

/// The text in double quotes, with control characters escaped and cut to a length for one line.
package func quoted(_ text: String) -> String {
    let maximumLength = 80
    var result = "\""
    var count = 0
    for scalar in text.unicodeScalars {
        guard count < maximumLength else {
            result += "…"
            break
        }
        count += 1
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
    return result + "\""
}
