package import Wire

/// The reference board: a pure machine over whole requests, whole messages and time.
///
///     request ──► routes ──► queue (HTTP: enqueue, poll, results)
///                   │  └───► pending commands (`POST /simulate/command`)
///                   └──────► link (WebSocket: one, the newest wins) ◄── message
///     deadlineReached ──► sweep of the queue, heartbeat check, command time-outs
///
/// It follows the contract, and the observed board (board-http-facts) in all that the contract
/// leaves open. Where the observed board departs from the contract, the contract counts.
package struct Board: Sendable {
    let options: BoardOptions
    var phone = PhoneState()
    var link: BoardLink?
    var pending: PendingCommands
    var queue: BoardQueue
    /// When the queue is swept next; nil until the first input says what time it is.
    private var nextSweep: Int64?
    /// The environment of the connected phone, and the board's time of its arrival.
    var environment: (json: JSON, updatedAt: String)?

    package init(options: BoardOptions = BoardOptions()) {
        self.options = options
        pending = PendingCommands(defects: options.defects)
        queue = BoardQueue(options: options)
    }

    /// When `deadlineReached` wants to be called, on the monotonic clock; nil for never.
    package var nextDeadline: Int64? {
        let next = min(
            link?.nextCheck ?? .max, pending.nextDeadline ?? .max,
            queue.isEmpty ? .max : nextSweep ?? .max)
        return next == .max ? nil : next
    }

    // MARK: - Inputs

    /// A whole request arrived; `isFromLoopback` says whether from this very machine.
    package mutating func receive(
        _ request: HTTPMessage, isFromLoopback: Bool, exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        keepTime(at: now)
        return dated(answer(request, isFromLoopback, exchange, at: now), at: now)
    }

    private mutating func answer(
        _ request: HTTPMessage, _ isFromLoopback: Bool, _ exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        guard case .request(let method, let target) = request.head.startLine else {
            return [.respond(exchange, .notFound)]
        }
        return answer(
            request, method, RequestTarget(target), isFromLoopback, exchange, at: now)
    }

    private mutating func answer(
        _ request: HTTPMessage, _ method: String, _ target: RequestTarget,
        _ isFromLoopback: Bool, _ exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        switch BoardRoute(target) {
        case .redirect(let location):
            return [.respond(exchange, .redirect(to: location, method: method))]
        case .unknown:
            return [.respond(exchange, .notFound)]
        case .link:
            guard method == "GET" else {
                return [.respond(exchange, .methodNotAllowed("GET", isPlain: true))]
            }
            return upgrade(request.head, target, exchange, at: now)
        case .status:
            guard method == "GET" else {
                return [.respond(exchange, .methodNotAllowed("GET", isPlain: true))]
            }
            return [.respond(exchange, .json(200, statusDocument))]
        case .commands:
            if let refusal = Self.foreignOrigin(request.head) {
                return [.respond(exchange, refusal)]
            }
            switch method {
            case "POST": return [.respond(exchange, enqueue(request.body, at: now))]
            case "GET": return [.respond(exchange, poll(target, at: now))]
            default: return [.respond(exchange, .methodNotAllowed("GET, POST"))]
            }
        case .results:
            if let refusal = Self.foreignOrigin(request.head) {
                return [.respond(exchange, refusal)]
            }
            guard method == "POST" else {
                return [.respond(exchange, .methodNotAllowed("POST"))]
            }
            return [.respond(exchange, takeResult(request.body, at: now))]
        case .result(let id):
            guard method == "GET" else {
                return [.respond(exchange, .methodNotAllowed("GET"))]
            }
            guard !id.isEmpty else {
                return [.respond(exchange, .badRequest("command_id required"))]
            }
            return [.respond(exchange, .json(200, resultDocument(id)))]
        case .simulate:
            guard isFromLoopback else {
                return [.respond(exchange, .error(403, "only loopback may simulate"))]
            }
            guard !request.head.fieldLines.has("Origin") else {
                return [.respond(exchange, .error(403, "requests of web pages are refused"))]
            }
            guard method == "POST" else {
                return [.respond(exchange, .methodNotAllowed("POST"))]
            }
            return simulate(request.body, exchange, at: now)
        }
    }

    /// A request ended before its body did: nothing of it counts.
    package mutating func receiveCut(
        _ request: HTTPMessage, isFromLoopback: Bool, at now: Moment
    ) {
        guard options.defects.contains(.b33) else { return }
        _ = receive(
            request, isFromLoopback: isFromLoopback, exchange: ExchangeID(rawValue: .max),
            at: now)
    }

    /// A whole message arrived on a link, text or binary.
    package mutating func receive(
        message: Bytes, on id: LinkID, at now: Moment
    ) -> [BoardAction] {
        keepTime(at: now)
        if options.defects.contains(.b14) { pending.restart(at: now.monotonic) }
        return dated(hear(message, on: id, at: now), at: now)
    }

    private mutating func hear(_ message: Bytes, on id: LinkID, at now: Moment) -> [BoardAction] {
        // A superseded link may talk on until its end: nobody listens.
        guard let link, link.id == id || options.defects.contains(.b22), !link.isReaderDead,
            let value = try? JSONText.parse(message),
            let response = try? CommandResponse(value, ignoresCase: true)
        else { return [] }

        if response.id == CommandID("heartbeat") || response.id == CommandID("ping") {
            self.link?.lastHeartbeat = now
            var echo = response
            if options.defects.contains(.b16) { echo.id = CommandID("heartbeat") }
            return [.send(id, JSONText.encode(echo.json))]
        }
        if pending.contains(response.id), !response.id.isReserved {
            return end(pending.take(answeredBy: response.id), with: response)
        }
        switch Self.eventName(of: response) {
        case .environment?:
            takeEnvironment(response, from: link, at: now)
            return []
        case .appState?:
            takeAppState(response, at: now)
            guard options.defects.contains(.b9), let data = response.data else { return [] }
            return end(pending.takeOldest()) { CommandResponse(id: $0, data: data) }
        case nil:
            return end(pending.take(answeredBy: response.id)) { id in
                var answer = response
                answer.id = id
                return answer
            }
        }
    }

    /// A link's connection ended; `cleanly` says whether after a close frame.
    package mutating func linkEnded(
        _ id: LinkID, cleanly: Bool, at now: Moment
    ) -> [BoardAction] {
        keepTime(at: now)
        guard link?.id == id else {
            // A replaced link ends behind the one that came in its place.
            guard link != nil, options.defects.contains(.b21) else { return [] }
            return dated(forget(keepsEnvironment: false, at: now), at: now)
        }
        let keepsEnvironment = !cleanly && options.defects.contains(.b20)
        return dated(disconnect(keepsEnvironment: keepsEnvironment, at: now), at: now)
    }

    /// The time of `nextDeadline` has come.
    package mutating func deadlineReached(at now: Moment) -> [BoardAction] {
        var actions: [BoardAction] = []
        keepTime(at: now)
        for entry in pending.takeExpired(at: now.monotonic) {
            actions += end(entry) { id in
                CommandResponse(
                    id: id,
                    failure: .init(
                        "transient", "bridge_timeout", "the phone did not answer in time"))
            }
        }
        if var checked = link, checked.nextCheck <= now.monotonic {
            let limit = options.defects.contains(.b19) ? 30 : BoardTimes.heartbeatLimit
            let isTimedOut = checked.isTimedOut(at: now, limit: limit, scale: options.timeScale)
            link = checked
            if isTimedOut, !options.defects.contains(.b18) {
                actions.append(.close(checked.id, code: 1001, reason: "heartbeat timeout"))
                actions += disconnect(keepsEnvironment: false, at: now)
            }
        }
        return dated(actions, at: now)
    }

    /// Sends a command over the WebSocket for a script; `commandEnded` tells how it ended.
    package mutating func issue(
        _ command: BridgeCommand, step: Int, at now: Moment
    ) -> [BoardAction] {
        keepTime(at: now)
        return dated(send(command, for: .script(step), at: now), at: now)
    }

    /// Puts a command into the queue for a script; false when the queue does not take it.
    package mutating func enqueue(_ command: BridgeCommand, at now: Moment) -> Bool {
        keepTime(at: now)
        return (try? queue.enqueue(scoped(command), at: now)) != nil
    }

    // MARK: - Time

    /// Sweeps the queue where a minute has passed; inputs do so too, for a deadline may be late.
    private mutating func keepTime(at now: Moment) {
        let interval = options.timeScale.nanoseconds(seconds: BoardTimes.sweep)
        guard let due = nextSweep else {
            nextSweep = now.monotonic + interval
            return
        }
        guard due <= now.monotonic else { return }
        // The sweeps keep their beat; those that fell into an idle time had nothing to do.
        nextSweep = due + ((now.monotonic - due) / interval + 1) * interval
        queue.sweep(at: now)
    }
}
