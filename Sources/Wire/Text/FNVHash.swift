/// The 64-bit FNV-1a hash: the same input has the same value in every run.
///
/// For names that have to stay the same, such as a session's id; no defence against anybody who
/// wants two inputs to collide.
package struct FNVHash: Sendable {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    /// Combines the eight bytes of a number, the lowest first.
    package mutating func combine(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            combine(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }

    /// Combines the UTF-8 of a text.
    package mutating func combine(_ text: String) {
        for byte in text.utf8 { combine(byte) }
    }

    /// The value as a number.
    package var number: Int { Int(truncatingIfNeeded: value) }

    /// Sixteen hexadecimal digits.
    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
