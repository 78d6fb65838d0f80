import PhoneBridge
import Wire

/// What the app does with commands, from whatever route they come.
extension App {
    /// Takes one command in, from whatever route.
    mutating func take(
        _ value: JSON, by route: AnswerRoute, at now: Moment
    ) -> [AppAction] {
        // Without a usable id there is nothing that an answer could name.
        guard let idText = value["id"]?.stringValue, !idText.isEmpty else { return [] }
        let id = CommandID(idText)
        if value["type"] == nil, id.isReserved { return [] }
        latch(at: now)
        if isLatched { return [] }
        latestCommandID = id
        let (command, failure) = Self.command(id, value)
        switch cache.arrive(command, by: route) {
        case .wait:
            return []
        case .answer(let answer):
            return send(reissued(answer, id: id), by: route, at: now)
        case .run(let key):
            if let failure {
                return finish(
                    key, CommandResponse(id: id, failure: failure), by: route,
                    isBadPayload: true, at: now)
            }
            guard runs.count < options.maximumRunningCount else {
                return finish(
                    key,
                    CommandResponse(
                        id: id,
                        failure: .init(
                            "internal", "native_module_failed", "Too many commands at once")),
                    by: route, at: now)
            }
            let seconds = options.commandDurations[command.type] ?? options.commandDuration
            runs.append(
                Run(
                    key: key, command: command, route: route,
                    finishesAt: now.monotonic + options.timeScale.nanoseconds(seconds: seconds),
                    expiresAt: now.monotonic
                        + options.timeScale.nanoseconds(milliseconds: Self.timeout(of: value))))
            return []
        }
    }

    private static func timeout(of value: JSON) -> Int {
        let standard = Int(Contract.current.timing.defaultTimeoutMilliseconds)
        return value["timeout_ms"]?.integerValue.flatMap { Int(exactly: $0) } ?? standard
    }

    /// With defect A10, remembers a command that waited for a prompt beyond its time.
    private mutating func latch(at now: Moment) {
        guard options.defects.contains(.a10) else { return }
        let isLate = runs.contains { $0.waitsFor != nil && $0.expiresAt <= now.monotonic }
        if isLate { isLatched = true }
    }

    /// Reads a command, or says what is wrong with it; `timeout_ms` is the board's business.
    static func command(
        _ id: CommandID, _ value: JSON
    ) -> (BridgeCommand, CommandResponse.Failure?) {
        var command = BridgeCommand(id: id.text, type: "")
        command.id = id
        do {
            let fields = try JSONFields(value, ignoresCase: false)
            command.payload = fields.value("payload")
            command.type = try fields.string("type") ?? ""
            command.app = try fields.string("app")
            command.url = try fields.string("url")
        } catch {
            return (command, .invalidArguments(error.message))
        }
        if command.type.isEmpty { return (command, .invalidArguments("type is missing")) }
        return (command, nil)
    }

    /// Ends the runs whose work is done, in the order in which they came to be done.
    mutating func finishRuns(at now: Moment) -> [AppAction] {
        var actions: [AppAction] = []
        let due = runs.filter { $0.waitsFor == nil && $0.finishesAt <= now.monotonic }
            .sorted { $0.finishesAt < $1.finishesAt }
        guard !due.isEmpty else { return [] }
        runs.removeAll { $0.waitsFor == nil && $0.finishesAt <= now.monotonic }
        for var run in due {
            if let refusal = refusal(of: run.command) {
                actions += finish(
                    run.key, CommandResponse(id: run.command.id, failure: refusal),
                    by: run.route, at: now)
                continue
            }
            if let permission = Phone.permission(for: run.command.type) {
                switch phone.permissions[permission] ?? .denied {
                case .granted:
                    break
                case .denied:
                    actions += finish(
                        run.key,
                        CommandResponse(
                            id: run.command.id, failure: Phone.denial(of: permission)),
                        by: run.route, at: now)
                    continue
                case .pending:
                    run.waitsFor = permission
                    runs.append(run)
                    raisePrompt(permission, at: now)
                    continue
                }
            }
            let response = phone.execute(run.command)
            actions += finish(
                run.key, response, by: run.route, isBadPayload: Self.isRefusal(response), at: now)
        }
        return actions
    }

    /// What the app does not do in the background (contract, "Connection" and "clipboard_read").
    func refusal(of command: BridgeCommand) -> CommandResponse.Failure? {
        guard case .background(let mode) = lifecycle else { return nil }
        guard let known = Contract.current.command(named: command.type),
            !known.backgroundRoutes.contains(mode.route)
        else { return nil }
        return .init(
            "user_action_required", "app_backgrounded", "Bring the app to the foreground")
    }

    static func isRefusal(_ response: CommandResponse) -> Bool {
        response.error?["code"]?.stringValue == "invalid_arguments"
            && response.error?["details"] == nil
    }

    mutating func raisePrompt(_ permission: Phone.Permission, at now: Moment) {
        guard let delay = options.promptAnswerDelay, promptAnswers[permission] == nil else {
            return
        }
        promptAnswers[permission] =
            now.monotonic + options.timeScale.nanoseconds(seconds: delay)
    }

    mutating func decide(
        _ permission: Phone.Permission, _ decision: Phone.Decision, at now: Moment
    ) -> [AppAction] {
        latch(at: now)
        phone.permissions[permission] = decision
        guard decision != .pending else { return [] }
        promptAnswers[permission] = nil
        for index in runs.indices where runs[index].waitsFor == permission {
            runs[index].waitsFor = nil
        }
        return isRunning ? finishRuns(at: now) + posts(at: now) : []
    }

    /// Answers a command on its route and on those that asked again meanwhile.
    mutating func finish(
        _ key: CommandCache.Key, _ response: CommandResponse, by route: AnswerRoute,
        isBadPayload: Bool = false, at now: Moment
    ) -> [AppAction] {
        var response = response
        if options.defects.contains(.a7), isBadPayload { return [] }
        if options.defects.contains(.a6) { response.id = latestCommandID }
        let answer = JSONText.encode(response.json)
        let others = cache.finish(key, with: answer)
        return ([route] + others).flatMap { send(answer, by: $0, at: now) }
    }

    /// A kept answer for a command that came again; with defect A4, under another id.
    func reissued(_ answer: Bytes, id: CommandID) -> Bytes {
        guard options.defects.contains(.a4), let value = try? JSONText.parse(answer),
            var response = try? CommandResponse(value, ignoresCase: false)
        else { return answer }
        response.id = id
        return JSONText.encode(response.json)
    }

    mutating func send(
        _ answer: Bytes, by route: AnswerRoute, at now: Moment
    ) -> [AppAction] {
        switch route {
        case .link(let id):
            // An answer whose link is gone helps nobody: the board has given the command up.
            return link.open == id ? [.send(id, answer)] : []
        case .queue:
            outbox.add(answer, at: now.monotonic)
            return posts(at: now)
        }
    }

    mutating func posts(at now: Moment) -> [AppAction] {
        var actions: [AppAction] = []
        while let post = nextPost(at: now) { actions.append(post) }
        return actions
    }
}
