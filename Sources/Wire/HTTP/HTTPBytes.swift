import Glibc

/// The bytes that HTTP's grammar names (RFC 9110 §5.6, RFC 5234 appendix B).
enum HTTPByte {
    static let horizontalTab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2c
    static let colon: UInt8 = 0x3a
    static let semicolon: UInt8 = 0x3b
    static let equals: UInt8 = 0x3d
    static let backslash: UInt8 = 0x5c

    /// Whether the byte is white space within a line (RFC 9110 §5.6.3).
    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == space || byte == horizontalTab }

    /// Whether the byte may stand in a token (RFC 9110 §5.6.2, `tchar`).
    static func isToken(_ byte: UInt8) -> Bool {
        let bits = byte < 64 ? tokenBitsLow : byte < 128 ? tokenBitsHigh : 0
        return bits >> UInt64(byte & 63) & 1 != 0
    }

    /// The value of a hexadecimal digit of either case, or nil.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// The byte, an ASCII capital made small.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }

    /// One bit for each of the bytes 0 to 63: `!#$%&'*+-.` and the digits.
    private static let tokenBitsLow: UInt64 = 0x03ff_6cfa_0000_0000
    /// One bit for each of the bytes 64 to 127: the letters and ``^_`|~``.
    private static let tokenBitsHigh: UInt64 = 0x57ff_ffff_c7ff_fffe
}

extension Span<UInt8> {
    /// The offset of the first `byte` within `range`, which must lie inside the span.
    func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int? {
        let part = extracting(range)
        return unsafe part.withUnsafeBufferPointer { buffer -> Int? in
            guard let start = buffer.baseAddress,
                let found = unsafe memchr(start, Int32(byte), buffer.count)
            else { return nil }
            return unsafe range.lowerBound + (UnsafeRawPointer(found) - UnsafeRawPointer(start))
        }
    }

    /// The bytes of `range` as text, U+FFFD for what is not UTF-8, and whether all of it was.
    func text(_ range: Range<Int>) -> (text: String, isExact: Bool) {
        let part = extracting(range)
        return unsafe part.withUnsafeBufferPointer { buffer in
            let bits = unsafe buffer.reduce(0 as UInt8) { $0 | $1 }
            let text = unsafe String(decoding: buffer, as: UTF8.self)
            // What is repaired differs from what was there.
            let isExact = unsafe bits < 0x80 || text.utf8.elementsEqual(buffer)
            return (text, isExact)
        }
    }

    /// A copy of the bytes of `range`.
    func bytes(_ range: Range<Int>) -> Bytes {
        var copy = Bytes()
        copy.append(self, range)
        return copy
    }
}

extension Bytes {
    /// Appends the bytes of `range` of `span`.
    mutating func append(_ span: Span<UInt8>, _ range: Range<Int>) {
        let part = span.extracting(range)
        unsafe part.withUnsafeBufferPointer { buffer in
            unsafe append(contentsOf: buffer)
        }
    }
}

extension String {
    /// Whether the texts are equal but for the case of ASCII letters.
    func equalsIgnoringCase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let left = utf8.span
        let right = other.utf8.span
        for offset in left.indices where left[offset] != right[offset] {
            guard HTTPByte.lowercased(left[offset]) == HTTPByte.lowercased(right[offset]) else {
                return false
            }
        }
        return true
    }
}
