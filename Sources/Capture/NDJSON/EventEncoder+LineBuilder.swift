import Wire

/// Fills a bounded stretch of a line: names, numbers and hex digits, without a check for growth
/// at each step.
///
/// It exists for the fixed part of an event, whose greatest size is known; it never writes
/// beyond the room that it was given.
@safe
struct LineBuilder {
    private let room: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ room: UnsafeMutableRawBufferPointer) {
        unsafe self.room = unsafe room
    }

    @inline(__always)
    mutating func append(_ literal: StaticString) {
        let size = literal.utf8CodeUnitCount
        unsafe precondition(
            count + size <= room.count, "the fixed part of a line has a known bound")
        unsafe room.baseAddress?.advanced(by: count).copyMemory(
            from: literal.utf8Start, byteCount: size)
        count &+= size
    }

    mutating func append(_ bytes: Span<UInt8>) {
        unsafe precondition(
            count + bytes.count <= room.count, "the fixed part of a line has a known bound")
        unsafe bytes.withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            unsafe room.baseAddress?.advanced(by: count).copyMemory(
                from: base, byteCount: source.count)
        }
        count &+= bytes.count
    }

    @inline(__always)
    mutating func append(byte: UInt8) {
        unsafe precondition(count < room.count, "the fixed part of a line has a known bound")
        unsafe room[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ value: Int64) {
        if value < 0 { append(byte: UInt8(ascii: "-")) }
        append(value.magnitude)
    }

    @inline(__always)
    mutating func append(_ value: Int) {
        append(Int64(value))
    }

    /// Decimal digits; one digit, the most frequent number, is written here.
    @inline(__always)
    mutating func append(_ value: UInt64) {
        if value < 10 {
            append(byte: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
        } else {
            appendDigits(of: value)
        }
    }

    /// The room that a number wants, its sign and the rest of the last word stored included.
    static let maximumNumber = 28

    /// Decimal digits, eight at once.
    private mutating func appendDigits(of value: UInt64) {
        unsafe precondition(
            count + 24 <= room.count, "the fixed part of a line has a known bound")
        let eight: UInt64 = 100_000_000
        if value < eight {
            appendFirst(value)
            return
        }
        let (high, low) = value.quotientAndRemainder(dividingBy: eight)
        if high < eight {
            appendFirst(high)
        } else {
            let (first, second) = high.quotientAndRemainder(dividingBy: eight)
            appendFirst(first)
            store(Self.digits(second) | 0x3030_3030_3030_3030, count: 8)
        }
        store(Self.digits(low) | 0x3030_3030_3030_3030, count: 8)
    }

    /// The digits of a number below 10⁸ without the zeros before them.
    @inline(__always)
    private mutating func appendFirst(_ value: UInt64) {
        let digits = Self.digits(value)
        let zeros = min(digits.trailingZeroBitCount >> 3, 7)
        let text = (digits | 0x3030_3030_3030_3030) &>> UInt64(truncatingIfNeeded: zeros &* 8)
        store(text, count: 8 &- zeros)
    }

    /// Stores a word of which `count` bytes stay, the lowest first.
    @inline(__always)
    private mutating func store(_ word: UInt64, count size: Int) {
        unsafe room.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= size
    }

    /// The eight digits of a number below 10⁸, a byte each, the first lowest.
    @inline(__always)
    private static func digits(_ value: UInt64) -> UInt64 {
        let fours = value / 10_000 | (value % 10_000) << 32
        // 10,486 / 2²⁰ is a hundredth up to 9,999; 103 / 2¹⁰ a tenth up to 99.
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007f_0000_007f
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000f_000f_000f_000f
        return tens | (twos &- tens &* 10) << 8
    }

    /// Eight lower-case hex digits.
    mutating func append(hex value: UInt32) {
        unsafe precondition(count + 8 <= room.count, "the fixed part of a line has a known bound")
        // A digit a byte, the highest first; those above nine become letters.
        var digits = UInt64(value)
        digits = (digits << 16 | digits) & 0x0000_ffff_0000_ffff
        digits = (digits << 8 | digits) & 0x00ff_00ff_00ff_00ff
        digits = (digits << 4 | digits) & 0x0f0f_0f0f_0f0f_0f0f
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let text = digits &+ 0x3030_3030_3030_3030 &+ letters &* 39
        unsafe room.storeBytes(of: text.bigEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// A member whose value is `text`; appends nothing and returns false where that is not UTF-8.
    @inline(__always)
    mutating func append(_ name: StaticString, text: Span<UInt8>) -> Bool {
        let start = count
        append(name)
        let (size, isASCII) = unsafe writeJSONString(
            text, to: UnsafeMutableRawBufferPointer(rebasing: room[count...]))
        guard isASCII || isValidUTF8(text) else {
            count = start
            return false
        }
        count &+= size
        return true
    }

    mutating func append(_ value: Bool) {
        if value { append("true") } else { append("false") }
    }
}

/// How many decimal digits `value` has.
@inline(__always)
func decimalSize(of value: UInt64) -> Int {
    var size = 1
    var rest = value
    while rest >= 10_000 {
        size &+= 4
        rest /= 10_000
    }
    return size &+ (rest >= 1000 ? 3 : rest >= 100 ? 2 : rest >= 10 ? 1 : 0)
}

/// How many hex digits `value` has without leading zeros.
@inline(__always)
func hexSize(of value: UInt64) -> Int {
    value == 0 ? 1 : (67 - value.leadingZeroBitCount) / 4
}

extension Bytes {
    /// Appends what `body` writes, at most `capacity` bytes.
    @inline(__always)
    mutating func appendLine(capacity: Int, _ body: (inout LineBuilder) -> Void) {
        append(addingCapacity: capacity) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                var builder = unsafe LineBuilder(
                    UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...]))
                body(&builder)
                initialized += builder.count
            }
        }
    }

    mutating func append(decimal value: UInt64) {
        appendLine(capacity: LineBuilder.maximumNumber) { $0.append(value) }
    }
}
