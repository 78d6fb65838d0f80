import Wire

/// Commands over the WebSocket, and how they end (board-http-facts, "Commands over WebSocket").
extension Board {
    mutating func simulate(
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

    mutating func send(
        _ command: BridgeCommand, for origin: PendingCommands.Origin, at now: Moment
    ) -> [BoardAction] {
        if let failure = obstacle(to: command) {
            return finish(origin, CommandResponse(id: command.id, failure: failure))
        }
        guard let link else { return [] }
        var command = command
        if command.phoneID == nil, !phone.phoneID.isEmpty { command.phoneID = phone.phoneID }
        var milliseconds = command.timeoutMilliseconds ?? 0
        if milliseconds <= 0 {
            milliseconds =
                options.defects.contains(.b12) ? 50_000 : BoardTimes.defaultTimeoutMilliseconds
        }
        milliseconds = min(milliseconds, BoardTimes.maximumTimeoutMilliseconds)
        let duration = options.timeScale.nanoseconds(milliseconds: milliseconds)
        pending.add(
            PendingCommands.Entry(
                command: command, origin: origin, duration: duration,
                deadline: now.monotonic + duration))
        return [.send(link.id, JSONText.encode(command.json))]
    }

    /// Why a command cannot be sent now; nil when it can.
    func obstacle(to command: BridgeCommand) -> CommandResponse.Failure? {
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

    func end(_ entry: PendingCommands.Entry?, with response: CommandResponse)
        -> [BoardAction]
    {
        end(entry) { _ in response }
    }

    func end(
        _ entry: PendingCommands.Entry?, response: (CommandID) -> CommandResponse
    ) -> [BoardAction] {
        guard let entry else { return [] }
        return finish(entry.origin, response(entry.id))
    }

    func finish(_ origin: PendingCommands.Origin, _ response: CommandResponse)
        -> [BoardAction]
    {
        switch origin {
        case .exchange(let exchange): [.respond(exchange, .json(200, response.json))]
        case .script(let step): [.commandEnded(step: step, response)]
        }
    }
}
