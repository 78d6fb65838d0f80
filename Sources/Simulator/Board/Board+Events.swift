import Wire

/// The events that an app sends (contract, "AppEvent"; board-http-facts, "Heartbeat and events").
extension Board {
    enum EventName {
        case environment
        case appState
    }

    static func eventName(of response: CommandResponse) -> EventName? {
        let names = [response.id, response.method.map { CommandID($0) }].compactMap { $0 }
        if names.contains(CommandID("phone_environment")) { return .environment }
        return names.contains(CommandID("phone_app_state")) ? .appState : nil
    }

    mutating func takeEnvironment(
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

    mutating func takeAppState(_ event: CommandResponse, at now: Moment) {
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
}
