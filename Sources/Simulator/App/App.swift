package import PhoneBridge
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
    enum Lifecycle {
        case active
        case inactive
        case background(BackgroundMode)
    }

    /// A command that is being done.
    struct Run {
        let key: CommandCache.Key
        let command: BridgeCommand
        let route: AnswerRoute
        /// When its work is done; the prompt may make it later.
        let finishesAt: Int64
        /// When the board stops waiting for its answer; only defect A10 asks.
        let expiresAt: Int64
        var waitsFor: Phone.Permission?
    }

    /// What its commands change; a test may look at it.
    package var phone: Phone
    let options: AppOptions
    var link: AppLink
    var polling: AppPolling
    var outbox: AppOutbox
    var cache: CommandCache
    var runs: [Run] = []
    var lifecycle = Lifecycle.active
    /// The end of a BLE wake's window.
    var awakeUntil: Int64?
    /// When the prompts that are shown will be answered.
    var promptAnswers: [Phone.Permission: Int64] = [:]
    var requestCount: UInt64 = 0
    var latestCommandID = CommandID("")
    /// Set by defect A10: no command is done any more.
    var isLatched = false

    package init(options: AppOptions = AppOptions()) {
        self.options = options
        phone = Phone(platform: options.platform, defects: options.defects)
        phone.contacts = options.contacts
        link = AppLink(
            scale: options.timeScale, seed: options.seed,
            reconnect: options.defects.contains(.a22) ? 0.1...0.3 : AppTimes.reconnect)
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

    /// The state that the app is in.
    package var state: PhoneStateWord {
        switch lifecycle {
        case .active: .active
        case .inactive: .inactive
        case .background(let mode): .background(mode)
        }
    }

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
            let isBlocked = options.defects.contains(.a20) && !runs.isEmpty
            while let due = link.takeDue(at: now.monotonic, isBlocked: isBlocked) {
                actions += act(on: due)
            }
        }
        guard isRunning else { return actions }
        actions += finishRuns(at: now)
        switch polling.due(at: now.monotonic) {
        case nil: break
        case .poll?: actions.append(poll(at: now))
        case .hung(let id)?:
            if options.defects.contains(.a24) {
                polling.latch()
            } else {
                _ = polling.answered(id, nextAfter: pollInterval, at: now.monotonic)
            }
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
            let wasSuspended = isSuspended
            lifecycle = .inactive
            if wasSuspended { return reconnect(at: now) + pausePolling() }
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
        case .deaf(let isDeaf):
            return link.open.map { [.listen($0, !isDeaf)] } ?? []
        case .decide(let permission, let decision):
            return decide(permission, decision, at: now)
        case .copy(let text):
            phone.clipboard = text
            return []
        case .say(let text):
            guard let id = link.open, !isSuspended else { return [] }
            return [.send(id, Bytes(text.utf8))]
        }
    }
}
