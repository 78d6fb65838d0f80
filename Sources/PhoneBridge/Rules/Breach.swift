package import Capture

/// One place in a session where a rule is broken.
package struct Breach: Sendable, Hashable {
    package var rule: Rule
    /// Who broke it.
    package var side: Side
    /// The connection; 0 where it is about none.
    package var conn: Int
    /// Nanoseconds since the session began, when it was certain.
    package var time: Int64
    /// The `seq` of the events that show it, in order; at most `maximumEvents`.
    package var events: [Int]
    /// The command concerned; nil where there is none.
    package var command: Command?
    /// What was seen, and what was due, as one sentence without a full stop.
    package var text: String
    /// The profile's words, where it knows of this deviation; such a breach is listed and does
    /// not count.
    package var knownDeviation: String?

    /// So many events are named: the first ones of a breach say it.
    package static let maximumEvents = 8

    package init(
        rule: Rule, side: Side, conn: Int, time: Int64, events: [Int], command: Command? = nil,
        text: String, knownDeviation: String? = nil
    ) {
        self.rule = rule
        self.side = side
        self.conn = conn
        self.time = time
        self.events = Array(events.prefix(Self.maximumEvents))
        self.command = command
        self.text = text
        self.knownDeviation = knownDeviation
    }

    /// A command as reports name it.
    package struct Command: Sendable, Hashable {
        package var id: String
        package var type: String?

        package init(id: String, type: String?) {
            self.id = id
            self.type = type
        }
    }
}
