package import Capture

/// What is known of how two sessions belong together, where somebody played the first one against
/// a live peer and so made the second.
///
/// Without it commands are paired by what they look like.
package struct SessionPairing: Sendable, Equatable {
    /// Whose doing is judged.
    ///
    /// What the other side said came from the player, and is not compared.
    package var judged: Side
    /// Ids of commands: recorded to live.
    package var commands: [String: String]
    /// Commands of the first session that could not be put to the test, by their recorded ids: why
    /// not, in one sentence without a full stop.
    package var skipped: [String: String]
    /// Values that an answer brought into being and that are used later, such as an `event_id`:
    /// recorded to live.
    ///
    /// They are compared as what they stand for.
    package var values: [String: String]
    /// What else of the first session was not put to the test, by the `seq` of the event of the
    /// app, of the exchange's request, or of the WebSocket connection: why not.
    ///
    /// Of a connection it is the end that is meant.
    package var unexercised: [Int: String]
    /// What was to happen in the second session and did not, by the `seq` of the event in the
    /// first: one sentence without a full stop.
    package var failures: [Int: String]

    package init(
        judged: Side, commands: [String: String] = [:], skipped: [String: String] = [:],
        values: [String: String] = [:], unexercised: [Int: String] = [:],
        failures: [Int: String] = [:]
    ) {
        self.judged = judged
        self.commands = commands
        self.skipped = skipped
        self.values = values
        self.unexercised = unexercised
        self.failures = failures
    }
}
