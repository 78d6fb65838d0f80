/// The names of all fields of version 1.
enum EventField: String {
    case event, seq, t
    case timeFirst = "t_first"
    case timePacket = "t_packet"
    case conn, from, bridge

    case format, version, id
    case startedAt = "started_at"
    case tool, contract, source, listen, upstream, interface
    case linkType = "link_type"
    case part, redacted, labels

    case app, board, via, continued, upgraded, extensions

    case exchange, method, target, http, headers, status, reason, raw, framing, length, chunks
    case chunkLines = "chunk_lines_base64"
    case body
    case bodyBase64 = "body_base64"
    case trailers
    case rawTrailers = "raw_trailers"
    case pieces, incomplete

    case fin, rsv, opcode, mask, text, base64, code, frames, compressed
    case of
    case ofPart = "of_part"
    case offset, last, why, how, detail, to
    case toPart = "to_part"
    case events
    case bytesApp = "bytes_app"
    case bytesBoard = "bytes_board"
    case dropped
    /// A field of a later version.
    case unknown = ""

    /// The field with a name of `count` bytes, the first eight of which are `word`, the first
    /// lowest, with zeros behind a shorter name; `rest` tells whether the others are equal.
    @inline(__always)
    init(word: UInt64, count: Int, rest: (StaticString) -> Bool) {
        switch count {
        case 1: self = word == wordKey("t") ? .t : .unknown
        case 2: self = Self.ofTwo(word)
        case 3: self = Self.ofThree(word)
        case 4: self = Self.ofFour(word)
        case 5:
            self = word == wordKey("event") ? .event : word == wordKey("board") ? .board : .unknown
        case 6: self = Self.ofSix(word)
        case 7: self = Self.ofSeven(word)
        case 8: self = Self.ofEight(word)
        case 9...18: self = Self.ofMore(count, rest: rest)
        default: self = .unknown
        }
    }

    @inline(__always)
    private static func ofTwo(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("of"): .of
        case wordKey("to"): .to
        case wordKey("id"): .id
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofThree(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("seq"): .seq
        case wordKey("fin"): .fin
        case wordKey("rsv"): .rsv
        case wordKey("raw"): .raw
        case wordKey("why"): .why
        case wordKey("how"): .how
        case wordKey("app"): .app
        case wordKey("via"): .via
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofFour(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("conn"): .conn
        case wordKey("from"): .from
        case wordKey("mask"): .mask
        case wordKey("text"): .text
        case wordKey("code"): .code
        case wordKey("http"): .http
        case wordKey("body"): .body
        case wordKey("last"): .last
        case wordKey("tool"): .tool
        case wordKey("part"): .part
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofSix(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("opcode"): .opcode
        case wordKey("length"): .length
        case wordKey("bridge"): .bridge
        case wordKey("base64"): .base64
        case wordKey("frames"): .frames
        case wordKey("method"): .method
        case wordKey("target"): .target
        case wordKey("status"): .status
        case wordKey("reason"): .reason
        case wordKey("chunks"): .chunks
        case wordKey("pieces"): .pieces
        case wordKey("offset"): .offset
        case wordKey("detail"): .detail
        case wordKey("events"): .events
        case wordKey("format"): .format
        case wordKey("source"): .source
        case wordKey("listen"): .listen
        case wordKey("labels"): .labels
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofSeven(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("t_first"): .timeFirst
        case wordKey("headers"): .headers
        case wordKey("framing"): .framing
        case wordKey("of_part"): .ofPart
        case wordKey("to_part"): .toPart
        case wordKey("dropped"): .dropped
        case wordKey("version"): .version
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofEight(_ word: UInt64) -> EventField {
        switch word {
        case wordKey("exchange"): .exchange
        case wordKey("t_packet"): .timePacket
        case wordKey("trailers"): .trailers
        case wordKey("contract"): .contract
        case wordKey("upstream"): .upstream
        case wordKey("redacted"): .redacted
        case wordKey("upgraded"): .upgraded
        default: .unknown
        }
    }

    private static let long: [[(name: StaticString, field: EventField)]] = {
        var table = [[(name: StaticString, field: EventField)]](repeating: [], count: 19)
        table[9] = [
            ("interface", .interface), ("link_type", .linkType), ("continued", .continued),
            ("bytes_app", .bytesApp),
        ]
        table[10] = [
            ("incomplete", .incomplete), ("compressed", .compressed), ("started_at", .startedAt),
            ("extensions", .extensions),
        ]
        table[11] = [("body_base64", .bodyBase64), ("bytes_board", .bytesBoard)]
        table[12] = [("raw_trailers", .rawTrailers)]
        table[18] = [("chunk_lines_base64", .chunkLines)]
        return table
    }()

    private static func ofMore(_ count: Int, rest: (StaticString) -> Bool) -> EventField {
        for (name, field) in long[count] where rest(name) { return field }
        return .unknown
    }
}

/// The bytes of a name of at most eight as a word, the first lowest.
@inline(__always)
func wordKey(_ name: StaticString) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<name.utf8CodeUnitCount {
        word |= UInt64(unsafe name.utf8Start[index]) << UInt64(8 &* index)
    }
    return word
}

/// Some of the bytes of a name, at most eight, as a word, the first lowest.
@inline(__always)
func wordKey(_ name: StaticString, from start: Int, to end: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in start..<end {
        word |= unsafe UInt64(name.utf8Start[index]) << UInt64(8 &* (index &- start))
    }
    return word
}
