import PhoneBridge
import Wire

/// Foreground, background and suspension, and the link that goes with them
/// (contract, "Connection" and "AppEvent").
extension App {
    var isSuspended: Bool {
        if case .background(let mode) = lifecycle { !mode.isRunning } else { false }
    }

    /// Whether the app's code runs, be it for a wake's short while.
    var isRunning: Bool { !isSuspended || awakeUntil != nil }

    mutating func enterBackground(
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

    mutating func enterForeground(at now: Moment) -> [AppAction] {
        let wasSuspended = isSuspended
        lifecycle = .active
        awakeUntil = nil
        var actions: [AppAction] = []
        if wasSuspended || link.isIdle {
            actions += reconnect(at: now)
        } else {
            actions += report(environment: true, at: now)
        }
        return actions + resumePolling(at: now) + deadlineReached(at: now)
    }

    /// Wants a connection again after a suspension; what is left of the old one is given up.
    mutating func reconnect(at now: Moment) -> [AppAction] {
        guard let id = link.current else {
            link.start(at: now.monotonic)
            return []
        }
        link.retry(at: now.monotonic)
        return [.abort(id)]
    }

    /// Says where the phone and the app stand (contract, "AppEvent").
    func report(
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

    mutating func act(on due: AppLink.Due) -> [AppAction] {
        switch due {
        case .connect(let id): [.connect(id, target: linkTarget)]
        case .hung(let id), .dead(let id): [.abort(id)]
        case .heartbeat(let id):
            [.send(id, JSONText.encode(.object([JSON.Member("id", "heartbeat")])))]
        }
    }

    var linkTarget: String {
        var target = options.basePath + "?platform=" + options.platform.rawValue
        if !options.phoneID.isEmpty {
            target += "&phone_id=" + PercentText.encode(options.phoneID)
        }
        return options.extraQuery.isEmpty ? target : target + "&" + options.extraQuery
    }
}
