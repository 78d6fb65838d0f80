import Wire

extension Bytes {
    /// Appends eight bytes in network order.
    mutating func append(bigEndian value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    /// The eight bytes in network order at `offset`; missing ones count as 0.
    func bigEndian(at offset: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in offset..<offset + 8 {
            value = value << 8 | (indices.contains(index) ? UInt64(self[index]) : 0)
        }
        return value
    }
}
