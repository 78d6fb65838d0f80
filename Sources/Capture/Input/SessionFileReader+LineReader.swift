import Glibc
import Wire

/// Cuts a source, packed or not, into lines; holds one line and one read at a time.
struct LineReader {
    /// A longer line is stepped over.
    ///
    /// The longest that a writer makes has a piece of a MiB all of control characters, at six
    /// bytes each, and a bridge.
    static let maximumLine = 16 << 20
    private static let readSize = 256 << 10

    private let source: any ByteSource
    /// Packed bytes that were read and not unpacked yet.
    private var packed = Bytes()
    private var packedPosition = 0
    private var decompressor: (any BatchDecompressor)?
    private var isDetected = false
    private var damage: String?
    private var didTellDamage = false

    /// Lines, as far as they were read and unpacked.
    private(set) var text = Bytes()
    private var lineStart = 0
    private var searched = 0
    /// The offset, in the unpacked text, of the first byte of `text`.
    private var textOffset: UInt64 = 0
    /// Lines that were given out.
    private(set) var lineCount = 0
    private var isSkipping = false

    enum Next {
        /// The line's place in `text`, without its line feed.
        case line(Range<Int>, offset: UInt64)
        /// The last line has no line feed.
        case unterminated(Range<Int>, offset: UInt64)
        case tooLong(offset: UInt64)
        /// The packed data is wrong, or ends within a member.
        case damaged(String)
        /// Nothing more for now.
        case end
    }

    init(_ source: any ByteSource) {
        self.source = source
    }

    var name: String { source.name }

    /// The next line.
    ///
    /// `isFinal` tells that an end of the source is one; then what is left without a line feed
    /// is given out too.
    mutating func next(isFinal: Bool) throws(SourceError) -> Next {
        while true {
            if let end = lineFeed() {
                let range = lineStart..<end
                lineStart = end + 1
                searched = lineStart
                if isSkipping {
                    isSkipping = false
                    continue
                }
                lineCount += 1
                return .line(range, offset: textOffset + UInt64(range.lowerBound))
            }
            searched = text.count
            if text.count - lineStart > Self.maximumLine {
                let offset = textOffset + UInt64(lineStart)
                dropRead(through: text.count)
                guard !isSkipping else { continue }
                isSkipping = true
                lineCount += 1
                return .tooLong(offset: offset)
            }
            if try fill(isFinal: isFinal) { continue }
            guard isFinal else { return .end }
            if lineStart < text.count, !isSkipping {
                let range = lineStart..<text.count
                lineStart = text.count
                searched = lineStart
                lineCount += 1
                return .unterminated(range, offset: textOffset + UInt64(range.lowerBound))
            }
            if !didTellDamage, let what = damage ?? unfinished {
                didTellDamage = true
                return .damaged(what)
            }
            return .end
        }
    }

    /// Whether a whole line was read that was not given out.
    mutating func hasLine() -> Bool {
        guard !isSkipping, let end = lineFeed() else { return false }
        searched = end
        return true
    }

    private var unfinished: String? {
        guard let decompressor, decompressor.isWithinMember else { return nil }
        return decompressor is GzipDecompressor
            ? "the last gzip member is cut short" : "the last Zstandard frame is cut short"
    }

    /// The offset of the next line feed in `text`; the corresponding C function is `memchr`.
    private func lineFeed() -> Int? {
        unsafe text.withUnsafeBytes { bytes in
            guard searched < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + searched, 0x0a, bytes.count - searched)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Lets go of the first bytes of `text`.
    private mutating func dropRead(through end: Int) {
        text.removeSubrange(0..<end)
        textOffset += UInt64(end)
        lineStart = max(0, lineStart - end)
        searched = max(0, searched - end)
    }

    /// Gets more text; false at the end of the source.
    private mutating func fill(isFinal: Bool) throws(SourceError) -> Bool {
        if lineStart > 0 { dropRead(through: lineStart) }
        if !isDetected {
            guard try detect(isFinal: isFinal) else { return false }
            if !text.isEmpty { return true }
        }
        guard let decompressor else {
            let before = text.count
            try source.read(into: &text, maximum: Self.readSize)
            return text.count > before
        }
        guard damage == nil else { return false }
        while true {
            let before = text.count
            do {
                let input = packed
                damage = decompressor.expand(
                    input.span, at: &packedPosition, into: &text, maximum: Self.readSize)
            }
            if text.count > before { return true }
            guard damage == nil else { return false }
            packed.removeSubrange(0..<packedPosition)
            packedPosition = 0
            let packedBefore = packed.count
            try source.read(into: &packed, maximum: Self.readSize)
            guard packed.count > packedBefore else { return false }
        }
    }

    /// Tells packed data by its first bytes; false while there are too few.
    private mutating func detect(isFinal: Bool) throws(SourceError) -> Bool {
        while packed.count < 4 {
            let before = packed.count
            try source.read(into: &packed, maximum: 4 - packed.count)
            guard packed.count > before else { break }
        }
        // What is too short for a session of any kind is shown as it is.
        guard packed.count == 4 || isFinal && !packed.isEmpty else { return false }
        isDetected = true
        if packed.starts(with: [0x1f, 0x8b]) {
            decompressor = GzipDecompressor()
        } else if packed == [0x28, 0xb5, 0x2f, 0xfd] {
            decompressor = ZstdDecompressor()
        } else {
            text = packed
            packed = []
        }
        return true
    }
}
