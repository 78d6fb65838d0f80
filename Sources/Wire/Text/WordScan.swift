/// Looks at eight bytes in one machine word; byte 0 is the lowest.
enum WordScan {
    /// The high bit of each byte.
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Marks the high bit of the first byte that is `"`, `\` or below 0x20; 0 for none.
    ///
    /// Bytes above the first mark may be marked wrongly: a subtraction borrows from them. So
    /// only the lowest mark counts.
    @inline(__always)
    static func jsonStringStops(_ word: UInt64) -> UInt64 {
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5c)) &- ones
        let controls = word &- (ones &* 0x20)
        return (quotes | backslashes | controls) & ~word & highBits
    }

    /// Marks the high bit of every byte that is `"`, `\` or below 0x20, and no other.
    @inline(__always)
    static func allJSONStringStops(_ word: UInt64) -> UInt64 {
        let low = ~highBits
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5c)
        let controls = word & (ones &* 0xe0)
        // A byte is zero where neither its high bit is set nor a carry from its others.
        let others =
            (((quotes & low) &+ low) | quotes) & (((backslashes & low) &+ low) | backslashes)
            & (((controls & low) &+ low) | controls)
        return ~others & highBits
    }
}

extension Span<UInt8> {
    /// The eight bytes at `offset` as a word whose lowest byte is the first.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Any bit pattern is a UInt64, and the load checks its bounds.
        UInt64(
            littleEndian: unsafe bytes.unsafeLoadUnaligned(
                fromByteOffset: offset, as: UInt64.self))
    }
}
