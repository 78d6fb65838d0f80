package import Wire

/// The calendar of the phone (contract, commands 4 to 6).
package struct PhoneCalendar: Sendable {
    package struct Entry: Sendable, Equatable {
        package var eventID: String
        package var title: String
        /// As it was written; `start` and `end` are the instants.
        package var startText: String
        package var endText: String
        package var start: Timestamp
        package var end: Timestamp
        package var isAllDay: Bool
        package var location: String?
        package var notes: String?
    }

    /// In the order of creation.
    package private(set) var entries: [Entry] = []

    /// Events that the calendar holds.
    static let maximumCount = 10_000

    package init() {}

    /// Creates an event from a command's payload, and returns its id.
    mutating func create(
        _ payload: CommandPayload, id: String, defects: Set<Defect>
    ) throws(CommandResponse.Failure) -> String {
        let title = try payload.requiredText("title")
        var start = try payload.requiredTime("start_at")
        var end = try payload.requiredTime("end_at")
        let isAllDay = try payload.flag("all_day") ?? false
        let location = try payload.text("location")
        let notes = try payload.text("notes")
        if defects.contains(.a11) {
            start = Self.withoutOffset(start)
            end = Self.withoutOffset(end)
        }
        guard start.instant <= end.instant else {
            throw .invalidArguments("end_at is before start_at")
        }
        guard entries.count < Self.maximumCount else {
            throw .init("internal", "native_module_failed", "The calendar is full")
        }
        let entry = Entry(
            eventID: id, title: title, startText: start.text, endText: end.text,
            start: start.instant, end: end.instant, isAllDay: isAllDay, location: location,
            notes: notes)
        entries.append(entry)
        return entry.eventID
    }

    /// The events that touch the range of a command's payload, by their start.
    func query(_ payload: CommandPayload) throws(CommandResponse.Failure) -> JSON {
        let from = try payload.requiredTime("from").instant
        let to = try payload.requiredTime("to").instant
        guard from <= to else { throw .invalidArguments("to is before from") }
        let found = entries.filter { entry in
            entry.start < to && (entry.end > from || entry.start >= from)
        }
        .sorted { $0.start < $1.start }
        return .object([JSON.Member("events", .array(found.map(\.json)))])
    }

    /// Deletes the event of a command's payload.
    mutating func delete(
        _ payload: CommandPayload, defects: Set<Defect>
    ) throws(CommandResponse.Failure) {
        let id = CommandID(try payload.requiredText("event_id"))
        guard let index = entries.firstIndex(where: { CommandID($0.eventID) == id }) else {
            if defects.contains(.a9) { return }
            throw .notFound("Event", nativeCode: "event_not_found")
        }
        entries.remove(at: index)
    }

    /// What defect A11 makes of a time: the same figures, as if they were UTC.
    private static func withoutOffset(
        _ time: (text: String, instant: Timestamp)
    ) -> (text: String, instant: Timestamp) {
        var text = time.text
        if text.hasSuffix("Z") || text.hasSuffix("z") {
            text.removeLast()
        } else {
            text.removeLast(6)
        }
        text += "Z"
        return (text, Timestamp(text) ?? time.instant)
    }
}

extension PhoneCalendar.Entry {
    /// The event as a query shows it.
    var json: JSON {
        var members = [
            JSON.Member("event_id", .string(eventID)), JSON.Member("title", .string(title)),
            JSON.Member("start_at", .string(startText)), JSON.Member("end_at", .string(endText)),
        ]
        if isAllDay { members.append(JSON.Member("all_day", .bool(true))) }
        if let location { members.append(JSON.Member("location", .string(location))) }
        if let notes { members.append(JSON.Member("notes", .string(notes))) }
        return .object(members)
    }
}
