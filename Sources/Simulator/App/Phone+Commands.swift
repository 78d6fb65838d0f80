import PhoneBridge
import Wire

/// The ten commands, each as its effect on the phone and its answer (contract, "Command Types").
extension Phone {
    /// The permission that a command of `type` needs; nil for none.
    static func permission(for type: String) -> Permission? {
        Contract.current.command(named: type)?.permission
    }

    /// The error for a permission that the user denied.
    static func denial(of permission: Permission) -> CommandResponse.Failure {
        let title =
            switch permission {
            case .calendar: "Calendar"
            case .contacts: "Contacts"
            case .notifications: "Notification"
            }
        return CommandResponse.Failure(
            "user_action_required", "permission_denied",
            "\(title) access not granted")
    }

    /// Does a command; its permission has been granted.
    mutating func execute(_ command: BridgeCommand) -> CommandResponse {
        do {
            return try response(to: command)
        } catch {
            return CommandResponse(id: command.id, failure: error)
        }
    }

    private mutating func response(
        to command: BridgeCommand
    ) throws(CommandResponse.Failure) -> CommandResponse {
        func data(_ name: String, _ text: String) -> CommandResponse {
            CommandResponse(id: command.id, data: .object([JSON.Member(name, .string(text))]))
        }
        func done() -> CommandResponse { CommandResponse(id: command.id, method: command.type) }

        switch command.type {
        case "open_app":
            return CommandResponse(id: command.id, method: try open(command))
        case "clipboard_read":
            return data("text", clipboard)
        case "clipboard_write":
            guard let text = try CommandPayload(command.payload).text("text") else {
                throw .invalidArguments("text is missing")
            }
            clipboard = text
            return done()
        case "calendar_create":
            let payload = try CommandPayload(command.payload)
            return data("event_id", try createEvent(payload))
        case "calendar_query":
            return CommandResponse(
                id: command.id, data: try calendar.query(CommandPayload(command.payload)))
        case "calendar_delete":
            try calendar.delete(CommandPayload(command.payload), defects: defects)
            return done()
        case "contacts_query":
            // The whole payload is optional here.
            return CommandResponse(
                id: command.id,
                data: try contacts.query(CommandPayload(command.payload ?? .object([]))))
        case "contacts_create":
            let payload = try CommandPayload(command.payload)
            return data("contact_id", try createContact(payload))
        case "contacts_update":
            try contacts.update(CommandPayload(command.payload), platform: platform)
            return done()
        case "notification_send":
            let payload = try CommandPayload(command.payload)
            return data("notification_id", try sendNotification(payload))
        default:
            throw .invalidArguments("unknown command type")
        }
    }

    private mutating func createEvent(
        _ payload: CommandPayload
    ) throws(CommandResponse.Failure) -> String {
        let id = makeID("event")
        return try calendar.create(payload, id: id, defects: defects)
    }

    private mutating func createContact(
        _ payload: CommandPayload
    ) throws(CommandResponse.Failure) -> String {
        let id = makeID("contact")
        return try contacts.create(payload, id: id, platform: platform)
    }

    private mutating func sendNotification(
        _ payload: CommandPayload
    ) throws(CommandResponse.Failure) -> String {
        let id = makeID("notification")
        return try notifications.send(payload, id: id, platform: platform)
    }

    // MARK: - open_app

    /// The schemes that a URL may have (contract, "BridgeCommand").
    private static let schemes: Set<String> = ["http", "https", "sms", "mailto", "tel"]

    /// Opens the one target of a command, and returns the method that did it.
    private mutating func open(
        _ command: BridgeCommand
    ) throws(CommandResponse.Failure) -> String {
        switch (command.app, command.url) {
        case (nil, nil): throw .invalidArguments("app or url is missing")
        case (_?, _?): throw .invalidArguments("app and url are both set")
        case (let app?, nil):
            guard !app.isEmpty else { throw .invalidArguments("app must not be empty") }
            guard let target = apps.first(where: { $0.isCalled(app) }), target.isInstalled else {
                throw .init("precondition_failed", "app_not_installed", "App not installed")
            }
            noteOpened(target.name)
            return platform == .ios ? "ios_url_scheme" : "launch_package"
        case (nil, let url?):
            guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")),
                Self.schemes.contains(url[..<colon].lowercased()),
                url.utf8.index(after: colon) != url.utf8.endIndex
            else {
                throw .invalidArguments("url must be http, https, sms, mailto or tel")
            }
            noteOpened(url)
            return "open_url"
        }
    }
}
