import Wire

/// Parses the filter language by recursive descent.
///
///     filter = all, { "or", all }
///     all    = one, { [ "and" ], one }
///     one    = "not", one | "(", filter, ")" | term
///     term   = kind | field, ( "=" | "~" | "<" | "<=" | ">" | ">=" ), value
struct FilterParser {
    /// How many brackets and `not`s may stand in each other: people write two or three.
    static let maximumDepth = 64

    private let characters: [Character]
    private var position = 0

    init(_ source: String) {
        characters = Array(source)
    }

    mutating func parse() throws(FilterError) -> FilterExpression {
        let expression = try parseFilter(depth: 0)
        skipSpace()
        if let character = current { throw .unexpected(character, at: position) }
        return expression
    }

    // MARK: - Grammar

    private mutating func parseFilter(depth: Int) throws(FilterError) -> FilterExpression {
        var parts = [try parseAll(depth: depth)]
        while takeKeyword("or") { parts.append(try parseAll(depth: depth)) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func parseAll(depth: Int) throws(FilterError) -> FilterExpression {
        var parts = [try parseOne(depth: depth)]
        while true {
            let hasAnd = takeKeyword("and")
            skipSpace()
            let isEnd = current == nil || current == ")" || peekKeyword("or")
            if isEnd, !hasAnd { break }
            parts.append(try parseOne(depth: depth))
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func parseOne(depth: Int) throws(FilterError) -> FilterExpression {
        skipSpace()
        let start = position
        guard depth < Self.maximumDepth else {
            throw .tooDeep(limit: Self.maximumDepth, at: start)
        }
        if takeKeyword("not") { return .not(try parseOne(depth: depth + 1)) }
        guard current == "(" else { return try parseTerm() }
        position += 1
        let expression = try parseFilter(depth: depth + 1)
        skipSpace()
        guard current == ")" else {
            if let current { throw .unexpected(current, at: position) }
            throw .unclosedBracket(at: start)
        }
        position += 1
        return expression
    }

    private mutating func parseTerm() throws(FilterError) -> FilterExpression {
        skipSpace()
        let start = position
        guard let word = peekWord() else {
            guard let current, current != ")" else { throw .missingTerm(at: start) }
            throw .unexpected(current, at: start)
        }
        // A keyword here is an operator that lacks a side.
        if ["and", "or"].contains(word) { throw .missingTerm(at: start) }
        position += word.count
        skipSpace()
        guard let symbol = try takeOperator(after: word) else {
            return try bareWord(word, at: start)
        }
        guard let field = FilterField(rawValue: word) else {
            throw .unknownField(
                word, at: start,
                try: nearestWord(
                    to: word, among: FilterField.allCases.map(\.rawValue)))
        }
        skipSpace()
        let valueStart = position
        let value = try takeValue(of: word)
        return .term(field, try test(field, symbol, value, at: valueStart))
    }

    private func bareWord(_ word: String, at start: Int) throws(FilterError) -> FilterExpression {
        let kinds = FilterField.kind.vocabulary ?? []
        if kinds.contains(word) { return .term(.kind, .equals(word)) }
        let suggestion: String? =
            if FilterField.event.vocabulary?.contains(word) == true {
                "event=\(word)"
            } else if FilterField(rawValue: word) != nil {
                "\(word)=…"
            } else if ["and", "or", "not"].contains(word.lowercased()) {
                word.lowercased()
            } else {
                nearestWord(to: word, among: kinds)
            }
        throw .unknownKind(word, at: start, try: suggestion)
    }

    private func test(
        _ field: FilterField, _ symbol: String, _ value: String, at start: Int
    ) throws(FilterError) -> FilterTest {
        switch symbol {
        case "=":
            if let vocabulary = field.vocabulary, !vocabulary.contains(value) {
                throw .unknownValue(
                    value, field: field.rawValue, at: start,
                    try: nearestWord(to: value, among: vocabulary))
            }
            return .equals(value)
        case "~":
            do {
                return .matches(try Regex(value).matchingSemantics(.unicodeScalar))
            } catch {
                throw .badPattern(value, at: start, why: "\(error)")
            }
        default:
            guard let number = FilterNumber(value) else { throw .notANumber(value, at: start) }
            guard let comparison = FilterComparison(rawValue: symbol) else {
                throw .unexpected(symbol.first ?? "?", at: start)
            }
            return .compares(comparison, number)
        }
    }

    // MARK: - Characters

    private var current: Character? {
        position < characters.count ? characters[position] : nil
    }

    private mutating func skipSpace() {
        while let current, current.isWhitespace { position += 1 }
    }

    /// The word at the position, which is a field's, a kind or a keyword.
    private func peekWord() -> String? {
        let word = characters[position...].prefix {
            $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "."
        }
        return word.isEmpty ? nil : String(word)
    }

    private mutating func peekKeyword(_ keyword: String) -> Bool {
        skipSpace()
        return peekWord() == keyword
    }

    private mutating func takeKeyword(_ keyword: String) -> Bool {
        guard peekKeyword(keyword) else { return false }
        position += keyword.count
        return true
    }

    private mutating func takeOperator(after word: String) throws(FilterError) -> String? {
        guard let first = current else { return nil }
        let second = position + 1 < characters.count ? characters[position + 1] : nil
        switch first {
        case "=" where second == "=":
            throw .foreignOperator("==", at: position, try: "\(word)=…")
        case "!" where second == "=":
            throw .foreignOperator("!=", at: position, try: "not \(word)=…")
        case "<" where second == "=", ">" where second == "=":
            position += 2
            return "\(first)="
        case "=", "~", "<", ">":
            position += 1
            return String(first)
        default: return nil
        }
    }

    /// A value: in quotes of either kind, or up to a space or a bracket that it did not open.
    private mutating func takeValue(of field: String) throws(FilterError) -> String {
        let start = position
        var value = ""
        if let quote = current, quote == "\"" || quote == "'" {
            position += 1
            while let character = current, character != quote {
                position += 1
                // Only the quote can be escaped: patterns are full of backslashes.
                if character == "\\", current == quote {
                    value.append(quote)
                    position += 1
                } else {
                    value.append(character)
                }
            }
            guard current == quote else { throw .unclosedQuote(at: start) }
            position += 1
            return value
        }
        var open = 0
        while let character = current, !character.isWhitespace {
            if character == ")", open == 0 { break }
            if character == "(" { open += 1 }
            if character == ")" { open -= 1 }
            value.append(character)
            position += 1
        }
        guard !value.isEmpty else { throw .missingValue(field: field, at: start) }
        return value
    }
}
