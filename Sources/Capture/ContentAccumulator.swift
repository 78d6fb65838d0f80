import Wire

/// Collects the content of one body, payload or message, and cuts it into pieces once it is
/// over the limit (capture format, `piece`).
///
/// Where the cuts fall depends on the content alone, never on how it arrived: a piece is full
/// when it holds `maximumPiece` bytes, or when `maximumChunks` chunks begin in it.
struct ContentAccumulator {
    /// What has come and is in no piece yet.
    private(set) var bytes: Bytes = []
    /// Bytes in the pieces that were cut off.
    private(set) var offset: UInt64 = 0
    /// The number of the head event, once there is one; pieces follow it from then on.
    private(set) var head: Int?
    /// When the first of `bytes` came, in nanoseconds of the session.
    private(set) var firstTime: Int64?
    private(set) var sizes: [UInt64] = []
    private(set) var lines: [Bytes]?
    /// Whether a chunk of this body came before those in `sizes`.
    private var followsChunk = false

    private let maximumPiece: Int
    private let maximumChunks: Int

    init(maximumPiece: Int, maximumChunks: Int) {
        self.maximumPiece = maximumPiece
        self.maximumChunks = maximumChunks
    }

    /// A piece that became full, or a body's head that has to be written because of it.
    struct Cut {
        var offset: UInt64
        var bytes: Bytes
        var chunks: Event.Chunks?
        var firstTime: Int64?
    }

    /// Whether everything so far fits into the event itself.
    var isWhole: Bool { head == nil }

    /// Takes content in; calls `cut` for each piece that is full before more comes.
    ///
    /// `cut` gives the number of the head event, which it has to write before the first piece.
    mutating func append(_ part: Bytes, at time: Int64, cut: (Cut, _ head: Int?) -> Int) {
        guard !part.isEmpty else { return }
        if bytes.isEmpty, part.count <= maximumPiece {
            bytes = part
            firstTime = firstTime ?? time
            return
        }
        var rest = part[...]
        while !rest.isEmpty {
            if bytes.count == maximumPiece {
                head = cut(takePiece(), head)
            }
            if bytes.isEmpty { firstTime = firstTime ?? time }
            let taken = rest.prefix(maximumPiece - bytes.count)
            bytes.append(contentsOf: taken)
            rest = rest[taken.endIndex...]
        }
    }

    /// Notes that a chunk begins; `line` is what stood between the data before it and its own.
    mutating func beginChunk(
        size: UInt64, line: Bytes, at time: Int64, cut: (Cut, _ head: Int?) -> Int
    ) {
        if sizes.count == maximumChunks {
            head = cut(takePiece(), head)
        }
        noteLine(line, size: size)
        sizes.append(size)
        firstTime = firstTime ?? time
    }

    /// Notes the line of the last, empty chunk.
    mutating func endChunks(line: Bytes) {
        noteLine(line, size: 0)
    }

    /// Takes back the line of the last, empty chunk, where the trailers behind it were cut.
    mutating func forgetLastLine() {
        lines?.removeLast()
    }

    /// What is left for the event itself, or for the last piece.
    mutating func takeRest() -> Cut {
        takePiece()
    }

    /// The canonical line of a chunk: its size in lower-case hex, behind the line end that
    /// closes the data before it (RFC 9112 §7.1).
    static func canonicalLine(size: UInt64, followsChunk: Bool) -> Bytes {
        Bytes("\(followsChunk ? "\r\n" : "")\(String(size, radix: 16))\r\n".utf8)
    }

    private mutating func noteLine(_ line: Bytes, size: UInt64) {
        let followsChunk = self.followsChunk || !sizes.isEmpty
        if lines != nil {
            lines?.append(line)
        } else if line != Self.canonicalLine(size: size, followsChunk: followsChunk) {
            var all: [Bytes] = []
            for (index, size) in sizes.enumerated() {
                let follows = self.followsChunk || index > 0
                all.append(Self.canonicalLine(size: size, followsChunk: follows))
            }
            all.append(line)
            lines = all
        }
    }

    private mutating func takePiece() -> Cut {
        let chunks = sizes.isEmpty && lines == nil ? nil : Event.Chunks(sizes: sizes, lines: lines)
        let piece = Cut(offset: offset, bytes: bytes, chunks: chunks, firstTime: firstTime)
        offset += UInt64(bytes.count)
        followsChunk = followsChunk || !sizes.isEmpty
        bytes = []
        sizes = []
        lines = nil
        firstTime = nil
        return piece
    }
}
