/// Reads the grammar of JSON5 from the front to the back.
struct JSON5Reader {
    let scalars: [Unicode.Scalar]
    let maximumDepth: Int
    var position = 0
    private var line = 1
    /// Where the line begins.
    private var lineStart = 0

    init(_ scalars: [Unicode.Scalar], maximumDepth: Int) {
        self.scalars = scalars
        self.maximumDepth = maximumDepth
    }

    /// The place of the next character.
    var place: JSON5.Place { JSON5.Place(line: line, column: position - lineStart + 1) }

    /// The next character; nil at the end.
    var current: Unicode.Scalar? { peek(0) }

    /// A character further on; nil behind the end.
    func peek(_ offset: Int) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    /// Steps over characters that are there.
    mutating func skip(_ count: Int = 1) {
        for _ in 0..<count where position < scalars.count {
            let scalar = scalars[position]
            position += 1
            // A carriage return with a line feed is one end of a line.
            if scalar == "\n" || (scalar == "\r" && current != "\n") {
                line += 1
                lineStart = position
            }
        }
    }

    /// Steps over the character if it is the next one.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        skip()
        return true
    }

    func unexpected(_ expected: String) -> JSON5Error {
        JSON5Error(.unexpected(current, expected: expected), at: place)
    }

    // MARK: Values

    /// The one value of the text.
    mutating func readText() throws(JSON5Error) -> JSON5 {
        try skipSpace()
        let value = try readValue(depth: 0)
        try skipSpace()
        guard current == nil else { throw unexpected("the end of the text") }
        return value
    }

    private mutating func readValue(depth: Int) throws(JSON5Error) -> JSON5 {
        let place = place
        switch current {
        case "{": return JSON5(.object(try readObject(depth: depth)), at: place)
        case "[": return JSON5(.array(try readArray(depth: depth)), at: place)
        case "\"", "'": return JSON5(.string(try readString()), at: place)
        case let scalar? where Self.beginsNumber(scalar):
            return JSON5(.number(try readNumber()), at: place)
        case let scalar? where Self.beginsIdentifier(scalar):
            let word = try readIdentifier()
            switch word {
            case "null": return JSON5(.null, at: place)
            case "true": return JSON5(.bool(true), at: place)
            case "false": return JSON5(.bool(false), at: place)
            case "Infinity", "NaN": throw JSON5Error(.notFinite(word), at: place)
            default: throw JSON5Error(.unknownWord(word), at: place)
            }
        default: throw unexpected("a value")
        }
    }

    private mutating func readArray(depth: Int) throws(JSON5Error) -> [JSON5] {
        guard depth < maximumDepth else {
            throw JSON5Error(.tooDeep(limit: maximumDepth), at: place)
        }
        skip()
        var elements: [JSON5] = []
        while true {
            try skipSpace()
            if take("]") { return elements }
            elements.append(try readValue(depth: depth + 1))
            try skipSpace()
            if take(",") { continue }
            guard take("]") else { throw unexpected("\",\" or \"]\"") }
            return elements
        }
    }

    private mutating func readObject(depth: Int) throws(JSON5Error) -> [JSON5.Member] {
        guard depth < maximumDepth else {
            throw JSON5Error(.tooDeep(limit: maximumDepth), at: place)
        }
        skip()
        var members: [JSON5.Member] = []
        while true {
            try skipSpace()
            if take("}") { return members }
            let place = place
            let name: String
            switch current {
            case "\"", "'": name = try readString()
            case let scalar? where scalar == "\\" || Self.beginsIdentifier(scalar):
                name = try readIdentifier()
            default: throw unexpected("a name or \"}\"")
            }
            try skipSpace()
            guard take(":") else { throw unexpected("\":\"") }
            try skipSpace()
            members.append(JSON5.Member(name, at: place, try readValue(depth: depth + 1)))
            try skipSpace()
            if take(",") { continue }
            guard take("}") else { throw unexpected("\",\" or \"}\"") }
            return members
        }
    }

    // MARK: White space and comments

    private mutating func skipSpace() throws(JSON5Error) {
        while let scalar = current {
            if Self.isSpace(scalar) {
                skip()
            } else if scalar == "/", peek(1) == "/" {
                while let next = current, !Self.isLineTerminator(next) { skip() }
            } else if scalar == "/", peek(1) == "*" {
                let start = place
                skip(2)
                while current != "*" || peek(1) != "/" {
                    guard current != nil else {
                        throw JSON5Error(.unterminated("comment"), at: start)
                    }
                    skip()
                }
                skip(2)
            } else {
                return
            }
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\u{b}", "\u{c}", " ", "\u{a0}", "\u{feff}": true
        default:
            isLineTerminator(scalar) || scalar.properties.generalCategory == .spaceSeparator
        }
    }

    /// ECMAScript 5.1 §7.3.
    static func isLineTerminator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    // MARK: Identifiers

    /// Whether a name or a word can begin so, but for an escape (ECMAScript 5.1 §7.6).
    static func beginsIdentifier(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
            .otherLetter, .letterNumber:
            true
        default: scalar == "$" || scalar == "_"
        }
    }

    static func continuesIdentifier(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
        default: beginsIdentifier(scalar) || scalar == "\u{200c}" || scalar == "\u{200d}"
        }
    }

    private mutating func readIdentifier() throws(JSON5Error) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = current {
            let start = place
            var part = scalar
            if scalar == "\\" {
                skip()
                guard take("u") else { throw JSON5Error(.badEscape("\\"), at: start) }
                part = try readUnicodeEscape(from: start)
            } else if Self.continuesIdentifier(scalar) {
                skip()
            } else {
                break
            }
            let fits =
                name.isEmpty ? Self.beginsIdentifier(part) : Self.continuesIdentifier(part)
            guard fits else {
                throw JSON5Error(.unexpected(part, expected: "a letter, \"$\" or \"_\""), at: start)
            }
            name.append(part)
        }
        return String(name)
    }
}
