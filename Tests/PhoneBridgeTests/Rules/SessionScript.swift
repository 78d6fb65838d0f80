import Capture
import PhoneBridge
import Wire

/// A session written as short text, a line an event.
///
///     0      connect platform=ios&phone_id=p1
///     1      app> {"id":"heartbeat"}
///     1.02   board> {"id":"heartbeat"}
///     2      #2 app> GET /api/phone-bridge/commands?platform=ios <Accept: */*>
///     2.1    #2 board> 200 {"commands":null}
///     3      app> close 1000 done
///     3      app fin
///
/// A line is a time in seconds, the connection (`#1` unless said), and one of:
///
/// | what | meaning |
/// |---|---|
/// | `open`, `open continued`, `open continued websocket` | a connection |
/// | `connect QUERY` | `open`, the upgrade and its 101; where the script greets, the environment too |
/// | `dial QUERY` | the same, and never an environment |
/// | `connect-deflate QUERY` | as `connect`, with permessage-deflate agreed on |
/// | `app> TEXT`, `board> TEXT` | a text message of a WebSocket, unless TEXT is one of those below |
/// | `app> frame length=N TEXT` | a binary frame of that length, cut short |
/// | `app> cut POST TARGET BODY` | a request whose body is cut short |
/// | `app> wire HEX`, `board> wire-end HEX` | bytes, decoded; with the end of the side |
/// | `app> version=1.0 method=G@T TARGET` | a request of another version or method |
/// | `app> GET TARGET <Name: value> BODY` | a request; headers and body may be absent; Host is added unless `<!Host>` is there |
/// | `board> 200 <Name: value> BODY` | a response to the oldest request without one |
/// | `app> ping TEXT`, `pong TEXT`, `close CODE REASON` | a control frame |
/// | `app> frame opcode=2 fin=0 rsv=4 masked=0 long=1 hex=c328 TEXT` | any frame |
/// | `app> message frames=2 opcode=1 TEXT` | the message that frames before it make up |
/// | `app fin`, `app reset`, `board timeout`, … | the end of a side |
/// | `gap app`, `data app`, `hole` | missing bytes; bytes of no meaning; `recording_gap` |
/// | `note CODE TEXT`, `app> note CODE TEXT` | a note; one of a side |
/// | `wait` | nothing but time |
///
/// A connection that no line opened is opened by its first line, as a WebSocket if that is a
/// message. `\n` within a text is a line feed. Empty lines and those with `//` are left out.
struct SessionScript {
    private(set) var events: [Event] = []
    private(set) var end: Int64 = 0
    private var exchanges: [Int: (requests: Int, responses: Int)] = [:]
    private var opened: Set<Int> = []
    private let greets: Bool

    /// Reads a script; one that `greets` has phones report their environment upon connecting,
    /// as each must.
    init(_ text: String, greets: Bool = false) {
        self.greets = greets
        for line in text.split(separator: "\n") {
            var rest = line.drop { $0 == " " }
            guard !rest.isEmpty, !rest.hasPrefix("//") else { continue }
            let time = Double(Self.word(&rest)) ?? -1
            precondition(time >= 0, "no time in: \(line)")
            end = Int64((time * 1_000_000_000).rounded())
            var conn = 1
            if rest.hasPrefix("#") { conn = Int(Self.word(&rest).dropFirst()) ?? 1 }
            add(Self.word(&rest), String(rest), conn)
        }
    }

    /// Events of scripts, with numbers.
    static func events(_ text: String) -> [Event] { SessionScript(text).events }

    private static func word(_ rest: inout Substring) -> String {
        let word = rest.prefix { $0 != " " }
        rest = rest.dropFirst(word.count).drop { $0 == " " }
        return String(word)
    }

    private mutating func emit(_ kind: Event.Kind, _ conn: Int, _ from: Side? = nil) {
        events.append(
            Event(seq: events.count + 1, time: end, conn: conn, from: from, kind: kind))
    }

    private mutating func add(_ word: String, _ rest: String, _ conn: Int) {
        switch word {
        case "open": open(conn, rest)
        case "connect":
            connect(conn, rest)
            if greets { say(.app, Self.environment, conn) }
        case "dial": connect(conn, rest)
        case "connect-deflate":
            connect(conn, rest, deflates: true)
            if greets { say(.app, Self.environment, conn) }
        case "app>": say(.app, rest, conn)
        case "board>": say(.board, rest, conn)
        case "app", "board":
            guard let ending = Event.Ending(rawValue: rest) else { return fail(word, rest) }
            emit(.close(.init(how: ending)), conn, Side(rawValue: word))
        case "gap":
            emit(.gap(.init(length: 10, why: "missing_packets")), conn, Side(rawValue: rest))
        case "data": emit(.data(.init(bytes: [1, 2], why: "test")), conn, Side(rawValue: rest))
        case "hole": emit(.note(.init(code: "recording_gap", text: "")), 0)
        case "note":
            var text = rest[...]
            let code = Self.word(&text)
            emit(.note(.init(code: code, text: String(text))), 0)
        case "wait": break
        default: fail(word, rest)
        }
    }

    private func fail(_ word: String, _ rest: String) {
        preconditionFailure("not a line of a session: \(word) \(rest)")
    }

    // MARK: - Connections

    private mutating func open(_ conn: Int, _ rest: String = "") {
        opened.insert(conn)
        emit(
            .open(
                .init(
                    app: "10.0.0.2:\(50_000 + conn)", board: "10.0.0.1:8080",
                    continued: rest.hasPrefix("continued")
                        ? .init(upgraded: rest.hasSuffix("websocket")) : nil)), conn)
    }

    static let environment =
        #"{"id":"phone_environment","method":"phone_environment","data":{"platform":"ios"}}"#

    /// The example of RFC 6455 §1.3.
    static let handshake =
        "GET /api/phone-bridge?platform=ios&phone_id=p1 <Host: 10.0.0.1:8080> "
        + "<Upgrade: websocket> <Connection: Upgrade> "
        + "<Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==> <Sec-WebSocket-Version: 13>"
    static let acceptance =
        "101 <Upgrade: websocket> <Connection: Upgrade> "
        + "<Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=>"

    /// Connects where no line did.
    private mutating func meet(_ conn: Int) {
        guard !opened.contains(conn) else { return }
        connect(conn)
        if greets { say(.app, Self.environment, conn) }
    }

    private mutating func connect(_ conn: Int, _ query: String = "", deflates: Bool = false) {
        if !opened.contains(conn) { open(conn) }
        let query = query.isEmpty ? "platform=ios&phone_id=p1" : query
        say(
            .app,
            Self.handshake.replacing("?platform=ios&phone_id=p1", with: "?" + query)
                + (deflates ? " <Sec-WebSocket-Extensions: permessage-deflate>" : ""), conn)
        say(
            .board,
            Self.acceptance
                + (deflates ? " <Sec-WebSocket-Extensions: permessage-deflate>" : ""), conn)
    }

    // MARK: - What is said

    private mutating func say(_ from: Side, _ text: String, _ conn: Int) {
        let text = text.replacing("\\n", with: "\n")
        var rest = text[...]
        var word = Self.word(&rest)
        var version = "1.1"
        let isCut = word == "cut"
        if isCut { word = Self.word(&rest) }
        if word.hasPrefix("version=") {
            version = String(word.dropFirst(8))
            word = Self.word(&rest)
        }
        if word.hasPrefix("method=") {
            let method = String(word.dropFirst(7))
            return request(method, rest, conn, version: version, isCut: isCut)
        }
        switch word {
        case "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH":
            request(word, rest, conn, version: version, isCut: isCut)
        case _ where from == .board && word.count == 3 && Int(word) != nil:
            response(Int(word) ?? 0, rest, conn)
        case "note":
            let code = Self.word(&rest)
            emit(.note(.init(code: code, text: String(rest))), conn, from)
        case "wire", "wire-end":
            wire(Self.bytes(String(rest)), from, conn, ends: word == "wire-end")
        case "ping": frame(from, .ping, Bytes(rest.utf8), conn)
        case "pong": frame(from, .pong, Bytes(rest.utf8), conn)
        case "close": close(from, rest, conn)
        case "frame": anyFrame(from, rest, conn)
        case "message": message(from, rest, conn)
        default:
            meet(conn)
            frame(from, .text, Bytes(text.utf8), conn)
        }
    }

    private mutating func frame(
        _ from: Side, _ opcode: Opcode, _ payload: Bytes, _ conn: Int, fin: Bool = true,
        rsv: UInt8 = 0, masked: Bool? = nil, isLong: Bool = false
    ) {
        meet(conn)
        let mask = masked ?? (from == .app) ? MaskingKey(rawValue: 0x0102_0304) : nil
        emit(
            .frame(
                .init(
                    header: FrameHeader(
                        fin: fin, rsv: rsv, opcode: opcode, maskingKey: mask,
                        payloadLength: UInt64(payload.count), lengthForm: isLong ? .long : nil),
                    content: .whole(payload))), conn, from)
    }

    private mutating func close(_ from: Side, _ rest: Substring, _ conn: Int) {
        var rest = rest
        let code = UInt16(Self.word(&rest))
        let payload = code.map { ClosePayload(CloseCode(rawValue: $0), String(rest)) } ?? .empty
        frame(from, .close, payload.bytes, conn)
    }

    /// Takes `name=value` words off the front of a text.
    private static func settings(_ rest: inout Substring) -> [String: String] {
        var settings: [String: String] = [:]
        while let equals = rest.prefix(while: { $0 != " " }).firstIndex(of: "="),
            rest.first?.isLetter ?? false
        {
            let name = String(rest[..<equals])
            settings[name] = String(word(&rest).dropFirst(name.count + 1))
        }
        return settings
    }

    private mutating func anyFrame(_ from: Side, _ rest: Substring, _ conn: Int) {
        var rest = rest
        let settings = Self.settings(&rest)
        let payload = settings["hex"].map(Self.bytes) ?? Bytes(rest.utf8)
        if let length = settings["length"].flatMap({ UInt64($0) }) {
            // A frame that announces more than comes.
            return emit(
                .frame(
                    .init(
                        header: FrameHeader(
                            opcode: .binary,
                            maskingKey: from == .app ? MaskingKey(rawValue: 1) : nil,
                            payloadLength: length), content: .whole(payload), incomplete: true)),
                conn, from)
        }
        frame(
            from, Opcode(rawValue: UInt8(settings["opcode"] ?? "1") ?? 1), payload, conn,
            fin: settings["fin"] != "0", rsv: UInt8(settings["rsv"] ?? "0") ?? 0,
            masked: settings["masked"].map { $0 != "0" }, isLong: settings["long"] == "1")
    }

    private static func bytes(_ hex: String) -> Bytes {
        var bytes = Bytes()
        var rest = hex[...]
        while rest.count >= 2 {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private mutating func message(_ from: Side, _ rest: Substring, _ conn: Int) {
        var rest = rest
        let settings = Self.settings(&rest)
        emit(
            .message(
                .init(
                    opcode: Opcode(rawValue: UInt8(settings["opcode"] ?? "1") ?? 1),
                    content: .whole(settings["hex"].map(Self.bytes) ?? Bytes(rest.utf8)),
                    frames: Int(settings["frames"] ?? "1") ?? 1,
                    compressed: settings["compressed"] == "1")), conn, from)
    }

    // MARK: - HTTP

    /// Bytes as they cross, decoded behind what the connection had before.
    private mutating func wire(_ bytes: Bytes, _ from: Side, _ conn: Int, ends: Bool) {
        if !opened.contains(conn) { open(conn) }
        let decoder = ConnectionDecoder(conn: conn)
        var before = EventBatch()
        var encoder = ConnectionEncoder()
        for event in events where event.conn == conn {
            guard let side = event.from else { continue }
            var bytes = Bytes()
            _ = encoder.encode(event, into: &bytes)
            decoder.receive(bytes.span, from: side, at: event.time, into: &before)
        }
        var batch = EventBatch(nextSeq: events.count + 1)
        decoder.receive(bytes.span, from: from, at: end, into: &batch)
        if ends { decoder.end(from, how: .fin, at: end, into: &batch) }
        events += batch.take()
    }

    private static func headers(_ rest: inout Substring) -> [FieldLine] {
        var headers: [FieldLine] = []
        while rest.hasPrefix("<"), let end = rest.firstIndex(of: ">") {
            let parts = rest[..<end].dropFirst().split(separator: ":", maxSplits: 1)
            headers.append(
                FieldLine(
                    String(parts.first ?? ""),
                    String((parts.dropFirst().first ?? "").drop { $0 == " " })))
            rest = rest[rest.index(after: end)...].drop { $0 == " " }
        }
        return headers
    }

    private static func body(_ rest: Substring) -> Event.Body {
        rest.isEmpty
            ? .init()
            : .init(
                content: .whole(Bytes(rest.utf8)), framing: .length(UInt64(rest.utf8.count)))
    }

    private mutating func request(
        _ method: String, _ rest: Substring, _ conn: Int, version: String, isCut: Bool
    ) {
        if !opened.contains(conn) { open(conn) }
        var rest = rest
        let target = Self.word(&rest)
        var headers = Self.headers(&rest)
        if headers.contains(where: { $0.name == "!Host" }) {
            headers.removeAll { $0.name == "!Host" }
        } else if !headers.contains(where: { $0.name == "Host" }) {
            headers.insert(FieldLine("Host", "10.0.0.1:8080"), at: 0)
        }
        exchanges[conn, default: (0, 0)].requests += 1
        var body = Self.body(rest)
        body.incomplete = isCut
        emit(
            .request(
                .init(
                    exchange: exchanges[conn]?.requests ?? 1, method: method, target: target,
                    version: version, headers: headers, body: body)), conn, .app)
    }

    private mutating func response(_ status: Int, _ rest: Substring, _ conn: Int) {
        if !opened.contains(conn) { open(conn) }
        var rest = rest
        let headers = Self.headers(&rest)
        let exchange = (exchanges[conn]?.responses ?? 0) + 1
        if status >= 200 || status == 101 { exchanges[conn, default: (0, 0)].responses += 1 }
        emit(
            .response(
                .init(
                    exchange: exchange <= exchanges[conn]?.requests ?? 0 ? exchange : 0,
                    status: status, reason: "", headers: headers, body: Self.body(rest))), conn,
            .board)
    }
}

extension RuleChecker {
    /// The breaches of a session written as a script, and how often each rule was tested.
    static func check(
        _ script: String, contract: Contract = .current, profile: Profile = .contract
    ) -> (breaches: [Breach], exercised: [String: Int]) {
        let session = SessionScript(script, greets: true)
        var checker = RuleChecker(contract: contract, profile: profile)
        var breaches: [Breach] = []
        for event in session.events { breaches += checker.receive(event) }
        breaches += checker.advance(to: session.end)
        breaches += checker.finish()
        return (breaches, checker.exercised)
    }
}
