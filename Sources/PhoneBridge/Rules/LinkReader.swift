import Capture
import Wire

/// Turns the events of a session into facts, and keeps what is known of connections and commands.
///
/// Each message is parsed once, here. Of bodies and messages over the piece limit nothing is
/// read: they count as holes.
struct LinkReader: Sendable {
    /// The facts of the event that was read last, in order.
    private(set) var facts: [LinkFact] = []

    private var scanner = JSONScanner()
    private let names: ContractNames
    /// Requests without a final response, by connection and exchange.
    private var pending = ConnectionTable<[Int: RequestFact]>()
    /// Connections to forget once the groups have seen the facts.
    private var finished: [Int] = []

    /// Open connections beyond this number are forgotten, the oldest half at once: a capture may
    /// lack the end of each.
    private static let maximumConnections = 65_536
    /// Pipelined requests without an answer that are remembered.
    private static let maximumPending = 256
    /// Notes after which anything may be missing.
    private static let holeNotes: Set<String> = [
        "recording_gap", "dropped_packets", "repair", "connection_forgotten", "fragments_missing",
    ]
    /// Notes after which something of the note's own side may be missing.
    private static let sideHoleNotes: Set<String> = [
        Event.Note.notInflated, Event.Note.inflationGivenUp, "after_close", "early_bytes",
    ]

    /// The members by which commands and answers are known.
    private static let commandNames = ["id", "type", "payload", "app", "url", "timeout_ms"]
    private static let answerNames = ["id", "method", "error", "data"]

    init(contract: Contract) {
        names = ContractNames(contract)
    }

    /// Whether the event says that something before it may be missing: deadlines that passed
    /// since the event before must not be judged without it.
    static func isHole(_ event: Event) -> Bool {
        switch event.kind {
        case .gap, .data: true
        case .note(let note):
            holeNotes.contains(note.code) || sideHoleNotes.contains(note.code)
        case .frame(let frame): frame.incomplete
        case .message(let message): message.incomplete
        default: false
        }
    }

    /// When the event's first byte was there.
    static func firstTime(_ event: Event) -> Int64 {
        min(event.time, event.firstTime ?? event.time, event.packetTime ?? event.time)
    }

    /// Reads an event; `facts` are then those of it.
    mutating func read(_ event: Event, _ context: inout RuleContext) {
        switch event.kind {
        case .session, .piece, .end: return
        case .note(let note): return read(note, event, &context)
        case .open(let open): return opened(open, event, &context)
        default: break
        }
        meet(event, &context)
        switch event.kind {
        case .request(let request): read(request, event, &context)
        case .response(let response): read(response, event, &context)
        case .frame(let frame): read(frame, event, &context)
        case .message(let message): read(message, event, &context)
        case .data: hole(event, isLocal: isForeign(event.conn, context), &context)
        case .gap: hole(event, isLocal: false, &context)
        case .close(let close): closed(close, event, &context)
        case .session, .open, .piece, .note, .end: break
        }
    }

    /// Forgets what the facts of the last event ended.
    mutating func settle(_ context: inout RuleContext) {
        // Documents share their memory with the scanner, which then uses it again.
        if !facts.isEmpty { facts.removeAll(keepingCapacity: true) }
        guard !finished.isEmpty else { return }
        for conn in finished {
            // What is missing may reach to its end.
            if context.uncertain.remove(conn) != nil { context.lastHole = context.now }
            context.connections[conn] = nil
            pending[conn] = nil
        }
        finished = []
    }

    private mutating func add(_ kind: LinkFact.Kind, _ event: Event) {
        facts.append(
            LinkFact(
                time: event.time, firstTime: Self.firstTime(event), seq: event.seq,
                conn: event.conn, kind: kind))
    }

    /// Parses what may be a JSON object or array; nil for anything else.
    private mutating func parse(_ content: Event.Content) -> JSONDocument? {
        guard case .whole(let bytes) = content else { return nil }
        return parse(bytes)
    }

    private mutating func parse(_ bytes: Bytes) -> JSONDocument? {
        // Not JSON is no error here: groups see a message without a value.
        try? JSONDocument(bytes, scanner: &scanner)
    }

    // MARK: - Connections

    private mutating func opened(
        _ open: Event.Open, _ event: Event, _ context: inout RuleContext
    ) {
        guard context.connections[event.conn] == nil else {
            // Said again behind a pause of the recording.
            return hole(event, isLocal: false, &context)
        }
        begin(event, isWhole: open.continued == nil, seq: event.seq, &context)
        guard let state = open.continued, state.upgraded else { return }
        context.connections[event.conn]?.upgraded = event.time
        context.connections[event.conn]?.extensions = state.extensions
        add(.upgraded, event)
    }

    /// Makes the connection of an event known.
    private mutating func meet(_ event: Event, _ context: inout RuleContext) {
        guard event.conn > 0, context.connections[event.conn] == nil else { return }
        begin(event, isWhole: false, seq: 0, &context)
    }

    private mutating func begin(
        _ event: Event, isWhole: Bool, seq: Int, _ context: inout RuleContext
    ) {
        if context.connections.count >= Self.maximumConnections {
            for old in context.connections.keys.prefix(Self.maximumConnections / 2) {
                facts.append(
                    LinkFact(
                        time: event.time, firstTime: event.time, seq: 0, conn: old,
                        kind: .forgotten))
                finished.append(old)
            }
        }
        context.connections[event.conn] = ConnectionFacts(
            number: event.conn, opened: Self.firstTime(event), openedSeq: seq, startsWhole: isWhole)
        if !isWhole {
            context.lastHole = event.time
            context.uncertain.insert(event.conn)
        }
        add(.opened, event)
    }

    private mutating func closed(
        _ close: Event.Close, _ event: Event, _ context: inout RuleContext
    ) {
        let sides = close.how == .fin ? event.from.map { [$0] } ?? Side.allCases : Side.allCases
        for side in sides where context.connections[event.conn]?[side].ended == nil {
            context.connections[event.conn]?[side].ended = event.time
            add(.ended(side, close.how), event)
        }
        if context.connections[event.conn].map({ $0.app.ended != nil && $0.board.ended != nil })
            ?? true
        {
            add(.closed, event)
            finished.append(event.conn)
        }
    }

    // MARK: - Holes

    /// Whether what cannot be decoded here was never anything of the link.
    private func isForeign(_ conn: Int, _ context: RuleContext) -> Bool {
        context.connections[conn].map { $0.isWhole && !$0.isWebSocket } ?? false
    }

    /// Something before this event is missing, or the event itself cannot be read.
    ///
    /// - Parameter isLocal: whether it can only be missed on its own connection.
    private mutating func hole(_ event: Event, isLocal: Bool, _ context: inout RuleContext) {
        if !isLocal { context.lastHole = event.time }
        let sides = event.from.map { [$0] } ?? Side.allCases
        let connections = event.conn > 0 ? [event.conn] : context.connections.keys
        for conn in connections {
            if !isLocal, context.connections[conn] != nil { context.uncertain.insert(conn) }
            for side in sides {
                context.connections[conn]?[side].certainSince = nil
                context.connections[conn]?[side].hadHole = true
            }
        }
        add(.hole(event.from), event)
    }

    /// Something whole of a side came: from here on its sending is known again.
    private func heard(_ event: Event, _ context: inout RuleContext) {
        guard let side = event.from else { return }
        let isSure = context.connections[event.conn]?.heard(side, at: event.time) ?? false
        if isSure, context.uncertain.remove(event.conn) != nil { context.lastHole = event.time }
    }

    private mutating func read(_ note: Event.Note, _ event: Event, _ context: inout RuleContext) {
        if Self.holeNotes.contains(note.code) {
            var event = event
            event.conn = 0
            event.from = nil
            hole(event, isLocal: false, &context)
        } else if Self.sideHoleNotes.contains(note.code) {
            hole(event, isLocal: false, &context)
        } else if note.code == "outcome", let document = parse(Bytes(note.text.utf8)) {
            add(.outcome(document), event)
        }
    }

    // MARK: - WebSocket

    private mutating func read(
        _ frame: Event.FrameRecord, _ event: Event, _ context: inout RuleContext
    ) {
        guard let from = event.from else { return }
        if context.connections[event.conn]?.isWebSocket == false {
            context.connections[event.conn]?.upgraded = event.time
            add(.upgraded, event)
        }
        guard !frame.incomplete else { return hole(event, isLocal: true, &context) }
        heard(event, &context)
        let header = frame.header
        if header.opcode == .close {
            if context.connections[event.conn]?[from].closeFrame == nil {
                context.connections[event.conn]?[from].closeFrame = event.time
            }
            return
        }
        guard header.fin, header.opcode == .text || header.opcode == .binary else { return }
        guard header.rsv == 0 else {
            // A message event follows, unless nobody could inflate it.
            if context.connections[event.conn]?.extensions == nil {
                hole(event, isLocal: false, &context)
            }
            return
        }
        message(frame.content, header.opcode, from, event, &context)
    }

    private mutating func read(
        _ message: Event.Message, _ event: Event, _ context: inout RuleContext
    ) {
        guard let from = event.from else { return }
        guard !message.incomplete else { return hole(event, isLocal: true, &context) }
        heard(event, &context)
        self.message(message.content, message.opcode, from, event, &context)
    }

    private mutating func message(
        _ content: Event.Content, _ opcode: Opcode, _ from: Side, _ event: Event,
        _ context: inout RuleContext
    ) {
        guard case .whole(let bytes) = content else {
            return hole(event, isLocal: false, &context)
        }
        let json: JSONDocument?
        var fault: JSONError?
        do {
            json = try JSONDocument(bytes, scanner: &scanner)
        } catch {
            json = nil
            fault = error
        }
        let sort = json.map { self.sort($0, from, context) } ?? .other
        let isBehindClose =
            context.connections[event.conn]?[from].closeFrame.map { $0 <= event.time } ?? false
        add(
            .message(
                MessageFact(
                    from: from, opcode: opcode, content: bytes, json: json, fault: fault,
                    sort: sort,
                    isBehindClose: isBehindClose)), event)
        guard let json, !isBehindClose else { return }
        switch sort {
        case .command: command(json, at: 0, route: .websocket, event, &context)
        case .result: result(json, route: .websocket, event, &context)
        case .heartbeat, .appEvent, .other: break
        }
    }

    /// What kind of message a JSON text is.
    private func sort(
        _ json: JSONDocument, _ from: Side, _ context: RuleContext
    ) -> MessageFact.Sort {
        let tape = json.tape
        let text = json.source.span
        guard tape.kind(0) == .object else { return .other }
        let id = tape.member(folding: "id", of: 0, in: text)
        let reserved = id.flatMap { reservedIndex($0, tape, in: text) }
        if from == .board {
            guard let reserved, reserved < names.heartbeatCount,
                tape.member("type", of: 0, in: text) == nil
            else { return tape.hasMember(of: Self.commandNames, in: text) ? .command : .other }
            return .heartbeat(id: names.reservedIDs[reserved])
        }
        if let reserved {
            let name = names.reservedIDs[reserved]
            return reserved < names.heartbeatCount ? .heartbeat(id: name) : .appEvent(name: name)
        }
        // An answer to a command stays one, whatever its method says.
        guard let id, tape.kind(id) == .string,
            let method = tape.text("method", of: 0, in: text, folding: true)
        else { return tape.hasMember(of: Self.answerNames, in: text) ? .result : .other }
        let idText = tape.string(id, in: text)
        if method.hasSameScalars(as: idText) || names.isEvent(method),
            context.commands.entry(idText) == nil
        {
            return .appEvent(name: method)
        }
        return .result
    }

    private func reservedIndex(_ id: Int, _ tape: JSONTape, in text: Span<UInt8>) -> Int? {
        guard tape.kind(id) == .string else { return nil }
        if let index = tape.position(of: id, among: names.reservedIDs, in: text) { return index }
        return tape.hasEscapes(id) ? names.reserved(tape.string(id, in: text)) : nil
    }

    // MARK: - Commands and results

    private mutating func command(
        _ document: JSONDocument, at index: Int, route: Route, _ event: Event,
        _ context: inout RuleContext
    ) {
        let tape = document.tape
        let text = document.source.span
        let id = tape.text("id", of: index, in: text)
        let type = tape.text("type", of: index, in: text)
        let typeIndex = type.flatMap { type in
            names.commandTypes.firstIndex { $0.hasSameScalars(as: type) }
        }
        let content = tape.commandContent(at: index, in: text)
        var before: CommandBook.Entry?
        if let id, !id.isEmpty, names.reserved(id) == nil {
            let connection = context.connections[event.conn]
            let timeout =
                tape.member("timeout_ms", of: index, in: text)
                .flatMap { tape.kind($0) == .number ? tape.string($0, in: text) : nil }
                .flatMap(SentCommand.milliseconds)
                ?? context.contract.timing.defaultTimeoutMilliseconds
            before = context.commands.sent(
                CommandBook.Sending(
                    id: id, time: event.time, seq: event.seq, conn: event.conn, route: route,
                    phoneID: connection?.phoneID, timeout: context.nanoseconds(timeout)),
                type: type, typeIndex: typeIndex, content: content)
        }
        add(
            .command(
                CommandFact(
                    id: id, type: type, typeIndex: typeIndex, route: route, document: document,
                    index: index, before: before, content: content)), event)
    }

    private mutating func result(
        _ document: JSONDocument, route: Route, _ event: Event, _ context: inout RuleContext
    ) {
        let id = document.tape.text("id", of: 0, in: document.source.span, folding: true)
        let before = id.flatMap { context.commands.answered($0) }
        add(
            .result(
                ResultFact(
                    id: id, route: route, document: document, before: before,
                    phoneID: context.connections[event.conn]?.phoneID)), event)
    }

    // MARK: - HTTP

    private mutating func read(
        _ request: Event.Request, _ event: Event, _ context: inout RuleContext
    ) {
        guard !request.body.incomplete else { return hole(event, isLocal: true, &context) }
        heard(event, &context)
        let route = HTTPRoute(
            method: request.method, target: request.target, paths: context.contract.paths)
        let fact = RequestFact(
            time: event.time, firstTime: Self.firstTime(event), seq: event.seq, request: request,
            route: route, json: route == nil ? nil : parse(request.body.content),
            poll: context.contract.poll)
        if (pending[event.conn]?.count ?? 0) < Self.maximumPending {
            pending[event.conn, default: [:]][request.exchange] = fact
        }
        add(.request(fact), event)
        switch route {
        case .poll, .connect: identify(fact, event.conn, &context)
        case .enqueue:
            context.connections[event.conn]?.isTool = true
            if let document = fact.json { enqueued(document, &context) }
        case .query: context.connections[event.conn]?.isTool = true
        case .result:
            if let document = fact.json, document.tape.kind(0) == .object {
                result(document, route: .queue, event, &context)
            }
        case .status, nil: break
        }
        // A result or a command that nobody looks into.
        if case .pieces = request.body.content { hole(event, isLocal: false, &context) }
    }

    /// Notes what a handshake or a poll says of the phone.
    private func identify(_ fact: RequestFact, _ conn: Int, _ context: inout RuleContext) {
        let target = fact.target
        if let platform = target[context.contract.poll.platform] {
            context.connections[conn]?.platform = platform
        }
        if let phone = target[context.contract.poll.phoneID], !phone.isEmpty {
            context.connections[conn]?.phoneID = phone
        }
    }

    private func enqueued(_ document: JSONDocument, _ context: inout RuleContext) {
        let tape = document.tape
        let text = document.source.span
        guard let command = tape.member(folding: "command", of: 0, in: text),
            let id = tape.text("id", of: command, in: text, folding: true), !id.isEmpty
        else { return }
        let type = tape.text("type", of: command, in: text, folding: true)
        context.commands.enqueued(
            id,
            typeIndex: type.flatMap { type in
                names.commandTypes.firstIndex { $0.hasSameScalars(as: type) }
            })
    }

    private mutating func read(
        _ response: Event.Response, _ event: Event, _ context: inout RuleContext
    ) {
        guard !response.body.incomplete else { return hole(event, isLocal: true, &context) }
        heard(event, &context)
        guard response.status >= 200 || response.status == 101 else { return }
        let request = pending[event.conn]?.removeValue(forKey: response.exchange)
        if response.status == 101 {
            context.connections[event.conn]?.upgraded = event.time
            context.connections[event.conn]?.extensions = response.extensions
            add(.exchange(ExchangeFact(request: request, response: response, json: nil)), event)
            add(.upgraded, event)
            return
        }
        let json = parse(response.body.content)
        add(.exchange(ExchangeFact(request: request, response: response, json: json)), event)
        if let json, response.status == 200 {
            let isPoll =
                request.map { $0.route == .poll }
                ?? json.tape.looksLikePoll(in: json.source.span)
            if isPoll { handedOut(json, event, &context) }
        }
        // Commands that nobody looks into.
        if case .pieces = response.body.content { hole(event, isLocal: false, &context) }
    }

    /// The commands in a poll's answer: `{"commands": […]}`, or in another revision of the board
    /// just the array.
    private mutating func handedOut(
        _ document: JSONDocument, _ event: Event, _ context: inout RuleContext
    ) {
        let tape = document.tape
        let list =
            tape.kind(0) == .array
            ? 0 : tape.member("commands", of: 0, in: document.source.span)
        guard let list, tape.kind(list) == .array, var child = tape.first(in: list) else { return }
        let end = tape.next(list)
        while child < end {
            command(document, at: child, route: .queue, event, &context)
            child = tape.next(child)
        }
    }
}

extension Event.Response {
    /// The value of `Sec-WebSocket-Extensions`; nil without one.
    fileprivate var extensions: String? {
        let name = "sec-websocket-extensions"
        return headers.first { $0.name.lowercased() == name }?.value
    }
}

extension JSONTape {
    /// Whether the outermost object has a member with one of these names, in any case.
    fileprivate func hasMember(of names: [String], in text: Span<UInt8>) -> Bool {
        var found = false
        forEachChild(of: 0) { name in
            found =
                found || position(of: name, among: names, in: text) != nil
                || names.contains(Self.folded(string(name, in: text)))
        }
        return found
    }
}
