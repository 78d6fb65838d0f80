import PhoneBridge
import Wire

/// The app's requests to the queue: polls and results (contract, "Connection").
extension App {
    /// Seconds between two polls.
    var pollInterval: Double {
        if awakeUntil != nil { return AppTimes.wakePoll }
        if case .background = lifecycle { return AppTimes.backgroundPoll }
        return AppTimes.foregroundPoll
    }

    mutating func resumePolling(at now: Moment) -> [AppAction] {
        if case .background = lifecycle {
            polling.start(at: now.monotonic)
        } else if options.pollsInForeground {
            polling.start(at: now.monotonic)
        } else {
            return pausePolling()
        }
        return []
    }

    mutating func pausePolling() -> [AppAction] {
        polling.stop().map { [.cancel($0)] } ?? []
    }

    mutating func poll(at now: Moment) -> AppAction {
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

    mutating func nextPost(at now: Moment) -> AppAction? {
        let id = RequestID(rawValue: requestCount + 1)
        guard let body = outbox.takeDue(as: id, at: now.monotonic) else { return nil }
        requestCount += 1
        return .request(id, method: "POST", target: options.basePath + "/results", body: body)
    }

    mutating func nextRequestID() -> RequestID {
        requestCount += 1
        return RequestID(rawValue: requestCount)
    }
}
