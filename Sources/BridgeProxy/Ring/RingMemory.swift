import Capture
import PhoneBridge
import Wire

/// What a ring keeps of the time before its window: of each open connection its handshake, the last
/// word on the phone's state, and requests and commands that are not at their end (capture format,
/// "Rings").
struct RingMemory: Sendable {
    /// An event, with what its connection had carried before it.
    struct Kept: Sendable {
        var event: Event
        var before: Carried
        /// Bytes of the wire that it stands for.
        var length: UInt64
    }

    /// Bytes of a connection, by side.
    struct Carried: Sendable, Equatable {
        var app: UInt64 = 0
        var board: UInt64 = 0

        subscript(side: Side) -> UInt64 {
            get { side == .app ? app : board }
            set { if side == .app { app = newValue } else { board = newValue } }
        }
    }

    struct Connection: Sendable {
        var opening: Kept
        var handshake: [Kept] = []
        /// As it is at the beginning of the window.
        var continued = Event.Continued(upgraded: false)
        /// Requests without a final answer.
        var asked: [Kept] = []
        /// Frames of messages that are not at their end.
        var parts: [Side: [Kept]] = [:]
        /// Its close frames.
        var closing: [Kept] = []
        var closes: [Kept] = []
        /// What the app told of the phone, by the names of its events.
        var states: [String: Told] = [:]
        var ended: Set<Side> = []
        var carried = Carried()

        var isOver: Bool { ended.count == Side.allCases.count }
    }

    /// What was told first and last: the first one is that of the connection's beginning, which
    /// an app that is played to sends again.
    struct Told: Sendable {
        var first: [Kept]
        var last: [Kept]
    }

    struct Command: Sendable {
        /// Its way into the queue.
        var queued: [Kept] = []
        /// How it was sent or handed out.
        var sent: [Kept] = []
        /// The queue knows of its results, and tells of them when it is asked.
        var results: [Kept] = []
        /// When one or the other was, in nanoseconds.
        var time: Int64

        var events: [Kept] { queued + sent + results }
    }

    private(set) var connections: [Int: Connection] = [:]
    private(set) var commands: [Bytes: Command] = [:]
    /// The last poll with its answer.
    private var poll: [Kept] = []
    /// The connection on which the app last told of the phone.
    private var telling = 0
    /// The number of the last event before the window.
    private(set) var last = 0
    private(set) var lengths = WireLengths()
    private var isOver = 0

    /// Larger things are not kept, in bytes of contents: the contract's are a tenth of it.
    private static let maximumContent = 256 << 10
    /// Requests without an answer that are kept of a connection.
    private static let maximumAsked = 16
    private static let maximumParts = 64
    private static let maximumCommands = 256
    /// Connections that are over are looked through when there are so many.
    private static let maximumOver = 256
    /// Open connections; the oldest half is forgotten beyond it.
    private static let maximumConnections = 16_384
    /// Frames that end a connection are two.
    private static let maximumClosing = 4
    /// Events of one command, sent again and again.
    private static let maximumSent = 16
    /// A command is forgotten so long after something was last heard of it, in nanoseconds.
    private static let patience: Int64 = 900_000_000_000

    /// Takes the next event that leaves the window.
    mutating func receive(_ event: Event) {
        last = event.seq
        let length = lengths.length(of: event.kind, number: event.seq, conn: event.conn)
        if case .open = event.kind { open(event) }
        guard let connection = connections[event.conn] else { return }
        let kept = Kept(event: event, before: connection.carried, length: length)
        if let from = event.from { connections[event.conn]?.carried[from] &+= length }
        switch event.kind {
        case .request(let request): asked(request, kept)
        case .response(let response) where response.status >= 200 || response.status == 101:
            answered(response, kept)
        case .frame(let frame): take(frame, kept)
        case .message:
            guard let from = event.from else { return }
            let parts = connections[event.conn]?.parts.removeValue(forKey: from) ?? []
            understand(parts + [kept])
        case .close(let close): closed(close, kept)
        case .session, .open, .response, .piece, .data, .gap, .note, .end: break
        }
    }

    /// Whether the event that is now the oldest of the window belongs to a frame that has left it.
    func isTorn(_ oldest: Event) -> Bool {
        if case .message = oldest.kind { last > 0 } else { false }
    }

    // MARK: Connections

    private mutating func open(_ event: Event) {
        guard case .open(let open) = event.kind else { return }
        if connections.count >= Self.maximumConnections {
            for old in connections.keys.sorted().prefix(Self.maximumConnections / 2) {
                connections[old] = nil
                lengths.forget(conn: old)
            }
        }
        connections[event.conn] = Connection(
            opening: Kept(event: event, before: Carried(), length: 0),
            continued: open.continued ?? Event.Continued(upgraded: false))
    }

    private mutating func closed(_ close: Event.Close, _ kept: Kept) {
        let conn = kept.event.conn
        connections[conn]?.closes.append(kept)
        connections[conn]?.ended.formUnion(
            close.how == .fin ? kept.event.from.map { [$0] } ?? [] : Side.allCases)
        guard connections[conn]?.isOver ?? false else { return }
        connections[conn]?.asked = []
        connections[conn]?.parts = [:]
        lengths.forget(conn: conn)
        isOver += 1
        if isOver >= Self.maximumOver { forgetOver() }
    }

    /// Forgets connections that are over, unless something on them is kept.
    private mutating func forgetOver() {
        let needed = Set(kept.map(\.event.conn))
        connections = connections.filter { !$0.value.isOver || needed.contains($0.key) }
        isOver = 0
    }

    // MARK: HTTP

    private mutating func asked(_ request: Event.Request, _ kept: Kept) {
        if let result = kept.event.bridge.named("result") { answered(result, [kept]) }
        guard isSmall([kept]) else { return }
        let conn = kept.event.conn
        connections[conn]?.asked.append(kept)
        if connections[conn]?.asked.count ?? 0 > Self.maximumAsked {
            connections[conn]?.asked.removeFirst()
        }
    }

    private mutating func answered(_ response: Event.Response, _ kept: Kept) {
        let conn = kept.event.conn
        var asked: Kept?
        if let index = connections[conn]?.asked.firstIndex(where: {
            if case .request(let request) = $0.event.kind {
                request.exchange == response.exchange
            } else {
                false
            }
        }) {
            asked = connections[conn]?.asked.remove(at: index)
        }
        if response.status == 101 {
            connections[conn]?.continued = Event.Continued(
                extensions: response.headers.first { $0.isNamed("Sec-WebSocket-Extensions") }?
                    .value, upgraded: true)
            let handshake = (asked.map { [$0] } ?? []) + [kept]
            if asked != nil, isSmall(handshake) { connections[conn]?.handshake = handshake }
            return
        }
        guard let asked, isSmall([asked, kept]) else { return }
        if asked.event.bridge.named("enqueue") != nil, response.status < 300,
            let id = kept.event.bridge.named("enqueue")?["id"]?.stringValue
        {
            note(Bytes(id.utf8), at: kept.event.time) { $0.queued = [asked, kept] }
        }
        if let result = asked.event.bridge.named("result") { answered(result, [asked, kept]) }
        guard asked.event.bridge.named("poll") != nil else { return }
        poll = [asked, kept]
        for command in kept.event.bridge where command["kind"]?.stringValue == "command" {
            guard let id = command["id"]?.stringValue else { continue }
            note(Bytes(id.utf8), at: kept.event.time) { $0.sent += [asked, kept] }
        }
    }

    // MARK: WebSocket

    private mutating func take(_ frame: Event.FrameRecord, _ kept: Kept) {
        let conn = kept.event.conn
        if frame.header.opcode == .close, isSmall([kept]),
            connections[conn]?.closing.count ?? 0 < Self.maximumClosing
        {
            connections[conn]?.closing.append(kept)
        }
        guard let from = kept.event.from, !frame.header.opcode.isControl else { return }
        if frame.header.isWholeMessage, !frame.incomplete {
            connections[conn]?.parts[from] = nil
            return understand([kept])
        }
        var parts = connections[conn]?.parts[from] ?? []
        // A new message begins, whatever became of the one before.
        if frame.header.opcode != .continuation { parts = [] }
        parts.append(kept)
        connections[conn]?.parts[from] = parts.count <= Self.maximumParts ? parts : []
    }

    /// Takes the events of a whole message.
    private mutating func understand(_ message: [Kept]) {
        guard let event = message.last?.event, let meaning = event.bridge.first,
            let id = meaning["id"]?.stringValue
        else { return }
        switch (meaning["kind"]?.stringValue, event.from) {
        case ("command", .board) where isWhole(message):
            note(Bytes(id.utf8), at: event.time) { $0.sent += message }
        case ("result", .app): answered(meaning, message)
        case ("app_event", .app) where isWhole(message):
            telling = event.conn
            let first = connections[event.conn]?.states[id]?.first ?? message
            connections[event.conn]?.states[id] = Told(first: first, last: message)
        default: break
        }
    }

    /// Whether all frames of a message are here, and not too many bytes.
    private func isWhole(_ message: [Kept]) -> Bool {
        if case .message(let content)? = message.last?.event.kind,
            message.count != content.frames + 1
        {
            return false
        }
        return isSmall(message)
    }

    private func isSmall(_ events: [Kept]) -> Bool {
        events.allSatisfy { $0.event.isInOneLine }
            && events.reduce(0) { $0 + $1.event.contentSize } <= Self.maximumContent
    }

    // MARK: Commands

    private mutating func note(
        _ id: Bytes, at time: Int64, _ change: (inout Command) -> Void
    ) {
        var command = commands[id] ?? Command(time: time)
        change(&command)
        command.time = time
        if command.sent.count > Self.maximumSent {
            command.sent.removeFirst(command.sent.count - Self.maximumSent)
        }
        commands[id] = command
        guard commands.count > Self.maximumCommands else { return }
        let byAge = commands.sorted { $0.value.time < $1.value.time }
        for (old, _) in byAge.prefix(Self.maximumCommands / 4) { commands[old] = nil }
    }

    /// A command has a result, which these events bring.
    private mutating func answered(_ result: JSON, _ events: [Kept]) {
        guard let id = result["id"]?.stringValue.map({ Bytes($0.utf8) }),
            let command = commands[id], let last = events.last?.event
        else { return }
        guard command.isOfQueue, isSmall(events) else {
            commands[id] = nil
            return
        }
        note(id, at: last.time) { $0.results = events }
    }

    /// Forgets what nobody waits for any more at a time.
    mutating func forgetCommands(at time: Int64) {
        let since = time.clampedSubtracting(Self.patience)
        commands = commands.filter { $0.value.time >= since }
        // What it handed out would be without its end.
        if let last = poll.last?.event, last.time < since, last.bridge.named("command") != nil {
            poll = []
        }
    }

    // MARK: What is kept

    /// The events that are kept but for openings, handshakes and ends; some may be there twice.
    private var kept: [Kept] {
        var kept = poll
        for command in commands.values { kept += command.events }
        for (conn, connection) in connections {
            kept += connection.asked
            guard !connection.isOver || conn == telling else { continue }
            for told in connection.states.values { kept += told.first + told.last }
        }
        return kept
    }

    /// The events that stand before the window, in their order, and the connections of which
    /// nothing does that are open where it begins.
    var prelude: (events: [Kept], others: [Connection]) {
        var events: [Int: Kept] = [:]
        for kept in kept { events[kept.event.seq] = kept }
        let needed = Set(events.values.map(\.event.conn))
        var others: [Connection] = []
        for (conn, connection) in connections {
            guard !connection.isOver || needed.contains(conn) else { continue }
            guard
                needed.contains(conn) || !connection.handshake.isEmpty
                    || connection.carried == Carried()
            else {
                others.append(connection)
                continue
            }
            var opening = connection.opening
            if connection.handshake.isEmpty { opening.event.goesOn(connection.continued) }
            for kept in [opening] + connection.handshake + connection.closing + connection.closes {
                events[kept.event.seq] = kept
            }
        }
        return (
            // What is on a connection that was forgotten cannot stand anywhere.
            events.values.filter { connections[$0.event.conn] != nil }
                .sorted { $0.event.seq < $1.event.seq },
            others.sorted { $0.opening.event.seq < $1.opening.event.seq }
        )
    }
}

extension RingMemory.Command {
    /// Whether it went by the queue: its sendings are exchanges of HTTP.
    fileprivate var isOfQueue: Bool {
        if case .request? = sent.first?.event.kind { true } else { !queued.isEmpty }
    }
}

extension Event {
    /// Has the opening of a WebSocket say that its handshake is not there.
    mutating func goesOn(_ continued: Event.Continued) {
        guard case .open(var open) = kind, continued.upgraded else { return }
        open.continued = continued
        kind = .open(open)
    }

    /// Whether its content is in it, and not in pieces.
    fileprivate var isInOneLine: Bool {
        switch kind {
        case .frame(let frame): frame.content != .pieces
        case .message(let message): message.content != .pieces
        case .request(let request): request.body.content != .pieces
        case .response(let response): response.body.content != .pieces
        case .session, .open, .piece, .data, .gap, .close, .note, .end: true
        }
    }
}

extension Meanings {
    /// The first object of a kind.
    fileprivate func named(_ kind: String) -> JSON? {
        isEmpty ? nil : first { $0["kind"]?.stringValue == kind }
    }
}
