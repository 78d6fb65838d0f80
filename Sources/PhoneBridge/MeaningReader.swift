package import Capture
package import Wire

/// Reads what the events of a session mean in the contract (capture format, "The protocol's own
/// meaning").
///
/// One reader takes all events of a session, of all connections, in order. It knows nothing that
/// is not in them, so whoever reads the session later finds the same. Latencies count from when
/// a command was last sent or handed out; a result is late when they exceed the command's
/// `timeout_ms`, or the contract's default, on either route: the time that a command waited in
/// the queue does not count. A result is a duplicate when one came before it and the command was
/// not sent again in between.
///
/// A payload that cannot be JSON costs a look at its first byte. Memory is bounded by the named
/// limits.
package struct MeaningReader: Sendable {
    /// The tables by which it reads.
    package let contract: Contract
    /// The commands seen so far, and how they were answered.
    package private(set) var tracker: CommandTracker

    private let names: ContractNames
    private var connections = ConnectionTable<ConnectionMeaning>()
    private let maximumConnections: Int
    private var scanner: JSONScanner

    /// Makes a reader for one session.
    ///
    /// - Parameters:
    ///   - maximumCommands: ids that are remembered for pairing.
    ///   - maximumConnections: open connections with HTTP exchanges that are remembered; the
    ///     oldest half is forgotten beyond it.
    ///   - limits: what is longer or deeper has no meaning.
    package init(
        contract: Contract = .current, maximumCommands: Int = 65_536,
        maximumConnections: Int = 65_536, limits: JSONLimits = JSONLimits()
    ) {
        self.contract = contract
        names = ContractNames(contract)
        self.maximumConnections = max(2, maximumConnections)
        tracker = CommandTracker(maximumCommands: maximumCommands)
        scanner = JSONScanner(limits: limits)
    }

    /// Sets `event.bridge` to what the event means; empty for nothing.
    package mutating func annotate(_ event: inout Event) {
        switch event.kind {
        case .frame(let frame):
            // A compressed one is followed by a `message`.
            guard frame.header.isWholeMessage, !frame.incomplete,
                case .whole(let payload) = frame.content, let from = event.from
            else { return event.setBridge([]) }
            event.setBridge(meanings(ofMessage: payload.span, from: from, at: event.time))
        case .message(let message):
            guard !message.incomplete, case .whole(let content) = message.content,
                let from = event.from
            else { return event.setBridge([]) }
            event.setBridge(meanings(ofMessage: content.span, from: from, at: event.time))
        case .request(let request):
            event.bridge = Meanings(meaning(of: request, on: event.conn, at: event.time))
        case .response(let response):
            event.bridge = Meanings(meaning(of: response, on: event.conn, at: event.time))
        case .close(let close):
            event.setBridge([])
            closed(event.conn, from: event.from, how: close.how)
        case .session, .open, .piece, .data, .gap, .note, .end:
            event.setBridge([])
        }
    }

    /// Sets the meaning of those events of a batch that have none.
    package mutating func annotate(_ batch: inout EventBatch) {
        batch.update(
            event: { if $0.bridge.isEmpty { annotate(&$0) } },
            frame: { if !$0.hasMeaning { annotate($0, payload: $1, into: &$2) } })
    }

    /// Appends the text of a frame's `bridge`, as `annotate` sets it for an event; nothing where
    /// the frame means nothing.
    package mutating func annotate(
        _ frame: borrowing GatheredFrame, payload: Span<UInt8>, into text: inout Bytes
    ) {
        guard frame.header.isWholeMessage else { return }
        let meaning = meaning(ofMessage: payload, from: frame.from, at: frame.time)
        names.appendText(of: meaning, on: scanner.tape, in: payload, to: &text)
    }

    /// Scans `bytes`; false when they are not JSON.
    private mutating func scan(_ bytes: Span<UInt8>) -> Bool {
        let start = bytes.endOfJSONSpace(from: 0)
        guard start < bytes.count else { return false }
        switch bytes[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
            UInt8(ascii: "n"):
            break
        default: return false
        }
        do {
            try scanner.scan(bytes)
            return true
        } catch {
            // Not JSON is no error here: it means nothing, and the bytes are in the event.
            return false
        }
    }

    // MARK: - WebSocket

    private mutating func meanings(
        ofMessage text: Span<UInt8>, from: Side, at time: Int64
    ) -> Meanings {
        let meaning = meaning(ofMessage: text, from: from, at: time)
        return names.meanings(of: meaning, on: scanner.tape, in: text)
    }

    private mutating func meaning(
        ofMessage text: Span<UInt8>, from: Side, at time: Int64
    ) -> MessageMeaning {
        guard scan(text) else { return .nothing }
        switch from {
        case .app: return meaning(ofAppMessage: text, at: time)
        case .board: return meaning(ofBoardMessage: text, at: time)
        }
    }

    private mutating func meaning(
        ofBoardMessage text: Span<UInt8>, at time: Int64
    ) -> MessageMeaning {
        if let command = SentCommand(scanner.tape, at: 0, in: text) {
            noteSent(command, in: text, route: .websocket, at: time)
            return .command(command)
        }
        if let id = scanner.tape.member("id", of: 0, in: text),
            let reserved = names.reserved(id, on: scanner.tape, in: text),
            reserved < names.heartbeatCount
        {
            return .reserved(reserved)
        }
        return .unknown
    }

    private mutating func meaning(
        ofAppMessage text: Span<UInt8>, at time: Int64
    ) -> MessageMeaning {
        let tape = scanner.tape
        guard let answer = Answer(tape, in: text) else { return .unknown }
        if let reserved = names.reserved(answer.id, on: tape, in: text) {
            return .reserved(reserved)
        }
        // An answer to a command stays one, whatever its method says.
        if let method = answer.method,
            tape.isSameText(method, answer.id, in: text)
                || names.isEvent(method, on: tape, in: text),
            !tape.withText(answer.id, in: text, { tracker.contains(id: $0) })
        {
            return .appEvent(id: method)
        }
        return .result(answer, pairing(of: answer, in: text, at: time))
    }

    private mutating func noteSent(
        _ command: SentCommand, in text: Span<UInt8>, route: Route, at time: Int64
    ) {
        let tape = scanner.tape
        guard names.reserved(command.id, on: tape, in: text) == nil else { return }
        let type = names.type(command, on: tape, in: text)
        let timeout =
            command.timeoutMilliseconds(tape, in: text)
            ?? contract.timing.defaultTimeoutMilliseconds
        tape.withText(command.id, in: text) {
            tracker.sent(
                id: $0, type: type, timeoutMilliseconds: timeout, route: route, at: time)
        }
    }

    private mutating func pairing(
        of answer: Answer, in text: Span<UInt8>, at time: Int64
    ) -> CommandTracker.Pairing? {
        let tape = scanner.tape
        guard names.reserved(answer.id, on: tape, in: text) == nil else { return nil }
        return tape.withText(answer.id, in: text) { tracker.answered(id: $0, at: time) }
    }

    // MARK: - HTTP

    private mutating func meaning(
        of request: Event.Request, on conn: Int, at time: Int64
    ) -> [JSON] {
        let route = HTTPRoute(
            method: request.method, target: request.target, paths: contract.paths)
        var body = Bytes()
        if case .whole(let content) = request.body.content, !request.body.incomplete {
            body = content
        }
        let text = body.span
        let isJSON = scan(text)
        guard let route else { return isJSON ? [Meaning.unknown] : [] }

        let enqueued = route == .enqueue && isJSON ? enqueuedCommand(in: text) : nil
        let peerIsTool = remember(route, enqueued?.id, exchange: request.exchange, on: conn)
        if case .pieces = request.body.content { return [] }
        switch route {
        case .connect:
            return isJSON ? [Meaning.unknown] : []
        case .enqueue:
            if let enqueued, names.reserved(enqueued.id) == nil {
                tracker.enqueued(id: enqueued.id, type: enqueued.type, at: time)
            }
            return [
                Meaning.exchange(
                    "enqueue", id: enqueued?.id, phoneID: enqueued?.phoneID, isTool: peerIsTool)
            ]
        case .query(let id):
            return [Meaning.exchange("query", id: id, isTool: peerIsTool)]
        case .status:
            return [Meaning.exchange("status", isTool: peerIsTool)]
        case .poll:
            let target = RequestTarget(request.target)
            return [
                Meaning.exchange(
                    "poll", phoneID: target[contract.poll.phoneID],
                    platform: target[contract.poll.platform],
                    appState: target[contract.poll.appState])
            ]
        case .result:
            guard isJSON else { return [] }
            guard let answer = Answer(scanner.tape, in: text) else { return [Meaning.unknown] }
            let pairing = pairing(of: answer, in: text, at: time)
            return [
                Meaning.result(answer, pairing, on: scanner.tape, in: text, route: .queue)
            ]
        }
    }

    /// The command that the scanned body of a request puts into the queue.
    private func enqueuedCommand(
        in text: Span<UInt8>
    ) -> (id: String, type: String, phoneID: String?)? {
        let tape = scanner.tape
        guard let index = tape.member(folding: "command", of: 0, in: text),
            let command = SentCommand(tape, at: index, in: text, folding: true)
        else { return nil }
        return (
            tape.string(command.id, in: text), names.type(command, on: tape, in: text),
            tape.text("phone_id", of: index, in: text, folding: true)
        )
    }

    private mutating func meaning(
        of response: Event.Response, on conn: Int, at time: Int64
    ) -> [JSON] {
        let isFinal = response.status >= 200 || response.status == 101
        let exchange = connections[conn]?.exchange(response.exchange, isLast: isFinal)
        guard isFinal, case .whole(let content) = response.body.content else { return [] }
        let text = content.span
        let isJSON = !response.body.incomplete && scan(text)
        let isTool = connections[conn]?.isTool ?? false
        switch exchange?.route {
        case .enqueue:
            let id =
                exchange?.id ?? (isJSON ? scanner.tape.text("command_id", of: 0, in: text) : nil)
            return [Meaning.exchange("enqueue", id: id, isTool: isTool)]
        case .query(let id):
            return [Meaning.exchange("query", id: id, isTool: isTool)]
        case .status:
            let tape = scanner.tape
            return [
                Meaning.exchange(
                    "status", phoneID: isJSON ? tape.text("phone_id", of: 0, in: text) : nil,
                    platform: isJSON ? tape.text("platform", of: 0, in: text) : nil,
                    appState: isJSON ? tape.text("app_state", of: 0, in: text) : nil,
                    isTool: isTool)
            ]
        case .poll:
            return isJSON ? handedOut(text, at: time) : [Meaning.exchange("poll")]
        case nil where isJSON && scanner.tape.looksLikePoll(in: text):
            // The request came before the capture began.
            return handedOut(text, at: time)
        case .connect, .result, nil:
            return isJSON ? [Meaning.unknown] : []
        }
    }

    /// The meaning of a poll's answer: `{"commands": […]}`, or in another revision of the board
    /// just the array.
    private mutating func handedOut(_ text: Span<UInt8>, at time: Int64) -> [JSON] {
        let tape = scanner.tape
        let list =
            tape.kind(0) == .array ? 0 : tape.member("commands", of: 0, in: text)
        guard let list, tape.kind(list) == .array || tape.kind(list) == .null else {
            return [Meaning.exchange("poll")]
        }
        var result = [Meaning.exchange("poll", commands: tape.childCount(list))]
        guard var child = tape.first(in: list) else { return result }
        let end = tape.next(list)
        while child < end {
            if let command = SentCommand(tape, at: child, in: text) {
                noteSent(command, in: text, route: .queue, at: time)
                result.append(Meaning.command(command, on: tape, in: text, route: .queue))
            }
            child = tape.next(child)
        }
        return result
    }

    // MARK: - Connections

    /// Remembers a request for its response; returns whether a tool is at the other end.
    private mutating func remember(
        _ route: HTTPRoute, _ id: String?, exchange: Int, on conn: Int
    ) -> Bool {
        if connections[conn] == nil, connections.count >= maximumConnections {
            for old in connections.keys.prefix(maximumConnections / 2) {
                connections[old] = nil
            }
        }
        return connections[conn, default: ConnectionMeaning()].request(
            route, id: id, exchange: exchange)
    }

    private mutating func closed(_ conn: Int, from: Side?, how: Event.Ending) {
        guard connections[conn] != nil else { return }
        if how == .fin, connections[conn]?.sideEnded(from) == false { return }
        connections[conn] = nil
    }
}

extension Event {
    /// Sets the meaning; no write where it was and stays empty.
    fileprivate mutating func setBridge(_ meaning: Meanings) {
        if meaning.isEmpty, bridge.isEmpty { return }
        bridge = meaning
    }
}
