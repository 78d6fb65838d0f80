import Wire

/// The decoding of one line.
struct LineDecoder {
    var scanner: LineScanner
    let readsBridge: Bool
    var isFirst = true

    var seq: Int?
    var time: Int64?
    var firstTime: Int64?
    var packetTime: Int64?
    var conn = 0
    var from: Side?
    var bridge: Meanings = []

    init(_ scanner: LineScanner, readsBridge: Bool) {
        self.scanner = scanner
        self.readsBridge = readsBridge
    }

    mutating func decode() throws(LineFault) -> EventDecoder.Line {
        try scanner.expect(UInt8(ascii: "{"), "an object")
        switch try kind() {
        case .frame: return try finish(.frame(frame()))
        case .message: return try finish(.message(message()))
        case .request: return try finish(.request(request()))
        case .response: return try finish(.response(response()))
        case .open: return try finish(.open(open()))
        case .close: return try finish(.close(close()))
        case .piece: return try finish(.piece(piece()))
        case .data: return try finish(.data(data()))
        case .gap: return try finish(.gap(gap()))
        case .note: return try finish(.note(note()))
        case .end: return try finish(.end(end()))
        case .session: return try finish(.session(session()))
        case .unknown(let name):
            while let field = try nextField() { try takeCommon(field) }
            try scanner.expectEnd()
            return .unknown(kind: name, seq: seq)
        }
    }

    enum KindName {
        case frame, message, request, response, open, close, piece, data, gap, note, end, session
        case unknown(String)

        init(_ name: String) {
            var word: UInt64 = 0
            guard name.utf8.count <= 8 else {
                self = .unknown(name)
                return
            }
            for (index, byte) in name.utf8.enumerated() {
                word |= UInt64(byte) << UInt64(8 * index)
            }
            self = KindName(word: word) ?? .unknown(name)
        }

        @inline(__always)
        init?(word: UInt64) {
            switch word {
            case wordKey("frame"): self = .frame
            case wordKey("message"): self = .message
            case wordKey("request"): self = .request
            case wordKey("response"): self = .response
            case wordKey("open"): self = .open
            case wordKey("close"): self = .close
            case wordKey("piece"): self = .piece
            case wordKey("data"): self = .data
            case wordKey("gap"): self = .gap
            case wordKey("note"): self = .note
            case wordKey("end"): self = .end
            case wordKey("session"): self = .session
            default: return nil
            }
        }
    }

    // MARK: What all kinds have

    /// The value of `event`, which stands first unless somebody reordered the fields.
    mutating func kind() throws(LineFault) -> KindName {
        var isAtStart = true
        while let field = try nextField() {
            if field == .event {
                var end = scanner
                let kind: KindName
                if let word = end.shortString(), let name = KindName(word: word) {
                    scanner = end
                    kind = name
                } else {
                    kind = KindName(try scanner.string(.event))
                }
                if isAtStart {
                    try takeUsualStart()
                } else {
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

    /// Takes the common fields as far as they stand in the order in which writers put them.
    @inline(__always)
    private mutating func takeUsualStart() throws(LineFault) {
        if scanner.skip(",\"seq\":") { seq = try scanner.integer(.seq) }
        if scanner.skip(",\"t\":") { time = try scanner.time(.t) }
        if scanner.skip(",\"t_first\":") { firstTime = try scanner.time(.timeFirst) }
        if scanner.skip(",\"conn\":") { conn = try scanner.integer(.conn) }
        if scanner.skip(",\"from\":\"app\"") {
            from = .app
        } else if scanner.skip(",\"from\":\"board\"") {
            from = .board
        }
    }

    @inline(__always)
    mutating func nextField() throws(LineFault) -> EventField? {
        try scanner.nextField(isFirst: &isFirst)
    }

    @inline(__always)
    mutating func takeCommon(_ field: EventField) throws(LineFault) {
        switch field {
        case .seq: seq = try scanner.integer(field)
        case .t: time = try scanner.time(field)
        case .timeFirst: firstTime = try scanner.time(field)
        case .timePacket: packetTime = try scanner.time(field)
        case .conn: conn = try scanner.integer(field)
        case .from:
            switch scanner.shortString() {
            case wordKey("app"): from = .app
            case wordKey("board"): from = .board
            case _?: throw bad(field, "\"app\" or \"board\"")
            case nil: from = try longSide(field)
            }
        case .bridge where readsBridge:
            try takeMeanings(field)
        default: try scanner.skipValue()
        }
    }

    /// Takes the text as it stands where that is how writers spell it, and values otherwise.
    private mutating func takeMeanings(_ field: EventField) throws(LineFault) {
        let start = scanner.position
        scanner.isSpelt = true
        var count = 0
        try scanner.array(field, of: "an array of objects") { scanner throws(LineFault) in
            try scanner.skipValue()
            count += 1
        }
        guard count > 0 else { return }
        if scanner.isSpelt, bridge.isEmpty {
            var text = Bytes()
            scanner.copy(from: start, to: &text)
            bridge = Meanings(text: text)
            return
        }
        var values = bridge.values
        scanner.position = start
        try scanner.array(field, of: "an array of objects") { scanner throws(LineFault) in
            values.append(try scanner.value())
        }
        bridge = Meanings(values)
    }

    /// A side whose name is written in another way, or near the end of the line.
    private mutating func longSide(_ field: EventField) throws(LineFault) -> Side {
        guard let side = Side(rawValue: try scanner.string(field)) else {
            throw bad(field, "\"app\" or \"board\"")
        }
        return side
    }

    mutating func finish(_ kind: Event.Kind) throws(LineFault) -> EventDecoder.Line {
        try scanner.expectEnd()
        switch kind {
        case .session:
            // The first line is about no connection; such a field is one that is not known there.
            return .event(Event(time: time ?? 0, kind: kind))
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
    func require<Value>(_ value: Value?, _ field: EventField) throws(LineFault) -> Value {
        guard let value else { throw missing(field) }
        return value
    }

    func missing(_ field: EventField) -> LineFault {
        scanner.fault(.missingField(field.rawValue))
    }

    func bad(_ field: EventField, _ expected: String) -> LineFault {
        scanner.fault(.badValue(field: field.rawValue, expected: expected))
    }

    @inline(__always)
    func set(_ content: inout Event.Content?, _ value: Event.Content) throws(LineFault) {
        guard content == nil else { throw scanner.fault(.contentTwice) }
        content = value
    }

    // MARK: WebSocket

    mutating func frame() throws(LineFault) -> Event.FrameRecord {
        var fin: Bool?
        var rsv: Int?
        var opcode: Int?
        var mask: UInt32?
        var length: UInt64?
        var content: Event.Content?
        var incomplete = false
        var raw: Bytes?
        // As far as they stand in the order in which writers put them.
        if scanner.skip(",\"fin\":true") {
            fin = true
        } else if scanner.skip(",\"fin\":false") {
            fin = false
        }
        if scanner.skip(",\"rsv\":") { rsv = try scanner.integer(.rsv) }
        if scanner.skip(",\"opcode\":") { opcode = try scanner.integer(.opcode) }
        if scanner.skip(",\"mask\":") { mask = try scanner.hex32(.mask) }
        if scanner.skip(",\"length\":") { length = try scanner.unsigned(.length) }
        if scanner.skip(",\"text\":") { content = .whole(try scanner.stringBytes()) }
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
    func takeForm(
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

    mutating func message() throws(LineFault) -> Event.Message {
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

    mutating func piece() throws(LineFault) -> Event.Piece {
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
}
