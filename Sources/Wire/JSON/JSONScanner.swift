/// Finds the values of a JSON text, strictly by RFC 8259, without a stack of its own.
///
/// Costs a few nanoseconds a token and looks at strings eight bytes at a time. One scanner is
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
        tape.tokens.removeAll(keepingCapacity: true)
        guard bytes.count <= limits.maximumSize else {
            throw .tooLarge(limit: limits.maximumSize, count: bytes.count)
        }
        let count = bytes.count
        var position = 0
        var depth = 0
        // The tape index of the innermost open container, when depth > 0.
        var open = 0
        var inObject = false
        var expected = JSONError.Expected.value

        while true {
            // A value begins here.
            position = bytes.endOfJSONSpace(from: position)
            guard position < count else { throw .unexpectedEnd(at: count, expected: expected) }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position = try appendString(bytes, at: position)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < limits.maximumDepth else {
                    throw .tooDeep(limit: limits.maximumDepth, at: position)
                }
                inObject = byte == UInt8(ascii: "{")
                let index = tape.tokens.count
                tape.tokens.append(
                    JSONTape.Token(
                        start: UInt32(truncatingIfNeeded: position), end: 0,
                        next: UInt32(truncatingIfNeeded: open),
                        kind: inObject ? .object : .array, flags: []))
                open = index
                depth &+= 1
                position = bytes.endOfJSONSpace(from: position &+ 1)
                if inObject {
                    guard position < count else {
                        throw .unexpectedEnd(at: count, expected: .nameOrEnd)
                    }
                    if bytes[position] != UInt8(ascii: "}") {
                        position = try appendName(bytes, at: position, expected: .nameOrEnd)
                        expected = .value
                        continue
                    }
                } else {
                    guard position < count else {
                        throw .unexpectedEnd(at: count, expected: .valueOrEnd)
                    }
                    if bytes[position] != UInt8(ascii: "]") {
                        expected = .valueOrEnd
                        continue
                    }
                }
            // Its end is found below.
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = try Self.endOfNumber(bytes, from: position)
                append(.number, position, end)
                position = end
            case UInt8(ascii: "t"):
                let end = try Self.endOfLiteral(bytes, from: position, "true")
                append(.bool, position, end)
                position = end
            case UInt8(ascii: "f"):
                let end = try Self.endOfLiteral(bytes, from: position, "false")
                append(.bool, position, end)
                position = end
            case UInt8(ascii: "n"):
                let end = try Self.endOfLiteral(bytes, from: position, "null")
                append(.null, position, end)
                position = end
            default:
                throw .unexpectedByte(byte, at: position, expected: expected)
            }

            // A value has ended: close what ends with it, up to the next comma.
            closing: while true {
                position = bytes.endOfJSONSpace(from: position)
                guard depth > 0 else {
                    guard position == count else {
                        throw .unexpectedByte(bytes[position], at: position, expected: .end)
                    }
                    return
                }
                guard position < count else {
                    throw .unexpectedEnd(
                        at: count, expected: inObject ? .commaOrBrace : .commaOrBracket)
                }
                let byte = bytes[position]
                if byte == UInt8(ascii: ","), tape.tokens.count > open &+ 1 {
                    position &+= 1
                    if inObject {
                        position = bytes.endOfJSONSpace(from: position)
                        guard position < count else {
                            throw .unexpectedEnd(at: count, expected: .name)
                        }
                        position = try appendName(bytes, at: position, expected: .name)
                    }
                    expected = .value
                    break closing
                }
                guard byte == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw .unexpectedByte(
                        byte, at: position, expected: inObject ? .commaOrBrace : .commaOrBracket)
                }
                position &+= 1
                open = tape.close(open, at: position)
                depth &-= 1
                inObject = depth > 0 && tape.tokens[open].kind == .object
            }
        }
    }

    @inline(__always)
    private mutating func append(
        _ kind: JSONKind, _ start: Int, _ end: Int, _ flags: JSONTape.StringFlags = []
    ) {
        tape.tokens.append(
            JSONTape.Token(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
                next: UInt32(truncatingIfNeeded: tape.tokens.count &+ 1), kind: kind, flags: flags))
    }

    /// Appends the string whose opening quote stands at `start`; returns the offset behind it.
    @inline(__always)
    private mutating func appendString(
        _ bytes: Span<UInt8>, at start: Int
    ) throws(JSONError) -> Int {
        if start &+ 9 <= bytes.count {
            // Most strings are names of less than eight bytes: their end is in the first word.
            let word = bytes.word(at: start &+ 1)
            let stops = WordScan.jsonStringStops(word)
            let clean = stops & (0 &- stops) &- 1
            if stops != 0, word & clean & WordScan.highBits == 0 {
                let length = stops.trailingZeroBitCount >> 3
                let end = start &+ 1 &+ length
                if bytes[end] == UInt8(ascii: "\"") {
                    append(.string, start, end &+ 1)
                    return end &+ 1
                }
            }
        }
        var flags: JSONTape.StringFlags = []
        let end = try Self.endOfString(bytes, from: start &+ 1, flags: &flags)
        append(.string, start, end, flags)
        return end
    }

    /// Appends a member's name; returns the offset behind its colon.
    @inline(__always)
    private mutating func appendName(
        _ bytes: Span<UInt8>, at start: Int, expected: JSONError.Expected
    ) throws(JSONError) -> Int {
        guard bytes[start] == UInt8(ascii: "\"") else {
            throw .unexpectedByte(bytes[start], at: start, expected: expected)
        }
        var position = try appendString(bytes, at: start)
        position = bytes.endOfJSONSpace(from: position)
        guard position < bytes.count else {
            throw .unexpectedEnd(at: bytes.count, expected: .colon)
        }
        guard bytes[position] == UInt8(ascii: ":") else {
            throw .unexpectedByte(bytes[position], at: position, expected: .colon)
        }
        return position &+ 1
    }

    // MARK: - Scalars

    /// The offset behind the closing quote of the string whose content begins at `start`.
    private static func endOfString(
        _ bytes: Span<UInt8>, from start: Int, flags: inout JSONTape.StringFlags
    ) throws(JSONError) -> Int {
        let count = bytes.count
        var position = start
        var highBits: UInt64 = 0
        while true {
            if position &+ 8 <= count {
                let word = bytes.word(at: position)
                let stops = WordScan.jsonStringStops(word)
                if stops == 0 {
                    highBits |= word
                    position &+= 8
                    // Long texts: four words a step, which the processor looks at side by side.
                    while position &+ 32 <= count {
                        let words = bytes.words(at: position)
                        guard WordScan.hasNoJSONStringStop(words) else { break }
                        highBits |= words[0] | words[1] | words[2] | words[3]
                        position &+= 32
                    }
                    continue
                }
                let clean = stops.trailingZeroBitCount >> 3
                highBits |= word & ((1 << UInt64(clean &* 8)) &- 1)
                position &+= clean
            } else {
                while position < count {
                    let byte = bytes[position]
                    if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                        break
                    }
                    highBits |= UInt64(byte)
                    position &+= 1
                }
                guard position < count else { throw .unexpectedEnd(at: count, expected: .quote) }
            }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                if highBits & WordScan.highBits != 0 {
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
            switch self[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position &+= 1
            default: return position
            }
        }
        return position
    }
}
