import PhoneBridge
package import Wire

/// The reference app: a pure machine over whole messages, whole replies, steps and time.
///
///     link  ── message ──►┐                      ┌──► answer on the same route
///                         ├─► cache ─► run ─► phone
///     queue ── poll ─────►┘   (one effect an id) └──► kept, for the next time
///
/// Everything else is time: heartbeats and their echoes, reconnects, polls, posts, prompts.
package struct App: Sendable {
    /// The lifecycle that the app reports.
    private enum Lifecycle {
        case active
        case inactive
        case background(BackgroundMode)
    }

    /// A command that is being done.
    private struct Run {
        let key: CommandCache.Key
        let command: BridgeCommand
        let route: AnswerRoute
        /// When its work is done; the prompt may make it later.
        let finishesAt: Int64
        var waitsFor: Phone.Permission?
    }

    /// What its commands change; a test may look at it.
    package var phone: Phone
    private let options: AppOptions
    private var link: AppLink
    private var polling: AppPolling
    private var outbox: AppOutbox
    private var cache: CommandCache
    private var runs: [Run] = []
    private var lifecycle = Lifecycle.active
    /// The end of a BLE wake's window.
    private var awakeUntil: Int64?
    /// When the prompts that are shown will be answered.
    private var promptAnswers: [Phone.Permission: Int64] = [:]
    private var requestCount: UInt64 = 0
    private var latestCommandID = CommandID("")

    package init(options: AppOptions = AppOptions()) {
        self.options = options
        phone = Phone(platform: options.platform, defects: options.defects)
        link = AppLink(scale: options.timeScale, seed: options.seed)
        polling = AppPolling(scale: options.timeScale)
        outbox = AppOutbox(
            scale: options.timeScale, maximumCount: options.maximumOutboxCount)
        cache = CommandCache(options: options)
    }

    /// When `deadlineReached` wants to be called, on the monotonic clock; nil for never.
    package var nextDeadline: Int64? {
        var deadlines = [awakeUntil, promptAnswers.values.min()]
        if !isSuspended { deadlines.append(link.nextDeadline) }
        if isRunning {
            deadlines += [polling.nextDeadline, outbox.nextDeadline]
            deadlines.append(
                runs.lazy.filter { $0.waitsFor == nil }.map(\.finishesAt).min())
        }
        return deadlines.compactMap { $0 }.min()
    }

    /// Whether a WebSocket is open.
    package var isConnected: Bool { link.open != nil }

    // MARK: - Inputs

    /// The app is started in the foreground.
    package mutating func start(at now: Moment) -> [AppAction] {
        link.start(at: now.monotonic)
        return resumePolling(at: now) + deadlineReached(at: now)
    }

    /// The handshake of a link succeeded.
    package mutating func linkOpened(_ id: LinkID, at now: Moment) -> [AppAction] {
        guard link.current == id else { return [.abort(id)] }
        link.opened(at: now.monotonic)
        if options.defects.contains(.a2) { cache.forget() }
        guard !isSuspended else { return [] }
        return report(environment: true, at: now)
    }

    /// A link ended, or could not be made.
    package mutating func linkEnded(_ id: LinkID, at now: Moment) -> [AppAction] {
        guard link.current == id else { return [] }
        if isSuspended { link.stop(at: now.monotonic) } else { link.retry(at: now.monotonic) }
        return []
    }

    /// A whole message arrived on a link, text or binary.
    ///
    /// `firstFragmentCount` is how many of its bytes the first frame carried; nil for all.
    package mutating func receive(
        message: Bytes, firstFragmentCount: Int? = nil, on id: LinkID, at now: Moment
    ) -> [AppAction] {
        guard link.open == id, !isSuspended else { return [] }
        var message = message
        if options.defects.contains(.a18), let firstFragmentCount {
            message = Bytes(message.prefix(max(0, firstFragmentCount)))
        }
        guard let value = try? JSONText.parse(message), case .object = value else { return [] }
        if value["type"] == nil, value["id"]?.stringValue == "heartbeat" {
            link.echoed(at: now.monotonic)
            return []
        }
        return take(value, by: .link(id), at: now)
    }

    /// A request was answered with a whole reply.
    package mutating func replied(
        to id: RequestID, status: Int, body: Bytes, at now: Moment
    ) -> [AppAction] {
        guard polling.answered(id, nextAfter: pollInterval, at: now.monotonic) else {
            // Another attempt helps only where the board itself is in trouble.
            outbox.ended(id, taken: status / 100 == 2 || status / 100 == 4, at: now.monotonic)
            return deadlineReached(at: now)
        }
        guard status == 200, let reply = try? JSONText.parse(body),
            let commands = reply["commands"]?.elements
        else { return [] }
        return commands.flatMap { take($0, by: .queue, at: now) }
    }

    /// A request had no whole reply: refused, reset, cut, or not HTTP.
    package mutating func requestFailed(_ id: RequestID, at now: Moment) -> [AppAction] {
        if !polling.answered(id, nextAfter: pollInterval, at: now.monotonic) {
            outbox.ended(id, taken: false, at: now.monotonic)
        }
        return []
    }

    /// The time of `nextDeadline` has come.
    package mutating func deadlineReached(at now: Moment) -> [AppAction] {
        var actions: [AppAction] = []
        for (permission, due) in promptAnswers.sorted(by: { $0.value < $1.value })
        where due <= now.monotonic {
            actions += decide(permission, .granted, at: now)
        }
        if let end = awakeUntil, end <= now.monotonic {
            awakeUntil = nil
            if let poll = polling.stop() { actions.append(.cancel(poll)) }
        }
        if !isSuspended {
            while let due = link.takeDue(at: now.monotonic) { actions += act(on: due) }
        }
        guard isRunning else { return actions }
        actions += finishRuns(at: now)
        switch polling.due(at: now.monotonic) {
        case nil: break
        case .poll?: actions.append(poll(at: now))
        case .hung(let id)?:
            _ = polling.answered(id, nextAfter: pollInterval, at: now.monotonic)
            actions.append(.cancel(id))
        }
        while let hung = outbox.takeHung(at: now.monotonic) { actions.append(.cancel(hung)) }
        while let post = nextPost(at: now) { actions.append(post) }
        return actions
    }

    /// Something happens to the app from outside.
    package mutating func perform(_ step: AppStep, at now: Moment) -> [AppAction] {
        switch step {
        case .inactive:
            lifecycle = .inactive
            return report(environment: false, at: now) + pausePolling()
        case .background(let mode):
            return enterBackground(mode, at: now)
        case .foreground:
            return enterForeground(at: now)
        case .bleWake:
            guard isSuspended else { return [] }
            awakeUntil =
                now.monotonic + options.timeScale.nanoseconds(seconds: AppTimes.wakeWindow)
            polling.start(at: now.monotonic)
            return deadlineReached(at: now)
        case .dropConnection:
            guard let id = link.current else { return [] }
            return [.abort(id)] + linkEnded(id, at: now)
        case .closeConnection(let code, let reason):
            guard let id = link.open else { return [] }
            return [.close(id, code: code, reason: reason)] + linkEnded(id, at: now)
        case .decide(let permission, let decision):
            return decide(permission, decision, at: now)
        case .copy(let text):
            phone.clipboard = text
            return []
        }
    }

    // MARK: - Lifecycle

    private var isSuspended: Bool {
        if case .background(let mode) = lifecycle { !mode.isRunning } else { false }
    }

    /// Whether the app's code runs, be it for a wake's short while.
    private var isRunning: Bool { !isSuspended || awakeUntil != nil }

    private mutating func enterBackground(
        _ mode: BackgroundMode, at now: Moment
    ) -> [AppAction] {
        var actions: [AppAction] = []
        if options.platform == .ios, case .active = lifecycle {
            // iOS passes through inactive on the way.
            lifecycle = .inactive
            actions += report(environment: false, at: now)
        }
        lifecycle = .background(mode)
        actions += report(environment: false, at: now, isLastWord: true)
        if mode.isRunning { return actions + resumePolling(at: now) }
        // The half-dead connection stays: nobody closes it, and nobody answers on it.
        if link.open == nil {
            if let id = link.current { actions.append(.abort(id)) }
            link.stop(at: now.monotonic)
        }
        return actions + pausePolling()
    }

    private mutating func enterForeground(at now: Moment) -> [AppAction] {
        let wasSuspended = isSuspended
        lifecycle = .active
        awakeUntil = nil
        var actions: [AppAction] = []
        if wasSuspended {
            if let id = link.current {
                actions.append(.abort(id))
                link.retry(at: now.monotonic)
            } else {
                link.start(at: now.monotonic)
            }
        } else {
            actions += report(environment: true, at: now)
        }
        return actions + resumePolling(at: now) + deadlineReached(at: now)
    }

    /// Says where the phone and the app stand (contract, "AppEvent").
    private func report(
        environment: Bool, at now: Moment, isLastWord: Bool = false
    ) -> [AppAction] {
        guard let id = link.open, !isSuspended || isLastWord else { return [] }
        var actions: [AppAction] = []
        if environment {
            actions.append(.send(id, JSONText.encode(phone.environmentEvent(at: now))))
        }
        let state: JSON
        switch lifecycle {
        case .active: state = phone.appStateEvent("active", mode: nil, at: now)
        case .inactive: state = phone.appStateEvent("inactive", mode: nil, at: now)
        case .background(let mode):
            state = phone.appStateEvent("background", mode: mode, at: now)
        }
        return actions + [.send(id, JSONText.encode(state))]
    }

    // MARK: - Link

    private mutating func act(on due: AppLink.Due) -> [AppAction] {
        switch due {
        case .connect(let id): [.connect(id, target: linkTarget)]
        case .hung(let id), .dead(let id): [.abort(id)]
        case .heartbeat(let id):
            [.send(id, JSONText.encode(.object([JSON.Member("id", "heartbeat")])))]
        }
    }

    private var linkTarget: String {
        var target = options.basePath + "?platform=" + options.platform.rawValue
        if !options.phoneID.isEmpty {
            target += "&phone_id=" + PercentText.encode(options.phoneID)
        }
        return options.extraQuery.isEmpty ? target : target + "&" + options.extraQuery
    }

    // MARK: - Queue

    /// Seconds between two polls.
    private var pollInterval: Double {
        if awakeUntil != nil { return AppTimes.wakePoll }
        if case .background = lifecycle { return AppTimes.backgroundPoll }
        return AppTimes.foregroundPoll
    }

    private mutating func resumePolling(at now: Moment) -> [AppAction] {
        if case .background = lifecycle {
            polling.start(at: now.monotonic)
        } else if options.pollsInForeground {
            polling.start(at: now.monotonic)
        } else {
            return pausePolling()
        }
        return []
    }

    private mutating func pausePolling() -> [AppAction] {
        polling.stop().map { [.cancel($0)] } ?? []
    }

    private mutating func poll(at now: Moment) -> AppAction {
        var target = options.basePath + "/commands?platform=" + options.platform.rawValue
        if !options.phoneID.isEmpty {
            target += "&phone_id=" + PercentText.encode(options.phoneID)
        }
        switch lifecycle {
        case .active: target += "&app_state=active"
        case .inactive: target += "&app_state=inactive"
        case .background: target += "&app_state=background"
        }
        if case .background(let mode) = lifecycle {
            switch options.platform {
            case .ios: target += "&pip_bridge_enabled=\(mode == .pip)"
            case .android: target += "&fgs_bridge_enabled=\(mode == .fgs)"
            }
        }
        target += "&limit=10"
        let id = nextRequestID()
        polling.asked(id, at: now.monotonic)
        return .request(id, method: "GET", target: target, body: nil)
    }

    private mutating func nextPost(at now: Moment) -> AppAction? {
        let id = RequestID(rawValue: requestCount + 1)
        guard let body = outbox.takeDue(as: id, at: now.monotonic) else { return nil }
        requestCount += 1
        return .request(id, method: "POST", target: options.basePath + "/results", body: body)
    }

    private mutating func nextRequestID() -> RequestID {
        requestCount += 1
        return RequestID(rawValue: requestCount)
    }

    // MARK: - Commands

    /// Takes one command in, from whatever route.
    private mutating func take(
        _ value: JSON, by route: AnswerRoute, at now: Moment
    ) -> [AppAction] {
        // Without a usable id there is nothing that an answer could name.
        guard let idText = value["id"]?.stringValue, !idText.isEmpty else { return [] }
        let id = CommandID(idText)
        if value["type"] == nil, id.isReserved { return [] }
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
                    finishesAt: now.monotonic + options.timeScale.nanoseconds(seconds: seconds)))
            return []
        }
    }

    /// Reads a command, or says what is wrong with it; `timeout_ms` is the board's business.
    private static func command(
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
    private mutating func finishRuns(at now: Moment) -> [AppAction] {
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
    private func refusal(of command: BridgeCommand) -> CommandResponse.Failure? {
        guard case .background(let mode) = lifecycle else { return nil }
        guard let known = Contract.current.command(named: command.type),
            !known.backgroundRoutes.contains(mode.route)
        else { return nil }
        return .init(
            "user_action_required", "app_backgrounded", "Bring the app to the foreground")
    }

    private static func isRefusal(_ response: CommandResponse) -> Bool {
        response.error?["code"]?.stringValue == "invalid_arguments"
            && response.error?["details"] == nil
    }

    private mutating func raisePrompt(_ permission: Phone.Permission, at now: Moment) {
        guard let delay = options.promptAnswerDelay, promptAnswers[permission] == nil else {
            return
        }
        promptAnswers[permission] =
            now.monotonic + options.timeScale.nanoseconds(seconds: delay)
    }

    private mutating func decide(
        _ permission: Phone.Permission, _ decision: Phone.Decision, at now: Moment
    ) -> [AppAction] {
        phone.permissions[permission] = decision
        guard decision != .pending else { return [] }
        promptAnswers[permission] = nil
        for index in runs.indices where runs[index].waitsFor == permission {
            runs[index].waitsFor = nil
        }
        return isRunning ? finishRuns(at: now) + posts(at: now) : []
    }

    /// Answers a command on its route and on those that asked again meanwhile.
    private mutating func finish(
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
    private func reissued(_ answer: Bytes, id: CommandID) -> Bytes {
        guard options.defects.contains(.a4), let value = try? JSONText.parse(answer),
            var response = try? CommandResponse(value, ignoresCase: false)
        else { return answer }
        response.id = id
        return JSONText.encode(response.json)
    }

    private mutating func send(
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

    private mutating func posts(at now: Moment) -> [AppAction] {
        var actions: [AppAction] = []
        while let post = nextPost(at: now) { actions.append(post) }
        return actions
    }
}
