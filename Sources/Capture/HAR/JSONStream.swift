package import Wire

/// Reads a JSON text of any size, a token at a time, strictly by RFC 8259.
///
/// It holds one read and the names that lead to the place where it stands, never a whole string:
/// what is long is taken in parts. A byte order mark may stand in front, as some programs write
/// one; bytes of a string that are not UTF-8 are given as they are.
package struct JSONStream {
    /// What comes next in the text.
    package enum Token: Sendable, Equatable {
        case beginObject
        case endObject
        case beginArray
        case endArray
        /// A member's name; its value follows.
        case name(String)
        /// A string begins; its content is taken by `text` or `part`, or else stepped over.
        case string
        /// The number's text as it stands.
        case number(String)
        case bool(Bool)
        case null
        /// The text is over, and nothing but white space stood behind it.
        case end
    }

    /// What is wrong with the text, and where.
    package struct Fault: Error, Sendable, Equatable {
        package var text: String
        /// The line of the wrong byte, from 1.
        package var line: Int
        /// Its offset in the file.
        package var offset: UInt64
        /// The value that it stands in, such as `log.entries[3].request.url`.
        package var path: String

        /// Where it is, for a person.
        package var place: String {
            path.isEmpty ? "byte \(offset)" : "byte \(offset), in \(path)"
        }
    }

    /// Why no token could be read.
    package enum Failure: Error, Sendable, Equatable {
        case malformed(Fault)
        case unreadable(SourceError)
    }

    private struct Level {
        var isObject: Bool
        /// The member's name under way; nil before the first.
        var name: String?
        /// The element under way.
        var index = -1
    }

    private enum Expected {
        case value
        /// The first of a container, which may be empty.
        case firstOrEnd
        case name
        case commaOrEnd
        case end
    }

    private let source: any ByteSource
    private var buffer: Bytes
    private var position = 0
    /// The offset of the buffer's first byte in the file.
    private var base: UInt64 = 0
    private var line = 1
    private var isAtEnd = false
    private var isStarted = false
    private var levels: [Level] = []
    private var expected = Expected.value
    /// The content of a string is under way.
    private var isInString = false

    /// Containers within one another; deeper ones are refused.
    package static let maximumDepth = 64
    /// Bytes of a name or number; a HAR has names of thirty.
    package static let maximumName = 1024
    private static let readSize = 64 << 10

    /// Makes a reader; `start` is what was taken from the source before.
    package init(_ source: any ByteSource, start: Bytes = []) {
        self.source = source
        buffer = start
    }

    /// Containers that are open.
    package var depth: Int { levels.count }

    /// Bytes of the text that were used so far.
    package var offset: UInt64 { base + UInt64(position) }

    /// The line of the next byte, from 1.
    package var lineNumber: Int { line }

    /// A fault at the place that was reached.
    package func fault(_ text: String) -> Failure {
        .malformed(Fault(text: text, line: line, offset: offset, path: path))
    }

    private var path: String {
        var path = ""
        for level in levels {
            if level.isObject {
                guard let name = level.name else { break }
                path += path.isEmpty ? name : "." + name
            } else if level.index >= 0 {
                path += "[\(level.index)]"
            }
        }
        return path
    }

    // MARK: Tokens

    /// The next token; the rest of a string that was not taken is stepped over.
    package mutating func next() throws(Failure) -> Token {
        var left = Bytes()
        while isInString {
            left.removeAll(keepingCapacity: true)
            _ = try part(into: &left)
        }
        if !isStarted {
            isStarted = true
            if try peek(2) == 0xbf, buffer[position] == 0xef, buffer[position + 1] == 0xbb {
                position += 3
            }
        }
        while true {
            let byte = try skipSpace()
            switch expected {
            case .end:
                guard let byte else { return .end }
                throw wrong(byte, "the end of the text")
            case .value:
                return try value(byte)
            case .name:
                guard byte == UInt8(ascii: "\"") else { throw wrong(byte, "a name in quotes") }
                return try name()
            case .firstOrEnd:
                guard let level = levels.last else { return .end }
                if byte == Self.closing(level) { return close() }
                if level.isObject {
                    guard byte == UInt8(ascii: "\"") else {
                        throw wrong(byte, "a name in quotes or \"}\"")
                    }
                    return try name()
                }
                levels[levels.count - 1].index += 1
                return try value(byte)
            case .commaOrEnd:
                guard let level = levels.last else { return .end }
                if byte == Self.closing(level) { return close() }
                guard byte == UInt8(ascii: ",") else {
                    throw wrong(byte, level.isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
                }
                position += 1
                if level.isObject {
                    expected = .name
                } else {
                    levels[levels.count - 1].index += 1
                    expected = .value
                }
            }
        }
    }

    /// Steps over the value that comes next.
    package mutating func skipValue() throws(Failure) {
        try skip(try next())
    }

    /// Steps over the rest of the value that began with `token`.
    package mutating func skip(_ token: Token) throws(Failure) {
        guard token == .beginObject || token == .beginArray else { return }
        let outside = levels.count - 1
        while levels.count > outside { _ = try next() }
    }

    private static func closing(_ level: Level) -> UInt8 {
        level.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }

    private mutating func close() -> Token {
        position += 1
        let isObject = levels.removeLast().isObject
        ended()
        return isObject ? .endObject : .endArray
    }

    private mutating func ended() {
        expected = levels.isEmpty ? .end : .commaOrEnd
    }

    private mutating func name() throws(Failure) -> Token {
        position += 1
        isInString = true
        let name = try text(maximum: Self.maximumName).text
        levels[levels.count - 1].name = name
        guard try skipSpace() == UInt8(ascii: ":") else { throw wrong(try peek(0), "\":\"") }
        position += 1
        expected = .value
        return .name(name)
    }

    private mutating func value(_ byte: UInt8?) throws(Failure) -> Token {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard levels.count < Self.maximumDepth else {
                throw fault("the JSON is nested deeper than \(Self.maximumDepth)")
            }
            position += 1
            levels.append(Level(isObject: byte == UInt8(ascii: "{")))
            expected = .firstOrEnd
            return byte == UInt8(ascii: "{") ? .beginObject : .beginArray
        case UInt8(ascii: "\""):
            position += 1
            isInString = true
            ended()
            return .string
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || byte >= 0x30 && byte <= 0x39:
            return try number()
        case let byte: throw wrong(byte, "a value")
        }
    }

    private mutating func literal(_ text: String, _ token: Token) throws(Failure) -> Token {
        for byte in text.utf8 {
            guard try peek(0) == byte else { throw wrong(try peek(0), "true, false or null") }
            position += 1
        }
        ended()
        return token
    }

    private mutating func number() throws(Failure) -> Token {
        var text = Bytes()
        let start = offset
        while let byte = try peek(0), Self.isOfNumber(byte) {
            guard text.count < Self.maximumName else { throw fault("a number is too long") }
            text.append(byte)
            position += 1
        }
        do {
            _ = try JSON(parsing: text)
        } catch {
            let found = String(decoding: text.prefix(40), as: UTF8.self)
            throw .malformed(
                Fault(text: "\(found) is no number", line: line, offset: start, path: path))
        }
        ended()
        return .number(String(decoding: text, as: UTF8.self))
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    // MARK: Strings

    /// The content of the string that began, up to `maximum` bytes of it.
    package mutating func text(maximum: Int) throws(Failure) -> (text: String, isCut: Bool) {
        var bytes = Bytes()
        var isCut = false
        while isInString {
            _ = try part(into: &bytes)
            if bytes.count > maximum {
                isCut = true
                bytes.removeSubrange(maximum...)
            }
        }
        return (String(decoding: bytes, as: UTF8.self), isCut)
    }

    /// Appends the next part of the string that began, at most a read of it.
    ///
    /// Gives false once the string is over. A surrogate without its other half is U+FFFD.
    package mutating func part(into output: inout Bytes) throws(Failure) -> Bool {
        guard isInString else { return false }
        guard try peek(0) != nil else { throw wrong(nil, "the closing quote") }
        let start = position
        let end = Self.endOfRun(buffer.span, from: start)
        if end > start {
            output.append(copying: buffer.span.extracting(start..<end))
            position = end
            return true
        }
        switch buffer[position] {
        case UInt8(ascii: "\""):
            position += 1
            isInString = false
            return false
        case UInt8(ascii: "\\"):
            try escape(into: &output)
            return true
        case let byte:
            throw fault("\(Self.name(of: byte)) stands unescaped in a string")
        }
    }

    private static func endOfRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            position &+= 1
        }
        return position
    }

    private mutating func escape(into output: inout Bytes) throws(Failure) {
        guard let kind = try peek(1) else { throw wrong(nil, "the rest of an escape") }
        var length = 2
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: 2)
            length = 6
            if unit & 0xfc00 == 0xd800, try peek(6) == UInt8(ascii: "\\"),
                try peek(7) == UInt8(ascii: "u"), try codeUnit(at: 8) & 0xfc00 == 0xdc00
            {
                length = 12
            }
        default:
            throw fault("\"\\\(Unicode.Scalar(kind))\" is no escape")
        }
        unescapeJSON(buffer.span.extracting(position..<position + length), into: &output)
        position += length
    }

    private mutating func codeUnit(at distance: Int) throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for offset in distance..<distance + 4 {
            guard let byte = try peek(offset), let digit = hexDigitValue(byte) else {
                throw wrong(try peek(offset), "a hexadecimal digit")
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: Bytes

    /// The byte at a small distance from the next; nil behind the end of the file.
    private mutating func peek(_ distance: Int) throws(Failure) -> UInt8? {
        while position + distance >= buffer.count {
            guard !isAtEnd else { return nil }
            buffer.removeSubrange(..<position)
            base += UInt64(position)
            position = 0
            let before = buffer.count
            do {
                try source.read(into: &buffer, maximum: Self.readSize)
            } catch {
                throw .unreadable(error)
            }
            isAtEnd = buffer.count == before
        }
        return buffer[position + distance]
    }

    /// The next byte that is no white space, which is not taken.
    private mutating func skipSpace() throws(Failure) -> UInt8? {
        while let byte = try peek(0) {
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return byte
            }
            position += 1
        }
        return nil
    }

    private func wrong(_ byte: UInt8?, _ expected: String) -> Failure {
        guard let byte else { return fault("the file ends where \(expected) is expected") }
        return fault("\(Self.name(of: byte)) stands where \(expected) is expected")
    }

    private static func name(of byte: UInt8) -> String {
        if byte > 0x20, byte < 0x7f { return "\"\(Unicode.Scalar(byte))\"" }
        let digits = String(byte, radix: 16)
        return "0x" + (digits.count < 2 ? "0" : "") + digits
    }
}
