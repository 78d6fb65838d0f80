import Wire

/// One direction of a connection while it is decoded: its mode and what is unfinished in it.
final class Direction {
    /// What the bytes of a direction are taken for.
    enum Mode: Equatable {
        case http
        /// Behind an upgrade request without a response: the next byte decides.
        case undecided
        case webSocket
        /// Somewhere in a stream, in search of a message or a frame; see `search`.
        case searching
        /// Nothing that a decoder knows; `why` goes into the events.
        case opaque(why: String)
    }

    /// An HTTP message or a long frame whose content is still coming.
    struct OpenItem {
        enum Kind {
            case request(Event.Request)
            case response(Event.Response)
            case frame(FrameHeader)
        }

        var kind: Kind
        var content: ContentAccumulator
        var trailers: [FieldLine] = []
        var rawTrailers: Bytes?
        /// The line of the last chunk, until the trailer section behind it is complete.
        var lastLine: Bytes = []
    }

    /// A WebSocket message that differs from its last frame: fragmented, compressed or both.
    struct OpenMessage {
        var opcode: Opcode
        var isCompressed: Bool
        var frames: Int
        /// When its first byte came.
        var start: Int64?
        var content: ContentAccumulator
        /// Why it could not be inflated, once that is known.
        var failure: String?
        /// Whether that is our own doing: a limit, or no memory.
        var isGivenUp = false
        var inflated: UInt64 = 0
    }

    let side: Side
    var mode: Mode = .http
    var http: HTTPDecoder
    var frames: FrameDecoder
    var open: OpenItem?
    var message: OpenMessage?
    /// Whether the long frame that is open belongs to `message`.
    var isInMessage = false
    /// What was negotiated, if compression was.
    var deflate: PerMessageDeflate?
    /// Made when the first compressed message comes.
    var inflater: Inflater?
    /// The time of the bytes at hand, in nanoseconds of the session.
    var time: Int64 = 0
    /// Their own time, where the file was out of order.
    var packetTime: Int64?
    /// When the first byte of the thing under way came.
    var start: Int64?
    /// Bytes are missing in the body or frame under way: its event stands, what follows of it
    /// is `data`.
    var isBroken = false
    /// The HTTP message that is broken, which has an event already.
    var broken: OpenItem.Kind?
    /// What masks the rest of a broken frame, which is written as it crossed.
    var brokenKey: MaskingKey?
    /// While `searching`.
    var search: BoundarySearch
    var ended = false

    private let limits: ConnectionLimits

    init(side: Side, limits: ConnectionLimits) {
        self.side = side
        self.limits = limits
        http = HTTPDecoder(side == .app ? .requests : .responses, limits: limits.http)
        frames = FrameDecoder(maximumPayload: limits.maximumPiece)
        search = BoundarySearch(side: side)
    }

    /// Whether it stands between two frames, and nothing is under way or missing.
    var isBetweenFrames: Bool {
        guard case .webSocket = mode, frames.isIdle, start == nil, !isBroken, !isInMessage else {
            return false
        }
        if case .some = message { return false }
        if case .some = open { return false }
        return true
    }

    func makeContent() -> ContentAccumulator {
        ContentAccumulator(
            maximumPiece: limits.maximumPiece, maximumChunks: limits.maximumChunksInPiece)
    }

    func makeInflater() -> Inflater? {
        deflate?.makeInflater(for: side == .app ? .client : .server)
    }

    func openItem(_ kind: OpenItem.Kind) {
        open = OpenItem(kind: kind, content: makeContent())
    }
}
