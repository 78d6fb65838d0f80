package import Wire

/// An end of the link.
///
/// `app` is the side that opened the connection, board-side tools that use the HTTP queue
/// included (capture format, "Fields").
package enum Side: String, Sendable, Hashable, CaseIterable {
    case app
    case board

    /// The other end.
    package var peer: Side { self == .app ? .board : .app }
}

/// One thing that happened on the link: one line of a session file (capture format, "Kinds").
package struct Event: Sendable, Equatable {
    /// The line's number among the events of its file, from 1; 0 until a writer numbers it.
    package var seq: Int
    /// Nanoseconds since the session began, when the last byte of the thing was seen.
    package var time: Int64
    /// Nanoseconds since the session began, when its first byte was seen, if that was earlier.
    package var firstTime: Int64?
    /// The packet's own time where an imported file was out of order, in nanoseconds.
    package var packetTime: Int64?
    /// The connection, from 1 in order of opening; 0 for none.
    package var conn: Int
    /// Who sent it; nil for events about no side.
    package var from: Side?
    package var kind: Kind
    /// What it means in the contract; empty for nothing.
    package var bridge: Meanings

    package init(
        seq: Int = 0, time: Int64, firstTime: Int64? = nil, packetTime: Int64? = nil,
        conn: Int = 0, from: Side? = nil, kind: Kind, bridge: Meanings = []
    ) {
        self.seq = seq
        self.time = time
        self.firstTime = firstTime
        self.packetTime = packetTime
        self.conn = conn
        self.from = from
        self.kind = kind
        self.bridge = bridge
    }

    /// The kinds of events, with what each carries besides the common fields.
    ///
    /// The large and rare ones are indirect, so that a frame's event stays small and is copied
    /// with little ado.
    package enum Kind: Sendable, Equatable {
        indirect case session(SessionInfo)
        indirect case open(Open)
        indirect case request(Request)
        indirect case response(Response)
        case frame(FrameRecord)
        case message(Message)
        indirect case piece(Piece)
        indirect case data(Data)
        indirect case gap(Gap)
        indirect case close(Close)
        indirect case note(Note)
        indirect case end(End)
    }

    /// Content of an event: inline, or in `piece` events that follow.
    package enum Content: Sendable, Equatable {
        /// All of it.
        case whole(Bytes)
        /// It was over the limit: it stands in `piece` events whose `of` is this event's seq.
        case pieces
    }

    /// A connection was opened.
    package struct Open: Sendable, Equatable {
        /// `ip:port` of each end, as the capture sees it.
        package var app: String
        package var board: String
        /// For a proxy: the addresses that it used itself.
        package var via: String?
        /// Set where a rotated or ring file begins within a connection.
        package var continued: Continued?

        package init(app: String, board: String, via: String? = nil, continued: Continued? = nil) {
            self.app = app
            self.board = board
            self.via = via
            self.continued = continued
        }
    }

    /// The state of a connection at the start of a file that begins within it.
    package struct Continued: Sendable, Equatable {
        /// The `Sec-WebSocket-Extensions` value that was negotiated; nil before or without an
        /// upgrade.
        package var extensions: String?
        /// Whether the connection had been upgraded to WebSocket.
        package var upgraded: Bool

        package init(extensions: String? = nil, upgraded: Bool) {
            self.extensions = extensions
            self.upgraded = upgraded
        }
    }

    /// How a body's chunks stood on the wire; nil parts are canonical.
    package struct Chunks: Sendable, Equatable {
        /// Sizes of the chunks that begin in this content, the last, empty one not counted.
        package var sizes: [UInt64]
        /// The bytes between the chunks' data, one entry a chunk and one for the last, empty
        /// chunk, where any of them is not canonical; each begins with what ended the data
        /// before it.
        package var lines: [Bytes]?

        package init(sizes: [UInt64] = [], lines: [Bytes]? = nil) {
            self.sizes = sizes
            self.lines = lines
        }
    }

    /// The body of a request or response.
    package struct Body: Sendable, Equatable {
        package var content: Content
        package var framing: BodyFraming
        /// Present with chunked framing.
        package var chunks: Chunks?
        /// Field lines behind the last chunk.
        package var trailers: [FieldLine]
        /// The exact bytes of the trailer section with its closing empty line, where they are
        /// not canonical.
        package var rawTrailers: Bytes?
        /// The connection ended within it.
        package var incomplete: Bool

        package init(
            content: Content = .whole([]), framing: BodyFraming = .none, chunks: Chunks? = nil,
            trailers: [FieldLine] = [], rawTrailers: Bytes? = nil, incomplete: Bool = false
        ) {
            self.content = content
            self.framing = framing
            self.chunks = chunks
            self.trailers = trailers
            self.rawTrailers = rawTrailers
            self.incomplete = incomplete
        }
    }

    /// An HTTP request with its body.
    package struct Request: Sendable, Equatable {
        /// Counted from 1 per connection.
        package var exchange: Int
        package var method: String
        package var target: String
        package var version: String
        package var headers: [FieldLine]
        /// The exact bytes of the head where they are not canonical.
        package var raw: Bytes?
        package var body: Body

        package init(
            exchange: Int, method: String, target: String, version: String = "1.1",
            headers: [FieldLine] = [], raw: Bytes? = nil, body: Body = Body()
        ) {
            self.exchange = exchange
            self.method = method
            self.target = target
            self.version = version
            self.headers = headers
            self.raw = raw
            self.body = body
        }
    }

    /// An HTTP response with its body; interim responses too.
    package struct Response: Sendable, Equatable {
        /// The exchange of its request; 0 where no request is known.
        package var exchange: Int
        package var status: Int
        package var reason: String
        package var version: String
        package var headers: [FieldLine]
        package var raw: Bytes?
        package var body: Body

        package init(
            exchange: Int, status: Int, reason: String, version: String = "1.1",
            headers: [FieldLine] = [], raw: Bytes? = nil, body: Body = Body()
        ) {
            self.exchange = exchange
            self.status = status
            self.reason = reason
            self.version = version
            self.headers = headers
            self.raw = raw
            self.body = body
        }
    }

    /// A WebSocket frame.
    package struct FrameRecord: Sendable, Equatable {
        package var header: FrameHeader
        /// Unmasked, otherwise as on the wire.
        package var content: Content
        /// The connection ended within it: the content is what came.
        package var incomplete: Bool
        /// The bytes of a header that was cut short by the end of the connection.
        package var raw: Bytes?

        package init(
            header: FrameHeader, content: Content, incomplete: Bool = false, raw: Bytes? = nil
        ) {
            self.header = header
            self.content = content
            self.incomplete = incomplete
            self.raw = raw
        }
    }

    /// A message whose content differs from its last frame's: fragmented or compressed.
    package struct Message: Sendable, Equatable {
        package var opcode: Opcode
        /// Decompressed.
        package var content: Content
        /// How many data frames it came in.
        package var frames: Int
        package var compressed: Bool
        package var incomplete: Bool

        package init(
            opcode: Opcode, content: Content, frames: Int, compressed: Bool,
            incomplete: Bool = false
        ) {
            self.opcode = opcode
            self.content = content
            self.frames = frames
            self.compressed = compressed
            self.incomplete = incomplete
        }
    }

    /// A part of a body, payload or message of over the piece limit.
    package struct Piece: Sendable, Equatable {
        /// The `seq` of its head event.
        package var of: Int
        /// The part in which the head stands, where it is not the piece's own (rotated files).
        package var ofPart: Int?
        /// Bytes of the whole before this piece.
        package var offset: UInt64
        package var content: Bytes
        package var last: Bool
        /// For a chunked body: the chunks that begin in this piece.
        package var chunks: Chunks?
        /// On the last piece of a chunked body.
        package var trailers: [FieldLine]
        package var rawTrailers: Bytes?
        /// The connection ended within the whole.
        package var incomplete: Bool

        package init(
            of: Int, offset: UInt64, content: Bytes, last: Bool, chunks: Chunks? = nil,
            trailers: [FieldLine] = [], rawTrailers: Bytes? = nil, incomplete: Bool = false,
            ofPart: Int? = nil
        ) {
            self.of = of
            self.ofPart = ofPart
            self.offset = offset
            self.content = content
            self.last = last
            self.chunks = chunks
            self.trailers = trailers
            self.rawTrailers = rawTrailers
            self.incomplete = incomplete
        }
    }

    /// Bytes that no decoder could take; they were passed on all the same.
    package struct Data: Sendable, Equatable {
        package var bytes: Bytes
        package var why: String

        package init(bytes: Bytes, why: String) {
            self.bytes = bytes
            self.why = why
        }
    }

    /// Bytes that are not in the file.
    package struct Gap: Sendable, Equatable {
        /// Absent if unknown.
        package var length: UInt64?
        /// A word such as `missing_packets`, `snaplen` or `disk_full`.
        package var why: String

        package init(length: UInt64?, why: String) {
            self.length = length
            self.why = why
        }
    }

    /// How the sending of one side ended.
    package enum Ending: String, Sendable, Equatable {
        case fin
        case reset
        case timeout
        case refused
        case error
    }

    /// The end of one direction, or of both.
    package struct Close: Sendable, Equatable {
        package var how: Ending
        package var detail: String?

        package init(how: Ending, detail: String? = nil) {
            self.how = how
            self.detail = detail
        }
    }

    /// A remark of the tool's own.
    package struct Note: Sendable, Equatable {
        package var code: String
        package var text: String
        /// The `seq` of the event that it is about.
        package var to: Int?
        /// The part in which that event stands, where it is not the note's own (rotated files).
        package var toPart: Int?

        package init(code: String, text: String, to: Int? = nil, toPart: Int? = nil) {
            self.code = code
            self.text = text
            self.to = to
            self.toPart = toPart
        }
    }

    /// The last line of a file that was closed in good order.
    package struct End: Sendable, Equatable {
        /// Events of the file before this one, the session line not counted.
        package var events: Int
        /// Bytes that each side sent.
        package var bytesApp: UInt64
        package var bytesBoard: UInt64
        /// Events that could not be written.
        package var dropped: Int

        package init(events: Int, bytesApp: UInt64, bytesBoard: UInt64, dropped: Int) {
            self.events = events
            self.bytesApp = bytesApp
            self.bytesBoard = bytesBoard
            self.dropped = dropped
        }
    }
}

/// The first line of a session file (capture format, `session`).
package struct SessionInfo: Sendable, Equatable {
    package var version: Int
    package var id: String
    /// RFC 3339 with nine decimals, UTC.
    package var startedAt: String
    package var tool: String
    package var contract: String
    /// `proxy`, `transparent`, `interface`, `pcap`, `har`, `replay`, `fuzz` or `simulation`.
    package var source: String
    package var listen: String?
    package var upstream: String?
    package var interface: String?
    package var linkType: String?
    /// The number of a rotated file, from 1.
    package var part: Int?
    /// Rules and key id, where the session was redacted.
    package var redacted: JSON?
    /// Free key and value text.
    package var labels: [FieldLine]

    package init(
        version: Int = 1, id: String, startedAt: String, tool: String, contract: String = "1.2",
        source: String, listen: String? = nil, upstream: String? = nil, interface: String? = nil,
        linkType: String? = nil, part: Int? = nil, redacted: JSON? = nil,
        labels: [FieldLine] = []
    ) {
        self.version = version
        self.id = id
        self.startedAt = startedAt
        self.tool = tool
        self.contract = contract
        self.source = source
        self.listen = listen
        self.upstream = upstream
        self.interface = interface
        self.linkType = linkType
        self.part = part
        self.redacted = redacted
        self.labels = labels
    }
}

/// Somewhere that events go: a file, a checker, statistics, a page.
package protocol EventSink: AnyObject {
    /// Takes one event; events come in the order of the session.
    func receive(_ event: Event)

    /// Takes the events of a turn; the same as one after the other.
    func receive(_ events: [Event])
}

extension EventSink {
    package func receive(_ events: [Event]) {
        for event in events { receive(event) }
    }
}

extension Event {
    /// The bytes of its content; zero where it has none, or where that comes in pieces.
    package var contentSize: Int {
        switch kind {
        case .frame(let frame): frame.content.size
        case .message(let message): message.content.size
        case .request(let request): request.body.content.size
        case .response(let response): response.body.content.size
        case .piece(let piece): piece.content.count
        case .data(let data): data.bytes.count
        case .session, .open, .gap, .close, .note, .end: 0
        }
    }
}

extension Event.Content {
    fileprivate var size: Int {
        if case .whole(let bytes) = self { bytes.count } else { 0 }
    }
}
