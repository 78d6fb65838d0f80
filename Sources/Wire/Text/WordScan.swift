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

    /// Whether all of 32 bytes are below 0x80.
    @inline(__always)
    static func isASCII(_ words: SIMD4<UInt64>) -> Bool {
        (words[0] | words[1] | words[2] | words[3]) & highBits == 0
    }

    /// Whether none of 32 bytes is `"`, `\` or below 0x20.
    @inline(__always)
    static func hasNoJSONStringStop(_ words: SIMD4<UInt64>) -> Bool {
        let ones = SIMD4(repeating: ones)
        let quotes = (words ^ (ones &* 0x22)) &- ones
        let backslashes = (words ^ (ones &* 0x5c)) &- ones
        let controls = words &- (ones &* 0x20)
        let stops = (quotes | backslashes | controls) & ~words
        return (stops[0] | stops[1] | stops[2] | stops[3]) & highBits == 0
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

    /// The 32 bytes at `offset`, in the order of memory.
    @inline(__always)
    func words(at offset: Int) -> SIMD4<UInt64> {
        // Any bit pattern is a vector of integers, and the load checks its bounds.
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    }
}
