import Wire

/// Writes a session as a HAR file, for `bridgetap convert` (HAR 1.2; capture format, "As HAR").
///
/// An exchange becomes an entry once it is over; that of a WebSocket, which holds all of its
/// messages, with its connection. What has to wait until then is put aside in a file, so that
/// memory is bounded: 16 KiB for each open connection and what one event holds. The last entry
/// of a connection waits for its end.
///
/// It is no recorder's output: after an error it takes no more, and the file is not whole.
package final class HARSessionWriter: SessionOutput {
    let epoch: Int64
    let spool = SpoolFile(maximumMemory: 8 << 20)
    private let file: any ByteOutput
    private var buffer = Bytes()
    private var connections: [Int: HARConnection] = [:]
    /// Remarks about no connection.
    private var notes = SpooledText()
    private var hasNotes = false
    private var isFirst = true
    private var isClosed = false
    private var lastNumber = 0
    private var dropped = 0
    /// Data frames that are no message by themselves, less those whose message came.
    private var openFrames = 0
    /// What the file cannot hold of the events so far.
    package private(set) var losses = HARLosses()
    package private(set) var status = OutputStatus()

    private static let bufferSize = 256 << 10

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - session: the session's first line, which is kept in `_session`.
    ///   - startedAt: its `started_at` in nanoseconds since 1970.
    ///   - creator: name and version of the program, with a space between them.
    package init(
        session: SessionInfo, startedAt: Int64, creator: String,
        openPart: (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) {
        epoch = startedAt
        file = try openPart(1)
        status.path = file.path
        status.parts = 1
        var creator = creator.split(separator: " ", maxSplits: 1).map(String.init)[...]
        let log: [JSON.Member] = [
            .init("version", "1.2"),
            .init(
                "creator",
                .object([
                    .init("name", .string(creator.popFirst() ?? "")),
                    .init("version", .string(creator.popFirst() ?? "")),
                ])),
            .init("_session", HAREncoding.json(of: session)),
        ]
        buffer += Bytes("{\"log\":".utf8)
        JSON.object(log).encode(into: &buffer)
        buffer.removeLast()
        buffer += Bytes(",\"entries\":[".utf8)
    }

    /// Counts events as dropped that this writer was never given.
    package func admit(dropped count: Int) {
        dropped += count
    }

    package var nextDeadline: Int64? { nil }

    package func flush(now: Int64) {
        attempt { () throws(OutputError) in try writeBuffer() }
    }

    /// Runs a step; what fails is told in `status`, and nothing is done from then on.
    private func attempt(_ step: () throws(OutputError) -> Void) {
        guard !isClosed, status.pausedBy == nil else { return }
        do { try step() } catch { status.pausedBy = error }
    }

    private func write(_ bytes: Bytes) throws(OutputError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try writeBuffer() }
    }

    private func writeBuffer() throws(OutputError) {
        guard !buffer.isEmpty else { return }
        let bytes = buffer
        buffer = []
        try file.append(bytes.span)
        status.size = file.size
    }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        attempt { () throws(OutputError) in
            for conn in connections.keys.sorted() {
                guard let connection = connections.removeValue(forKey: conn) else { continue }
                try finish(connection, conn)
            }
            losses.frames += max(0, openFrames)
            try write(Bytes("\n]".utf8))
            if hasNotes {
                try write(Bytes(",\"_notes\":[".utf8))
                try copy(notes)
                try write(Bytes("\n]".utf8))
            }
            try write(Bytes(",\"comment\":\"events that were not recorded: \(dropped)\"}}\n".utf8))
            try writeBuffer()
            try file.close()
        }
        isClosed = true
        return status
    }

    private func copy(_ text: SpooledText) throws(OutputError) {
        try text.copy(from: spool) { (part) throws(OutputError) in try write(part) }
    }

    // MARK: Events

    package func receive(_ event: Event) {
        attempt { () throws(OutputError) in
            let number = event.seq > lastNumber ? event.seq : lastNumber &+ 1
            lastNumber = number
            status.written += 1
            if event.packetTime != nil { losses.packetTimes += 1 }
            meet(event)
            switch event.kind {
            case .session, .end: status.written -= 1
            case .open(let open):
                // Said again behind a pause of the recording.
                guard connections[event.conn] == nil else { break }
                connections[event.conn] = HARConnection(open)
                if let continued = open.continued, continued.upgraded {
                    beginSocket(continued, on: event)
                }
            case .request(let request): receive(request, event, number)
            case .response(let response): try receive(response, event, number)
            case .frame(let frame): try receive(frame, event, number)
            case .message(let message): try receive(message, event, number)
            case .piece(let piece): try receive(piece, event)
            case .data: losses.data += 1
            case .gap, .note, .close: try receiveExtra(event)
            }
        }
    }

    /// Makes the connection of an event known whose opening is not in the session.
    private func meet(_ event: Event) {
        switch event.kind {
        case .request, .response, .frame, .message, .piece:
            guard connections[event.conn] == nil else { return }
            connections[event.conn] = HARConnection(
                Event.Open(app: HARSession.unknown, board: HARSession.unknown))
        case .session, .open, .data, .gap, .close, .note, .end: break
        }
    }

    private static func span(_ event: Event) -> HARExchange.Span {
        .init(first: event.firstTime ?? event.time, last: event.time)
    }

    private func receive(_ request: Event.Request, _ event: Event, _ number: Int) {
        count(request.raw, request.headers, request.body)
        var exchange = HARExchange(at: Self.span(event))
        exchange.request = request
        if case .whole(let bytes) = request.body.content {
            exchange.requestBody = .whole(bytes)
        } else {
            exchange.requestBody = .spooled(SpooledContent(isBase64: true))
            connections[event.conn]?.pieces[number] = .request(exchange: request.exchange)
        }
        connections[event.conn]?.exchanges[request.exchange] = exchange
        connections[event.conn]?.hadExchange = true
    }

    private func receive(
        _ response: Event.Response, _ event: Event, _ number: Int
    ) throws(OutputError) {
        count(response.raw, response.headers, response.body)
        guard response.status >= 200 || response.status == 101 else {
            losses.interim += 1
            return
        }
        guard var exchange = connections[event.conn]?.exchanges[response.exchange] else {
            losses.responses += 1
            if response.body.content == .pieces {
                connections[event.conn]?.pieces[number] = .nowhere
            }
            return
        }
        exchange.response = response
        exchange.responseSpan = Self.span(event)
        if response.headers.has("Content-Encoding") { losses.packed += 1 }
        if case .whole(let bytes) = response.body.content {
            exchange.responseBody = .whole(bytes)
            exchange.isDone = response.status != 101
        } else {
            exchange.responseBody = .spooled(SpooledContent(isBase64: true))
            connections[event.conn]?.pieces[number] = .response(exchange: response.exchange)
        }
        if response.status == 101 {
            exchange.isSocket = response.headers.has(token: "websocket", in: "Upgrade")
            exchange.isDone = !exchange.isSocket
            if exchange.isSocket { connections[event.conn]?.socket = response.exchange }
        }
        connections[event.conn]?.exchanges[response.exchange] = exchange
        if exchange.isDone { try done(response.exchange, on: event.conn) }
    }

    private func count(_ raw: Bytes?, _ headers: [FieldLine], _ body: Event.Body) {
        if raw != nil { losses.heads += 1 }
        if body.framing == .chunked { losses.chunks += 1 }
        losses.trailers += body.trailers.count
        if body.incomplete { losses.incomplete += 1 }
    }

    // MARK: WebSocket

    private func beginSocket(_ continued: Event.Continued, on event: Event) {
        var exchange = HARExchange(at: Self.span(event))
        exchange.isSocket = true
        exchange.continued = continued
        connections[event.conn]?.exchanges[0] = exchange
        connections[event.conn]?.socket = 0
        connections[event.conn]?.hadExchange = true
    }

    /// Finds what a frame belongs to before the 101: a request that asks for it, or a WebSocket
    /// that the session met on its way.
    private func meetSocket(_ event: Event) {
        let asked = connections[event.conn]?.exchanges.first { _, exchange in
            exchange.response == nil
                && exchange.request?.headers.has(token: "websocket", in: "Upgrade") ?? false
        }
        guard let asked else { return beginSocket(Event.Continued(upgraded: true), on: event) }
        connections[event.conn]?.exchanges[asked.key]?.isSocket = true
        connections[event.conn]?.socket = asked.key
    }

    private func receive(
        _ frame: Event.FrameRecord, _ event: Event, _ number: Int
    ) throws(OutputError) {
        guard connections[event.conn] != nil, let from = event.from else { return }
        if connections[event.conn]?.socket == nil { meetSocket(event) }
        let header = frame.header
        if header.maskingKey != nil { losses.masks += 1 }
        if header.opcode.isControl, case .whole(let payload) = frame.content {
            if header.rsv != 0 || !header.fin || frame.incomplete { losses.frames += 1 }
            try add(HAREncoding.control(header.opcode, payload), event)
            return
        }
        guard header.fin, header.rsv == 0, !frame.incomplete,
            header.opcode == .text || header.opcode == .binary
        else {
            openFrames &+= 1
            if frame.content == .pieces { connections[event.conn]?.pieces[number] = .nowhere }
            return
        }
        try receive(frame.content, header.opcode, from, event, number)
    }

    private func receive(
        _ message: Event.Message, _ event: Event, _ number: Int
    ) throws(OutputError) {
        guard connections[event.conn]?.socket != nil, let from = event.from else { return }
        guard !message.incomplete else {
            if message.content == .pieces { connections[event.conn]?.pieces[number] = .nowhere }
            return
        }
        openFrames &-= message.frames
        if message.frames > 1 { losses.fragments += 1 }
        if message.compressed { losses.compressed += 1 }
        try receive(message.content, message.opcode, from, event, number)
    }

    private func receive(
        _ content: Event.Content, _ opcode: Opcode, _ from: Side, _ event: Event, _ number: Int
    ) throws(OutputError) {
        switch content {
        case .whole(let bytes):
            var content = SpooledContent(isBase64: opcode == .binary)
            try content.append(bytes, isLast: true, to: spool)
            try add(content, from, event)
        case .pieces:
            connections[event.conn]?.pieces[number] = .message(
                from: from, SpooledContent(isBase64: opcode == .binary))
        }
    }

    private func add(
        _ content: SpooledContent, _ from: Side, _ event: Event
    ) throws(OutputError) {
        guard let socket = connections[event.conn]?.socket,
            var exchange = connections[event.conn]?.exchanges[socket]
        else { return }
        // Only one owner may grow the text.
        connections[event.conn]?.exchanges[socket] = nil
        if content.isMended { losses.mended += 1 }
        let time = HARTime.seconds(epoch.addingReportingOverflow(event.time).partialValue)
        let head =
            "\(exchange.messageCount > 0 ? "," : "")\n{\"type\":\"\(from == .app ? "send" : "receive")\""
            + ",\"time\":\(time),\"opcode\":\(content.isBase64 ? 2 : 1),\"data\":\""
        try exchange.messages.append(Bytes(head.utf8), to: spool)
        try exchange.messages.append(content.text, to: spool)
        try exchange.messages.append(Bytes("\"}".utf8), to: spool)
        exchange.messageCount += 1
        connections[event.conn]?.exchanges[socket] = exchange
    }

    private func receive(_ piece: Event.Piece, _ event: Event) throws(OutputError) {
        guard let pieces = connections[event.conn]?.pieces.removeValue(forKey: piece.of) else {
            return
        }
        var next: HARConnection.Pieces? = pieces
        switch pieces {
        case .nowhere:
            break
        case .request(let number):
            if piece.incomplete { losses.incomplete += 1 }
            guard
                case .spooled(var content)? = connections[event.conn]?.exchanges[number]?
                    .requestBody
            else { return }
            connections[event.conn]?.exchanges[number]?.requestBody = .whole([])
            try content.append(piece.content, isLast: piece.last, to: spool)
            connections[event.conn]?.exchanges[number]?.requestBody = .spooled(content)
            connections[event.conn]?.exchanges[number]?.requestSpan.last = event.time
        case .response(let number):
            if piece.incomplete { losses.incomplete += 1 }
            guard
                case .spooled(var content)? = connections[event.conn]?.exchanges[number]?
                    .responseBody
            else { return }
            connections[event.conn]?.exchanges[number]?.responseBody = .whole([])
            try content.append(piece.content, isLast: piece.last, to: spool)
            connections[event.conn]?.exchanges[number]?.responseBody = .spooled(content)
            connections[event.conn]?.exchanges[number]?.responseSpan?.last = event.time
            if piece.last {
                connections[event.conn]?.exchanges[number]?.isDone = true
                try done(number, on: event.conn)
            }
        case .message(let from, var content):
            try content.append(piece.content, isLast: piece.last, to: spool)
            next = .message(from: from, content)
            if piece.last, !piece.incomplete { try add(content, from, event) }
        }
        if !piece.last, let next { connections[event.conn]?.pieces[piece.of] = next }
    }

    // MARK: Beside the messages

    private func receiveExtra(_ event: Event) throws(OutputError) {
        guard connections[event.conn] != nil else {
            guard case .note(let note) = event.kind else { return }
            let json = HAREncoding.note(note, at: epoch, event)
            try notes.append(Bytes((hasNotes ? ",\n" : "\n").utf8) + json.encoded, to: spool)
            hasNotes = true
            return
        }
        try add(HAREncoding.extra(event.kind), event)
        guard case .close(let close) = event.kind else { return }
        let sides = close.how == .fin ? event.from.map { [$0] } ?? [] : Side.allCases
        connections[event.conn]?.ended.formUnion(sides)
        guard connections[event.conn]?.ended.count == 2,
            let connection = connections.removeValue(forKey: event.conn)
        else { return }
        try finish(connection, event.conn)
    }

    /// Adds to what the entry tells beside its messages: side, time and place come first.
    private func add(_ members: [JSON.Member], _ event: Event) throws(OutputError) {
        guard var connection = connections.removeValue(forKey: event.conn) else { return }
        let after = connection.socket.flatMap { connection.exchanges[$0]?.messageCount } ?? 0
        let json = HAREncoding.extra(members, at: epoch, event, after: after)
        try connection.events.append(
            Bytes((connection.hasEvents ? ",\n" : "\n").utf8) + json.encoded, to: spool)
        connection.hasEvents = true
        connections[event.conn] = connection
    }

    // MARK: Entries

    /// An exchange is complete: the one before it on its connection is written.
    private func done(_ number: Int, on conn: Int) throws(OutputError) {
        guard let exchange = connections[conn]?.exchanges.removeValue(forKey: number) else {
            return
        }
        let before = connections[conn]?.last
        connections[conn]?.last = exchange
        guard let before, let connection = connections[conn] else { return }
        // What happened since belongs to those that follow.
        try writeEntry(before, of: connection, conn, takesEvents: false)
    }

    private func finish(_ connection: HARConnection, _ conn: Int) throws(OutputError) {
        var rest = connection.exchanges.keys.sorted().compactMap { connection.exchanges[$0] }
        if let last = connection.last { rest.insert(last, at: 0) }
        if rest.isEmpty { losses.connections += 1 }
        for (index, exchange) in rest.enumerated() {
            try writeEntry(
                exchange, of: connection, conn, takesEvents: index == rest.count - 1)
        }
    }

    private func writeEntry(
        _ exchange: HARExchange, of connection: HARConnection, _ conn: Int, takesEvents: Bool
    ) throws(OutputError) {
        try write(Bytes((isFirst ? "\n{" : ",\n{").utf8))
        isFirst = false
        let encoding = HAREncoding(exchange, of: connection, conn, epoch: epoch)
        try write(encoding.start)
        try write(encoding.beginRequest)
        if exchange.requestBody.count > 0 {
            if !encoding.isTextRequest { losses.binaryRequests += 1 }
            try write(encoding.beginPostData)
            try write(exchange.requestBody)
            try write(Bytes("\"}".utf8))
        }
        try write(Bytes("},\"response\":{".utf8))
        try write(encoding.beginResponse)
        try write(encoding.beginContent)
        if exchange.responseBody.count > 0 {
            try write(Bytes(",\"text\":\"".utf8))
            try write(exchange.responseBody)
            try write(Bytes("\"".utf8))
        }
        try write(Bytes("}}".utf8))
        try write(encoding.end)
        if exchange.isSocket {
            try write(Bytes(",\"_webSocketMessages\":[".utf8))
            try copy(exchange.messages)
            try write(Bytes("]".utf8))
        }
        if takesEvents, connection.hasEvents {
            try write(Bytes(",\"_events\":[".utf8))
            try copy(connection.events)
            try write(Bytes("]".utf8))
        }
        try write(Bytes("}".utf8))
    }

    /// The inside of a body's string.
    private func write(_ body: HARExchange.Body) throws(OutputError) {
        switch body {
        case .whole(let bytes): try write(HAREncoding.inside(bytes))
        case .spooled(let content): try copy(content.text)
        }
    }
}
