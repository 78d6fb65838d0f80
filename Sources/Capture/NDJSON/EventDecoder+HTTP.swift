import Wire

extension LineDecoder {
    struct ChunkFields {
        var sizes: [UInt64]?
        var lines: [Bytes]?

        var value: Event.Chunks? {
            guard sizes != nil || lines != nil else { return nil }
            return Event.Chunks(sizes: sizes ?? [], lines: lines)
        }
    }

    /// The fields that requests and responses share.
    struct MessageFields {
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

    mutating func take(
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

    func body(_ fields: MessageFields) throws(LineFault) -> Event.Body {
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

    mutating func request() throws(LineFault) -> Event.Request {
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

    mutating func response() throws(LineFault) -> Event.Response {
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

    mutating func sizes(_ field: EventField) throws(LineFault) -> [UInt64] {
        var sizes: [UInt64] = []
        try scanner.array(field, of: "an array of sizes") { scanner throws(LineFault) in
            sizes.append(try scanner.unsigned(field))
        }
        return sizes
    }

    mutating func base64Array(_ field: EventField) throws(LineFault) -> [Bytes] {
        var values: [Bytes] = []
        try scanner.array(field, of: "an array of base64") { scanner throws(LineFault) in
            values.append(try scanner.base64(field))
        }
        return values
    }

    mutating func fieldLines(_ field: EventField) throws(LineFault) -> [FieldLine] {
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
}
