package import Capture
package import PhoneBridge
import Wire

/// Reads the events of a session into what `diff` compares.
package struct DiffReader {
    /// What was read so far.
    package internal(set) var session: DiffSession
    private var meaning: MeaningReader
    let contract: Contract
    /// Commands by id, in UTF-8: composed and decomposed letters make two.
    private var places: [Bytes: Int] = [:]
    private var ordinals: [String: Int] = [:]
    /// WebSocket connections that are open, by number.
    private var links: [Int: Int] = [:]
    private var echoes = HeartbeatEchoes()
    /// Requests whose response is still to come.
    var pending: [PendingRequest.Key: PendingRequest] = [:]
    /// Of each event of the contract, the fields that tell when something took place.
    private let momentNames: [String: [String]]
    private var scanner = JSONScanner(limits: JSONLimits())

    /// Bytes of an id that are kept.
    private static let maximumText = CommandTracker.maximumText

    package init(name: String, contract: Contract = .current) {
        session = DiffSession(name: name)
        meaning = MeaningReader(contract: contract)
        self.contract = contract
        momentNames = Dictionary(
            contract.events.map { ($0.name, $0.data.filter(\.isMoment).map(\.name)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Something of the file could not be read.
    package mutating func lost() {
        session.holes += 1
    }

    /// Takes the next event of the session.
    package mutating func receive(_ original: Event) throws(OutputError) {
        var event = original
        let stored = event.bridge
        meaning.annotate(&event)
        // What the recorder understood stands: it may have known what is not in this file.
        if !stored.isEmpty { event.bridge = stored }
        echoes.advance(to: event.time)
        session.duration = max(session.duration, event.time)
        try note(event)
        let poll = pollState(event)
        var elements: [JSON]?
        for meaning in event.bridge {
            switch meaning["kind"]?.stringValue {
            case "heartbeat": heartbeat(meaning, event)
            case "command":
                if meaning["route"]?.stringValue == Route.queue.rawValue {
                    var left = elements ?? handedOut(event)
                    let element = left.isEmpty ? nil : left.removeFirst().encoded
                    elements = left
                    try command(meaning, .queue, element, poll, event)
                } else {
                    try command(meaning, .websocket, content(of: event), nil, event)
                }
            case "result": try result(meaning, event)
            case "app_event": try appEvent(meaning, event)
            case "poll":
                if case .request = event.kind { session.polls += 1 }
            default: break
            }
        }
        try exchange(event)
        session.heartbeatsWithoutEcho = echoes.missing
    }

    static func cut(_ text: String) -> String {
        text.utf8.count <= maximumText
            ? text : String(decoding: text.utf8.prefix(maximumText), as: UTF8.self)
    }

    /// Puts a JSON text aside; what is none, as a JSON string.
    ///
    /// - Parameters:
    ///   - names: fields that its hash leaves out.
    ///   - member: the field whose value is hashed, instead of the whole.
    mutating func put(
        _ bytes: Bytes?, hashedWithout names: [String] = ["id"], of member: StaticString? = nil
    ) throws(OutputError) -> DiffSession.Content? {
        guard let bytes else { return nil }
        var kept = bytes
        var hash = 0
        if let document = try? JSONDocument(bytes, scanner: &scanner) {
            let view = member.map { document.root[folding: $0] } ?? document.root
            hash = view?.contentHash(without: names) ?? 0
        } else {
            kept = JSON.string(String(decoding: bytes, as: UTF8.self)).encoded
            var hasher = Hasher()
            hasher.combine(bytes)
            hash = hasher.finalize()
        }
        let content = DiffSession.Content(
            offset: session.spool.count, count: kept.count, hash: hash)
        try session.spool.append(kept.span)
        return content
    }

    /// The message or body of an event; nil where it comes in pieces.
    func content(of event: Event) -> Bytes? {
        let content: Event.Content
        switch event.kind {
        case .frame(let frame): content = frame.content
        case .message(let message): content = message.content
        case .request(let request): content = request.body.content
        case .response(let response): content = response.body.content
        default: return nil
        }
        if case .whole(let bytes) = content { return bytes }
        return nil
    }

    /// The commands in a poll's answer, those with a meaning.
    private func handedOut(_ event: Event) -> [JSON] {
        guard let bytes = content(of: event), let body = try? JSON(parsing: bytes) else {
            return []
        }
        return (body.elements ?? body["commands"]?.elements ?? []).filter {
            !($0["id"]?.stringValue ?? "").isEmpty && $0["type"]?.stringValue != nil
        }
    }

    mutating func ordinal(_ name: String) -> Int {
        ordinals[name, default: 0] += 1
        return ordinals[name, default: 0]
    }

    // MARK: Commands

    private mutating func command(
        _ meaning: JSON, _ route: Route, _ bytes: Bytes?, _ poll: PollState?, _ event: Event
    ) throws(OutputError) {
        guard let id = meaning["id"]?.stringValue, let type = meaning["type"]?.stringValue,
            !contract.isReserved(id)
        else { return }
        let key = Self.cut(id)
        let bytesOfID = Bytes(key.utf8)
        let timeout = nanoseconds(ofTimeout: meaning["timeout_ms"])
        let link = route == .websocket ? links[event.conn] : nil
        if let place = places[bytesOfID] {
            session.commands[place].sendings += 1
            if session.commands[place].answer == nil {
                session.commands[place].lastSent = event.time
                session.commands[place].timeout = timeout
                session.commands[place].link = link
            }
            return
        }
        places[bytesOfID] = session.commands.count
        session.commands.append(
            DiffSession.Command(
                id: key, type: Self.cut(type), ordinal: ordinal("command " + Self.cut(type)),
                seq: event.seq, route: route, lastSent: event.time, timeout: timeout, link: link,
                content: try put(bytes), poll: poll))
    }

    /// The place of the command with this id in the session.
    private func place(of id: String) -> Int? { places[Bytes(Self.cut(id).utf8)] }

    private func nanoseconds(ofTimeout value: JSON?) -> Int64 {
        let given = value?.numberText.flatMap { Double($0) } ?? 0
        let milliseconds =
            given > 0 ? given : Double(contract.timing.defaultTimeoutMilliseconds)
        return milliseconds < 9e12 ? Int64(milliseconds * 1e6) : .max
    }

    private mutating func result(_ meaning: JSON, _ event: Event) throws(OutputError) {
        guard let id = meaning["id"]?.stringValue, let place = self.place(of: id) else {
            session.strayResults += 1
            return
        }
        guard session.commands[place].answer == nil else {
            if meaning["duplicate"]?.boolValue ?? false {
                session.commands[place].duplicates += 1
            }
            return
        }
        session.commands[place].answer = DiffSession.Answer(
            seq: event.seq, time: event.time,
            route: meaning["route"]?.stringValue == Route.queue.rawValue ? .queue : .websocket,
            latency: meaning["latency_ms"]?.numberText.flatMap { Double($0) }
                .flatMap { $0 >= 0 && $0 < 9e12 ? Int64($0 * 1e6) : nil },
            isLate: meaning["late"]?.boolValue ?? false,
            content: try put(content(of: event)))
    }

    /// What the board's own side got for a command.
    private mutating func outcome(_ note: Event.Note, _ event: Event) throws(OutputError) {
        guard let value = try? JSON(parsing: note.text) else { return }
        let place =
            value["id"]?.stringValue.flatMap { self.place(of: $0) }
            // It comes soon after its command.
            ?? note.to.flatMap { seq in
                session.commands.suffix(1_024).lastIndex { $0.seq == seq }
            }
        guard let place else {
            let error = value["error"]
            let code = error?["code"]?.stringValue.map(Self.cut)
            session.strayOutcomes[code ?? (error == nil ? "ok" : "unknown"), default: 0] += 1
            return
        }
        // The first one stands, as the first answer does.
        guard session.commands[place].outcome == nil else { return }
        session.commands[place].outcome = DiffSession.Outcome(
            seq: event.seq, content: try put(Bytes(note.text.utf8)))
    }

    private mutating func appEvent(_ meaning: JSON, _ event: Event) throws(OutputError) {
        let name = Self.cut(meaning["id"]?.stringValue ?? "")
        let bytes = content(of: event)
        let moments = momentNames[name] ?? []
        if let bytes, !moments.isEmpty, let value = try? JSON(parsing: bytes) {
            for moment in moments where session.toldTimes.count < DiffSession.maximumTimes {
                let text = value["data"]?[moment]?.stringValue
                if let time = text.flatMap({ Timestamp($0) }) { session.toldTimes.insert(time) }
            }
        }
        session.events.append(
            DiffSession.AppEvent(
                name: name, ordinal: ordinal("event " + name), seq: event.seq,
                content: try put(bytes, hashedWithout: moments, of: "data")))
    }

    private mutating func heartbeat(_ meaning: JSON, _ event: Event) {
        let id = meaning["id"]?.stringValue ?? ""
        if event.from == .app {
            session.appHeartbeats += 1
            echoes.sent(id, on: event.conn, at: event.time)
        } else {
            session.boardHeartbeats += 1
            echoes.echoed(id, on: event.conn)
        }
    }

    // MARK: Connections

    private mutating func note(_ event: Event) throws(OutputError) {
        switch event.kind {
        case .session(let info): session.info = info
        case .gap:
            session.holes += 1
            echoes.forget(event.conn)
        case .note(let note):
            if note.code == "recording_gap" {
                session.holes += 1
                echoes.forget(0)
            } else if note.code == "outcome" {
                try outcome(note, event)
            }
        case .request(let request):
            if session.platform == nil {
                let target = PhoneBridge.RequestTarget(request.target)
                session.platform = target[contract.poll.platform].map(Self.cut)
            }
        case .open(let open) where open.continued?.upgraded ?? false: begin(event)
        case .response(let response) where response.status == 101: begin(event)
        case .frame(let frame):
            begin(event)
            guard frame.header.opcode == .close else { return }
            echoes.closing(event.conn, by: event.from, at: event.time)
            guard case .whole(let payload) = frame.content else { return }
            closed(frame.header, ClosePayload(payload), event)
        case .close(let close):
            echoes.ended(event.conn, at: event.time)
            end(close.how.rawValue, event)
            // The other side may still say something.
            if close.how != .fin {
                links[event.conn] = nil
                pending = pending.filter { $0.key.conn != event.conn }
            }
        default: break
        }
    }

    private mutating func begin(_ event: Event) {
        guard links[event.conn] == nil else { return }
        links[event.conn] = session.links.count
        session.links.append(DiffSession.Link(seq: event.seq))
    }

    private mutating func closed(
        _ header: FrameHeader, _ payload: ClosePayload, _ event: Event
    ) {
        let word = "\(payload.code?.rawValue ?? CloseCode.noStatus.rawValue)"
        guard let place = links[event.conn] else { return }
        if session.links[place].isBroken, session.links[place].endedBy != event.from {
            if session.links[place].answer == nil { session.links[place].answer = word }
            return
        }
        guard session.links[place].endTime == nil else { return }
        end(word, event)
        let violations = FrameViolation.violations(
            of: header, from: event.from == .app ? .client : .server, deflate: false,
            isWithinMessage: false)
        // Of what a browser exported nobody knows the masks.
        session.links[place].isBroken =
            violations.contains { $0 != .unmasked } || payload.violation != nil
    }

    /// What ends a connection first stands.
    private mutating func end(_ word: String, _ event: Event) {
        guard let place = links[event.conn], session.links[place].endTime == nil else { return }
        session.links[place].end = word
        session.links[place].endedBy = event.from
        session.links[place].endTime = event.time
    }
}
