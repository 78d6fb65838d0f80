/// Reads what stands between the data of two chunks (RFC 9112 §7.1).
///
/// That is the line end behind the data before, the size, and extensions, which are kept but
/// not looked into. Bare line feeds, leading zeros and white space behind the size are taken.
///
///     dataEnd --> size --> afterSize --> extensions --> complete
struct HTTPChunkLine: Sendable, HTTPSectionParser {
    private enum Phase {
        /// Behind the data of a chunk.
        case dataEnd
        case dataEndLineFeed
        case size
        /// White space behind the size.
        case afterSize
        case extensions
        /// The line's carriage return has come.
        case lineFeed
    }

    private var phase: Phase
    private var size: UInt64 = 0
    private var hasDigit = false
    private var scanned = 0

    init(isFirst: Bool) {
        phase = isFirst ? .size : .dataEnd
    }

    mutating func scan(_ bytes: Span<UInt8>, in range: Range<Int>) -> HTTPSectionScan {
        while scanned < range.count {
            let byte = bytes[range.lowerBound + scanned]
            scanned += 1
            switch phase {
            case .dataEnd, .dataEndLineFeed:
                if byte == HTTPByte.lineFeed {
                    phase = .size
                } else if byte == HTTPByte.carriageReturn, phase == .dataEnd {
                    phase = .dataEndLineFeed
                } else {
                    return .impossible(why: "chunk data without its line end")
                }
            case .size, .afterSize:
                if phase == .size, let digit = HTTPByte.hexValue(byte) {
                    guard size >> 60 == 0 else {
                        return .impossible(why: "a chunk size of over 64 bits")
                    }
                    size = size << 4 | UInt64(digit)
                    hasDigit = true
                    continue
                }
                guard hasDigit else { return .impossible(why: "a chunk line without a size") }
                switch byte {
                case HTTPByte.lineFeed: return .complete(length: scanned)
                case HTTPByte.carriageReturn: phase = .lineFeed
                case HTTPByte.semicolon: phase = .extensions
                case HTTPByte.space, HTTPByte.horizontalTab: phase = .afterSize
                default: return .impossible(why: "a chunk line with a broken size")
                }
            case .extensions:
                if byte == HTTPByte.lineFeed { return .complete(length: scanned) }
            case .lineFeed:
                guard byte == HTTPByte.lineFeed else {
                    return .impossible(why: "a chunk line with a broken end")
                }
                return .complete(length: scanned)
            }
        }
        return .more
    }

    mutating func take(_ bytes: Span<UInt8>, section: Range<Int>) -> (size: UInt64, line: Bytes) {
        let result = (size, bytes.bytes(section))
        self = HTTPChunkLine(isFirst: false)
        return result
    }
}
