import Wire

/// A text that grows beside others and is written later as one: its parts lie in a common spool.
struct SpooledText {
    private var chunks: [(offset: UInt64, count: Int)] = []
    private var tail = Bytes()

    /// Bytes that are kept in memory before they go to the spool.
    private static let tailSize = 16 << 10
    private static let readSize = 256 << 10

    var isEmpty: Bool { chunks.isEmpty && tail.isEmpty }

    /// Puts bytes behind what is there.
    mutating func append(_ bytes: Bytes, to spool: SpoolFile) throws(OutputError) {
        tail += bytes
        if tail.count > Self.tailSize { try settle(in: spool) }
    }

    /// Puts another text behind what is there.
    mutating func append(_ other: SpooledText, to spool: SpoolFile) throws(OutputError) {
        if !other.chunks.isEmpty {
            try settle(in: spool)
            chunks += other.chunks
        }
        try append(other.tail, to: spool)
    }

    private mutating func settle(in spool: SpoolFile) throws(OutputError) {
        guard !tail.isEmpty else { return }
        let offset = spool.count
        try spool.append(tail.span)
        if let last = chunks.last, last.offset + UInt64(last.count) == offset {
            chunks[chunks.count - 1].count += tail.count
        } else {
            chunks.append((offset, tail.count))
        }
        tail.removeAll(keepingCapacity: true)
    }

    /// Gives all of it, part by part.
    func copy(
        from spool: SpoolFile, to body: (Bytes) throws(OutputError) -> Void
    ) throws(OutputError) {
        for chunk in chunks {
            var done = 0
            while done < chunk.count {
                var part = Bytes()
                let count = min(Self.readSize, chunk.count - done)
                try spool.read(at: chunk.offset + UInt64(done), count: count, into: &part)
                try body(part)
                done += count
            }
        }
        if !tail.isEmpty { try body(tail) }
    }
}

/// Content that comes in pieces, as the inside of a JSON string: text, or base64.
struct SpooledContent {
    private(set) var text = SpooledText()
    /// Bytes of the content so far.
    private(set) var count = 0
    let isBase64: Bool
    /// Some of it was not UTF-8 and shows U+FFFD.
    private(set) var isMended = false
    /// What the next piece has to complete: of three bytes, or of a character.
    private var rest = Bytes()

    init(isBase64: Bool) {
        self.isBase64 = isBase64
    }

    mutating func append(
        _ piece: Bytes, isLast: Bool, to spool: SpoolFile
    ) throws(OutputError) {
        count += piece.count
        var bytes = rest + piece
        let left = isLast ? 0 : isBase64 ? bytes.count % 3 : Self.unfinished(bytes)
        rest = Bytes(bytes.suffix(left))
        bytes.removeLast(left)
        var encoded = Bytes()
        if isBase64 {
            appendBase64(bytes.span, to: &encoded)
        } else {
            if !isValidUTF8(bytes.span) { isMended = true }
            appendJSONString(String(decoding: bytes, as: UTF8.self), to: &encoded)
            // The quotes stand around all pieces.
            encoded.removeFirst()
            encoded.removeLast()
        }
        try text.append(encoded, to: spool)
    }

    /// Bytes at the end that may begin a character which goes on in the next piece.
    private static func unfinished(_ bytes: Bytes) -> Int {
        for length in 1...3 where length <= bytes.count {
            let byte = bytes[bytes.count - length]
            guard byte & 0xc0 != 0x80 else { continue }
            let size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            return size > length ? length : 0
        }
        return 0
    }
}
