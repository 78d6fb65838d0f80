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

    @inline(__always)
    mutating func append(byte: UInt8) {
        unsafe precondition(count < room.count, "the fixed part of a line has a known bound")
        unsafe room[count] = byte
        count &+= 1
    }

    mutating func append(_ value: Int64) {
        if value < 0 { append(byte: UInt8(ascii: "-")) }
        append(value.magnitude)
    }

    @inline(__always)
    mutating func append(_ value: Int) {
        append(Int64(value))
    }

    /// Decimal digits, four a division.
    mutating func append(_ value: UInt64) {
        if value < 10 {
            append(byte: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
            return
        }
        let size = decimalSize(of: value)
        unsafe precondition(
            count + size <= room.count, "the fixed part of a line has a known bound")
        var rest = value
        var end = count &+ size
        while rest >= 1000 {
            let (quotient, four) = rest.quotientAndRemainder(dividingBy: 10_000)
            end &-= 4
            unsafe room.storeBytes(
                of: Self.digits(UInt32(truncatingIfNeeded: four)), toByteOffset: end,
                as: UInt32.self)
            rest = quotient
        }
        while end > count {
            end &-= 1
            unsafe room[end] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= size
    }

    /// The four digits of a number below 10 000 as their bytes lie in memory.
    private static func digits(_ value: UInt32) -> UInt32 {
        // Two pairs side by side; 103 / 1024 is a tenth up to 99.
        let pairs = value / 100 | (value % 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000f_000f
        return (tens | (pairs &- tens &* 10) << 8 | 0x3030_3030).littleEndian
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

    @inline(__always)
    mutating func append(_ literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(decimal value: UInt64) {
        appendLine(capacity: 20) { $0.append(value) }
    }
}
