/// Which command types may leave through which background route (contract, "Connection").
package enum CommandRoute: Sendable {
    /// iOS with PiP, or Android's foreground service.
    case backgroundBridge
    /// iOS in the background without PiP: woken through BLE.
    case bleWake

    /// Whether a command of `type` may take this route; an unknown one never.
    package func carries(_ type: String) -> Bool {
        switch self {
        case .backgroundBridge: Self.bridgeTypes.contains(type)
        case .bleWake: Self.bleTypes.contains(type)
        }
    }

    private static let bleTypes: Set<String> = [
        "calendar_create", "calendar_query", "calendar_delete", "contacts_query",
        "contacts_create", "notification_send",
    ]
    private static let bridgeTypes = bleTypes.union([
        "clipboard_read", "clipboard_write", "contacts_update",
    ])
}
