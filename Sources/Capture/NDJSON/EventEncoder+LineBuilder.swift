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

    /// Decimal digits, two a division.
    mutating func append(_ value: UInt64) {
        let size = decimalSize(of: value)
        unsafe precondition(
            count + size <= room.count, "the fixed part of a line has a known bound")
        var rest = value
        var end = count + size
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            end &-= 2
            unsafe room[end] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: pair / 10)
            unsafe room[end &+ 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: pair % 10)
            rest = quotient
        }
        if rest >= 10 {
            unsafe room[count] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 10)
            unsafe room[count &+ 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
        } else {
            unsafe room[count] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest)
        }
        count &+= size
    }

    /// Eight lower-case hex digits.
    mutating func append(hex value: UInt32) {
        for shift in stride(from: UInt32(28), through: 0, by: -4) {
            append(byte: hexDigit(UInt8(truncatingIfNeeded: value >> shift)))
        }
    }

    mutating func append(_ value: Bool) {
        if value { append("true") } else { append("false") }
    }
}

/// How many decimal digits `value` has.
@inline(__always)
func decimalSize(of value: UInt64) -> Int {
    var size = 1
    var limit: UInt64 = 10
    while value >= limit {
        size &+= 1
        let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
        if overflow { break }
        limit = next
    }
    return size
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
