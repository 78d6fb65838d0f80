package import Capture
package import PhoneBridge
import Wire

/// What a session did on the link, in the form in which two of them are compared: logical
/// commands with their answers, events of the app, connections, and counts.
///
/// Contents lie in a spool: of a command stay its id, which is cut at 256 bytes, and about 200
/// bytes more.
package struct DiffSession {
    /// A JSON text in the spool.
    package struct Content: Sendable, Equatable {
        var offset: UInt64
        var count: Int
    }

    /// An answer of the app.
    package struct Answer: Sendable, Equatable {
        package var seq: Int
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
        package var content: Content?
        /// The first answer.
        package var answer: Answer?
        /// Answers that came though one had come before.
        package var duplicates = 0
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
    }

    /// People's name for it: the file.
    package let name: String
    package internal(set) var info: SessionInfo?
    package internal(set) var commands: [Command] = []
    package internal(set) var events: [AppEvent] = []
    package internal(set) var links: [Link] = []
    /// `ios` or `android`, as the handshake or the first poll says.
    package internal(set) var platform: String?
    package internal(set) var appHeartbeats = 0
    package internal(set) var boardHeartbeats = 0
    package internal(set) var polls = 0
    /// Results to ids that no command had.
    package internal(set) var strayResults = 0
    /// Bytes of the link that are not in the file, or remarks of its reader.
    package internal(set) var holes = 0
    let spool = SpoolFile()

    package init(name: String) {
        self.name = name
    }
}
