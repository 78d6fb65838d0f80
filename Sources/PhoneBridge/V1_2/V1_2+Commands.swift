import Wire

extension V1_2 {
    static let commands: [Contract.CommandType] = [
        openApp, clipboardRead, clipboardWrite, calendarCreate, calendarQuery, calendarDelete,
        contactsQuery, contactsCreate, contactsUpdate, notificationSend,
    ]

    /// The routes that carry all data commands.
    private static let pipAndFGS: Set<Contract.BackgroundRoute> = [.pip, .fgs]
    private static let allRoutes: Set<Contract.BackgroundRoute> = [.pip, .fgs, .bleWake]

    private static let openApp = Contract.CommandType(
        name: "open_app", section: "1. open_app",
        fields: [
            .init("app", .string),
            .init("url", .url(["http", "https", "sms", "mailto", "tel"]), personal: .url),
        ],
        needsOneField: true,
        methods: [
            "ios_url_scheme", "ios_shortcut", "android_intent", "android_deeplink",
            "launch_package", "open_url",
        ],
        effect: .opens)

    // MARK: - Clipboard

    private static let clipboardRead = Contract.CommandType(
        name: "clipboard_read", section: "2. clipboard_read",
        data: [.init("text", .string, required: true, personal: .clipboard)],
        effect: .reads, backgroundRoutes: pipAndFGS)

    private static let clipboardWrite = Contract.CommandType(
        name: "clipboard_write", section: "3. clipboard_write",
        payload: [.init("text", .string, required: true, personal: .clipboard)],
        methods: ["clipboard_write"],
        effect: .overwrites, backgroundRoutes: pipAndFGS)

    // MARK: - Calendar

    private static let calendarCreate = Contract.CommandType(
        name: "calendar_create", section: "4. calendar_create",
        payload: [
            .init("title", .string, required: true, personal: .title),
            .init("start_at", .instant, required: true, personal: .instant),
            .init("end_at", .instant, required: true, personal: .instant),
            .init("all_day", .boolean, default: false),
            .init("location", .string, personal: .place),
            .init("notes", .string, personal: .note),
        ],
        data: [.init("event_id", .string, required: true, personal: .id)],
        effect: .creates, bornID: "event_id", backgroundRoutes: allRoutes, permission: .calendar)

    private static let calendarQuery = Contract.CommandType(
        name: "calendar_query", section: "5. calendar_query",
        payload: [
            .init("from", .instant, required: true, personal: .instant),
            .init("to", .instant, required: true, personal: .instant),
        ],
        data: [
            .init(
                "events",
                .array(
                    .object([
                        .init("event_id", .string, required: true, personal: .id),
                        .init("title", .string, required: true, personal: .title),
                        .init("start_at", .instant, required: true, personal: .instant),
                        .init("end_at", .instant, required: true, personal: .instant),
                        .init("all_day", .boolean),
                        .init("location", .string, personal: .place),
                        .init("notes", .string, personal: .note),
                    ])), required: true)
        ],
        effect: .reads, backgroundRoutes: allRoutes, permission: .calendar)

    private static let calendarDelete = Contract.CommandType(
        name: "calendar_delete", section: "6. calendar_delete",
        payload: [.init("event_id", .string, required: true, personal: .id)],
        methods: ["calendar_delete"],
        effect: .deletes, usedID: "event_id", backgroundRoutes: allRoutes, permission: .calendar)

    // MARK: - Contacts

    private static let contactsQuery = Contract.CommandType(
        name: "contacts_query", section: "7. contacts_query",
        payload: [
            // Matches a name or a phone number.
            .init("query", .string, personal: .name),
            .init("limit", .integer, default: 20),
        ],
        data: [
            .init(
                "contacts",
                .array(
                    .object([
                        .init("contact_id", .string, required: true, personal: .id),
                        .init("name", .string, required: true, personal: .name),
                        .init("phone_numbers", .array(.string), personal: .phone),
                        .init("emails", .array(.string), personal: .email),
                        .init("organization", .string, personal: .name),
                        .init("notes", .string, personal: .note),
                    ])), required: true)
        ],
        effect: .reads, backgroundRoutes: allRoutes, permission: .contacts,
        listLimit: .init(field: "limit", list: "contacts"))

    private static let contactsCreate = Contract.CommandType(
        name: "contacts_create", section: "8. contacts_create",
        payload: [.init("name", .string, required: true, personal: .name)] + contactDetails,
        data: [.init("contact_id", .string, required: true, personal: .id)],
        effect: .creates, bornID: "contact_id", backgroundRoutes: allRoutes,
        permission: .contacts)

    private static let contactsUpdate = Contract.CommandType(
        name: "contacts_update", section: "9. contacts_update",
        payload: [
            .init("contact_id", .string, required: true, personal: .id),
            .init("name", .string, personal: .name),
        ] + contactDetails,
        methods: ["contacts_update"],
        effect: .updates, usedID: "contact_id", backgroundRoutes: pipAndFGS,
        permission: .contacts)

    private static let contactDetails: [Contract.Field] = [
        .init("phone_numbers", .array(.string), personal: .phone),
        .init("emails", .array(.string), personal: .email),
        .init("organization", .string, personal: .name),
        .init("notes", .string, personal: .note),
    ]

    // MARK: - Notifications

    private static let notificationSend = Contract.CommandType(
        name: "notification_send", section: "10. notification_send",
        payload: [
            .init("title", .string, required: true, personal: .title),
            .init("body", .string, personal: .note),
            // Absent: at once.
            .init("schedule_at", .instant, personal: .instant),
            .init("sound", .boolean, default: true),
            .init("badge", .integer),
        ],
        data: [.init("notification_id", .string, required: true, personal: .id)],
        effect: .creates, bornID: "notification_id", postponedBy: "schedule_at",
        backgroundRoutes: allRoutes, permission: .notifications)
}
