package import Wire

/// The notifications of the phone (contract, command 10).
package struct PhoneNotifications: Sendable {
    package struct Entry: Sendable, Equatable {
        package var notificationID: String
        package var title: String
        package var body: String?
        /// At once without one.
        package var scheduledAt: Timestamp?
        package var hasSound: Bool
        /// iOS only.
        package var badge: Int?
    }

    /// In the order of sending; the last thousand.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// Sends or schedules the notification of a command's payload, and returns its id.
    mutating func send(
        _ payload: CommandPayload, id: String, platform: Platform
    ) throws(CommandResponse.Failure) -> String {
        let title = try payload.requiredText("title")
        let body = try payload.text("body")
        let scheduledAt = try payload.time("schedule_at")?.instant
        let hasSound = try payload.flag("sound") ?? true
        let badge = try payload.integer("badge")
        let entry = Entry(
            notificationID: id, title: title, body: body, scheduledAt: scheduledAt,
            hasSound: hasSound, badge: platform == .ios ? badge : nil)
        if entries.count == 1000 { entries.removeFirst() }
        entries.append(entry)
        return entry.notificationID
    }
}
