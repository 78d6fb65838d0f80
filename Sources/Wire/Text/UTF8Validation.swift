/// Whether `bytes` are well-formed UTF-8 (Unicode, table 3-7; RFC 3629).
package func isValidUTF8(_ bytes: Span<UInt8>) -> Bool {
    offsetOfInvalidUTF8(bytes) == nil
}

/// The offset of the first byte of the first sequence that is not well-formed UTF-8, one cut
/// off by the end included; nil when all of `bytes` is.
///
/// ASCII goes 32 bytes a step.
package func offsetOfInvalidUTF8(_ bytes: Span<UInt8>) -> Int? {
    let count = bytes.count
    var position = 0
    while position < count {
        let lead = bytes[position]
        if lead < 0x80 {
            position &+= 1
            while position &+ 32 <= count, WordScan.isASCII(bytes.words(at: position)) {
                position &+= 32
            }
            while position &+ 8 <= count, bytes.word(at: position) & WordScan.highBits == 0 {
                position &+= 8
            }
            continue
        }
        guard let sequence = UTF8Sequence(lead: lead),
            position &+ sequence.count <= count,
            sequence.second.contains(bytes[position &+ 1])
        else { return position }
        if sequence.count > 2, bytes[position &+ 2] & 0xc0 != 0x80 { return position }
        if sequence.count > 3, bytes[position &+ 3] & 0xc0 != 0x80 { return position }
        position &+= sequence.count
    }
    return nil
}

/// Holds bytes that come in parts to UTF-8, and fails at the first byte that no continuation
/// can make well-formed.
package struct UTF8Validator: Sendable {
    /// Bytes of the sequence under way that are still to come.
    private var missing = 0
    /// What the next of them may be.
    private var nextByte: ClosedRange<UInt8> = 0x80...0xbf
    private var failed = false

    package init() {}

    /// Whether all that was fed so far is well-formed, and no sequence is cut off.
    package var isComplete: Bool { missing == 0 && !failed }

    /// Takes the next part; false, then and ever after, once something is not UTF-8.
    package mutating func feed(_ bytes: Span<UInt8>) -> Bool {
        guard !failed else { return false }
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if missing > 0 {
                guard nextByte.contains(byte) else { return fail() }
                nextByte = 0x80...0xbf
                missing -= 1
            } else if byte < 0x80 {
                while position + 9 <= bytes.count,
                    bytes.word(at: position + 1) & WordScan.highBits == 0
                {
                    position += 8
                }
            } else {
                guard let sequence = UTF8Sequence(lead: byte) else { return fail() }
                missing = sequence.count - 1
                nextByte = sequence.second
            }
            position += 1
        }
        return true
    }

    private mutating func fail() -> Bool {
        failed = true
        return false
    }
}

/// What may follow a first byte of 0x80 and more (Unicode, table 3-7).
private struct UTF8Sequence {
    var count: Int
    var second: ClosedRange<UInt8>

    @inline(__always)
    init?(lead: UInt8) {
        switch lead {
        case 0xc2...0xdf: (count, second) = (2, 0x80...0xbf)
        case 0xe0: (count, second) = (3, 0xa0...0xbf)
        case 0xed: (count, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (count, second) = (3, 0x80...0xbf)
        case 0xf0: (count, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (count, second) = (4, 0x80...0xbf)
        case 0xf4: (count, second) = (4, 0x80...0x8f)
        default: return nil
        }
    }
}
