import Wire

/// Turns the entries of a HAR file into the steps of a session.
///
/// A HAR tells less than what crossed, so some is chosen here, and counted in `remarks` where
/// it departs from what the HAR says (capture format, "As HAR"): a WebSocket message is one
/// frame, uncompressed, with the masking key 0 if it is the app's, since RFC 6455 §5.1 has those
/// masked; a chunked body is one chunk; a body that the browser unpacked loses its
/// Content-Encoding, and Content-Length is that of the body which is there.
struct HAREntryReader {
    private(set) var remarks = HARRemarks()
    /// Only entries of these ports of the board; all if empty.
    private let ports: Set<UInt16>
    private var lastStart: Int64 = 0
    /// Entries of a connection by its key, so that its end is known.
    private(set) var uses: [String: Int] = [:]

    /// Bytes of a `connection` that tell connections apart.
    private static let maximumKey = 256

    init(ports: Set<UInt16> = []) {
        self.ports = ports
    }

    /// The times of an exchange, each not before the one in front of it.
    private struct Times {
        var begin: Int64
        var requested: Int64
        var answering: Int64
        var answered: Int64
    }

    /// Takes one entry with what `parser` has put aside of it.
    mutating func receive(
        _ entry: HAREntry, number: Int, of parser: HARParser, into sorter: inout HAREventSorter
    ) throws(OutputError) {
        guard !entry.isCached else {
            remarks.cached += 1
            return
        }
        guard let url = HARURL(entry.request.url) else {
            remarks.otherSchemes += 1
            return
        }
        guard ports.isEmpty || ports.contains(url.port) else { return }
        let isUpgrade =
            entry.messages > 0 || entry.continued?.upgraded ?? false
            || entry.isWebSocket && entry.response.status == 101
        let times = try self.times(of: entry, isUpgrade: isUpgrade, parser)
        var writer = HARStepWriter(conn: number, time: times.begin, texts: parser.texts)
        try open(entry, url, isUpgrade: isUpgrade, &writer, into: &sorter)
        if entry.continued == nil {
            writer.time = times.requested
            writer.firstTime = times.begin
            try request(entry, url, isUpgrade: isUpgrade, &writer, into: &sorter)
            writer.time = times.answered
            writer.firstTime = times.answering
            try response(entry, isUpgrade: isUpgrade, &writer, into: &sorter)
        }
        writer.firstTime = nil
        try items(of: entry, parser, &writer, into: &sorter)
        if isUpgrade, entry.app == nil {
            let (end, overflow) = times.begin.addingReportingOverflow(entry.total ?? 0)
            if !overflow { writer.time = max(writer.time, end) }
            // Pings and the closing handshake are in no browser's HAR.
            for side in Side.allCases where !writer.hasClosed(side) {
                try writer.emit(
                    .gap(Event.Gap(length: nil, why: "har")), from: side, into: &sorter)
            }
        }
        remarks.badBase64 += writer.badBase64
        try writer.end(into: &sorter)
    }

    // MARK: Times

    private mutating func times(
        of entry: HAREntry, isUpgrade: Bool, _ parser: HARParser
    ) throws(OutputError) -> Times {
        let firstItem = entry.messages > 0 ? try parser.message(0)?.time : nil
        let firstExtra = entry.extras.first?.time
        var start = entry.startedAt ?? lastStart
        if entry.startedAt == nil {
            remarks.untimed += 1
            start = firstItem ?? firstExtra ?? lastStart
        }
        lastStart = start
        let timings = entry.timings
        let begin = start + (timings.blocked ?? 0) + (timings.dns ?? 0) + (timings.connect ?? 0)
        var times = Times(begin: begin, requested: begin, answering: begin, answered: begin)
        times.requested += timings.send ?? 0
        times.answering = times.requested + (timings.wait ?? 0)
        times.answered = times.answering + (isUpgrade ? 0 : timings.receive ?? 0)
        if timings == HAREntry.Timings(), !isUpgrade { times.answered += entry.total ?? 0 }
        // A browser's clocks need not agree, nor does `receive` of a WebSocket end with the 101.
        if isUpgrade, let first = [firstItem, firstExtra].compactMap({ $0 }).min() {
            times.answered = min(times.answered, max(first, begin))
            times.answering = min(times.answering, times.answered)
            times.requested = min(times.requested, times.answering)
        }
        return times
    }

    // MARK: Exchange

    private mutating func open(
        _ entry: HAREntry, _ url: HARURL, isUpgrade: Bool, _ writer: inout HARStepWriter,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        let address = entry.serverAddress.map { HARText.line($0) } ?? ""
        var host = address.isEmpty ? url.host : address
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.contains(":") { host = "[\(host)]" }
        let board = entry.board ?? "\(host):\(url.port)"
        var key = ""
        if let connection = entry.connection, !["", "0", "-1"].contains(connection),
            connection.utf8.count <= Self.maximumKey
        {
            key = HARText.line("\(connection) \(board)")
            uses[key, default: 0] += 1
        }
        // `via` leads the key to the session, which is told apart by the line feed.
        try writer.emit(
            .open(
                Event.Open(
                    app: entry.app ?? "unknown", board: board,
                    via: "\(key)\n\(entry.via ?? "")", continued: entry.continued)),
            into: &sorter)
    }

    private mutating func request(
        _ entry: HAREntry, _ url: HARURL, isUpgrade: Bool, _ writer: inout HARStepWriter,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        let request = entry.request
        var (fields, bad) = HARText.fields(request.headers)
        remarks.badFields += bad
        if !fields.has("Host") {
            let host = request.headers.first(":authority").map { HARText.line($0) }
            fields.insert(FieldLine("Host", host ?? url.authority), at: 0)
            remarks.addedFields += 1
        }
        if isUpgrade {
            add(("Upgrade", "websocket"), to: &fields)
            add(("Connection", "Upgrade"), to: &fields)
        }
        var method = "GET"
        if !isUpgrade, !request.method.isEmpty {
            if HARText.isMethod(request.method) {
                method = request.method
            } else {
                remarks.badMethods += 1
            }
        }
        var text = isUpgrade ? nil : request.body
        if text == nil || text?.count == 0, !request.params.isEmpty, !isUpgrade {
            text = try writer.put(Self.form(request.params))
        }
        var body = HARBody(fields, declares: (request.bodySize ?? 0) > 0)
        if let text, text.count > 0 {
            body.content = try HARContent(text, isBase64: request.isBase64, in: writer.texts)
        }
        body.fit(isRequest: true)
        count(body)
        if Self.isLater(request.version) { remarks.otherVersions += 1 }
        let version = Self.version(request.version)
        try writer.emit(body, from: .app, into: &sorter) { content in
            .request(
                Event.Request(
                    exchange: 0, method: method, target: url.target, version: version,
                    headers: body.fields, body: content))
        }
    }

    private mutating func response(
        _ entry: HAREntry, isUpgrade: Bool, _ writer: inout HARStepWriter,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        let response = entry.response
        let error = response.error ?? entry.error
        guard isUpgrade || (100...999).contains(response.status) else {
            if let error, !error.isEmpty {
                try writer.emit(
                    .note(Event.Note(code: "har_error", text: error)), into: &sorter)
            }
            if entry.app == nil {
                try writer.emit(
                    .close(Event.Close(how: .error, detail: error)), from: .board, into: &sorter)
            }
            return
        }
        var (fields, bad) = HARText.fields(response.headers)
        remarks.badFields += bad
        var status = Int(response.status)
        var reason = HARText.line(response.reason)
        if isUpgrade {
            if status != 101 {
                remarks.assumedUpgrades += 1
                status = 101
                reason = "Switching Protocols"
            }
            add(("Upgrade", "websocket"), to: &fields)
            add(("Connection", "Upgrade"), to: &fields)
        }
        let hasNone =
            status < 200 || status == 204 || status == 304
            || entry.request.method == "HEAD"
        let size = max(response.contentSize ?? 0, response.bodySize ?? 0)
        var body = HARBody(fields, declares: size > 0)
        body.size = response.bodySize.flatMap { $0 > 0 ? $0 : nil }
        if let text = response.body, text.count > 0 {
            if hasNone {
                remarks.needlessBodies += 1
            } else {
                body.content = try HARContent(
                    text, isBase64: response.isBase64, in: writer.texts)
            }
        }
        if hasNone {
            body.framing = .none
        } else {
            body.unpack(isPacked: response.isPacked)
            body.fit(isRequest: false)
            count(body)
        }
        let version = Self.version(response.version)
        try writer.emit(body, from: .board, into: &sorter) { content in
            .response(
                Event.Response(
                    exchange: 0, status: status, reason: reason, version: version,
                    headers: body.fields, body: content))
        }
    }

    private mutating func add(_ field: (name: String, value: String), to fields: inout [FieldLine])
    {
        guard !fields.has(token: field.value, in: field.name) else { return }
        fields.append(FieldLine(field.name, field.value))
        remarks.addedFields += 1
    }

    private mutating func count(_ body: HARBody) {
        if body.isMissing { remarks.missingBodies += 1 }
        if body.wasUnpacked { remarks.unpackedBodies += 1 }
        remarks.changedFields += body.changes
    }

    /// The version that stands in the head.
    private static func version(_ text: String) -> String {
        text.lowercased() == "http/1.0" ? "1.0" : "1.1"
    }

    /// Whether it is HTTP/2 or HTTP/3, as browsers spell them.
    private static func isLater(_ version: String) -> Bool {
        let version = version.lowercased()
        return ["h2", "h3", "http/2", "http/3"].contains { version.hasPrefix($0) }
    }

    /// The body of a form (URL standard, application/x-www-form-urlencoded).
    private static func form(_ params: [FieldLine]) -> Bytes {
        let pairs = params.map { "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))" }
        return Bytes(pairs.joined(separator: "&").utf8)
    }

    // MARK: WebSocket

    private mutating func items(
        of entry: HAREntry, _ parser: HARParser, _ writer: inout HARStepWriter,
        into sorter: inout HAREventSorter
    ) throws(OutputError) {
        var extras = entry.extras[...]
        for index in 0..<entry.messages {
            while let extra = extras.first, extra.after <= index {
                try writer.emit(extra, into: &sorter)
                extras.removeFirst()
            }
            guard let item = try parser.message(index) else { break }
            if item.kind != .error, !(1...15).contains(item.opcode) { remarks.otherOpcodes += 1 }
            try writer.emit(item, into: &sorter)
        }
        for extra in extras { try writer.emit(extra, into: &sorter) }
    }
}
