/// Why a text is not JSON5, with its place.
package struct JSON5Error: Error, Sendable, Equatable {
    package var reason: Reason
    package var place: JSON5.Place

    package init(_ reason: Reason, at place: JSON5.Place) {
        self.reason = reason
        self.place = place
    }

    package enum Reason: Sendable, Equatable {
        /// Another character than the grammar allows; nil for the end of the text.
        case unexpected(Unicode.Scalar?, expected: String)
        /// A word that is no value, such as `True`.
        case unknownWord(String)
        /// `Infinity` or `NaN`, with or without a sign.
        case notFinite(String)
        /// A number that begins with 0 and goes on with digits.
        case leadingZero
        /// A hexadecimal number beyond 64 bits.
        case hexTooLarge
        /// An escape that stands for nothing, such as `\1`.
        case badEscape(String)
        /// An escape for half of a character.
        case loneSurrogate
        /// A line ends within a string.
        case lineEndInString
        /// A string's or a comment's end is missing; it began at the place.
        case unterminated(String)
        case tooDeep(limit: Int)
        case tooLarge(limit: Int, count: Int)
        case invalidUTF8
    }
}

extension JSON5Error: CustomStringConvertible {
    /// The place and what is wrong, such as `line 3, column 5: "}" stands where ":" is expected`.
    package var description: String { "\(place): \(text)" }

    /// What is wrong, without the place.
    package var text: String {
        switch reason {
        case .unexpected(let scalar?, let expected):
            "\(Self.name(of: scalar)) stands where \(expected) is expected"
        case .unexpected(nil, let expected): "the text ends where \(expected) is expected"
        case .unknownWord(let word):
            "\(JSON.string(word)) is no value; a text stands in quotes"
        case .notFinite(let word): "\(word) is no number that can be used here"
        case .leadingZero: "a number does not begin with 0 unless it is 0, 0.5 or 0x5"
        case .hexTooLarge: "the hexadecimal number has more than 64 bits"
        case .badEscape(let escape): "the escape \(escape) stands for nothing"
        case .loneSurrogate: "the escape is half of a character; the other half is missing"
        case .lineEndInString:
            "the line ends within a string; a backslash at its end goes on in the next"
        case .unterminated(let what): "the end of this \(what) is missing"
        case .tooDeep(let limit): "it is nested deeper than \(limit)"
        case .tooLarge(let limit, let count): "the text has \(count) bytes; \(limit) is the most"
        case .invalidUTF8: "the text is not UTF-8 from here on"
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
            .unassigned, .privateUse:
            return scalar == "\n" || scalar == "\r"
                ? "the end of the line" : "U+" + String(scalar.value, radix: 16, uppercase: true)
        default: return scalar == "\"" ? "'\"'" : "\"\(scalar)\""
        }
    }
}
