import PhoneBridge
package import Wire

/// How a reference board is set up.
package struct BoardOptions: Sendable {
    /// Every duration is divided by this one's factor.
    package var timeScale = TimeScale()
    /// The planted bugs; none for the reference.
    package var defects: Set<Defect> = []
    /// Whether a BLE wake can reach the phone; it decides about one refusal of the queue.
    package var isBLEWakeAvailable = false
    /// How its messages are cut into frames.
    package var framing = MessageWriter.Framing.board
    /// The status document's `device_type`, `pointer_mode` and `board_id`, where configured.
    package var deviceType: String?
    package var pointerMode: String?
    package var boardID: String?

    /// Bytes of a request body; a larger one is refused with 413.
    ///
    /// The observed board has no limit and was seen to take 5 MB.
    package var maximumBodySize = 32 << 20
    /// Commands that the queue holds; the observed board has no limit.
    package var maximumQueueCount = 10_000
    /// Bytes of queued commands and kept results together.
    package var maximumQueueSize = 128 << 20
    /// Commands that wait on the WebSocket at once.
    package var maximumPendingCount = 10_000

    package init() {}
}

/// The board's durations in seconds (contract, "Heartbeat"; board-http-facts, "Queue times and
/// limits"), before they are scaled.
enum BoardTimes {
    static let heartbeatLimit = 60.0
    static let heartbeatCheck = 15.0
    static let sweep = 60.0
    static let queueLife = 300.0
    static let inFlightWindow = 30.0
    static let resultLife = 120.0
    /// How long a reported background bridge counts as running.
    static let stateFreshness = 15.0
    /// Milliseconds that a command waits without a `timeout_ms` (contract, "BridgeCommand").
    static let defaultTimeoutMilliseconds = Int(
        Contract.current.timing.defaultTimeoutMilliseconds)
    /// No command waits longer than this, whatever it says: 2⁵³ ms would be for ever.
    static let maximumTimeoutMilliseconds = 3_600_000
}
