/// Why bytes are not a JSON text (RFC 8259), with the offset of the first wrong byte.
package enum JSONError: Error, Hashable, Sendable {
    /// The text ends where more must follow; `at` is its length.
    case unexpectedEnd(at: Int, expected: Expected)
    case unexpectedByte(UInt8, at: Int, expected: Expected)
    /// A byte below 0x20 stands unescaped in a string (RFC 8259 §7).
    case controlCharacter(UInt8, at: Int)
    /// A string is not UTF-8 (RFC 8259 §8.1).
    case invalidUTF8(at: Int)
    /// Arrays and objects are nested deeper than `maximumDepth`.
    case tooDeep(limit: Int, at: Int)
    /// The text is longer than `maximumSize`; nothing of it was read.
    case tooLarge(limit: Int, count: Int)

    /// Whether the text may be JSON, and a limit kept it from being read.
    package var isLimit: Bool {
        switch self {
        case .tooDeep, .tooLarge: true
        case .unexpectedEnd, .unexpectedByte, .controlCharacter, .invalidUTF8: false
        }
    }

    /// What the grammar would have allowed.
    package enum Expected: String, Hashable, Sendable {
        case value = "a value"
        case name = "a member's name in quotes"
        case nameOrEnd = "a member's name in quotes or \"}\""
        case valueOrEnd = "a value or \"]\""
        case colon = "\":\""
        case commaOrBrace = "\",\" or \"}\""
        case commaOrBracket = "\",\" or \"]\""
        case digit = "a digit"
        case escape = "one of \" \\ / b f n r t u"
        case hexDigit = "a hexadecimal digit"
        case literal = "true, false or null"
        case quote = "the closing quote"
        case end = "the end of the text"
    }

    /// The offset of the first wrong byte; 0 for a text that is too large.
    package var position: Int {
        switch self {
        case .unexpectedEnd(let at, _), .unexpectedByte(_, let at, _), .controlCharacter(_, let at),
            .invalidUTF8(let at), .tooDeep(_, let at):
            at
        case .tooLarge: 0
        }
    }
}

extension JSONError: CustomStringConvertible {
    /// One line that says what was wrong, and where.
    package var description: String {
        switch self {
        case .unexpectedEnd(let at, let expected):
            "the JSON ends at byte \(at), where \(expected.rawValue) is expected"
        case .unexpectedByte(let byte, let at, let expected):
            "byte \(at) of the JSON is \(Self.name(of: byte)), where "
                + "\(expected.rawValue) is expected"
        case .controlCharacter(let byte, let at):
            "byte \(at) of the JSON is \(Self.name(of: byte)), which a string must escape"
        case .invalidUTF8(let at):
            "byte \(at) of the JSON is not UTF-8"
        case .tooDeep(let limit, let at):
            "the JSON is nested deeper than \(limit) at byte \(at)"
        case .tooLarge(let limit, let count):
            "the JSON has \(count) bytes; the limit is \(limit)"
        }
    }

    private static func name(of byte: UInt8) -> String {
        if byte > 0x20, byte < 0x7f { return "\"\(Character(Unicode.Scalar(byte)))\"" }
        let digits = String(byte, radix: 16)
        return "0x" + (digits.count < 2 ? "0" : "") + digits
    }
}
