import Wire

/// Reads lines of a session file (capture format, version 1).
///
/// Fields that it does not know are stepped over, and fields that are null count as absent.
/// Everything else about a line has to be right. Costs about a nanosecond for two bytes.
package struct EventDecoder: Sendable {
    /// The newest version that is understood.
    package static let supportedVersion = 1

    /// Whether `Event.bridge` is read, or left empty, which is faster.
    package var readsBridge: Bool

    package init(readsBridge: Bool = true) {
        self.readsBridge = readsBridge
    }

    /// What a line holds.
    package enum Line: Sendable, Equatable {
        case event(Event)
        /// A kind that a later version knows.
        case unknown(kind: String, seq: Int?)
    }

    /// Decodes one line, with or without its line feed.
    package func decode(_ line: Span<UInt8>) throws(LineFault) -> Line {
        if let offset = offsetOfInvalidUTF8(line) {
            throw LineFault(offset: offset, reason: .notUTF8)
        }
        return try unsafe line.bytes.withUnsafeBytes { bytes throws(LineFault) in
            var decoder = unsafe LineDecoder(LineScanner(bytes), readsBridge: readsBridge)
            return try decoder.decode()
        }
    }
}

/// The decoding of one line.
private struct LineDecoder {
    private var scanner: LineScanner
    private let readsBridge: Bool
    private var isFirst = true

    private var seq: Int?
    private var time: Int64?
    private var firstTime: Int64?
    private var packetTime: Int64?
    private var conn = 0
    private var from: Side?
    private var bridge: [JSON] = []

    init(_ scanner: LineScanner, readsBridge: Bool) {
        self.scanner = scanner
        self.readsBridge = readsBridge
    }

    mutating func decode() throws(LineFault) -> EventDecoder.Line {
        try scanner.expect(UInt8(ascii: "{"), "an object")
        let kind = try kindName()
        switch kind {
        case "frame": return try finish(.frame(frame()))
        case "message": return try finish(.message(message()))
        case "request": return try finish(.request(request()))
        case "response": return try finish(.response(response()))
        case "open": return try finish(.open(open()))
        case "close": return try finish(.close(close()))
        case "piece": return try finish(.piece(piece()))
        case "data": return try finish(.data(data()))
        case "gap": return try finish(.gap(gap()))
        case "note": return try finish(.note(note()))
        case "end": return try finish(.end(end()))
        case "session": return try finish(.session(session()))
        default:
            while let field = try nextField() { try takeCommon(field) }
            try scanner.expectEnd()
            return .unknown(kind: kind, seq: seq)
        }
    }

    // MARK: What all kinds have

    /// The value of `event`, which stands first unless somebody reordered the fields.
    private mutating func kindName() throws(LineFault) -> String {
        var isAtStart = true
        while let field = try nextField() {
            if field == .event {
                let kind = try scanner.string(.event)
                if !isAtStart {
                    scanner.rewind()
                    try scanner.expect(UInt8(ascii: "{"), "an object")
                    isFirst = true
                }
                return kind
            }
            isAtStart = false
            try scanner.skipValue()
        }
        throw scanner.fault(.missingField("event"))
    }

    @inline(__always)
    private mutating func nextField() throws(LineFault) -> EventField? {
        try scanner.nextField(isFirst: &isFirst)
    }

    @inline(__always)
    private mutating func takeCommon(_ field: EventField) throws(LineFault) {
        switch field {
        case .seq: seq = try scanner.integer(field)
        case .t: time = try scanner.time(field)
        case .timeFirst: firstTime = try scanner.time(field)
        case .timePacket: packetTime = try scanner.time(field)
        case .conn: conn = try scanner.integer(field)
        case .from:
            let name = try scanner.string(field)
            switch name {
            case "app": from = .app
            case "board": from = .board
            default: throw bad(field, "\"app\" or \"board\"")
            }
        case .bridge where readsBridge:
            try scanner.array(field, of: "an array of objects") { scanner throws(LineFault) in
                bridge.append(try scanner.value())
            }
        default: try scanner.skipValue()
        }
    }

    private mutating func finish(_ kind: Event.Kind) throws(LineFault) -> EventDecoder.Line {
        try scanner.expectEnd()
        switch kind {
        case .session:
            break
        case .end, .note:
            try require(seq, .seq)
            try require(time, .t)
        case .open:
            try require(seq, .seq)
            try require(time, .t)
            if conn == 0 { throw missing(.conn) }
        case .request, .response, .frame, .message, .piece, .data, .gap, .close:
            try require(seq, .seq)
            try require(time, .t)
            if conn == 0 { throw missing(.conn) }
            try require(from, .from)
        }
        return .event(
            Event(
                seq: seq ?? 0, time: time ?? 0, firstTime: firstTime, packetTime: packetTime,
                conn: conn, from: from, kind: kind, bridge: bridge))
    }

    @discardableResult
    @inline(__always)
    private func require<Value>(_ value: Value?, _ field: EventField) throws(LineFault) -> Value {
        guard let value else { throw missing(field) }
        return value
    }

    private func missing(_ field: EventField) -> LineFault {
        scanner.fault(.missingField(field.rawValue))
    }

    private func bad(_ field: EventField, _ expected: String) -> LineFault {
        scanner.fault(.badValue(field: field.rawValue, expected: expected))
    }

    @inline(__always)
    private func set(_ content: inout Event.Content?, _ value: Event.Content) throws(LineFault) {
        guard content == nil else { throw scanner.fault(.contentTwice) }
        content = value
    }

    // MARK: WebSocket

    private mutating func frame() throws(LineFault) -> Event.FrameRecord {
        var fin: Bool?
        var rsv: Int?
        var opcode: Int?
        var mask: UInt32?
        var length: UInt64?
        var content: Event.Content?
        var incomplete = false
        var raw: Bytes?
        while let field = try nextField() {
            switch field {
            case .fin: fin = try scanner.bool(field)
            case .rsv: rsv = try scanner.integer(field)
            case .opcode: opcode = try scanner.integer(field)
            case .mask: mask = try scanner.hex32(field)
            case .length: length = try scanner.unsigned(field)
            case .text: try set(&content, .whole(try scanner.stringBytes()))
            case .base64: try set(&content, .whole(try scanner.base64(field)))
            case .pieces: if try scanner.bool(field) { try set(&content, .pieces) }
            case .incomplete: incomplete = try scanner.bool(field)
            case .raw: raw = try scanner.base64(field)
            default: try takeCommon(field)
            }
        }
        let bits = try require(rsv, .rsv)
        guard bits <= 7 else { throw bad(.rsv, "0 to 7") }
        let number = try require(opcode, .opcode)
        guard number <= 15 else { throw bad(.opcode, "0 to 15") }
        var header = FrameHeader(
            fin: try require(fin, .fin), rsv: UInt8(bits),
            opcode: Opcode(rawValue: UInt8(number)), maskingKey: mask.map(MaskingKey.init),
            payloadLength: try require(length, .length))
        if let bytes = raw, try takeForm(of: bytes, into: &header, incomplete: incomplete) {
            raw = nil
        }
        return Event.FrameRecord(
            header: header, content: try require(content, .text), incomplete: incomplete, raw: raw)
    }

    /// Gives the header the length form of its exact bytes; false where they are of a header
    /// that was cut short.
    private func takeForm(
        of raw: Bytes, into header: inout FrameHeader, incomplete: Bool
    ) throws(LineFault) -> Bool {
        for form in [LengthForm.short, .medium, .long] {
            var candidate = header
            candidate.lengthForm = form
            var bytes = Bytes()
            candidate.encode(into: &bytes)
            if bytes == raw {
                header = candidate
                return true
            }
        }
        guard incomplete, raw.count < 14 else { throw bad(.raw, "the header of this frame") }
        return false
    }

    private mutating func message() throws(LineFault) -> Event.Message {
        var opcode: Int?
        var content: Event.Content?
        var frames: Int?
        var compressed = false
        var incomplete = false
        while let field = try nextField() {
            switch field {
            case .opcode: opcode = try scanner.integer(field)
            case .frames: frames = try scanner.integer(field)
            case .compressed: compressed = try scanner.bool(field)
            case .text: try set(&content, .whole(try scanner.stringBytes()))
            case .base64: try set(&content, .whole(try scanner.base64(field)))
            case .pieces: if try scanner.bool(field) { try set(&content, .pieces) }
            case .incomplete: incomplete = try scanner.bool(field)
            default: try takeCommon(field)
            }
        }
        let number = try require(opcode, .opcode)
        guard number <= 15 else { throw bad(.opcode, "0 to 15") }
        return Event.Message(
            opcode: Opcode(rawValue: UInt8(number)), content: try require(content, .text),
            frames: try require(frames, .frames), compressed: compressed, incomplete: incomplete)
    }

    private mutating func piece() throws(LineFault) -> Event.Piece {
        var of: Int?
        var ofPart: Int?
        var offset: UInt64?
        var last: Bool?
        var content: Event.Content?
        var chunks = ChunkFields()
        var trailers: [FieldLine] = []
        var rawTrailers: Bytes?
        var incomplete = false
        while let field = try nextField() {
            switch field {
            case .of: of = try scanner.integer(field)
            case .ofPart: ofPart = try scanner.integer(field)
            case .offset: offset = try scanner.unsigned(field)
            case .last: last = try scanner.bool(field)
            case .text: try set(&content, .whole(try scanner.stringBytes()))
            case .base64: try set(&content, .whole(try scanner.base64(field)))
            case .chunks: chunks.sizes = try sizes(field)
            case .chunkLines: chunks.lines = try base64Array(field)
            case .trailers: trailers = try fieldLines(field)
            case .rawTrailers: rawTrailers = try scanner.base64(field)
            case .incomplete: incomplete = try scanner.bool(field)
            default: try takeCommon(field)
            }
        }
        guard case .whole(let bytes) = try require(content, .text) else { throw missing(.text) }
        return Event.Piece(
            of: try require(of, .of), offset: try require(offset, .offset), content: bytes,
            last: try require(last, .last), chunks: chunks.value, trailers: trailers,
            rawTrailers: rawTrailers, incomplete: incomplete, ofPart: ofPart)
    }

    // MARK: HTTP

    private struct ChunkFields {
        var sizes: [UInt64]?
        var lines: [Bytes]?

        var value: Event.Chunks? {
            guard sizes != nil || lines != nil else { return nil }
            return Event.Chunks(sizes: sizes ?? [], lines: lines)
        }
    }

    /// The fields that requests and responses share.
    private struct MessageFields {
        var exchange: Int?
        var version: String?
        var headers: [FieldLine]?
        var raw: Bytes?
        var framing: String?
        var length: UInt64?
        var content: Event.Content?
        var chunks = ChunkFields()
        var trailers: [FieldLine] = []
        var rawTrailers: Bytes?
        var incomplete = false
    }

    private mutating func take(
        _ field: EventField, into fields: inout MessageFields
    ) throws(LineFault) {
        switch field {
        case .exchange: fields.exchange = try scanner.integer(field)
        case .http: fields.version = try scanner.string(field)
        case .headers: fields.headers = try fieldLines(field)
        case .raw: fields.raw = try scanner.base64(field)
        case .framing: fields.framing = try scanner.string(field)
        case .length: fields.length = try scanner.unsigned(field)
        case .body: try set(&fields.content, .whole(try scanner.stringBytes()))
        case .bodyBase64: try set(&fields.content, .whole(try scanner.base64(field)))
        case .pieces: if try scanner.bool(field) { try set(&fields.content, .pieces) }
        case .chunks: fields.chunks.sizes = try sizes(field)
        case .chunkLines: fields.chunks.lines = try base64Array(field)
        case .trailers: fields.trailers = try fieldLines(field)
        case .rawTrailers: fields.rawTrailers = try scanner.base64(field)
        case .incomplete: fields.incomplete = try scanner.bool(field)
        default: try takeCommon(field)
        }
    }

    private func body(_ fields: MessageFields) throws(LineFault) -> Event.Body {
        let content = fields.content ?? .whole([])
        let framing: BodyFraming
        switch fields.framing {
        case "none"?: framing = .none
        case "chunked"?: framing = .chunked
        case "close"?: framing = .close
        case "length"?:
            if let length = fields.length {
                framing = .length(length)
            } else if case .whole(let bytes) = content {
                framing = .length(UInt64(bytes.count))
            } else {
                throw missing(.length)
            }
        case nil: throw missing(.framing)
        case _?: throw bad(.framing, "\"none\", \"length\", \"chunked\" or \"close\"")
        }
        return Event.Body(
            content: content, framing: framing, chunks: fields.chunks.value,
            trailers: fields.trailers, rawTrailers: fields.rawTrailers,
            incomplete: fields.incomplete)
    }

    private mutating func request() throws(LineFault) -> Event.Request {
        var method: String?
        var target: String?
        var fields = MessageFields()
        while let field = try nextField() {
            switch field {
            case .method: method = try scanner.string(field)
            case .target: target = try scanner.string(field)
            default: try take(field, into: &fields)
            }
        }
        return Event.Request(
            exchange: try require(fields.exchange, .exchange),
            method: try require(method, .method), target: try require(target, .target),
            version: try require(fields.version, .http),
            headers: try require(fields.headers, .headers), raw: fields.raw,
            body: try body(fields))
    }

    private mutating func response() throws(LineFault) -> Event.Response {
        var status: Int?
        var reason: String?
        var fields = MessageFields()
        while let field = try nextField() {
            switch field {
            case .status: status = try scanner.integer(field)
            case .reason: reason = try scanner.string(field)
            default: try take(field, into: &fields)
            }
        }
        return Event.Response(
            exchange: try require(fields.exchange, .exchange),
            status: try require(status, .status), reason: try require(reason, .reason),
            version: try require(fields.version, .http),
            headers: try require(fields.headers, .headers), raw: fields.raw,
            body: try body(fields))
    }

    private mutating func sizes(_ field: EventField) throws(LineFault) -> [UInt64] {
        var sizes: [UInt64] = []
        try scanner.array(field, of: "an array of sizes") { scanner throws(LineFault) in
            sizes.append(try scanner.unsigned(field))
        }
        return sizes
    }

    private mutating func base64Array(_ field: EventField) throws(LineFault) -> [Bytes] {
        var values: [Bytes] = []
        try scanner.array(field, of: "an array of base64") { scanner throws(LineFault) in
            values.append(try scanner.base64(field))
        }
        return values
    }

    private mutating func fieldLines(_ field: EventField) throws(LineFault) -> [FieldLine] {
        var lines: [FieldLine] = []
        let expected = "an array of names and values"
        try scanner.array(field, of: expected) { scanner throws(LineFault) in
            var pair: [String] = []
            try scanner.array(field, of: expected) { scanner throws(LineFault) in
                pair.append(try scanner.string(field))
            }
            guard pair.count == 2 else {
                throw scanner.fault(.badValue(field: field.rawValue, expected: expected))
            }
            lines.append(FieldLine(pair[0], pair[1]))
        }
        return lines
    }

    // MARK: The session, its connections, remarks

    private mutating func session() throws(LineFault) -> SessionInfo {
        var format: String?
        var version: Int?
        var texts: [EventField: String] = [:]
        var part: Int?
        var redacted: JSON?
        var labels: [FieldLine] = []
        while let field = try nextField() {
            switch field {
            case .format:
                let name = try scanner.string(field)
                guard name == "bridgetap" else { throw scanner.fault(.otherFormat(name)) }
                format = name
            case .version:
                // Told at once: a newer version may have changed anything behind it.
                let number = try scanner.integer(field)
                guard number <= EventDecoder.supportedVersion else {
                    throw scanner.fault(
                        .newerVersion(number, supported: EventDecoder.supportedVersion))
                }
                guard number > 0 else { throw bad(field, "a version of the format") }
                version = number
            case .id, .startedAt, .tool, .contract, .source, .listen, .upstream, .interface,
                .linkType:
                texts[field] = try scanner.string(field)
            case .part: part = try scanner.integer(field)
            case .redacted: redacted = try scanner.value()
            case .labels:
                guard case .object(let members) = try scanner.value() else {
                    throw bad(field, "an object of texts")
                }
                for member in members {
                    guard case .string(let text) = member.value else {
                        throw bad(field, "an object of texts")
                    }
                    labels.append(FieldLine(member.name, text))
                }
            default: try takeCommon(field)
            }
        }
        try require(format, .format)
        return SessionInfo(
            version: try require(version, .version), id: try require(texts[.id], .id),
            startedAt: try require(texts[.startedAt], .startedAt),
            tool: try require(texts[.tool], .tool),
            contract: try require(texts[.contract], .contract),
            source: try require(texts[.source], .source), listen: texts[.listen],
            upstream: texts[.upstream], interface: texts[.interface], linkType: texts[.linkType],
            part: part, redacted: redacted, labels: labels)
    }

    private mutating func open() throws(LineFault) -> Event.Open {
        var app: String?
        var board: String?
        var via: String?
        var continued = false
        var upgraded = false
        var extensions: String?
        while let field = try nextField() {
            switch field {
            case .app: app = try scanner.string(field)
            case .board: board = try scanner.string(field)
            case .via: via = try scanner.string(field)
            case .continued: continued = try scanner.bool(field)
            case .upgraded: upgraded = try scanner.bool(field)
            case .extensions: extensions = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Open(
            app: try require(app, .app), board: try require(board, .board), via: via,
            continued: continued
                ? Event.Continued(extensions: extensions, upgraded: upgraded) : nil)
    }

    private mutating func close() throws(LineFault) -> Event.Close {
        var how: Event.Ending?
        var detail: String?
        while let field = try nextField() {
            switch field {
            case .how:
                guard let ending = Event.Ending(rawValue: try scanner.string(field)) else {
                    throw bad(field, "a way for a connection to end")
                }
                how = ending
            case .detail: detail = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Close(how: try require(how, .how), detail: detail)
    }

    private mutating func data() throws(LineFault) -> Event.Data {
        var bytes: Bytes?
        var why: String?
        while let field = try nextField() {
            switch field {
            case .base64: bytes = try scanner.base64(field)
            case .why: why = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Data(bytes: try require(bytes, .base64), why: try require(why, .why))
    }

    private mutating func gap() throws(LineFault) -> Event.Gap {
        var length: UInt64?
        var why: String?
        while let field = try nextField() {
            switch field {
            case .length: length = try scanner.unsigned(field)
            case .why: why = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Gap(length: length, why: try require(why, .why))
    }

    private mutating func note() throws(LineFault) -> Event.Note {
        var code: String?
        var text: String?
        var to: Int?
        var toPart: Int?
        while let field = try nextField() {
            switch field {
            case .code: code = try scanner.string(field)
            case .text: text = try scanner.string(field)
            case .to: to = try scanner.integer(field)
            case .toPart: toPart = try scanner.integer(field)
            default: try takeCommon(field)
            }
        }
        return Event.Note(
            code: try require(code, .code), text: try require(text, .text), to: to, toPart: toPart)
    }

    private mutating func end() throws(LineFault) -> Event.End {
        var events: Int?
        var bytesApp: UInt64?
        var bytesBoard: UInt64?
        var dropped: Int?
        while let field = try nextField() {
            switch field {
            case .events: events = try scanner.integer(field)
            case .bytesApp: bytesApp = try scanner.unsigned(field)
            case .bytesBoard: bytesBoard = try scanner.unsigned(field)
            case .dropped: dropped = try scanner.integer(field)
            default: try takeCommon(field)
            }
        }
        return Event.End(
            events: try require(events, .events), bytesApp: try require(bytesApp, .bytesApp),
            bytesBoard: try require(bytesBoard, .bytesBoard),
            dropped: try require(dropped, .dropped))
    }
}
