import Wire

/// Why a HAR file cannot be read on.
enum HARFailure: Error, Equatable {
    case json(JSONStream.Failure)
    case spool(OutputError)
}

/// Takes the entries of a HAR file out of its JSON, one at a time (HAR 1.2).
///
/// Members may stand in any order, be missing, or hold another type than they should; what is
/// not known is stepped over. Bodies and messages go to `texts` and `items`, which hold those of
/// one entry; all else of an entry has to fit into `maximumEntry`.
struct HARParser {
    /// Bytes of an entry beside its bodies and messages; browsers need a few thousand.
    static let maximumEntry = 64 << 20
    /// Bytes of a header, a URL or any other short text; longer ones are cut.
    static let maximumValue = 1 << 20
    /// Bytes that an item takes in its store.
    static let itemSize: UInt64 = 40

    private var json: JSONStream
    private var isInEntries = false
    private var isStarted = false
    private var entrySize = 0
    private(set) var log = HARLog()
    /// Entries that were begun.
    private(set) var entries = 0
    /// Short texts that were cut.
    private(set) var cutValues = 0
    /// The texts of the entry that was given last, and its items.
    let texts: SpoolFile
    private let items: SpoolFile

    init(_ json: JSONStream, maximumMemory: Int = 4 << 20) {
        self.json = json
        texts = SpoolFile(maximumMemory: maximumMemory)
        items = SpoolFile(maximumMemory: maximumMemory)
    }

    /// Whether a file that begins with these bytes is a HAR; nil where more have to be seen.
    static func recognizes(_ start: Bytes) -> Bool? {
        var rest = start[...]
        for byte: UInt8 in [0xef, 0xbb, 0xbf] where rest.first == byte { rest.removeFirst() }
        for expected in ["{", "\"log\"", ":"] {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
            for byte in expected.utf8 {
                guard let found = rest.popFirst() else { return start.count < 4096 ? nil : false }
                guard found == byte else { return false }
            }
        }
        return true
    }

    /// The next entry; nil behind the last.
    mutating func next() throws(HARFailure) -> HAREntry? {
        if !isStarted { try begin() }
        while true {
            let token = try take()
            if isInEntries {
                switch token {
                case .endArray: isInEntries = false
                case .beginObject: return try entry()
                default: try skip(token)
                }
                continue
            }
            switch token {
            case .end: return nil
            case .name("entries") where json.depth == 2:
                let value = try take()
                isInEntries = value == .beginArray
                if !isInEntries { try skip(value) }
            case .name("creator") where json.depth == 2: log.creator = try product()
            case .name("browser") where json.depth == 2: log.browser = try product()
            case .name("comment") where json.depth == 2: log.comment = try string() ?? ""
            case .name("log") where json.depth == 1:
                let value = try take()
                if value != .beginObject { try skip(value) }
            case .name: try skip(try take())
            default: break
            }
        }
    }

    private mutating func begin() throws(HARFailure) {
        isStarted = true
        let token = try take()
        guard token == .beginObject else { throw .json(json.fault("a HAR is an object")) }
    }

    // MARK: Entries

    private mutating func entry() throws(HARFailure) -> HAREntry {
        entries += 1
        entrySize = 0
        do {
            try texts.removeAll()
            try items.removeAll()
        } catch {
            throw .spool(error)
        }
        var entry = HAREntry()
        try members { (parser, name) throws(HARFailure) in
            switch name {
            case "startedDateTime":
                entry.startedAt = try parser.string().flatMap { HARTime.instant(date: $0) }
            case "time": entry.total = try parser.duration()
            case "timings": entry.timings = try parser.timings()
            case "request": entry.request = try parser.request()
            case "response": entry.response = try parser.response()
            case "serverIPAddress": entry.serverAddress = try parser.string()
            case "connection": entry.connection = try parser.string()
            case "_resourceType":
                entry.isWebSocket = try parser.string()?.lowercased() == "websocket"
            case "_fromCache":
                entry.isCached = try parser.string().map { $0 != "false" } ?? false
            case "_fetchType": entry.isCached = try parser.string()?.hasSuffix("Cache") ?? false
            case "_error": entry.error = try parser.string()
            case "_webSocketMessages": entry.messages = try parser.messages()
            case "_app": entry.app = try parser.string()
            case "_board": entry.board = try parser.string()
            case "_via": entry.via = try parser.string()
            case "_continued": entry.continued = try parser.continued()
            case "_events": entry.extras = try parser.extras()
            default: try parser.skip(try parser.take())
            }
        }
        return entry
    }

    private mutating func request() throws(HARFailure) -> HAREntry.Request {
        var request = HAREntry.Request()
        try object { (parser, name) throws(HARFailure) in
            switch name {
            case "method": request.method = try parser.string() ?? ""
            case "url": request.url = try parser.string() ?? ""
            case "httpVersion": request.version = try parser.string() ?? ""
            case "headers": request.headers = try parser.fields()
            case "bodySize": request.bodySize = try parser.integer()
            case "postData":
                try parser.object { (parser, name) throws(HARFailure) in
                    switch name {
                    case "mimeType": request.mimeType = try parser.string() ?? ""
                    case "text": request.body = try parser.text()
                    case "encoding", "_encoding":
                        request.isBase64 = try parser.string() == "base64"
                    case "params": request.params = try parser.fields()
                    default: try parser.skip(try parser.take())
                    }
                }
            default: try parser.skip(try parser.take())
            }
        }
        return request
    }

    private mutating func response() throws(HARFailure) -> HAREntry.Response {
        var response = HAREntry.Response()
        try object { (parser, name) throws(HARFailure) in
            switch name {
            case "status": response.status = try parser.integer() ?? 0
            case "statusText": response.reason = try parser.string() ?? ""
            case "httpVersion": response.version = try parser.string() ?? ""
            case "headers": response.headers = try parser.fields()
            case "bodySize": response.bodySize = try parser.integer()
            case "_error": response.error = try parser.string()
            case "content":
                try parser.object { (parser, name) throws(HARFailure) in
                    switch name {
                    case "size": response.contentSize = try parser.integer()
                    case "text": response.body = try parser.text()
                    case "encoding": response.isBase64 = try parser.string() == "base64"
                    case "_packed": response.isPacked = try parser.string() == "true"
                    default: try parser.skip(try parser.take())
                    }
                }
            default: try parser.skip(try parser.take())
            }
        }
        return response
    }

    private mutating func timings() throws(HARFailure) -> HAREntry.Timings {
        var timings = HAREntry.Timings()
        try object { (parser, name) throws(HARFailure) in
            switch name {
            case "blocked": timings.blocked = try parser.duration()
            case "dns": timings.dns = try parser.duration()
            case "connect": timings.connect = try parser.duration()
            case "send": timings.send = try parser.duration()
            case "wait": timings.wait = try parser.duration()
            case "receive": timings.receive = try parser.duration()
            default: try parser.skip(try parser.take())
            }
        }
        return timings
    }

    // MARK: WebSocket

    private mutating func messages() throws(HARFailure) -> Int {
        var count = 0
        try array { (parser, token) throws(HARFailure) in
            guard token == .beginObject else { return try parser.skip(token) }
            var item = HAREntry.Item(
                kind: .receive, opcode: 1, time: nil, data: .init(offset: 0, count: 0))
            try parser.members { (parser, name) throws(HARFailure) in
                switch name {
                case "type":
                    let type = try parser.string()
                    item.kind = type == "send" ? .send : type == "error" ? .error : .receive
                case "time": item.time = try parser.instant()
                case "opcode": item.opcode = try parser.integer() ?? 1
                case "data": item.data = try parser.text() ?? item.data
                default: try parser.skip(try parser.take())
                }
            }
            try parser.put(item)
            count += 1
        }
        return count
    }

    private mutating func put(_ item: HAREntry.Item) throws(HARFailure) {
        var bytes = Bytes()
        for number in [
            item.time ?? .min, item.opcode, Int64(bitPattern: item.data.offset),
            Int64(item.data.count), Int64(item.kind.rawValue),
        ] {
            bytes.append(bigEndian: UInt64(bitPattern: number))
        }
        do { try items.append(bytes.span) } catch { throw .spool(error) }
    }

    /// The message with this index, from 0, of the entry that was given last.
    func message(_ index: Int) throws(OutputError) -> HAREntry.Item? {
        var bytes = Bytes()
        try items.read(
            at: UInt64(index) * Self.itemSize, count: Int(Self.itemSize), into: &bytes)
        guard bytes.count == Int(Self.itemSize) else { return nil }
        let numbers = (0..<5).map { bytes.bigEndian(at: $0 * 8) }
        let time = Int64(bitPattern: numbers[0])
        return HAREntry.Item(
            kind: HAREntry.Item.Kind(rawValue: UInt8(truncatingIfNeeded: numbers[4])) ?? .receive,
            opcode: Int64(bitPattern: numbers[1]), time: time == .min ? nil : time,
            data: .init(offset: numbers[2], count: Int(truncatingIfNeeded: numbers[3])))
    }

    private mutating func continued() throws(HARFailure) -> Event.Continued {
        var continued = Event.Continued(upgraded: false)
        try object { (parser, name) throws(HARFailure) in
            switch name {
            case "upgraded": continued.upgraded = try parser.string() == "true"
            case "extensions": continued.extensions = try parser.string()
            default: try parser.skip(try parser.take())
            }
        }
        return continued
    }

    private mutating func extras() throws(HARFailure) -> [HAREntry.Extra] {
        var extras: [HAREntry.Extra] = []
        try array { (parser, token) throws(HARFailure) in
            guard token == .beginObject else { return try parser.skip(token) }
            var fields: [String: String] = [:]
            try parser.members { (parser, name) throws(HARFailure) in
                fields[name] = try parser.string()
            }
            if let extra = HAREntry.Extra(fields) { extras.append(extra) }
        }
        return extras
    }

    // MARK: Values

    private mutating func take() throws(HARFailure) -> JSONStream.Token {
        do { return try json.next() } catch { throw .json(error) }
    }

    private mutating func skip(_ token: JSONStream.Token) throws(HARFailure) {
        do { try json.skip(token) } catch { throw .json(error) }
    }

    /// The members of an object that began; `body` takes the value of each.
    private mutating func members(
        _ body: (inout HARParser, String) throws(HARFailure) -> Void
    ) throws(HARFailure) {
        while case .name(let name) = try take() { try body(&self, name) }
    }

    /// The members of the object that comes next; any other value is stepped over.
    private mutating func object(
        _ body: (inout HARParser, String) throws(HARFailure) -> Void
    ) throws(HARFailure) {
        let token = try take()
        guard token == .beginObject else { return try skip(token) }
        try members(body)
    }

    /// The elements of the array that comes next, by their first token.
    private mutating func array(
        _ body: (inout HARParser, JSONStream.Token) throws(HARFailure) -> Void
    ) throws(HARFailure) {
        let token = try take()
        guard token == .beginArray else { return try skip(token) }
        while true {
            let element = try take()
            if element == .endArray { return }
            try body(&self, element)
        }
    }

    /// A short text; numbers and booleans as they are spelt, nil for what is none.
    private mutating func string() throws(HARFailure) -> String? {
        let token = try take()
        switch token {
        case .string:
            let (text, isCut): (String, Bool)
            do { (text, isCut) = try json.text(maximum: Self.maximumValue) } catch {
                throw .json(error)
            }
            if isCut { cutValues += 1 }
            try grow(by: text.utf8.count)
            return text
        case .number(let text): return text
        case .bool(let value): return value ? "true" : "false"
        default:
            try skip(token)
            return nil
        }
    }

    private mutating func grow(by count: Int) throws(HARFailure) {
        entrySize += count + 16
        guard entrySize <= Self.maximumEntry else {
            throw .json(
                json.fault(
                    "an entry has more than \(Self.maximumEntry >> 20) MiB beside its bodies and "
                        + "messages"))
        }
    }

    private mutating func integer() throws(HARFailure) -> Int64? {
        guard let text = try string() else { return nil }
        if let value = Int64(text) { return value }
        guard let value = Double(text), value.magnitude < 9e18 else { return nil }
        return Int64(value)
    }

    private mutating func duration() throws(HARFailure) -> Int64? {
        let token = try take()
        guard case .number(let text) = token else {
            try skip(token)
            return nil
        }
        return HARTime.duration(milliseconds: text)
    }

    private mutating func instant() throws(HARFailure) -> Int64? {
        let token = try take()
        guard case .number(let text) = token else {
            try skip(token)
            return nil
        }
        return HARTime.instant(seconds: text)
    }

    /// A text of any size, put aside.
    private mutating func text() throws(HARFailure) -> HAREntry.Text? {
        let token = try take()
        let offset = texts.count
        switch token {
        case .string:
            var part = Bytes()
            while true {
                let isMore: Bool
                do { isMore = try json.part(into: &part) } catch { throw .json(error) }
                if part.count >= 32 << 10 || !isMore {
                    do { try texts.append(part.span) } catch { throw .spool(error) }
                    part.removeAll(keepingCapacity: true)
                }
                if !isMore { break }
            }
        case .number(let text):
            let bytes = Bytes(text.utf8)
            do { try texts.append(bytes.span) } catch { throw .spool(error) }
        default:
            try skip(token)
            return nil
        }
        return HAREntry.Text(offset: offset, count: Int(clamping: texts.count - offset))
    }

    /// Names and values, as headers, parameters and cookies stand in a HAR.
    private mutating func fields() throws(HARFailure) -> [FieldLine] {
        var fields: [FieldLine] = []
        try array { (parser, token) throws(HARFailure) in
            guard token == .beginObject else { return try parser.skip(token) }
            var field = FieldLine("", "")
            try parser.members { (parser, name) throws(HARFailure) in
                switch name {
                case "name": field.name = try parser.string() ?? ""
                case "value": field.value = try parser.string() ?? ""
                default: try parser.skip(try parser.take())
                }
            }
            // Also for a million of empty ones.
            try parser.grow(by: 32)
            fields.append(field)
        }
        return fields
    }

    /// `Chrome 126.0`.
    private mutating func product() throws(HARFailure) -> String {
        var name = ""
        var version = ""
        try object { (parser, member) throws(HARFailure) in
            switch member {
            case "name": name = try parser.string() ?? ""
            case "version": version = try parser.string() ?? ""
            default: try parser.skip(try parser.take())
            }
        }
        return version.isEmpty ? name : "\(name) \(version)"
    }
}

extension HAREntry.Extra {
    /// Reads what our own writer wrote; nil for anything else.
    fileprivate init?(_ fields: [String: String]) {
        from = fields["from"].flatMap { Side(rawValue: $0) }
        time = fields["time"].flatMap { HARTime.instant(seconds: $0) }
        after = max(0, fields["after"].flatMap { Int64($0) } ?? 0)
        switch fields["event"] {
        case "frame":
            guard let opcode = fields["opcode"].flatMap({ Int64($0) }), from != nil else {
                return nil
            }
            var payload = Bytes()
            let text = Bytes((fields["base64"] ?? "").utf8)
            do { try decodeBase64(text.span, into: &payload) } catch { return nil }
            kind = .control(opcode: opcode, payload: payload)
        case "gap":
            guard from != nil else { return nil }
            kind = .gap(
                length: fields["length"].flatMap { UInt64($0) }, why: fields["why"] ?? "har")
        case "close":
            guard let how = fields["how"].flatMap({ Event.Ending(rawValue: $0) }) else {
                return nil
            }
            kind = .close(how: how, detail: fields["detail"])
        case "note":
            kind = .note(code: fields["code"] ?? "note", text: fields["text"] ?? "")
        default:
            return nil
        }
    }
}
