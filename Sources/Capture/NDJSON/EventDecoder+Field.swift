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
        case 1: self = word == key("t") ? .t : .unknown
        case 2: self = Self.ofTwo(word)
        case 3: self = Self.ofThree(word)
        case 4: self = Self.ofFour(word)
        case 5: self = word == key("event") ? .event : word == key("board") ? .board : .unknown
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
        case key("of"): .of
        case key("to"): .to
        case key("id"): .id
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofThree(_ word: UInt64) -> EventField {
        switch word {
        case key("seq"): .seq
        case key("fin"): .fin
        case key("rsv"): .rsv
        case key("raw"): .raw
        case key("why"): .why
        case key("how"): .how
        case key("app"): .app
        case key("via"): .via
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofFour(_ word: UInt64) -> EventField {
        switch word {
        case key("conn"): .conn
        case key("from"): .from
        case key("mask"): .mask
        case key("text"): .text
        case key("code"): .code
        case key("http"): .http
        case key("body"): .body
        case key("last"): .last
        case key("tool"): .tool
        case key("part"): .part
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofSix(_ word: UInt64) -> EventField {
        switch word {
        case key("opcode"): .opcode
        case key("length"): .length
        case key("bridge"): .bridge
        case key("base64"): .base64
        case key("frames"): .frames
        case key("method"): .method
        case key("target"): .target
        case key("status"): .status
        case key("reason"): .reason
        case key("chunks"): .chunks
        case key("pieces"): .pieces
        case key("offset"): .offset
        case key("detail"): .detail
        case key("events"): .events
        case key("format"): .format
        case key("source"): .source
        case key("listen"): .listen
        case key("labels"): .labels
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofSeven(_ word: UInt64) -> EventField {
        switch word {
        case key("t_first"): .timeFirst
        case key("headers"): .headers
        case key("framing"): .framing
        case key("of_part"): .ofPart
        case key("to_part"): .toPart
        case key("dropped"): .dropped
        case key("version"): .version
        default: .unknown
        }
    }

    @inline(__always)
    private static func ofEight(_ word: UInt64) -> EventField {
        switch word {
        case key("exchange"): .exchange
        case key("t_packet"): .timePacket
        case key("trailers"): .trailers
        case key("contract"): .contract
        case key("upstream"): .upstream
        case key("redacted"): .redacted
        case key("upgraded"): .upgraded
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
private func key(_ name: StaticString) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<name.utf8CodeUnitCount {
        word |= UInt64(unsafe name.utf8Start[index]) << UInt64(8 &* index)
    }
    return word
}
