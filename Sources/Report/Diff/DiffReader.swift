package import Capture
package import PhoneBridge
import Wire

/// Reads the events of a session into what `diff` compares.
package struct DiffReader {
    package private(set) var session: DiffSession
    private var meaning: MeaningReader
    private let contract: Contract
    /// Commands by id.
    private var places: [String: Int] = [:]
    private var ordinals: [String: Int] = [:]
    /// WebSocket connections that are open, by number.
    private var links: [Int: Int] = [:]

    /// Bytes of an id that are kept.
    private static let maximumText = CommandTracker.maximumText

    package init(name: String, contract: Contract = .current) {
        session = DiffSession(name: name)
        meaning = MeaningReader(contract: contract)
        self.contract = contract
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
        note(event)
        var elements: [JSON]?
        for meaning in event.bridge {
            switch meaning["kind"]?.stringValue {
            case "heartbeat":
                if event.from == .app {
                    session.appHeartbeats += 1
                } else {
                    session.boardHeartbeats += 1
                }
            case "command":
                if meaning["route"]?.stringValue == Route.queue.rawValue {
                    var left = elements ?? handedOut(event)
                    let element = left.isEmpty ? nil : left.removeFirst().encoded
                    elements = left
                    try command(meaning, .queue, element, event)
                } else {
                    try command(meaning, .websocket, content(of: event), event)
                }
            case "result": try result(meaning, event)
            case "app_event": try appEvent(meaning, event)
            case "poll":
                if case .request = event.kind { session.polls += 1 }
            default: break
            }
        }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= maximumText
            ? text : String(decoding: text.utf8.prefix(maximumText), as: UTF8.self)
    }

    private func put(_ bytes: Bytes?) throws(OutputError) -> DiffSession.Content? {
        guard let bytes else { return nil }
        let content = DiffSession.Content(offset: session.spool.count, count: bytes.count)
        try session.spool.append(bytes.span)
        return content
    }

    /// The message or body of an event; nil where it comes in pieces.
    private func content(of event: Event) -> Bytes? {
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

    private mutating func ordinal(_ name: String) -> Int {
        ordinals[name, default: 0] += 1
        return ordinals[name, default: 0]
    }

    // MARK: Commands

    private mutating func command(
        _ meaning: JSON, _ route: Route, _ bytes: Bytes?, _ event: Event
    ) throws(OutputError) {
        guard let id = meaning["id"]?.stringValue, let type = meaning["type"]?.stringValue,
            !contract.isReserved(id)
        else { return }
        let key = Self.cut(id)
        if let place = places[key] {
            session.commands[place].sendings += 1
            return
        }
        places[key] = session.commands.count
        session.commands.append(
            DiffSession.Command(
                id: key, type: Self.cut(type), ordinal: ordinal("command " + Self.cut(type)),
                seq: event.seq, route: route, content: try put(bytes)))
    }

    private mutating func result(_ meaning: JSON, _ event: Event) throws(OutputError) {
        guard let id = meaning["id"]?.stringValue, let place = places[Self.cut(id)] else {
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
            seq: event.seq,
            route: meaning["route"]?.stringValue == Route.queue.rawValue ? .queue : .websocket,
            latency: meaning["latency_ms"]?.numberText.flatMap { Double($0) }
                .flatMap { $0 >= 0 && $0 < 9e12 ? Int64($0 * 1e6) : nil },
            isLate: meaning["late"]?.boolValue ?? false,
            content: try put(content(of: event)))
    }

    private mutating func appEvent(_ meaning: JSON, _ event: Event) throws(OutputError) {
        let name = Self.cut(meaning["id"]?.stringValue ?? "")
        session.events.append(
            DiffSession.AppEvent(
                name: name, ordinal: ordinal("event " + name), seq: event.seq,
                content: try put(content(of: event))))
    }

    // MARK: Connections

    private mutating func note(_ event: Event) {
        switch event.kind {
        case .session(let info): session.info = info
        case .gap: session.holes += 1
        case .note(let note) where note.code == "recording_gap": session.holes += 1
        case .request(let request):
            if session.platform == nil {
                let target = PhoneBridge.RequestTarget(request.target)
                session.platform = target[contract.poll.platform].map(Self.cut)
            }
        case .open(let open) where open.continued?.upgraded ?? false: begin(event)
        case .response(let response) where response.status == 101: begin(event)
        case .frame(let frame):
            begin(event)
            guard frame.header.opcode == .close, let place = links[event.conn],
                session.links[place].end == "open", case .whole(let payload) = frame.content
            else { return }
            if case .status(let code, _) = ClosePayload(payload) {
                session.links[place].end = "\(code.rawValue)"
            } else {
                session.links[place].end = "1005"
            }
        case .close(let close):
            guard let place = links[event.conn] else { return }
            if session.links[place].end == "open" { session.links[place].end = close.how.rawValue }
            // The other side may still say something.
            if close.how != .fin { links[event.conn] = nil }
        default: break
        }
    }

    private mutating func begin(_ event: Event) {
        guard links[event.conn] == nil else { return }
        links[event.conn] = session.links.count
        session.links.append(DiffSession.Link(seq: event.seq))
    }
}
