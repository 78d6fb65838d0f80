package import Capture
package import PhoneBridge
package import Wire

/// What a session did on the link, in the form in which two of them are compared: logical
/// commands with their answers, HTTP exchanges, events of the app, connections, and counts.
///
/// Contents lie in a spool: of a command stay its id, which is cut at 256 bytes, and about 300
/// bytes more.
package struct DiffSession {
    /// A JSON text in the spool.
    package struct Content: Sendable, Equatable {
        var offset: UInt64
        var count: Int
        /// A hash of what it says but for its id, to find what is the same; of no use elsewhere.
        var hash: Int
    }

    /// An answer of the app.
    package struct Answer: Sendable, Equatable {
        package var seq: Int
        /// Nanoseconds since the session began.
        package var time: Int64
        package var route: Route
        /// Nanoseconds since the command was last sent; nil if that is not known.
        package var latency: Int64?
        package var isLate: Bool
        /// Nil for what was too large to be read.
        package var content: Content?
    }

    /// A logical command: all its sendings under one id, and what came of them.
    package struct Command: Sendable, Equatable {
        package var id: String
        package var type: String
        /// Counted from 1 among those of its type.
        package var ordinal: Int
        package var seq: Int
        package var route: Route
        package var sendings = 1
        /// When it was last sent before its first answer, in nanoseconds of the session.
        package var lastSent: Int64
        /// How long the answer to that may take, in nanoseconds.
        package var timeout: Int64
        /// The place in `links` of the WebSocket connection on which that was.
        package var link: Int?
        package var content: Content?
        /// What the poll told of the phone to which the queue first handed it out.
        package var poll: PollState?
        /// The first answer.
        package var answer: Answer?
        /// Answers that came though one had come before.
        package var duplicates = 0
        /// What the board's own side got for it, where the session has a note of that.
        package var outcome: Outcome?
    }

    /// What the board's own side got for a command (capture format, `outcome`).
    package struct Outcome: Sendable, Equatable {
        package var seq: Int
        package var content: Content?
    }

    /// An HTTP exchange; polls, which come out as commands, are not kept.
    package struct Exchange: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            /// The upgrade to WebSocket.
            case connect
            case enqueue
            case result
            case query
            case status
        }

        package var kind: Kind
        /// The command's id; empty where it is about none.
        package var id: String
        /// Counted from 1 among those of its kind and id.
        package var ordinal: Int
        /// That of the request.
        package var seq: Int
        /// The code of the response; nil without one.
        package var status: Int?
        /// The body of the response; what is no JSON is kept as a JSON string.
        package var content: Content?
    }

    /// An event of the app.
    package struct AppEvent: Sendable, Equatable {
        package var name: String
        /// Counted from 1 among those of its name.
        package var ordinal: Int
        package var seq: Int
        package var content: Content?
    }

    /// A WebSocket connection.
    package struct Link: Sendable, Equatable {
        package var seq: Int
        /// How it ended: `1000` for a close frame, else `fin`, `reset` …; `open` if it did not.
        package var end = "open"
        /// The side that ended it.
        package var endedBy: Side?
        /// When that was, in nanoseconds of the session.
        package var endTime: Int64?
        /// The code with which the other side answered a close frame that breaks RFC 6455; nil for
        /// one in good order, and without an answer.
        package var answer: String?
        /// Whether the close frame that ended it breaks RFC 6455.
        var isBroken = false
    }

    /// People's name for it: the file.
    package let name: String
    package internal(set) var info: SessionInfo?
    package internal(set) var commands: [Command] = []
    package internal(set) var events: [AppEvent] = []
    package internal(set) var exchanges: [Exchange] = []
    package internal(set) var links: [Link] = []
    /// `ios` or `android`, as the handshake or the first poll says.
    package internal(set) var platform: String?
    /// Times that the app told in its events; the first ones where there are very many.
    package internal(set) var toldTimes: Set<Timestamp> = []
    /// When its last event was, in nanoseconds since it began.
    package internal(set) var duration: Int64 = 0
    /// Times that are kept.
    static let maximumTimes = 4_096
    package internal(set) var appHeartbeats = 0
    package internal(set) var boardHeartbeats = 0
    /// Heartbeats of the app to which the board owed an echo and gave none.
    package internal(set) var heartbeatsWithoutEcho = 0
    package internal(set) var polls = 0
    /// Polls that got another answer than 200, by its code.
    package internal(set) var refusedPolls: [Int: Int] = [:]
    /// Results to ids that no command had.
    package internal(set) var strayResults = 0
    /// What the board's own side got for commands that were never sent: how often each code,
    /// `ok` for a success.
    package internal(set) var strayOutcomes: [String: Int] = [:]
    /// Bytes of the link that are not in the file, or remarks of its reader.
    package internal(set) var holes = 0
    let spool = SpoolFile()

    package init(name: String) {
        self.name = name
    }

    /// Whether a time is far from all that took place, so that no clock of the link showed it; not
    /// known without the time at which the session began.
    func isFar(_ time: Timestamp) -> Bool {
        guard let start = info.flatMap({ Timestamp($0.startedAt) }) else { return false }
        let (end, overflow) = start.seconds.addingReportingOverflow(duration / 1_000_000_000)
        guard !overflow, start.seconds > .min + Self.clockSlack, end < .max - Self.clockSlack
        else { return false }
        return time.seconds < start.seconds - Self.clockSlack
            || time.seconds > end + Self.clockSlack
    }

    /// Whether a time is one that the app told, or goes on from one.
    func isLikeTold(_ time: Timestamp) -> Bool {
        toldTimes.contains { told in
            let (span, overflow) = time.seconds.subtractingReportingOverflow(told.seconds)
            return !overflow && span >= 0 && span <= duration / 1_000_000_000 + 1
        }
    }

    /// Clocks of a link differ by less, in seconds.
    private static let clockSlack: Int64 = 300

    /// The content of a text in the spool.
    package func read(_ content: Content) throws(OutputError) -> Bytes {
        var bytes = Bytes()
        try spool.read(at: content.offset, count: content.count, into: &bytes)
        return bytes
    }
}
