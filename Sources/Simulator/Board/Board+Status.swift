import Wire

/// The status document (contract, "AppEvent"; board-http-facts, "Status document").
extension Board {
    var statusDocument: JSON {
        var members = [JSON.Member("connected", .bool(link != nil))]
        func add(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            members.append(JSON.Member(name, .string(text)))
        }
        func add(_ name: String, _ flag: Bool?) {
            guard let flag else { return }
            members.append(JSON.Member(name, .bool(flag)))
        }
        add("platform", phone.platform)
        add("phone_id", phone.phoneID.text)
        add("device_type", options.deviceType)
        add("pointer_mode", options.pointerMode)
        add("board_id", options.boardID)
        add(
            "last_heartbeat_at",
            link.map { Timestamp(wall: $0.lastHeartbeat.wall).exactText })
        add("app_state", phone.appState?.rawValue)
        add("app_state_updated_at", phone.appStateUpdatedAt)
        add("return_entry", phone.returnEntry)
        add("return_entry_available", phone.isReturnEntryAvailable)
        add("pip_bridge_enabled", phone.isPiPEnabled)
        add("fgs_bridge_enabled", phone.isFGSEnabled)
        add("fgs_bridge_updated_at", phone.fgsUpdatedAt)
        if let environment {
            members.append(JSON.Member("environment", environment.json))
            add("environment_updated_at", environment.updatedAt)
        }
        return .object(members)
    }
}
