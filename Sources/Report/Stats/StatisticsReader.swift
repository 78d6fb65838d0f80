package import Capture
package import PhoneBridge
import Wire

/// Counts the events of a session, one after the other; memory for what is open, and for the
/// commands that `CommandTracker` remembers.
///
/// Events carry their meaning (`MeaningReader`). Where a filter chose some of them, only those
/// are counted, but all have to be given: a result needs its command, a response its request.
package struct StatisticsReader: Sendable {
    /// The figures so far; whole after `finish`.
    package private(set) var statistics = SessionStatistics()

    private let contract: Contract
    private var lengths = WireLengths()
    private var tracker = CommandTracker()
    private var connections: [Int: OpenConnection] = [:]
    /// When the last WebSocket of a phone ended; `nil` within while it is open.
    private var phones: [String: Int64?] = [:]

    /// Names that come from the link are told apart up to here: a hostile peer must not fill
    /// the memory with invented types and codes.
    private static let maximumNames = 500
    private static let otherName = "(others)"

    package init(contract: Contract = .current) {
        self.contract = contract
    }

    /// Takes the next event of the session; `isCounted` is what a filter says of it.
    package mutating func receive(_ event: Event, isCounted: Bool = true) {
        statistics.duration = max(statistics.duration, event.time)
        // Pieces refer to heads that may not be counted.
        let length = lengths.length(of: event.kind, number: event.seq, conn: event.conn)
        switch event.kind {
        case .session(let info):
            statistics.info = info
            return
        case .end(let end):
            let (sum, overflow) = statistics.dropped.addingReportingOverflow(max(0, end.dropped))
            statistics.dropped = overflow ? .max : sum
            return
        case .note(let note):
            if isCounted { Self.count(note.code, in: &statistics.notes) }
        case .open(let open):
            connections[event.conn] = OpenConnection(since: event.firstTime ?? event.time)
            connections[event.conn]?.isWebSocket = open.continued?.upgraded ?? false
            guard isCounted else { break }
            statistics.connections.count += 1
            if open.continued != nil { statistics.connections.joined += 1 }
            if open.continued?.upgraded == true { statistics.connections.webSockets += 1 }
        case .close(let close):
            receive(close, event, isCounted)
        case .gap(let gap):
            if isCounted {
                statistics.gaps += 1
                update(event.from) { $0.missing &+= gap.length ?? 0 }
            }
        case .frame(let frame):
            receive(frame, event, isCounted)
        case .request(let request):
            receive(request, event, isCounted)
        case .response(let response):
            receive(response, event, isCounted)
        case .message, .piece, .data:
            break
        }
        if isCounted {
            statistics.events += 1
            if case .gap = event.kind {} else { update(event.from) { $0.bytes &+= length } }
        }
        for meaning in event.bridge { receive(meaning, event, isCounted) }
    }

    /// The figures of a session that goes on, as if it ended at `time`, in nanoseconds.
    package func soFar(at time: Int64) -> SessionStatistics {
        var reader = self
        reader.statistics.duration = max(reader.statistics.duration, time)
        let open = reader.connections.count
        reader.finish()
        reader.statistics.connections.open = open
        return reader.statistics
    }

    /// Ends the session: what has no result now has none.
    package mutating func finish() {
        for command in tracker.unanswered where command.sendings > 0 {
            let (deadline, overflow) = command.lastSent.addingReportingOverflow(command.timeout)
            let isOpen = overflow || deadline > statistics.duration
            let key = key(command.type ?? Self.otherName, command.route.rawValue)
            // One that was not counted has no row.
            guard var row = statistics.commands[key], row.commands > 0 else { continue }
            if isOpen { row.open += 1 } else { row.unanswered += 1 }
            statistics.commands[key] = row
        }
        for connection in connections.values {
            statistics.connections.open += 1
            add(max(0, span(from: connection.since, to: statistics.duration)), of: connection)
        }
        connections = [:]
    }

    private mutating func update(
        _ side: Side?, _ body: (inout SessionStatistics.Traffic) -> Void
    ) {
        switch side {
        case .app: body(&statistics.app)
        case .board: body(&statistics.board)
        case nil: break
        }
    }

    private static func count(_ name: String, in names: inout [String: Int]) {
        let isKnown = names[name] != nil || names.count < maximumNames
        names[isKnown ? name : otherName, default: 0] += 1
    }

    // MARK: Connections

    private struct OpenConnection: Sendable {
        var since: Int64
        var isWebSocket = false
        /// The phone that asked for the upgrade.
        var phone: String?
        var close: (side: Side, code: CloseCode?)?
        var endedSides: Set<Side> = []
        var lastHeartbeat: Int64?
        /// A heartbeat of the app that has no echo yet.
        var unechoed: Int64?
        /// Requests without a response, by their exchange.
        var requests: [Int: (name: String, time: Int64)] = [:]

        init(since: Int64) { self.since = since }
    }

    /// Requests of a connection that wait for a response; more are a peer that never reads.
    private static let maximumRequests = 256
    private static let maximumPhones = 4096

    private mutating func receive(_ close: Event.Close, _ event: Event, _ isCounted: Bool) {
        guard var connection = connections[event.conn] else { return }
        if let side = event.from { connection.endedSides.insert(side) }
        guard close.how != .fin || connection.endedSides.count == Side.allCases.count else {
            connections[event.conn] = connection
            return
        }
        connections[event.conn] = nil
        if let phone = connection.phone, phones[phone] != nil {
            phones[phone] = .some(.some(event.time))
        }
        guard isCounted else { return }
        add(span(from: connection.since, to: event.time), of: connection)
        guard connection.isWebSocket else { return }
        let ending: String
        if let (side, code) = connection.close {
            ending = "\(side) close \(code.map { "\($0.rawValue)" } ?? "without a code")"
        } else {
            ending = "\(event.from.map { "\($0) " } ?? "")\(close.how) without a close frame"
        }
        Self.count(ending, in: &statistics.connections.endings)
    }

    private mutating func add(_ duration: Int64, of connection: OpenConnection) {
        if connection.isWebSocket {
            statistics.connections.webSocketDurations.add(duration)
        } else {
            statistics.connections.otherDurations.add(duration)
        }
    }

    private mutating func upgraded(_ event: Event, _ isCounted: Bool) {
        connections[event.conn]?.isWebSocket = true
        if isCounted { statistics.connections.webSockets += 1 }
        guard let phone = connections[event.conn]?.phone else { return }
        if let known = phones[phone] {
            if let ended = known {
                if isCounted {
                    statistics.connections.reconnections.add(span(from: ended, to: event.time))
                }
            } else if isCounted {
                statistics.connections.overlapping += 1
            }
        }
        if phones[phone] != nil || phones.count < Self.maximumPhones {
            phones[phone] = .some(nil)
        }
    }

    // MARK: Messages

    private mutating func receive(
        _ frame: Event.FrameRecord, _ event: Event, _ isCounted: Bool
    ) {
        let opcode = frame.header.opcode
        if opcode == .close, let side = event.from, connections[event.conn]?.close == nil {
            var code: CloseCode?
            if case .whole(let payload) = frame.content { code = ClosePayload(payload).code }
            connections[event.conn]?.close = (side, code)
        }
        guard isCounted else { return }
        update(event.from) { traffic in
            traffic.frames += 1
            if opcode == .ping { traffic.pings += 1 }
            if opcode == .pong { traffic.pongs += 1 }
            if frame.header.fin, !opcode.isControl, !frame.incomplete { traffic.messages += 1 }
        }
    }

    private mutating func receive(_ request: Event.Request, _ event: Event, _ isCounted: Bool) {
        let route = HTTPRoute(
            method: request.method, target: request.target, paths: contract.paths)
        if route == .connect {
            connections[event.conn]?.phone =
                RequestTarget(request.target)[contract.poll.phoneID] ?? ""
        }
        let name = route?.name ?? "other"
        if let waiting = connections[event.conn]?.requests.count, waiting < Self.maximumRequests {
            connections[event.conn]?.requests[request.exchange] = (name, event.time)
        }
        guard isCounted else { return }
        update(event.from) { $0.exchanges += 1 }
        statistics.exchanges[name, default: SessionStatistics.Exchanges()].requests += 1
    }

    private mutating func receive(
        _ response: Event.Response, _ event: Event, _ isCounted: Bool
    ) {
        guard response.status >= 200 || response.status == 101 else { return }
        let request = connections[event.conn]?.requests.removeValue(forKey: response.exchange)
        if response.status == 101 { upgraded(event, isCounted) }
        guard isCounted else { return }
        update(event.from) { $0.exchanges += 1 }
        var row = statistics.exchanges[request?.name ?? "other"] ?? SessionStatistics.Exchanges()
        row.statuses[response.status, default: 0] += 1
        if let request { row.duration.add(span(from: request.time, to: event.time)) }
        statistics.exchanges[request?.name ?? "other"] = row
    }

    // MARK: Meaning

    private mutating func receive(_ meaning: JSON, _ event: Event, _ isCounted: Bool) {
        switch meaning["kind"]?.stringValue {
        case "heartbeat": receiveHeartbeat(event, isCounted)
        case "command": receiveCommand(meaning, event, isCounted)
        case "result": receiveResult(meaning, event, isCounted)
        case "enqueue":
            guard event.from == .app, case .request = event.kind else { return }
            if isCounted { statistics.queue.enqueued += 1 }
            if let id = meaning["id"]?.stringValue {
                tracker.enqueued(id: id, type: "", at: event.time)
            }
        case "poll":
            guard isCounted else { return }
            if event.from == .app { statistics.queue.polls += 1 }
            if meaning["commands"]?.integerValue == 0 { statistics.queue.emptyPolls += 1 }
        default: break
        }
    }

    private mutating func receiveHeartbeat(_ event: Event, _ isCounted: Bool) {
        guard let connection = connections[event.conn] else { return }
        switch event.from {
        case .app:
            connections[event.conn]?.lastHeartbeat = event.time
            connections[event.conn]?.unechoed = connection.unechoed ?? event.time
            guard isCounted else { return }
            statistics.heartbeats.app += 1
            guard let last = connection.lastHeartbeat else { return }
            let gap = span(from: last, to: event.time)
            statistics.heartbeats.gaps.add(gap)
            let edges = SessionStatistics.Heartbeats.gapEdges
            statistics.heartbeats.gapCounts[edges.firstIndex { gap < $0 } ?? edges.count] += 1
        case .board:
            connections[event.conn]?.unechoed = nil
            guard isCounted else { return }
            statistics.heartbeats.board += 1
            if let sent = connection.unechoed {
                statistics.heartbeats.echo.add(span(from: sent, to: event.time))
            }
        case nil: break
        }
    }

    private func key(_ type: String, _ route: String) -> SessionStatistics.CommandKey {
        let key = SessionStatistics.CommandKey(type: type, route: route)
        guard statistics.commands[key] == nil, statistics.commands.count >= Self.maximumNames
        else { return key }
        return SessionStatistics.CommandKey(type: Self.otherName, route: route)
    }

    private mutating func receiveCommand(_ meaning: JSON, _ event: Event, _ isCounted: Bool) {
        guard let id = meaning["id"]?.stringValue, let type = meaning["type"]?.stringValue else {
            return
        }
        let route: Route = meaning["route"]?.stringValue == "queue" ? .queue : .websocket
        let known = tracker.command(id: id)
        tracker.sent(
            id: id, type: type,
            timeoutMilliseconds: meaning["timeout_ms"]?.integerValue
                ?? contract.timing.defaultTimeoutMilliseconds, route: route, at: event.time)
        guard isCounted else { return }
        let key = key(type, route.rawValue)
        if let known, known.sendings > 0 {
            statistics.commands[key, default: SessionStatistics.Commands()].again += 1
        } else {
            statistics.commands[key, default: SessionStatistics.Commands()].commands += 1
        }
        guard route == .queue else { return }
        statistics.queue.handedOut += 1
        if let known, known.sendings == 0 {
            statistics.queue.wait.add(span(from: known.firstSeen, to: event.time))
        }
    }

    private mutating func receiveResult(_ meaning: JSON, _ event: Event, _ isCounted: Bool) {
        guard let id = meaning["id"]?.stringValue else { return }
        let known = tracker.command(id: id)
        _ = tracker.answered(id: id, at: event.time)
        guard isCounted else { return }
        let isSuccess = meaning["ok"]?.boolValue == true
        let isDuplicate = meaning["duplicate"]?.boolValue == true
        if !isSuccess, !isDuplicate {
            Self.count(meaning["code"]?.stringValue ?? "(none)", in: &statistics.errors)
        }
        guard let type = meaning["type"]?.stringValue else {
            statistics.unpaired += 1
            return
        }
        let route = known?.route.rawValue ?? meaning["route"]?.stringValue ?? "websocket"
        let key = key(type, route)
        var row = statistics.commands[key] ?? SessionStatistics.Commands()
        defer { statistics.commands[key] = row }
        guard !isDuplicate else {
            row.duplicate += 1
            return
        }
        if isSuccess { row.succeeded += 1 } else { row.failed += 1 }
        if meaning["late"]?.boolValue == true { row.late += 1 }
        if let latency = meaning["latency_ms"]?.nanosecondsOfMilliseconds {
            row.latency.add(latency)
        }
        if let known, known.route == .queue, known.firstSeen < known.lastSent {
            statistics.queue.untilResult.add(span(from: known.firstSeen, to: event.time))
        }
    }
}

extension HTTPRoute {
    /// What the request is for, as figures name it.
    fileprivate var name: String {
        switch self {
        case .connect: "connect"
        case .status: "status"
        case .enqueue: "enqueue"
        case .poll: "poll"
        case .result: "result"
        case .query: "query"
        }
    }
}

extension JSON {
    /// A number of milliseconds in nanoseconds; nil for what is none, or does not fit.
    fileprivate var nanosecondsOfMilliseconds: Int64? {
        guard let text = numberText, let value = Double(text) else { return nil }
        return Int64(exactly: (value * 1_000_000).rounded())
    }
}
