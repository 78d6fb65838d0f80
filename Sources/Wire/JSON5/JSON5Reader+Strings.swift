extension JSON5Reader {
    /// Reads a string; its opening quote is the next character.
    mutating func readString() throws(JSON5Error) -> String {
        let start = place
        let quote = current
        skip()
        var text = String.UnicodeScalarView()
        while let scalar = current {
            switch scalar {
            case quote:
                skip()
                return String(text)
            case "\n", "\r":
                throw JSON5Error(.lineEndInString, at: place)
            case "\\":
                if let character = try readEscape() { text.append(character) }
            default:
                text.append(scalar)
                skip()
            }
        }
        throw JSON5Error(.unterminated("string"), at: start)
    }

    /// The character that an escape stands for; nil for a line that goes on.
    private mutating func readEscape() throws(JSON5Error) -> Unicode.Scalar? {
        let start = place
        skip()
        guard let scalar = current else { throw unexpected("a character behind the backslash") }
        skip()
        switch scalar {
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{b}"
        case "0":
            if let next = current, Self.isDigit(next) {
                throw JSON5Error(.badEscape("\\0\(next)"), at: start)
            }
            return "\0"
        case "1"..."9": throw JSON5Error(.badEscape("\\\(scalar)"), at: start)
        case "x": return Unicode.Scalar(try readHexDigits(2))
        case "u": return try readUnicodeEscape(from: start)
        case "\r":
            _ = take("\n")
            return nil
        case "\n", "\u{2028}", "\u{2029}": return nil
        default: return scalar
        }
    }

    /// The character of the four digits behind `\u`, and of a second escape where it takes two.
    mutating func readUnicodeEscape(from start: JSON5.Place) throws(JSON5Error) -> Unicode.Scalar {
        let unit = try readHexDigits(4)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xdc00, current == "\\", peek(1) == "u" else {
            throw JSON5Error(.loneSurrogate, at: start)
        }
        skip(2)
        let low = try readHexDigits(4)
        guard (0xdc00...0xdfff).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
        else { throw JSON5Error(.loneSurrogate, at: start) }
        return scalar
    }

    private mutating func readHexDigits(_ count: Int) throws(JSON5Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let scalar = current, let digit = Self.hexDigit(scalar) else {
                throw unexpected("a hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
            skip()
        }
        return value
    }

    static func hexDigit(_ scalar: Unicode.Scalar) -> UInt8? {
        UInt8(exactly: scalar.value).flatMap { hexDigitValue($0) }
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar)
    }
}
