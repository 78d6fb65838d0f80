import Wire

/// The JSON of one entry of a HAR file, in the parts between which its bodies stand (HAR 1.2).
struct HAREncoding {
    private let exchange: HARExchange
    private let connection: HARConnection
    private let conn: Int
    private let epoch: Int64

    init(_ exchange: HARExchange, of connection: HARConnection, _ conn: Int, epoch: Int64) {
        self.exchange = exchange
        self.connection = connection
        self.conn = conn
        self.epoch = epoch
    }

    /// The members of an object, without its brackets.
    private static func members(_ members: [JSON.Member]) -> Bytes {
        Bytes(JSON.object(members).encoded.dropFirst().dropLast())
    }

    // MARK: Times

    private func wall(_ time: Int64) -> Int64 { epoch.addingReportingOverflow(time).partialValue }

    private var send: Int64 { exchange.requestSpan.last - exchange.requestSpan.first }

    private var wait: Int64 {
        guard let answer = exchange.responseSpan else { return 0 }
        return max(0, answer.first - exchange.requestSpan.last)
    }

    private var receive: Int64 {
        guard let answer = exchange.responseSpan else { return 0 }
        // An answer may begin before its request has ended.
        return max(0, answer.last - max(answer.first, exchange.requestSpan.last))
    }

    private static func milliseconds(_ nanoseconds: Int64) -> JSON {
        .number(HARTime.milliseconds(nanoseconds))
    }

    /// When it began, and how long it took.
    var start: Bytes {
        Self.members([
            .init(
                "startedDateTime",
                .string(SessionTime.text(nanoseconds: wall(exchange.requestSpan.first)))),
            .init("time", Self.milliseconds(send + wait + receive)),
        ]) + Bytes(",\"request\":{".utf8)
    }

    // MARK: Request

    private var authority: String {
        exchange.request?.headers.first("Host") ?? connection.open.board
    }

    private var url: String {
        let target = exchange.request?.target ?? "/"
        if !target.hasPrefix("/"), target.contains("://") { return target }
        let scheme = exchange.isSocket ? "ws" : "http"
        return "\(scheme)://\(authority)\(target.hasPrefix("/") ? "" : "/")\(target)"
    }

    var beginRequest: Bytes {
        let request = exchange.request
        let head = HTTPHead(
            startLine: .request(
                method: request?.method ?? "GET", target: request?.target ?? "/"),
            version: request?.version ?? "1.1", fieldLines: request?.headers ?? [],
            raw: request?.raw)
        return Self.members([
            .init("method", .string(request?.method ?? "GET")),
            .init("url", .string(url)),
            .init("httpVersion", .string("HTTP/\(request?.version ?? "1.1")")),
            .init("cookies", Self.cookies(request?.headers ?? [], named: "Cookie")),
            .init("headers", Self.fields(request?.headers ?? [])),
            .init(
                "queryString",
                .array(
                    RequestTarget(request?.target ?? "/").queryItems.map {
                        Self.pair($0.name.decoded, $0.value?.decoded ?? "")
                    })),
            .init("headersSize", .integer(request == nil ? -1 : Self.size(of: head))),
            .init("bodySize", .integer(exchange.requestBody.count)),
        ])
    }

    var isTextRequest: Bool { Self.isText(exchange.requestBody) }

    /// Up to the opening quote of the body.
    var beginPostData: Bytes {
        var members: [JSON.Member] = [
            .init("mimeType", .string(exchange.request?.headers.first("Content-Type") ?? "")),
            .init("params", .array([])),
        ]
        if !isTextRequest { members.append(.init("_encoding", "base64")) }
        return Bytes(",\"postData\":{".utf8) + Self.members(members) + Bytes(",\"text\":\"".utf8)
    }

    // MARK: Response

    var beginResponse: Bytes {
        guard let response = exchange.response else {
            // As browsers write what never got an answer.
            return Self.members([
                .init("status", .integer(0)), .init("statusText", ""),
                .init("httpVersion", ""), .init("cookies", .array([])),
                .init("headers", .array([])), .init("redirectURL", ""),
                .init("headersSize", .integer(-1)), .init("bodySize", .integer(-1)),
            ])
        }
        let head = HTTPHead(
            startLine: .status(code: response.status, reason: response.reason),
            version: response.version, fieldLines: response.headers, raw: response.raw)
        return Self.members([
            .init("status", .integer(response.status)),
            .init("statusText", .string(response.reason)),
            .init("httpVersion", .string("HTTP/\(response.version)")),
            .init("cookies", Self.cookies(response.headers, named: "Set-Cookie")),
            .init("headers", Self.fields(response.headers)),
            .init("redirectURL", .string(response.headers.first("Location") ?? "")),
            .init("headersSize", .integer(Self.size(of: head))),
            .init("bodySize", .integer(exchange.responseBody.count)),
        ])
    }

    /// The body's size and form.
    var beginContent: Bytes {
        var members: [JSON.Member] = [
            .init("size", .integer(exchange.responseBody.count)),
            .init("mimeType", .string(exchange.response?.headers.first("Content-Type") ?? "")),
        ]
        if !Self.isText(exchange.responseBody) { members.append(.init("encoding", "base64")) }
        if exchange.response?.headers.has("Content-Encoding") ?? false {
            members.append(.init("_packed", true))
        }
        return Bytes(",\"content\":{".utf8) + Self.members(members)
    }

    // MARK: The rest

    /// All behind the response but messages and events.
    var end: Bytes {
        var members: [JSON.Member] = [
            .init("cache", .object([])),
            .init(
                "timings",
                .object([
                    .init("send", Self.milliseconds(send)),
                    .init("wait", Self.milliseconds(wait)),
                    .init("receive", Self.milliseconds(receive)),
                ])),
        ]
        let board = connection.open.board
        if IPEndpoint(parsing: board) != nil, let colon = board.utf8.lastIndex(of: 0x3a) {
            let address = board[..<colon].filter { $0 != "[" && $0 != "]" }
            members.append(.init("serverIPAddress", .string(String(address))))
        }
        members.append(.init("connection", .string(String(conn))))
        members.append(.init("_app", .string(connection.open.app)))
        members.append(.init("_board", .string(connection.open.board)))
        if let via = connection.open.via { members.append(.init("_via", .string(via))) }
        if let continued = exchange.continued {
            var state: [JSON.Member] = [.init("upgraded", .bool(continued.upgraded))]
            if let extensions = continued.extensions {
                state.append(.init("extensions", .string(extensions)))
            }
            members.append(.init("_continued", .object(state)))
        }
        members.append(
            .init("_resourceType", exchange.isSocket ? "websocket" : "fetch"))
        return Bytes(",".utf8) + Self.members(members)
    }

    // MARK: Parts

    private static func isText(_ body: HARExchange.Body) -> Bool {
        switch body {
        case .whole(let bytes): isValidUTF8(bytes.span)
        case .spooled(let content): !content.isBase64
        }
    }

    /// A body as the inside of a JSON string: text, or base64.
    static func inside(_ bytes: Bytes) -> Bytes {
        var output = Bytes()
        guard isValidUTF8(bytes.span) else {
            appendBase64(bytes.span, to: &output)
            return output
        }
        appendJSONString(bytes.span, to: &output)
        return Bytes(output.dropFirst().dropLast())
    }

    private static func pair(_ name: String, _ value: String) -> JSON {
        .object([.init("name", .string(name)), .init("value", .string(value))])
    }

    private static func fields(_ fields: [FieldLine]) -> JSON {
        .array(fields.map { pair($0.name, $0.value) })
    }

    /// Names and values of cookies; what else a Set-Cookie says stands among the headers.
    private static func cookies(_ fields: [FieldLine], named name: String) -> JSON {
        let isList = name == "Cookie"
        var cookies: [JSON] = []
        for value in fields.values(of: name) {
            for part in value.split(separator: ";").prefix(isList ? .max : 1) {
                let halves = part.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                cookies.append(
                    pair(
                        HARText.line(String(halves.first ?? "")),
                        HARText.line(halves.count > 1 ? String(halves[1]) : "")))
            }
        }
        return .array(cookies)
    }

    private static func size(of head: HTTPHead) -> Int {
        var bytes = Bytes()
        head.encode(into: &bytes)
        return bytes.count
    }

    // MARK: Beside the messages

    /// The fields of a control frame.
    static func control(_ opcode: Opcode, _ payload: Bytes) -> [JSON.Member] {
        var base64 = Bytes()
        appendBase64(payload.span, to: &base64)
        var members: [JSON.Member] = [
            .init("event", "frame"), .init("opcode", .integer(opcode.rawValue)),
        ]
        if opcode == .close, case .status(let code, let reason) = ClosePayload(payload) {
            members.append(.init("code", .integer(code.rawValue)))
            members.append(.init("reason", .string(String(decoding: reason, as: UTF8.self))))
        }
        members.append(.init("base64", .string(String(decoding: base64, as: UTF8.self))))
        return members
    }

    /// The fields of a gap, a close or a note.
    static func extra(_ kind: Event.Kind) -> [JSON.Member] {
        switch kind {
        case .gap(let gap):
            var members: [JSON.Member] = [.init("event", "gap")]
            if let length = gap.length { members.append(.init("length", .integer(length))) }
            return members + [.init("why", .string(gap.why))]
        case .close(let close):
            var members: [JSON.Member] = [
                .init("event", "close"), .init("how", .string(close.how.rawValue)),
            ]
            if let detail = close.detail { members.append(.init("detail", .string(detail))) }
            return members
        case .note(let note):
            return [
                .init("event", "note"), .init("code", .string(note.code)),
                .init("text", .string(note.text)),
            ]
        default:
            return []
        }
    }

    /// One of `_events`, with its side, its time and how many messages stand before it.
    static func extra(
        _ members: [JSON.Member], at epoch: Int64, _ event: Event, after: Int
    ) -> JSON {
        var members = members
        if let from = event.from { members.append(.init("from", .string(from.rawValue))) }
        members.append(time(event, epoch))
        members.append(.init("after", .integer(after)))
        return .object(members)
    }

    /// A remark about no connection.
    static func note(_ note: Event.Note, at epoch: Int64, _ event: Event) -> JSON {
        .object([
            .init("code", .string(note.code)), .init("text", .string(note.text)),
            time(event, epoch),
        ])
    }

    private static func time(_ event: Event, _ epoch: Int64) -> JSON.Member {
        .init(
            "time",
            .number(HARTime.seconds(epoch.addingReportingOverflow(event.time).partialValue)))
    }

    /// What the session's first line says.
    static func json(of session: SessionInfo) -> JSON {
        var members: [JSON.Member] = [
            .init("id", .string(session.id)), .init("started_at", .string(session.startedAt)),
            .init("tool", .string(session.tool)), .init("contract", .string(session.contract)),
            .init("source", .string(session.source)),
        ]
        let optional: [(String, String?)] = [
            ("listen", session.listen), ("upstream", session.upstream),
            ("interface", session.interface), ("link_type", session.linkType),
        ]
        for (name, value) in optional {
            if let value { members.append(.init(name, .string(value))) }
        }
        if let redacted = session.redacted { members.append(.init("redacted", redacted)) }
        if !session.labels.isEmpty {
            members.append(
                .init(
                    "labels",
                    .object(session.labels.map { .init($0.name, .string($0.value)) })))
        }
        return .object(members)
    }
}
