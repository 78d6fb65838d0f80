/// Looks at eight or sixteen bytes at once; byte 0 is the lowest of a word.
enum WordScan {
    /// The high bit of each byte.
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Marks the high bit of each byte that is `"`, `\` or below 0x20, and of no other.
    @inline(__always)
    static func jsonStringStops(_ bytes: SIMD16<UInt8>) -> SIMD2<UInt64> {
        words(stops(bytes) & SIMD16(repeating: 0x80))
    }

    /// Whether none of 32 bytes is `"`, `\` or below 0x20.
    @inline(__always)
    static func haveNoJSONStringStop(
        _ first: SIMD16<UInt8>, _ second: SIMD16<UInt8>
    ) -> Bool {
        let marks = words((stops(first) | stops(second)) & SIMD16(repeating: 0x80))
        return marks[0] | marks[1] == 0
    }

    /// In the high bit of each byte whether it is `"`, `\` or below 0x20.
    @inline(__always)
    private static func stops(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
        // No borrow crosses bytes. A byte of 0x80 and more is none of them, whatever comes out.
        let ones = SIMD16<UInt8>(repeating: 1)
        let quotes = (bytes ^ SIMD16(repeating: 0x22)) &- ones
        let backslashes = (bytes ^ SIMD16(repeating: 0x5c)) &- ones
        let controls = bytes &- SIMD16(repeating: 0x20)
        return (quotes | backslashes | controls) & ~bytes
    }

    /// Marks the high bit of the first byte that is `"`, `\` or below 0x20; 0 for none.
    ///
    /// Bytes above the first mark may be marked wrongly: a subtraction borrows from them. So
    /// only the lowest mark counts.
    @inline(__always)
    static func firstJSONStringStop(_ word: UInt64) -> UInt64 {
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5c)) &- ones
        let controls = word &- (ones &* 0x20)
        return (quotes | backslashes | controls) & ~word & highBits
    }

    /// The first and the last eight of sixteen bytes.
    @inline(__always)
    static func words(_ bytes: SIMD16<UInt8>) -> SIMD2<UInt64> {
        // Both are sixteen bytes of which any bit pattern is a value.
        let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
        return SIMD2(UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
    }

    /// A bit for each byte that is marked, the first lowest.
    @inline(__always)
    static func bits(_ marks: SIMD2<UInt64>) -> UInt32 {
        // Each mark's product with one of the factor's bits lands in the highest byte.
        let factor: UInt64 = 0x0002_0408_1020_4081
        return UInt32(truncatingIfNeeded: (marks[0] &* factor) >> 56)
            | UInt32(truncatingIfNeeded: (marks[1] &* factor) >> 56) << 8
    }

    /// Whether all of 32 bytes are below 0x80.
    @inline(__always)
    static func isASCII(_ words: SIMD4<UInt64>) -> Bool {
        (words[0] | words[1] | words[2] | words[3]) & highBits == 0
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

    /// The sixteen bytes at `offset`.
    @inline(__always)
    func sixteen(at offset: Int) -> SIMD16<UInt8> {
        // Any bit pattern is a vector of integers, and the load checks its bounds.
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
    }

    /// The bytes from `offset` on, of which there are less than sixteen, with zeros behind them.
    func lastBytes(from offset: Int) -> SIMD16<UInt8> {
        let rest = count &- offset
        guard count >= 16, rest > 0 else {
            var result = SIMD16<UInt8>()
            for index in 0..<Swift.max(0, Swift.min(rest, 16)) {
                result[index] = self[offset + index]
            }
            return result
        }
        // The last sixteen, moved down by what stands before the offset.
        let words = WordScan.words(sixteen(at: count &- 16))
        let bits = UInt64(truncatingIfNeeded: (16 &- rest) &* 8)
        let moved =
            bits < 64
            ? SIMD2(words[0] &>> bits | words[1] &<< (64 &- bits), words[1] &>> bits)
            : SIMD2(words[1] &>> (bits &- 64), 0)
        return unsafe unsafeBitCast(
            SIMD2(moved[0].littleEndian, moved[1].littleEndian), to: SIMD16<UInt8>.self)
    }

    /// The 32 bytes at `offset`, in the order of memory.
    @inline(__always)
    func words(at offset: Int) -> SIMD4<UInt64> {
        // Any bit pattern is a vector of integers, and the load checks its bounds.
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    }
}
