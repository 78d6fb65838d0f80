import Wire

/// A cursor over the JSON of one line, which it reads in one go and without looking back.
///
/// It lives only within the call that lends the line, so its pointer stays valid; every access
/// is behind a comparison with `count`. Strings are looked at eight bytes at a time. About a
/// nanosecond for three bytes of a typical line.
@safe
struct LineScanner {
    /// Values within values, as in `bridge`, go no deeper.
    static let maximumDepth = 128

    private let bytes: UnsafeRawBufferPointer
    let count: Int
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
        count = bytes.count
    }

    // MARK: Bytes

    /// The byte at the cursor; 0, which JSON never has, at the end.
    @inline(__always)
    private var current: UInt8 {
        position < count ? unsafe bytes[position] : 0
    }

    @inline(__always)
    private func word(at offset: Int) -> UInt64 {
        UInt64(
            littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    func unexpected(_ expected: String) -> LineFault {
        LineFault(
            offset: position,
            reason: .unexpected(
                position < count ? unsafe bytes[position] : nil, expected: expected))
    }

    func fault(_ reason: LineFault.Reason) -> LineFault {
        LineFault(offset: position, reason: reason)
    }

    @inline(__always)
    private mutating func skipSpace() {
        while current == 0x20 || current == 0x09 || current == 0x0d || current == 0x0a {
            position &+= 1
        }
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ expected: @autoclosure () -> String) throws(LineFault) {
        skipSpace()
        guard current == byte else { throw unexpected(expected()) }
        position &+= 1
    }

    /// Nothing but white space is left.
    mutating func expectEnd() throws(LineFault) {
        skipSpace()
        guard position == count else { throw unexpected("the end of the line") }
    }

    /// Goes back to the start of the line.
    mutating func rewind() {
        position = 0
    }

    // MARK: Members

    /// Moves to the value of the object's next member that is not null; nil behind its last.
    ///
    /// `isFirst` tells, and is told, whether a comma has to come first.
    @inline(__always)
    mutating func nextField(isFirst: inout Bool) throws(LineFault) -> EventField? {
        while true {
            skipSpace()
            if isFirst {
                isFirst = false
                if current == UInt8(ascii: "}") {
                    position &+= 1
                    return nil
                }
            } else if current == UInt8(ascii: ",") {
                position &+= 1
                skipSpace()
            } else if current == UInt8(ascii: "}") {
                position &+= 1
                return nil
            } else {
                throw unexpected("a comma or the end of the object")
            }
            let field = try name()
            try expect(UInt8(ascii: ":"), "a colon")
            skipSpace()
            // A field that is null is one that is absent, as other tools write it.
            guard current == UInt8(ascii: "n") else { return field }
            try literal("null")
        }
    }

    @inline(__always)
    private mutating func name() throws(LineFault) -> EventField {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a name") }
        let start = position &+ 1
        guard start &+ 8 <= count else { return try longName() }
        let word = word(at: start)
        let stops = Self.stringStops(word)
        if stops != 0 {
            let size = stops.trailingZeroBitCount >> 3
            guard unsafe bytes[start &+ size] == UInt8(ascii: "\"") else { return try longName() }
            position = start &+ size &+ 1
            let mask: UInt64 = (1 << UInt64(size &* 8)) &- 1
            return EventField(word: word & mask, count: size) { _ in false }
        }
        let end = start &+ 8
        if end < count, unsafe bytes[end] == UInt8(ascii: "\"") {
            position = end &+ 1
            return EventField(word: word, count: 8) { _ in false }
        }
        return try longName()
    }

    /// A name of over eight bytes, or with escapes, or near the end of the line.
    private mutating func longName() throws(LineFault) -> EventField {
        let text = try string()
        var word: UInt64 = 0
        for (index, byte) in text.utf8.prefix(8).enumerated() {
            word |= UInt64(byte) << UInt64(8 * index)
        }
        return EventField(word: word, count: text.utf8.count) { name in
            unsafe text.utf8.elementsEqual(
                UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        }
    }

    // MARK: Numbers, literals

    /// A whole number without sign, fraction or exponent.
    @inline(__always)
    mutating func unsigned(_ field: EventField) throws(LineFault) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        var overflow = false
        while true {
            let digit = current &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            let (tens, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = tens.addingReportingOverflow(UInt64(digit))
            value = sum
            overflow = overflow || first || second
            position &+= 1
        }
        let hasLeadingZero = unsafe position > start &+ 1 && bytes[start] == UInt8(ascii: "0")
        switch current {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0d, 0:
            if position > start, !overflow, !hasLeadingZero { return value }
        default:
            break
        }
        position = start
        throw fault(.badValue(field: field.rawValue, expected: "a whole number in range"))
    }

    @inline(__always)
    mutating func integer(_ field: EventField) throws(LineFault) -> Int {
        let start = position
        guard let value = Int(exactly: try unsigned(field)) else {
            throw LineFault(
                offset: start,
                reason: .badValue(field: field.rawValue, expected: "a whole number in range"))
        }
        return value
    }

    /// A time in nanoseconds, which may be negative.
    @inline(__always)
    mutating func time(_ field: EventField) throws(LineFault) -> Int64 {
        let start = position
        let isNegative = current == UInt8(ascii: "-")
        if isNegative { position &+= 1 }
        let magnitude = try unsigned(field)
        let value =
            isNegative
            ? magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
            : Int64(exactly: magnitude)
        guard let value else {
            throw LineFault(
                offset: start,
                reason: .badValue(field: field.rawValue, expected: "a whole number in range"))
        }
        return value
    }

    @inline(__always)
    mutating func bool(_ field: EventField) throws(LineFault) -> Bool {
        switch current {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default:
            throw fault(.badValue(field: field.rawValue, expected: "true or false"))
        }
    }

    private mutating func literal(_ literal: StaticString) throws(LineFault) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard unsafe current == literal.utf8Start[index] else {
                throw unexpected("\"\(literal)\"")
            }
            position &+= 1
        }
    }

    // MARK: Strings

    /// Marks the high bit of the first byte that ends a run of plain bytes: a quote, a
    /// backslash, a control character.
    ///
    /// Only the lowest mark counts: a subtraction borrows from the bytes above it.
    @inline(__always)
    private static func stringStops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5c)) &- ones
        let controls = word &- (ones &* 0x20)
        return (quotes | backslashes | controls) & ~word & 0x8080_8080_8080_8080
    }

    /// The offset of the next byte from the cursor on that ends a run of plain bytes.
    @inline(__always)
    private mutating func skipPlainBytes() throws(LineFault) {
        while position &+ 8 <= count {
            let stops = Self.stringStops(word(at: position))
            if stops != 0 {
                position &+= stops.trailingZeroBitCount >> 3
                return
            }
            position &+= 8
        }
        while position < count {
            let byte = unsafe bytes[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            position &+= 1
        }
        throw unexpected("the end of a string")
    }

    /// A string's value as text.
    mutating func string() throws(LineFault) -> String {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let start = position
        position &+= 1
        try skipPlainBytes()
        guard unsafe bytes[position] == UInt8(ascii: "\"") else {
            position = start
            return String(decoding: try stringBytes(), as: UTF8.self)
        }
        let content = unsafe UnsafeRawBufferPointer(rebasing: bytes[start &+ 1..<position])
        position &+= 1
        return unsafe String(decoding: content, as: UTF8.self)
    }

    mutating func string(_ field: EventField) throws(LineFault) -> String {
        guard current == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "text"))
        }
        return try string()
    }

    /// A string's value as UTF-8.
    mutating func stringBytes() throws(LineFault) -> Bytes {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        position &+= 1
        // No escape is shorter than what it stands for, so the rest of the line is room enough.
        let room = count &- position
        var outcome: LineFault?
        let value = unsafe Bytes(unsafeUninitializedCapacity: room) { buffer, written in
            do throws(LineFault) {
                written = unsafe try unescape(into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                outcome = error
            }
        }
        if let outcome { throw outcome }
        return value
    }

    /// Writes what the string stands for from the cursor on, to behind its closing quote.
    ///
    /// Gives back how much. `room` holds at least what is left of the line.
    private mutating func unescape(
        into room: UnsafeMutableRawBufferPointer
    ) throws(LineFault) -> Int {
        var written = 0
        while true {
            if position &+ 8 <= count {
                let word = word(at: position)
                let stops = Self.stringStops(word)
                // Stored whole: what stands behind a stop is written over. It fits, since no
                // more was written than was read.
                unsafe room.storeBytes(
                    of: word.littleEndian, toByteOffset: written, as: UInt64.self)
                if stops == 0 {
                    position &+= 8
                    written &+= 8
                    continue
                }
                let plain = stops.trailingZeroBitCount >> 3
                position &+= plain
                written &+= plain
            }
            guard position < count else { throw unexpected("the end of a string") }
            let byte = unsafe bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position &+= 1
                return written
            case UInt8(ascii: "\\"):
                position &+= 1
                let escaped = current
                if escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") {
                    position &+= 1
                    unsafe room[written] = escaped
                    written &+= 1
                } else {
                    let scalar = try escape()
                    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                        unsafe room[written] = byte
                        written &+= 1
                    }
                }
            case 0..<0x20:
                throw fault(.controlCharacter(byte))
            default:
                unsafe room[written] = byte
                written &+= 1
                position &+= 1
            }
        }
    }

    /// The scalar of the escape behind the backslash, surrogates put together.
    private mutating func escape() throws(LineFault) -> Unicode.Scalar {
        let start = position
        let escaped = current
        position &+= 1
        switch escaped {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "u"):
            var value = try hexDigits()
            if value & 0xfc00 == 0xd800, current == UInt8(ascii: "\\") {
                position &+= 1
                guard current == UInt8(ascii: "u") else {
                    throw LineFault(offset: start, reason: .notUTF8)
                }
                position &+= 1
                let low = try hexDigits()
                guard low & 0xfc00 == 0xdc00 else {
                    throw LineFault(offset: start, reason: .notUTF8)
                }
                value = 0x10000 + (value & 0x3ff) << 10 + low & 0x3ff
            }
            // Half a surrogate pair stands for no text.
            guard let scalar = Unicode.Scalar(value) else {
                throw LineFault(offset: start, reason: .notUTF8)
            }
            return scalar
        default:
            position = start
            throw unexpected("an escape")
        }
    }

    private mutating func hexDigits() throws(LineFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = hexDigitValue(current) else { throw unexpected("a hex digit") }
            value = value << 4 | UInt32(digit)
            position &+= 1
        }
        return value
    }

    /// The bytes that a string in base64 stands for.
    mutating func base64(_ field: EventField) throws(LineFault) -> Bytes {
        guard current == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "base64"))
        }
        let start = position &+ 1
        position = start
        try skipPlainBytes()
        guard unsafe bytes[position] == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "base64"))
        }
        let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<position])
        position &+= 1
        var value = Bytes()
        do {
            try unsafe text.withMemoryRebound(to: UInt8.self) { text throws(Base64Error) in
                try unsafe decodeBase64(text.span, into: &value)
            }
        } catch {
            let offset =
                switch error {
                case .invalidCharacter(_, let offset), .trailingBits(let offset): offset
                case .incomplete(let count): count
                }
            throw LineFault(
                offset: start + offset,
                reason: .badValue(field: field.rawValue, expected: "base64"))
        }
        return value
    }

    /// Eight hex digits.
    @inline(__always)
    mutating func hex32(_ field: EventField) throws(LineFault) -> UInt32 {
        let start = position
        guard current == UInt8(ascii: "\""), start &+ 10 <= count,
            unsafe bytes[start &+ 9] == UInt8(ascii: "\"")
        else { throw fault(.badValue(field: field.rawValue, expected: "eight hex digits")) }
        var value: UInt32 = 0
        for offset in 1...8 {
            guard let digit = unsafe hexDigitValue(bytes[start &+ offset]) else {
                throw fault(.badValue(field: field.rawValue, expected: "eight hex digits"))
            }
            value = value << 4 | UInt32(digit)
        }
        position = start &+ 10
        return value
    }

    // MARK: Arrays and whole values

    /// Calls `element` with the cursor at each value of an array.
    mutating func array(
        _ field: EventField, of expected: String,
        _ element: (inout LineScanner) throws(LineFault) -> Void
    ) throws(LineFault) {
        guard current == UInt8(ascii: "[") else {
            throw fault(.badValue(field: field.rawValue, expected: expected))
        }
        position &+= 1
        skipSpace()
        if current == UInt8(ascii: "]") {
            position &+= 1
            return
        }
        while true {
            skipSpace()
            try element(&self)
            skipSpace()
            switch current {
            case UInt8(ascii: ","): position &+= 1
            case UInt8(ascii: "]"):
                position &+= 1
                return
            default: throw unexpected("a comma or the end of the array")
            }
        }
    }

    /// Reads any value; what is deeper than `maximumDepth` is refused.
    mutating func value(depth: Int = 0) throws(LineFault) -> JSON {
        guard depth <= Self.maximumDepth else {
            throw fault(.tooDeep(limit: Self.maximumDepth))
        }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "{"):
            position &+= 1
            var members: [JSON.Member] = []
            skipSpace()
            if current == UInt8(ascii: "}") {
                position &+= 1
                return .object(members)
            }
            while true {
                skipSpace()
                let name = try string()
                try expect(UInt8(ascii: ":"), "a colon")
                members.append(JSON.Member(name, try value(depth: depth + 1)))
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(UInt8(ascii: "}"), "a comma or the end of the object")
                return .object(members)
            }
        case UInt8(ascii: "["):
            position &+= 1
            var elements: [JSON] = []
            skipSpace()
            if current == UInt8(ascii: "]") {
                position &+= 1
                return .array(elements)
            }
            while true {
                elements.append(try value(depth: depth + 1))
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(UInt8(ascii: "]"), "a comma or the end of the array")
                return .array(elements)
            }
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            return .number(try number())
        }
    }

    /// Steps over a value, which has to be right all the same.
    mutating func skipValue(depth: Int = 0) throws(LineFault) {
        guard depth <= Self.maximumDepth else {
            throw fault(.tooDeep(limit: Self.maximumDepth))
        }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""):
            try skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = current == UInt8(ascii: "{")
            let end: UInt8 = current &+ 2
            position &+= 1
            skipSpace()
            if current == end {
                position &+= 1
                return
            }
            while true {
                if isObject {
                    skipSpace()
                    try skipString()
                    try expect(UInt8(ascii: ":"), "a colon")
                }
                try skipValue(depth: depth + 1)
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(end, "a comma or the end of an array or object")
                return
            }
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: _ = try number()
        }
    }

    private mutating func skipString() throws(LineFault) {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        position &+= 1
        while true {
            try skipPlainBytes()
            let byte = unsafe bytes[position]
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                throw fault(.controlCharacter(byte))
            }
            position &+= 1
            if byte == UInt8(ascii: "\"") { return }
            if current == UInt8(ascii: "\"") || current == UInt8(ascii: "\\") {
                position &+= 1
            } else {
                _ = try escape()
            }
        }
    }

    /// The text of a number (RFC 8259 §6).
    private mutating func number() throws(LineFault) -> String {
        let start = position
        if current == UInt8(ascii: "-") { position &+= 1 }
        if current == UInt8(ascii: "0") {
            position &+= 1
        } else {
            try digits(orElse: position == start ? "a value" : "a digit")
        }
        if current == UInt8(ascii: ".") {
            position &+= 1
            try digits(orElse: "a digit")
        }
        if current | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position &+= 1 }
            try digits(orElse: "a digit")
        }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
    }

    private mutating func digits(orElse expected: String) throws(LineFault) {
        let start = position
        while current &- UInt8(ascii: "0") < 10 { position &+= 1 }
        guard position > start else { throw unexpected(expected) }
    }
}
