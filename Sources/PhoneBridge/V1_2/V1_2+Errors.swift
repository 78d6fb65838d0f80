extension V1_2 {
    /// Codes that phones send, and those that the board makes itself (contract, "Error
    /// Handling"; board facts, "Commands over WebSocket").
    static let errors: [Contract.ErrorCategory] = [
        .init(
            name: "invalid_input",
            codes: ["invalid_arguments", "unknown_app", "app_no_launch_target"]),
        .init(
            name: "precondition_failed",
            codes: ["app_not_installed", "module_unavailable", "bridge_not_connected"]),
        .init(
            name: "user_action_required",
            codes: ["permission_denied", "app_backgrounded"]),
        .init(
            name: "transient",
            codes: [
                "app_launch_failed", "bridge_timeout", "bridge_connection_closed",
                "bridge_write_failed",
            ]),
        .init(
            name: "internal",
            codes: [
                "native_module_failed", "command_id_collision", "command_marshal_failed",
                "tool_execution_failed",
            ]),
    ]
}
