/// Finds the values of a JSON text, strictly by RFC 8259, without a stack of its own.
///
/// Costs a few nanoseconds a token and looks at strings sixteen bytes at a time. One scanner is
/// used for many texts: its tape keeps its memory. White space may stand around the value;
/// a byte order mark may not.
package struct JSONScanner: Sendable {
    /// The values of the text that was scanned last; what was found before an error otherwise.
    package private(set) var tape = JSONTape()
    /// The limits that each text is held to.
    package let limits: JSONLimits

    package init(limits: JSONLimits = JSONLimits()) {
        self.limits = limits
    }

    /// Scans one whole text; throws at the first byte that is not JSON.
    package mutating func scan(_ bytes: Span<UInt8>) throws(JSONError) {
        tape.count = 0
        guard bytes.count <= limits.maximumSize else {
            throw .tooLarge(limit: limits.maximumSize, count: bytes.count)
        }
        // A text with more values than any before it is scanned anew with room for them: that
        // is rare, and a tape that cannot move is filled faster.
        while try !tape.fill(with: bytes, maximumDepth: limits.maximumDepth) { tape.grow() }
    }

}

extension JSONTape {
    /// Fills the tape with the values of the text; false when it is too short for them.
    fileprivate mutating func fill(
        with bytes: Span<UInt8>, maximumDepth: Int
    ) throws(JSONError) -> Bool {
        var used = 0
        defer { self.count = used }
        let count = bytes.count
        var tokens = self.tokens.mutableSpan
        let capacity = tokens.count
        var position = 0
        var depth = 0
        // The tape index of the innermost open container, when depth > 0.
        var open = 0
        var inObject = false
        var expected = JSONError.Expected.value

        while true {
            // A value begins here. At most that and a name behind it go onto the tape.
            guard used &+ 2 <= capacity else { return false }
            position = bytes.endOfJSONSpace(from: position)
            guard position < count else { throw .unexpectedEnd(at: count, expected: expected) }
            let start = position
            let byte = bytes[start]
            switch byte {
            case UInt8(ascii: "\""):
                position = try Self.takeString(bytes, at: start, into: &tokens, &used)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < maximumDepth else {
                    throw .tooDeep(limit: maximumDepth, at: start)
                }
                inObject = byte == UInt8(ascii: "{")
                // Its end is found below.
                tokens[used] = JSONTape.Token(
                    inObject ? .object : .array, start, start, next: open)
                open = used
                used &+= 1
                depth &+= 1
                position = bytes.endOfJSONSpace(from: start &+ 1)
                guard position < count else {
                    throw .unexpectedEnd(
                        at: count, expected: inObject ? .nameOrEnd : .valueOrEnd)
                }
                if inObject {
                    if bytes[position] != UInt8(ascii: "}") {
                        position = try Self.takeName(
                            bytes, at: position, expected: .nameOrEnd, into: &tokens, &used)
                        expected = .value
                        continue
                    }
                } else if bytes[position] != UInt8(ascii: "]") {
                    expected = .valueOrEnd
                    continue
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                position = try Self.endOfNumber(bytes, from: start)
                tokens[used] = JSONTape.Token(.number, start, position, next: used &+ 1)
                used &+= 1
            case UInt8(ascii: "t"):
                position = try Self.endOfLiteral(bytes, from: start, "true")
                tokens[used] = JSONTape.Token(.bool, start, position, next: used &+ 1)
                used &+= 1
            case UInt8(ascii: "f"):
                position = try Self.endOfLiteral(bytes, from: start, "false")
                tokens[used] = JSONTape.Token(.bool, start, position, next: used &+ 1)
                used &+= 1
            case UInt8(ascii: "n"):
                position = try Self.endOfLiteral(bytes, from: start, "null")
                tokens[used] = JSONTape.Token(.null, start, position, next: used &+ 1)
                used &+= 1
            default:
                throw .unexpectedByte(byte, at: start, expected: expected)
            }

            // A value has ended: close what ends with it, up to the next comma.
            while true {
                position = bytes.endOfJSONSpace(from: position)
                guard depth > 0 else {
                    guard position == count else {
                        throw .unexpectedByte(bytes[position], at: position, expected: .end)
                    }
                    return true
                }
                guard position < count else {
                    throw .unexpectedEnd(
                        at: count, expected: inObject ? .commaOrBrace : .commaOrBracket)
                }
                let byte = bytes[position]
                if byte == UInt8(ascii: ",") {
                    position &+= 1
                    if inObject {
                        position = bytes.endOfJSONSpace(from: position)
                        guard position < count else {
                            throw .unexpectedEnd(at: count, expected: .name)
                        }
                        position = try Self.takeName(
                            bytes, at: position, expected: .name, into: &tokens, &used)
                    }
                    expected = .value
                    break
                }
                guard byte == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw .unexpectedByte(
                        byte, at: position, expected: inObject ? .commaOrBrace : .commaOrBracket)
                }
                position &+= 1
                var token = tokens[open]
                let outer = Int(token.next)
                token.end = UInt32(truncatingIfNeeded: position)
                token.next = UInt32(truncatingIfNeeded: used)
                tokens[open] = token
                open = outer
                depth &-= 1
                inObject = depth > 0 && tokens[open].kind == .object
            }
        }
    }

    // MARK: - Strings

    /// Puts a member's name on the tape; returns the offset behind its colon.
    @inline(__always)
    private static func takeName(
        _ bytes: Span<UInt8>, at start: Int, expected: JSONError.Expected,
        into tokens: inout MutableSpan<JSONTape.Token>, _ used: inout Int
    ) throws(JSONError) -> Int {
        guard bytes[start] == UInt8(ascii: "\"") else {
            throw .unexpectedByte(bytes[start], at: start, expected: expected)
        }
        var position = try takeString(bytes, at: start, into: &tokens, &used)
        position = bytes.endOfJSONSpace(from: position)
        guard position < bytes.count else {
            throw .unexpectedEnd(at: bytes.count, expected: .colon)
        }
        guard bytes[position] == UInt8(ascii: ":") else {
            throw .unexpectedByte(bytes[position], at: position, expected: .colon)
        }
        return position &+ 1
    }

    /// Puts the string whose opening quote stands at `start` on the tape; returns the offset
    /// behind it.
    @inline(__always)
    private static func takeString(
        _ bytes: Span<UInt8>, at start: Int,
        into tokens: inout MutableSpan<JSONTape.Token>, _ used: inout Int
    ) throws(JSONError) -> Int {
        var end = start
        var flags: JSONTape.StringFlags = []
        let first = start &+ 1
        if first &+ 8 <= bytes.count {
            // Most strings are names of less than eight bytes: their end is in the first word.
            let word = bytes.word(at: first)
            let stops = WordScan.firstJSONStringStop(word)
            let clean = stops & (0 &- stops) &- 1
            if stops != 0, word & clean & WordScan.highBits == 0 {
                let stop = first &+ stops.trailingZeroBitCount >> 3
                if bytes[stop] == UInt8(ascii: "\"") { end = stop &+ 1 }
            }
        }
        if end == start { end = try endOfString(bytes, from: first, flags: &flags) }
        tokens[used] = JSONTape.Token(.string, start, end, next: used &+ 1, flags)
        used &+= 1
        return end
    }

    /// The offset behind the closing quote of the string whose content begins at `start`.
    private static func endOfString(
        _ bytes: Span<UInt8>, from start: Int, flags: inout JSONTape.StringFlags
    ) throws(JSONError) -> Int {
        let count = bytes.count
        var position = start
        var seen = SIMD16<UInt8>()
        var highBits: UInt64 = 0
        while true {
            while position &+ 32 <= count {
                let first = bytes.sixteen(at: position)
                let second = bytes.sixteen(at: position &+ 16)
                guard WordScan.haveNoJSONStringStop(first, second) else { break }
                seen |= first | second
                position &+= 32
            }
            let part: SIMD16<UInt8>
            if position &+ 16 <= count {
                part = bytes.sixteen(at: position)
            } else {
                // The zeros behind the end are a stop like any control character.
                part = bytes.lastBytes(from: position)
            }
            let stops = WordScan.jsonStringStops(part)
            if stops[0] | stops[1] == 0 {
                seen |= part
                position &+= 16
                continue
            }
            let words = WordScan.words(part)
            if stops[0] != 0 {
                highBits |= words[0] & (stops[0] & (0 &- stops[0]) &- 1)
                position &+= stops[0].trailingZeroBitCount >> 3
            } else {
                highBits |= words[0] | words[1] & (stops[1] & (0 &- stops[1]) &- 1)
                position &+= 8 &+ stops[1].trailingZeroBitCount >> 3
            }
            guard position < count else { throw .unexpectedEnd(at: count, expected: .quote) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let words = WordScan.words(seen)
                if (highBits | words[0] | words[1]) & WordScan.highBits != 0 {
                    flags.insert(.nonASCII)
                    if let offset = offsetOfInvalidUTF8(bytes.extracting(start..<position)) {
                        throw .invalidUTF8(at: start + offset)
                    }
                }
                return position &+ 1
            case UInt8(ascii: "\\"):
                flags.insert(.escaped)
                position = try endOfEscape(bytes, from: position, flags: &flags)
            case let byte:
                throw .controlCharacter(byte, at: position)
            }
        }
    }

    /// The offset behind the escape, or pair of escapes, whose backslash stands at `start`.
    private static func endOfEscape(
        _ bytes: Span<UInt8>, from start: Int, flags: inout JSONTape.StringFlags
    ) throws(JSONError) -> Int {
        let position = start + 1
        guard position < bytes.count else {
            throw .unexpectedEnd(at: bytes.count, expected: .escape)
        }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 1
        case UInt8(ascii: "u"):
            let unit = try hexUnit(bytes, from: position + 1)
            let end = position + 5
            guard unit & 0xf800 == 0xd800 else { return end }
            // Only a high half directly before a low half makes a scalar.
            if unit < 0xdc00, end + 1 < bytes.count, bytes[end] == UInt8(ascii: "\\"),
                bytes[end + 1] == UInt8(ascii: "u")
            {
                let second = try hexUnit(bytes, from: end + 2)
                if second & 0xfc00 == 0xdc00 { return end + 6 }
            }
            flags.insert(.loneSurrogate)
            return end
        case let byte:
            throw .unexpectedByte(byte, at: position, expected: .escape)
        }
    }

    /// The value of the four hexadecimal digits at `start`.
    private static func hexUnit(
        _ bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for position in start..<start + 4 {
            guard position < bytes.count else {
                throw .unexpectedEnd(at: bytes.count, expected: .hexDigit)
            }
            guard let digit = hexDigitValue(bytes[position]) else {
                throw .unexpectedByte(bytes[position], at: position, expected: .hexDigit)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: - Numbers and literals

    /// The offset behind the number that begins at `start` (RFC 8259 §6).
    private static func endOfNumber(
        _ bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let count = bytes.count
        var position = start
        if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
        if position < count, bytes[position] == UInt8(ascii: "0") {
            position &+= 1
        } else {
            position = try endOfDigits(bytes, from: position)
        }
        if position < count, bytes[position] == UInt8(ascii: ".") {
            position = try endOfDigits(bytes, from: position &+ 1)
        }
        if position < count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if position < count,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position &+= 1
            }
            position = try endOfDigits(bytes, from: position)
        }
        return position
    }

    /// The offset behind the digits at `start`, of which there must be one.
    @inline(__always)
    private static func endOfDigits(
        _ bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        var position = start
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position &+= 1 }
        guard position > start else {
            guard position < bytes.count else {
                throw .unexpectedEnd(at: bytes.count, expected: .digit)
            }
            throw .unexpectedByte(bytes[position], at: position, expected: .digit)
        }
        return position
    }

    private static func endOfLiteral(
        _ bytes: Span<UInt8>, from start: Int, _ literal: StaticString
    ) throws(JSONError) -> Int {
        for offset in 1..<literal.utf8CodeUnitCount {
            let position = start + offset
            guard position < bytes.count else {
                throw .unexpectedEnd(at: bytes.count, expected: .literal)
            }
            guard unsafe bytes[position] == literal.utf8Start[offset] else {
                throw .unexpectedByte(bytes[position], at: position, expected: .literal)
            }
        }
        return start + literal.utf8CodeUnitCount
    }
}

extension Span<UInt8> {
    /// The offset of the first byte from `start` on that is not JSON white space.
    @inline(__always)
    package func endOfJSONSpace(from start: Int) -> Int {
        var position = start
        while position < count {
            let byte = self[position]
            // Mostly there is none.
            guard byte <= 0x20 else { return position }
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else {
                return position
            }
            position &+= 1
        }
        return position
    }
}
