import Wire

/// One entry of a HAR file as it stands there: an exchange, or a WebSocket with its messages.
///
/// Bodies and messages are put aside; what is here is small (see `HARParser`).
struct HAREntry: Equatable {
    /// A text that was put aside.
    struct Text: Equatable {
        var offset: UInt64
        var count: Int
    }

    struct Request: Equatable {
        var method = ""
        var url = ""
        var version = ""
        var headers: [FieldLine] = []
        var body: Text?
        var isBase64 = false
        var params: [FieldLine] = []
        var mimeType = ""
        /// Bytes of the body as it crossed; nil if that is not known.
        var bodySize: Int64?
    }

    struct Response: Equatable {
        var status: Int64 = 0
        var reason = ""
        var version = ""
        var headers: [FieldLine] = []
        var body: Text?
        var isBase64 = false
        /// The body is still encoded as Content-Encoding says.
        var isPacked = false
        var contentSize: Int64?
        var bodySize: Int64?
        /// What the browser says went wrong.
        var error: String?
    }

    /// Durations in nanoseconds; nil for those that are not known.
    struct Timings: Equatable {
        var blocked: Int64?
        var dns: Int64?
        var connect: Int64?
        var send: Int64?
        var wait: Int64?
        var receive: Int64?
    }

    /// A message, a control frame, a remark or an end in the order of the wire.
    struct Item: Equatable {
        enum Kind: UInt8 {
            case send
            case receive
            case error
        }

        var kind: Kind
        var opcode: Int64
        var time: Int64?
        var data: Text
    }

    /// What our own writer tells of a connection beside its messages.
    struct Extra: Equatable {
        enum Kind: Equatable {
            case control(opcode: Int64, payload: Bytes)
            case gap(length: UInt64?, why: String)
            case close(how: Event.Ending, detail: String?)
            case note(code: String, text: String)
        }

        var from: Side?
        var time: Int64?
        /// How many messages stand before it.
        var after: Int64
        var kind: Kind
    }

    /// Nanoseconds since 1970.
    var startedAt: Int64?
    var total: Int64?
    var timings = Timings()
    var request = Request()
    var response = Response()
    var serverAddress: String?
    var connection: String?
    /// It came from a cache: nothing crossed.
    var isCached = false
    var isWebSocket = false
    var error: String?

    /// How many messages were put aside, from the beginning of their store.
    var messages = 0

    // Written by this program.
    var app: String?
    var board: String?
    var via: String?
    /// The session begins within the connection; what was agreed on then.
    var continued: Event.Continued?
    var extras: [Extra] = []
}

/// What a HAR file says of itself.
struct HARLog: Equatable {
    var creator = ""
    var browser = ""
    var comment = ""
}
