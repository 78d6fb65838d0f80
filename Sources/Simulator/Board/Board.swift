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
    private(set) var link: BoardLink?
    private var pending: PendingCommands
    var queue: BoardQueue
    /// When the queue is swept next; nil until the first input says what time it is.
    private var nextSweep: Int64?
    /// The environment of the connected phone, and the board's time of its arrival.
    private(set) var environment: (json: JSON, updatedAt: String)?

    package init(options: BoardOptions = BoardOptions()) {
        self.options = options
        pending = PendingCommands(defects: options.defects)
        queue = BoardQueue(options: options)
    }

    /// When `deadlineReached` wants to be called, on the monotonic clock; nil for never.
    package var nextDeadline: Int64? {
        [link?.nextCheck, pending.nextDeadline, queue.isEmpty ? nil : nextSweep]
            .compactMap { $0 }.min()
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
            guard method == "GET" else { return [.respond(exchange, .plainMethodNotAllowed)] }
            return upgrade(request.head, target, exchange, at: now)
        case .status:
            guard method == "GET" else {
                return [.respond(exchange, .plainMethodNotAllowed)]
            }
            return [.respond(exchange, .json(200, statusDocument))]
        case .commands:
            if let refusal = Self.foreignOrigin(request.head) {
                return [.respond(exchange, refusal)]
            }
            switch method {
            case "POST": return [.respond(exchange, enqueue(request.body, at: now))]
            case "GET": return [.respond(exchange, poll(target, at: now))]
            default: return [.respond(exchange, .methodNotAllowed)]
            }
        case .results:
            if let refusal = Self.foreignOrigin(request.head) {
                return [.respond(exchange, refusal)]
            }
            guard method == "POST" else { return [.respond(exchange, .methodNotAllowed)] }
            return [.respond(exchange, takeResult(request.body, at: now))]
        case .result(let id):
            guard method == "GET" else { return [.respond(exchange, .methodNotAllowed)] }
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
            guard method == "POST" else { return [.respond(exchange, .methodNotAllowed)] }
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
        return dated(hear(message, on: id, at: now), at: now)
    }

    private mutating func hear(_ message: Bytes, on id: LinkID, at now: Moment) -> [BoardAction] {
        // A superseded link may talk on until its end: nobody listens.
        guard let link, link.id == id, !link.isReaderDead,
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
        guard link?.id == id else { return [] }
        let keepsEnvironment = !cleanly && options.defects.contains(.b20)
        return dated(disconnect(keepsEnvironment: keepsEnvironment), at: now)
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
            let isTimedOut = checked.isTimedOut(at: now, scale: options.timeScale)
            link = checked
            if isTimedOut {
                actions.append(.close(checked.id, code: 1001, reason: "heartbeat timeout"))
                actions += disconnect(keepsEnvironment: false)
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

    // MARK: - Link

    private mutating func upgrade(
        _ request: HTTPHead, _ target: RequestTarget, _ exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        if let refusal = HandshakeRefusal(of: request) {
            return [.respond(exchange, .refusal(refusal))]
        }
        let deflate = WebSocketHandshake.deflate(for: request, policy: .board)
        let head = WebSocketHandshake.response(
            key: request.fieldLines.first("Sec-WebSocket-Key") ?? "", deflate: deflate,
            more: [Self.dateLine(at: now)])
        guard let head else {
            return [.respond(exchange, .error(500, "SHA-1 cannot be had on this machine"))]
        }
        var actions: [BoardAction] = []
        if let old = link {
            actions.append(.close(old.id, code: 1001, reason: "new connection"))
            actions += disconnect(keepsEnvironment: false)
        }
        let platform = target.queryValue("platform") ?? ""
        let phoneID = CommandID(Self.trimmed(Self.phoneID(in: target).bytes))
        let id = LinkID(rawValue: exchange.rawValue)
        link = BoardLink(id: id, platform: platform, at: now, scale: options.timeScale)
        if !platform.isEmpty { phone.platform = platform }
        phone.phoneID = phoneID
        actions.append(
            .accept(
                BoardAction.Accept(exchange: exchange, link: id, head: head, deflate: deflate)))
        return actions
    }

    /// The actions with a `Date` in each response.
    private func dated(_ actions: [BoardAction], at now: Moment) -> [BoardAction] {
        actions.map { action in
            guard case .respond(let exchange, var response) = action else { return action }
            response.head.fieldLines.append(Self.dateLine(at: now))
            return .respond(exchange, response)
        }
    }

    private static func dateLine(at now: Moment) -> FieldLine {
        let seconds = Timestamp(wall: now.wall).seconds
        return FieldLine("Date", HTTPDate.format(secondsSince1970: seconds))
    }

    /// The refusal of a request that another site's page makes; nil for all others.
    ///
    /// The observed board asks this of the WebSocket only. A page that must not open it should
    /// not reach the queue either.
    private static func foreignOrigin(_ request: HTTPHead) -> HTTPMessage? {
        guard request.fieldLines.has("Origin") else { return nil }
        // The handshake's judge answers for the origin once all else is in order.
        let handshake = WebSocketHandshake.request(
            target: "/", host: request.fieldLines.first("Host") ?? "",
            key: WebSocketHandshake.key(from: Bytes(repeating: 0, count: 16)),
            more: [FieldLine("Origin", request.fieldLines.first("Origin") ?? "")])
        return HandshakeRefusal(of: handshake).map { .refusal($0) }
    }

    /// Forgets the connection, and what is only true while connected (contract, "AppEvent").
    private mutating func disconnect(keepsEnvironment: Bool) -> [BoardAction] {
        link = nil
        phone.phoneID = CommandID("")
        if !keepsEnvironment { environment = nil }
        return pending.takeAll().flatMap { entry in
            end(entry) { id in
                CommandResponse(
                    id: id,
                    failure: .init(
                        "transient", "bridge_connection_closed",
                        "the connection to the phone ended first"))
            }
        }
    }

    private static func trimmed(_ bytes: Bytes) -> Bytes {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return Bytes(rest)
    }

    // MARK: - Events

    private enum EventName {
        case environment
        case appState
    }

    private static func eventName(of response: CommandResponse) -> EventName? {
        let names = [response.id, response.method.map { CommandID($0) }].compactMap { $0 }
        if names.contains(CommandID("phone_environment")) { return .environment }
        return names.contains(CommandID("phone_app_state")) ? .appState : nil
    }

    private mutating func takeEnvironment(
        _ event: CommandResponse, from link: BoardLink, at now: Moment
    ) {
        guard event.error == nil, let data = event.data else { return }
        guard let reported = try? PhoneEnvironment(data, platform: link.platform) else {
            if options.defects.contains(.b23) { self.link?.isReaderDead = true }
            return
        }
        environment = (reported.json, Timestamp(wall: now.wall).exactText)
        self.link?.lastHeartbeat = now
    }

    private mutating func takeAppState(_ event: CommandResponse, at now: Moment) {
        guard event.error == nil, let data = event.data else { return }
        let reportedAt: Timestamp?
        do {
            reportedAt = try phone.apply(appStateEvent: data, at: now)
        } catch {
            return
        }
        link?.lastHeartbeat = now
        if options.defects.contains(.b17), let reportedAt {
            link?.lastHeartbeat = now.moved(to: reportedAt)
        }
    }

    // MARK: - Commands over the WebSocket

    private mutating func simulate(
        _ body: Bytes, _ exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        do {
            let command = try BridgeCommand(JSONText.parse(body), ignoresCase: true)
            guard !command.id.isEmpty else {
                return [.respond(exchange, .badRequest("command ID must not be empty"))]
            }
            return send(command, for: .exchange(exchange), at: now)
        } catch {
            return [.respond(exchange, .invalidRequest(error))]
        }
    }

    private mutating func send(
        _ command: BridgeCommand, for origin: PendingCommands.Origin, at now: Moment
    ) -> [BoardAction] {
        if let failure = obstacle(to: command) {
            return finish(origin, CommandResponse(id: command.id, failure: failure))
        }
        guard let link else { return [] }
        var command = command
        if command.phoneID == nil, !phone.phoneID.isEmpty { command.phoneID = phone.phoneID }
        var milliseconds = command.timeoutMilliseconds ?? 0
        if milliseconds <= 0 { milliseconds = BoardTimes.defaultTimeoutMilliseconds }
        milliseconds = min(milliseconds, BoardTimes.maximumTimeoutMilliseconds)
        pending.add(
            PendingCommands.Entry(
                id: command.id, origin: origin,
                deadline: now.monotonic
                    + options.timeScale.nanoseconds(milliseconds: milliseconds)))
        return [.send(link.id, JSONText.encode(command.json))]
    }

    /// Why a command cannot be sent now; nil when it can.
    private func obstacle(to command: BridgeCommand) -> CommandResponse.Failure? {
        let details = [JSON.Member("command_id", .string(command.id.text))]
        if command.id.isReserved {
            return .init(
                "invalid_input", "invalid_arguments", "the command's id is reserved",
                details: details)
        }
        if link == nil {
            return .init("precondition_failed", "bridge_not_connected", "no phone is connected")
        }
        if pending.contains(command.id) {
            return .init(
                "internal", "command_id_collision", "a command of this id is in flight",
                details: details)
        }
        if pending.count >= options.maximumPendingCount {
            return .init("internal", "tool_execution_failed", "too many commands are in flight")
        }
        return nil
    }

    private func end(_ entry: PendingCommands.Entry?, with response: CommandResponse)
        -> [BoardAction]
    {
        end(entry) { _ in response }
    }

    private func end(
        _ entry: PendingCommands.Entry?, response: (CommandID) -> CommandResponse
    ) -> [BoardAction] {
        guard let entry else { return [] }
        return finish(entry.origin, response(entry.id))
    }

    private func finish(_ origin: PendingCommands.Origin, _ response: CommandResponse)
        -> [BoardAction]
    {
        switch origin {
        case .exchange(let exchange): [.respond(exchange, .json(200, response.json))]
        case .script(let step): [.commandEnded(step: step, response)]
        }
    }
}
