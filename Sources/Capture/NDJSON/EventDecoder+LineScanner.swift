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

    let bytes: UnsafeRawBufferPointer
    let count: Int
    var position = 0
    /// Whether what was stepped over has neither white space nor escapes, since it was set.
    var isSpelt = true

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
        count = bytes.count
    }

    // MARK: Bytes

    /// The byte at the cursor; 0, which JSON never has, at the end.
    @inline(__always)
    var current: UInt8 {
        position < count ? unsafe bytes[position] : 0
    }

    @inline(__always)
    func word(at offset: Int) -> UInt64 {
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
    mutating func skipSpace() {
        while current == 0x20 || current == 0x09 || current == 0x0d || current == 0x0a {
            position &+= 1
            isSpelt = false
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

    /// Whether all of the line is ASCII, and with that UTF-8.
    var isASCII: Bool {
        var offset = 0
        var bits: UInt64 = 0
        while offset &+ 32 <= count {
            bits |=
                word(at: offset) | word(at: offset &+ 8) | word(at: offset &+ 16)
                | word(at: offset &+ 24)
            offset &+= 32
        }
        while offset &+ 8 <= count {
            bits |= word(at: offset)
            offset &+= 8
        }
        while offset < count {
            bits |= unsafe UInt64(bytes[offset])
            offset &+= 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    /// Appends the bytes from `start` to the cursor.
    func copy(from start: Int, to output: inout Bytes) {
        unsafe output.append(
            contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
    }

    // MARK: Members

    /// Steps over exactly these bytes, unless something else or a null stands here.
    ///
    /// It serves the order and spelling that writers use; whatever else is right is read by
    /// `nextField`.
    @inline(__always)
    mutating func skip(_ literal: StaticString) -> Bool {
        let size = literal.utf8CodeUnitCount
        guard position &+ max(size, 8) < count else { return false }
        if size <= 8 {
            let mask = UInt64.max >> UInt64(64 &- 8 &* size)
            guard word(at: position) & mask == wordKey(literal, from: 0, to: size) else {
                return false
            }
        } else {
            guard word(at: position) == wordKey(literal, from: 0, to: 8),
                word(at: position &+ size &- 8) == wordKey(literal, from: size &- 8, to: size)
            else { return false }
        }
        guard unsafe bytes[position &+ size] != UInt8(ascii: "n") else { return false }
        position &+= size
        return true
    }

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

    /// A string of at most eight plain bytes as a word, the first byte lowest.
    ///
    /// Nil, and nothing is read, for any other string and near the end of the line.
    @inline(__always)
    mutating func shortString() -> UInt64? {
        let start = position &+ 1
        guard current == UInt8(ascii: "\""), start &+ 8 < count else { return nil }
        let word = word(at: start)
        let stops = Self.stringStops(word)
        let size = stops == 0 ? 8 : stops.trailingZeroBitCount >> 3
        guard unsafe bytes[start &+ size] == UInt8(ascii: "\"") else { return nil }
        position = start &+ size &+ 1
        return size == 8 ? word : word & ((1 << UInt64(size &* 8)) &- 1)
    }

    // MARK: Numbers, literals

    /// A whole number without sign, fraction or exponent.
    @inline(__always)
    mutating func unsigned(_ field: EventField) throws(LineFault) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        var overflow = false
        // Nineteen digits fit in any case.
        let safe = min(count, start &+ 19)
        while position < safe {
            let digit = unsafe bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            position &+= 1
        }
        while position >= start &+ 19 {
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

    mutating func literal(_ literal: StaticString) throws(LineFault) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard unsafe current == literal.utf8Start[index] else {
                throw unexpected("\"\(literal)\"")
            }
            position &+= 1
        }
    }
}
