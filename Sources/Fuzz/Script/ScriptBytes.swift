package import Wire

/// Bytes as a script writes them.
///
/// A JSON object or array of printable text stands as it is, up to the end of the line. All else
/// stands in quotes, with `\n`, `\r`, `\t`, `\"`, `\\` and `\xNN`; runs of one byte as
/// `"A"*65536`, and parts behind each other with a space between them.
package enum ScriptBytes {
    /// A run of at least so many equal bytes is written as one byte and a number.
    private static let run = 24
    /// No script describes more bytes in one place: 256 MiB.
    package static let maximum = 256 << 20

    /// The text of some bytes.
    package static func text(_ bytes: Bytes) -> String {
        if isPlain(bytes) { return String(decoding: bytes, as: UTF8.self) }
        return quoted(bytes)
    }

    /// The text of some bytes, in quotes whatever they are.
    package static func quoted(_ bytes: Bytes) -> String {
        guard !bytes.isEmpty else { return "\"\"" }
        var parts: [String] = []
        var open = ""
        func close() {
            if !open.isEmpty { parts.append("\"\(open)\"") }
            open = ""
        }
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            var end = place + 1
            while end < bytes.count, bytes[end] == byte { end += 1 }
            if end - place >= run {
                close()
                parts.append("\"\(escaped(byte))\"*\(end - place)")
            } else if byte < 0x80 {
                open += String(repeating: escaped(byte), count: end - place)
            } else {
                end = place + characterLength(bytes, at: place)
                open +=
                    end > place
                    ? String(decoding: bytes[place..<end], as: UTF8.self) : escaped(byte)
                end = max(end, place + 1)
            }
            place = end
        }
        close()
        return parts.joined(separator: " ")
    }

    /// Bytes of the character of UTF-8 that begins there, if it can be shown; 0 if there is none.
    private static func characterLength(_ bytes: Bytes, at place: Int) -> Int {
        let length =
            switch bytes[place] {
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 0
            }
        guard length > 0, place + length <= bytes.count else { return 0 }
        let character = Bytes(bytes[place..<place + length])
        guard isValidUTF8(character.span), isShown(character) else { return 0 }
        return length
    }

    /// Whether text holds no character that a terminal or an editor would not show as itself.
    private static func isShown(_ bytes: Bytes) -> Bool {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .unassigned, .privateUse, .lineSeparator,
                .paragraphSeparator, .nonspacingMark, .enclosingMark, .spacingMark:
                false
            default: true
            }
        }
    }

    private static func isPlain(_ bytes: Bytes) -> Bool {
        guard let first = bytes.first, let last = bytes.last,
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            last != UInt8(ascii: " "), bytes.count <= 4096
        else { return false }
        return isValidUTF8(bytes.span) && isShown(bytes)
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\n"): return "\\n"
        case UInt8(ascii: "\r"): return "\\r"
        case UInt8(ascii: "\t"): return "\\t"
        case UInt8(ascii: "\""): return "\\\""
        case UInt8(ascii: "\\"): return "\\\\"
        case 0x20..<0x7f: return String(UnicodeScalar(byte))
        default:
            let digits = Bytes([hexDigit(byte >> 4), hexDigit(byte & 15)])
            return "\\x" + String(decoding: digits, as: UTF8.self)
        }
    }

    // MARK: Reading

    /// Reads bytes that reach to the end of the text.
    package static func parse(_ text: Substring) throws(ScriptTextError) -> Bytes {
        if text.first == "{" || text.first == "[" { return Bytes(text.utf8) }
        var rest = text
        var bytes = Bytes()
        repeat {
            bytes += try takeQuoted(&rest)
            guard bytes.count <= maximum else { throw ScriptTextError("it is too long") }
            rest = rest.drop { $0 == " " }
        } while !rest.isEmpty
        return bytes
    }

    /// Takes all quoted parts from the front.
    package static func take(_ rest: inout Substring) throws(ScriptTextError) -> Bytes {
        var bytes = try takeQuoted(&rest)
        while true {
            let next = rest.drop { $0 == " " }
            guard next.first == "\"" else { return bytes }
            rest = next
            bytes += try takeQuoted(&rest)
            guard bytes.count <= maximum else { throw ScriptTextError("it is too long") }
        }
    }

    /// Takes one quoted part from the front, with the number behind it.
    private static func takeQuoted(_ rest: inout Substring) throws(ScriptTextError) -> Bytes {
        var source = rest.utf8
        guard source.popFirst() == UInt8(ascii: "\"") else {
            throw ScriptTextError("a quoted text or JSON is missing")
        }
        var bytes = Bytes()
        while let byte = source.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch source.popFirst() {
            case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "x"):
                guard let high = source.popFirst().flatMap(hexDigitValue),
                    let low = source.popFirst().flatMap(hexDigitValue)
                else { throw ScriptTextError("two hexadecimal digits have to follow \\x") }
                bytes.append(high << 4 | low)
            default: throw ScriptTextError("an escape is none of \\n \\r \\t \\\" \\\\ \\xNN")
            }
        }
        guard
            rest.utf8.distance(from: source.startIndex, to: source.endIndex)
                < rest.utf8.count - 1,
            rest.utf8[rest.utf8.index(before: source.startIndex)] == UInt8(ascii: "\"")
        else { throw ScriptTextError("a closing quote is missing") }
        rest = Substring(source)
        guard rest.first == "*" else { return bytes }
        let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), count > 0 else {
            throw ScriptTextError("a number has to follow *")
        }
        let (size, overflow) = bytes.count.multipliedReportingOverflow(by: count)
        guard !overflow, size <= maximum else { throw ScriptTextError("it is too long") }
        rest = rest.dropFirst(1 + digits.count)
        if bytes.count == 1 { return Bytes(repeating: bytes[0], count: count) }
        return Bytes((0..<count).lazy.flatMap { _ in bytes })
    }
}

/// Why a text is no script: one sentence in lower case without a full stop.
package struct ScriptTextError: Error, Sendable, Hashable, CustomStringConvertible {
    package var message: String
    /// The line, from 1; nil where it is not known yet.
    package var line: Int?

    package init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
