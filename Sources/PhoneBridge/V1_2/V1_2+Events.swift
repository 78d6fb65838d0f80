extension V1_2 {
    static let events: [Contract.EventType] = [phoneEnvironment, phoneAppState]

    private static let phoneEnvironment = Contract.EventType(
        name: "phone_environment", section: "AppEvent (app → board)", data: environment)

    /// The phone's environment, as the app reports it and as the status document shows it.
    static let environment: [Contract.Field] = [
        .init("captured_at", .instant, personal: .instant, isMoment: true),
        .init("source", .string),
        .init("platform", .string),
        .init("system_name", .string),
        .init("system_version", .string),
        .init("is_tablet", .boolean),
        .init("locale", .string),
        .init("language", .string),
        .init("region", .string, personal: .place),
        .init("time_zone", .string, personal: .place),
        .init("utc_offset_minutes", .integer),
        .init("utc_offset", .string),
        .init("uses_24_hour_clock", .boolean),
        .init("manufacturer", .string, personal: .device),
        .init("brand", .string, personal: .device),
        .init("model", .string, personal: .device),
        // Not in the contract's example; the board keeps it (board facts, "Heartbeat and
        // events").
        .init("device_name", .string, personal: .name),
        .init("screen", .object(screen)),
        .init("battery", .object(battery)),
        .init("system_apps", .array(.object(app))),
        .init("third_party_apps", .array(.object(app))),
        .init("available_apps", .array(.object(app))),
    ]

    private static let screen: [Contract.Field] = [
        .init("width", .number),
        .init("height", .number),
        .init("scale", .number),
        .init("native_scale", .number),
        .init("density", .number),
        .init("scaled_density", .number),
        .init("width_pixels", .integer),
        .init("height_pixels", .integer),
        .init("native_width_pixels", .integer),
        .init("native_height_pixels", .integer),
        .init("density_dpi", .integer),
    ]

    private static let battery: [Contract.Field] = [
        .init("level", .number),
        .init("charging", .boolean),
        .init("state", .string),
    ]

    private static let app: [Contract.Field] = [
        .init("name", .string),
        .init("available", .boolean),
        .init("category", .string),
        .init("availability_source", .string),
        .init("ios_url", .string),
        .init("android_package", .string),
        .init("note", .string, personal: .note),
        .init("error", .string, personal: .note),
    ]

    private static let phoneAppState = Contract.EventType(
        name: "phone_app_state", section: "AppEvent (app → board)",
        data: [
            .init("app_state", .choice(["active", "background", "inactive"]), required: true),
            .init("return_entry", .string),
            .init("return_entry_available", .boolean),
            .init("pip_bridge_enabled", .boolean),
            .init("reported_at", .instant, personal: .instant, isMoment: true),
        ])
}
