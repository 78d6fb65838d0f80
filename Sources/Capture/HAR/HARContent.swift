import Wire

/// The bytes that a text of a HAR stands for, in pieces of the size of the capture format.
///
/// A text that says that it is base64 and is not is taken as it stands.
struct HARContent {
    static let maximumPiece = 1 << 20
    /// Characters of base64 that are decoded at a time; a multiple of four.
    private static let step = 256 << 10

    private let texts: SpoolFile
    private let text: HAREntry.Text
    private var position = 0
    private var pending = Bytes()
    let isBase64: Bool
    /// Bytes of the content.
    let count: Int
    /// It should have been base64.
    let isBroken: Bool
    /// Its first bytes.
    let start: Bytes

    init(_ text: HAREntry.Text, isBase64: Bool, in texts: SpoolFile) throws(OutputError) {
        self.texts = texts
        self.text = text
        var decoded = 0
        var isRight = isBase64
        var start = Bytes()
        if isBase64 {
            var offset = 0
            while offset < text.count, isRight {
                var part = Bytes()
                try Self.read(text, at: offset, in: texts, into: &part)
                offset += part.count
                var bytes = Bytes()
                isRight = Self.decode(part, isLast: offset == text.count, into: &bytes)
                if start.isEmpty { start = Bytes(bytes.prefix(4)) }
                decoded += bytes.count
            }
        } else {
            try texts.read(at: text.offset, count: min(4, text.count), into: &start)
        }
        self.isBase64 = isRight
        isBroken = isBase64 && !isRight
        count = isRight ? decoded : text.count
        self.start = start
    }

    var isPieces: Bool { count > Self.maximumPiece }

    /// The next piece: all are full but the last; empty at the end.
    mutating func next() throws(OutputError) -> Bytes {
        while pending.count < Self.maximumPiece, position < text.count {
            var part = Bytes()
            try Self.read(text, at: position, in: texts, into: &part)
            guard !part.isEmpty else { break }
            position += part.count
            if isBase64 {
                _ = Self.decode(part, isLast: position == text.count, into: &pending)
            } else {
                pending += part
            }
        }
        guard pending.count > Self.maximumPiece else {
            defer { pending = [] }
            return pending
        }
        defer { pending.removeSubrange(..<Self.maximumPiece) }
        return Bytes(pending[..<Self.maximumPiece])
    }

    private static func read(
        _ text: HAREntry.Text, at position: Int, in texts: SpoolFile, into part: inout Bytes
    ) throws(OutputError) {
        try texts.read(
            at: text.offset + UInt64(position), count: min(step, text.count - position),
            into: &part)
    }

    /// Decodes a part; padding may stand in the last one only.
    private static func decode(_ part: Bytes, isLast: Bool, into bytes: inout Bytes) -> Bool {
        guard isLast || part.last != UInt8(ascii: "=") else { return false }
        do { try decodeBase64(part.span, into: &bytes) } catch { return false }
        return true
    }
}
