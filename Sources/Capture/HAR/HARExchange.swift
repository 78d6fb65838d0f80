import Wire

/// An exchange of a session on its way into a HAR file, with all that its entry will hold.
struct HARExchange {
    /// A body: small ones as they are, others in the spool.
    enum Body {
        case whole(Bytes)
        case spooled(SpooledContent)

        var count: Int {
            switch self {
            case .whole(let bytes): bytes.count
            case .spooled(let content): content.count
            }
        }
    }

    /// Times in nanoseconds since the session began.
    struct Span {
        var first: Int64
        var last: Int64
    }

    var request: Event.Request?
    var requestSpan: Span
    var requestBody = Body.whole([])
    var response: Event.Response?
    var responseSpan: Span?
    var responseBody = Body.whole([])
    /// Both are complete, or will never be.
    var isDone = false

    // A WebSocket.
    var isSocket = false
    var messages = SpooledText()
    var messageCount = 0
    /// It began before the session did.
    var continued: Event.Continued?

    init(at span: Span) {
        requestSpan = span
    }
}

/// A connection of a session on its way into a HAR file.
struct HARConnection {
    /// Where the pieces of a head go.
    enum Pieces {
        case request(exchange: Int)
        case response(exchange: Int)
        case message(from: Side, SpooledContent)
        /// The frame's payload is no message, or its message comes by itself.
        case nowhere
    }

    let open: Event.Open
    var exchanges: [Int: HARExchange] = [:]
    /// Complete, but the connection may still tell how it ends.
    var last: HARExchange?
    /// The exchange that became a WebSocket.
    var socket: Int?
    var pieces: [Int: Pieces] = [:]
    /// What happened beside exchanges and messages since the last entry was written.
    var events = SpooledText()
    var hasEvents = false
    var hadExchange = false
    var ended: Set<Side> = []

    init(_ open: Event.Open) {
        self.open = open
    }
}
