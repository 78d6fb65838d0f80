import PhoneBridge
import Wire

/// The queue's requests (board-http-facts, "Routes", "JSON" and "Poll parameters").
extension Board {
    mutating func enqueue(_ body: Bytes, at now: Moment) -> HTTPMessage {
        let command: BridgeCommand
        do {
            let fields = try JSONFields(JSONText.parse(body), ignoresCase: true)
            command = try BridgeCommand(
                fields.value("command") ?? .object([]), path: "command", ignoresCase: true)
        } catch {
            return .invalidRequest(error)
        }
        guard !command.id.isEmpty else { return .badRequest("command ID must not be empty") }
        guard !command.id.isReserved else {
            return .badRequest("command ID \(command.id.text) is reserved")
        }
        guard !phone.needsForeground(command.type, at: now, options: options) else {
            return Self.needsForegroundResponse(command.type)
        }
        do {
            try queue.enqueue(scoped(command), at: now)
        } catch {
            switch error {
            case .idTaken:
                return .error(
                    409,
                    "command \(command.id.text) already exists: "
                        + "phone bridge command already exists",
                    isEscaped: !options.defects.contains(.b32))
            case .full:
                return .error(503, "the queue is full")
            }
        }
        return .json(
            202,
            .object([
                JSON.Member("command_id", .string(command.id.text)),
                JSON.Member("status", .string("queued")),
                JSON.Member("queued_at", .string(Timestamp(wall: now.wall).wholeSecondsText)),
            ]))
    }

    /// A command without a phone is for the one last known, if any.
    func scoped(_ command: BridgeCommand) -> BridgeCommand {
        var command = command
        if command.phoneID?.isEmpty ?? true {
            command.phoneID = phone.phoneID.isEmpty ? nil : phone.phoneID
        }
        return command
    }

    mutating func poll(_ target: Wire.RequestTarget, at now: Moment) -> HTTPMessage {
        guard let platform = target.queryValue("platform"), !platform.isEmpty else {
            return .badRequest("platform parameter required")
        }
        let phoneID = Self.phoneID(in: target)
        let appState = target.queryValue("app_state").flatMap { PhoneState.AppState(text: $0) }
        let pip = target.queryValue("pip_bridge_enabled").flatMap { Self.flag($0) }
        let fgs = target.queryValue("fgs_bridge_enabled").flatMap { Self.flag($0) }

        // A poll of another phone than the connected one must not speak for that one.
        let isForeign =
            link != nil && !phone.phoneID.isEmpty && !phoneID.isEmpty && phoneID != phone.phoneID
        var known = isForeign ? PhoneState() : phone
        known.platform = platform
        if !phoneID.isEmpty { known.phoneID = phoneID }
        if let appState { known.report(appState, writtenAt: nil, at: now) }
        if let pip { known.reportPiP(pip, at: now) }
        if let fgs { known.reportFGS(fgs, at: now) }
        if !isForeign { phone = known }

        var state = PollState(
            platform: platform, appState: known.appState?.rawValue,
            pipEnabled: known.freshPiP(at: now, scale: options.timeScale),
            fgsEnabled: known.freshFGS(at: now, scale: options.timeScale))
        // A bridge that runs is a sign of the background where nothing else was ever said.
        if state.appState == nil, state.pipEnabled == true || state.fgsEnabled == true {
            state.appState = PhoneState.AppState.background.rawValue
        }
        let limit = target.queryValue("limit").flatMap { Int($0) } ?? Self.defaultLimit
        let commands = queue.poll(
            limit: Contract.current.poll.limits.contains(Int64(limit)) ? limit : Self.defaultLimit,
            phoneID: phoneID,
            state: state, at: now)
        return .json(
            200,
            .object([
                JSON.Member(
                    "commands", commands.isEmpty ? .null : .array(commands.map(\.json))),
                JSON.Member("server_time", .string(Timestamp(wall: now.wall).wholeSecondsText)),
            ]))
    }

    mutating func takeResult(_ body: Bytes, at now: Moment) -> HTTPMessage {
        let response: CommandResponse
        do {
            response = try CommandResponse(JSONText.parse(body), ignoresCase: true)
        } catch {
            return .invalidRequest(error)
        }
        guard !response.id.isEmpty else { return .badRequest("result ID must not be empty") }
        guard queue.complete(response, at: now) else {
            return .error(404, "command \(response.id.text) not found")
        }
        return .json(200, .object([JSON.Member("status", .string("acknowledged"))]))
    }

    func resultDocument(_ id: CommandID) -> JSON {
        var members = [JSON.Member("command_id", .string(id.text))]
        func status(_ text: String) { members.append(JSON.Member("status", .string(text))) }
        switch queue.status(of: id) {
        case .queued: status("queued")
        case .inFlight: status("in_flight")
        case .expired: status("expired")
        case .completed(let response, let completedAt):
            status("completed")
            members.append(JSON.Member("result", response.json))
            members.append(
                JSON.Member(
                    "completed_at", .string(Timestamp(wall: completedAt).wholeSecondsText)))
        }
        return .object(members)
    }

    /// The `phone_id` of a query; empty without one.
    static func phoneID(in target: Wire.RequestTarget) -> CommandID {
        target.queryItems.first { $0.name.decoded == "phone_id" }?.value
            .map { CommandID(percentEncoded: $0, plusIsSpace: true) } ?? CommandID("")
    }

    private static let defaultLimit = Int(Contract.current.poll.defaultLimit)

    private static func flag(_ text: String) -> Bool? {
        let text = text.lowercased()
        if Contract.current.poll.trueTexts.contains(text) { return true }
        return Contract.current.poll.falseTexts.contains(text) ? false : nil
    }

    /// The refusal of the BLE rule; the only error with the type of JSON.
    private static func needsForegroundResponse(_ type: String) -> HTTPMessage {
        let message = "\(type) needs the app in the foreground"
        let failure = CommandResponse.Failure(
            "user_action_required", "app_backgrounded", message,
            details: [
                JSON.Member("command_type", .string(type)),
                JSON.Member("transport", .string("ios_ble_wake")),
            ])
        return .json(
            409,
            .object([
                JSON.Member("error", .string(message)), JSON.Member("tool_error", failure.json),
            ]))
    }
}
