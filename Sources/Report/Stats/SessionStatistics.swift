package import Capture

/// The figures of a session; times are in nanoseconds.
package struct SessionStatistics: Sendable, Equatable {
    /// What one side sent.
    package struct Traffic: Sendable, Equatable {
        /// Bytes of the wire that are in the session.
        package var bytes: UInt64 = 0
        /// Bytes that are known to be missing, where their number is known.
        package var missing: UInt64 = 0
        /// Whole WebSocket messages of data.
        package var messages = 0
        /// WebSocket frames, control frames included.
        package var frames = 0
        package var pings = 0
        package var pongs = 0
        /// Requests, or responses that are not interim.
        package var exchanges = 0

        package init() {}
    }

    /// A type of command on one route.
    package struct CommandKey: Hashable, Sendable, Comparable {
        package var type: String
        /// `websocket` or `queue`.
        package var route: String

        package init(type: String, route: String) {
            self.type = type
            self.route = route
        }

        package static func < (left: CommandKey, right: CommandKey) -> Bool {
            (left.type, left.route) < (right.type, right.route)
        }
    }

    /// What became of the commands of one type and route.
    package struct Commands: Sendable, Equatable {
        /// Handed to the app, each id once.
        package var commands = 0
        /// Handed to the app again.
        package var again = 0
        package var succeeded = 0
        package var failed = 0
        /// Results that came after the time that the command allowed.
        package var late = 0
        /// Results beyond the first.
        package var duplicate = 0
        /// No result came, and the time that the command allowed was over.
        package var unanswered = 0
        /// No result came yet when the session ended.
        package var open = 0
        /// From the last sending to the first result.
        package var latency = Distribution()

        /// Commands whose time ran out.
        package var timedOut: Int { late + unanswered }

        /// Takes in what another row has.
        mutating func add(_ other: Commands) {
            commands += other.commands
            again += other.again
            succeeded += other.succeeded
            failed += other.failed
            late += other.late
            duplicate += other.duplicate
            unanswered += other.unanswered
            open += other.open
            latency.add(other.latency)
        }
    }

    /// Commands that waited in the board's queue.
    package struct Queue: Sendable, Equatable {
        package var enqueued = 0
        package var polls = 0
        /// Polls that brought nothing.
        package var emptyPolls = 0
        package var handedOut = 0
        /// From being enqueued to being handed out.
        package var wait = Distribution()
        /// From being enqueued to the first result.
        package var untilResult = Distribution()
    }

    package struct Heartbeats: Sendable, Equatable {
        package var app = 0
        package var board = 0
        /// Between two of the app on one connection.
        package var gaps = Distribution()
        /// Gaps by how long they were; the counts of `gapEdges`, and of what is longer.
        package var gapCounts = [Int](repeating: 0, count: gapEdges.count + 1)
        /// From the app's to the board's echo.
        package var echo = Distribution()

        /// Upper ends of classes of gaps: the contract wants one each 5 s and calls a link
        /// without one for 60 s unhealthy.
        package static let gapEdges: [Int64] = [4, 6, 10, 30, 60].map { $0 * 1_000_000_000 }
    }

    package struct Connections: Sendable, Equatable {
        package var count = 0
        /// Those that became WebSockets.
        package var webSockets = 0
        /// Those that were there before the session.
        package var joined = 0
        /// Those that had not ended when the session did.
        package var open = 0
        package var webSocketDurations = Distribution()
        package var otherDurations = Distribution()
        /// How WebSockets ended, such as `app close 1000` or `board reset`.
        package var endings: [String: Int] = [:]
        /// A phone that came back, and how long it was away.
        package var reconnections = Distribution()
        /// A phone that came while its last connection was still open.
        package var overlapping = 0
    }

    /// Requests of one kind.
    package struct Exchanges: Sendable, Equatable {
        package var requests = 0
        /// Final responses by status.
        package var statuses: [Int: Int] = [:]
        /// From the end of the request to that of the response.
        package var duration = Distribution()
    }

    /// The first line of the session.
    package var info: SessionInfo?
    /// The time of the last event.
    package var duration: Int64 = 0
    /// Events that were counted, the session's first and last line not among them.
    package var events = 0
    /// Events that the session says it lacks.
    package var dropped = 0
    package var gaps = 0
    package var notes: [String: Int] = [:]
    package var app = Traffic()
    package var board = Traffic()
    package var connections = Connections()
    package var heartbeats = Heartbeats()
    package var commands: [CommandKey: Commands] = [:]
    /// Results to commands that the session does not have.
    package var unpaired = 0
    /// Results by their error code; those without a text for one under `(none)`.
    package var errors: [String: Int] = [:]
    package var queue = Queue()
    /// By what was asked for: `poll`, `result`, …, `other`.
    package var exchanges: [String: Exchanges] = [:]

    package init() {}

    /// Whether nothing crossed the link.
    package var isEmpty: Bool { connections.count == 0 && app == Traffic() && board == Traffic() }

    /// All commands together.
    package var allCommands: Commands {
        commands.values.reduce(into: Commands()) { $0.add($1) }
    }
}
