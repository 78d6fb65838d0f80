/// Why text is not a filter; positions count characters from 0.
package enum FilterError: Error, Hashable, Sendable {
    /// There is no term where one is needed: an empty filter, or an operator without its side.
    case missingTerm(at: Int)
    case unexpected(Character, at: Int)
    case unclosedBracket(at: Int)
    case unclosedQuote(at: Int)
    /// More brackets and `not`s in each other than `FilterParser.maximumDepth`.
    case tooDeep(limit: Int, at: Int)
    /// A bare word is no kind; `try` is what may have been meant.
    case unknownKind(String, at: Int, try: String?)
    case unknownField(String, at: Int, try: String?)
    /// The field can only have certain values, and this is none of them.
    case unknownValue(String, field: String, at: Int, try: String?)
    case missingValue(field: String, at: Int)
    case notANumber(String, at: Int)
    case badPattern(String, at: Int, why: String)
    /// `!=` or `==`, which other languages have.
    case foreignOperator(String, at: Int, try: String)

    /// Where the wrong part begins, in characters from 0.
    package var position: Int {
        switch self {
        case .missingTerm(let at), .unexpected(_, let at), .unclosedBracket(let at),
            .unclosedQuote(let at), .tooDeep(_, let at), .unknownKind(_, let at, _),
            .unknownField(_, let at, _), .unknownValue(_, _, let at, _),
            .missingValue(_, let at), .notANumber(_, let at), .badPattern(_, let at, _),
            .foreignOperator(_, let at, _):
            at
        }
    }
}

extension FilterError: CustomStringConvertible {
    /// One line: what is wrong, where (counted from 1), and what may have been meant.
    package var description: String {
        "character \(position + 1): " + explanation
    }

    private var explanation: String {
        switch self {
        case .missingTerm: "a term is missing here"
        case .unexpected(let character, _): "\"\(character)\" cannot stand here"
        case .unclosedBracket: "this bracket is never closed"
        case .unclosedQuote: "this quote is never closed"
        case .tooDeep(let limit, _): "more than \(limit) brackets and nots in each other"
        case .unknownKind(let word, _, let suggestion):
            "unknown kind \"\(word)\"" + Self.hint(suggestion)
        case .unknownField(let name, _, let suggestion):
            "unknown field \"\(name)\"" + Self.hint(suggestion)
        case .unknownValue(let value, let field, _, let suggestion):
            "\(field) is never \"\(value)\"" + Self.hint(suggestion)
        case .missingValue(let field, _):
            "\(field) needs a value; an empty one is written \"\""
        case .notANumber(let text, _): "\"\(text)\" is not a number"
        case .badPattern(let pattern, _, let why):
            "\"\(pattern)\" is not a regular expression: \(why)"
        case .foreignOperator(let symbol, _, let suggestion):
            "there is no \(symbol); write \(suggestion)"
        }
    }

    private static func hint(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    }
}
