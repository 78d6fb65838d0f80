extension V1_2 {
    /// What the board's HTTP responses hold (board facts, "JSON" and "Status document").
    static let bodies: Contract.ResponseBodies = {
        var bodies = Contract.ResponseBodies()
        bodies.enqueue = [
            .init("command_id", .string, required: true, personal: .id),
            .init("status", .string, required: true),
            moment("queued_at"),
        ]
        bodies.result = [.init("status", .string, required: true)]
        bodies.query = [
            .init("command_id", .string, required: true, personal: .id),
            .init("status", .string, required: true),
            moment("completed_at"),
        ]
        bodies.status = [
            .init("connected", .boolean, required: true),
            .init("platform", .string),
            .init("phone_id", .string, personal: .id),
            .init("device_type", .string),
            .init("pointer_mode", .string),
            .init("board_id", .string, personal: .device),
            moment("last_heartbeat_at"),
            .init("app_state", .string),
            moment("app_state_updated_at"),
            .init("return_entry", .string),
            .init("return_entry_available", .boolean),
            .init("pip_bridge_enabled", .boolean),
            .init("fgs_bridge_enabled", .boolean),
            moment("fgs_bridge_updated_at"),
            .init("environment", .object(environment)),
            moment("environment_updated_at"),
        ]
        return bodies
    }()

    private static func moment(_ name: String) -> Contract.Field {
        .init(name, .instant, personal: .instant, isMoment: true)
    }
}
