import Wire

/// What the board must know of the phone whose connection is the newest, by what that phone said
/// and what shows that the board has heard it.
///
/// The board reads a connection in order. So an echo proves that it has read all that came before
/// the heartbeat; what came since may have been read or not, and then both are allowed.
struct ReportedPhone: Sendable {
    /// An environment that the phone reported.
    struct Environment: Sendable {
        var document: JSONDocument
        var seq: Int
        /// The phone's heartbeats before it.
        fileprivate var beats: Int
    }

    let conn: Int
    /// The last environment that the board has read; nil for none.
    private(set) var environment: Environment?
    /// Environments that it may have read.
    private(set) var recent: [Environment] = []
    /// States of the app that are the last reported one, as far as the board may know; nil while
    /// nothing is known.
    private(set) var appStates: [String]?
    /// Whether the board has echoed anything since it accepted the connection.
    var isHeard: Bool { echoes > 0 }
    /// When it last proved to have read something, in nanoseconds of the session.
    private(set) var lastProof: Int64 = .max

    private var beats = 0
    private var echoes = 0
    /// The phone said something that the board may have taken or not.
    private var isDoubtful = false
    private var doubtfulBeats = 0
    /// `isPolled`: another one was reported by a poll since.
    private var recentStates: [(state: String, beats: Int, isPolled: Bool)] = []
    /// What a poll reported last.
    private var polledState: String?

    /// More environments than this without an echo between them are not told apart.
    private static let maximumRecent = 8

    init(conn: Int) {
        self.conn = conn
    }

    /// Whether what the board shows can be held against what is known here.
    var isEnvironmentKnown: Bool { isHeard && !isDoubtful }

    /// The environments that the board may show now.
    var environments: [Environment] { (environment.map { [$0] } ?? []) + recent }

    mutating func beat() { beats += 1 }

    /// The board echoed a heartbeat: it has read what came before that.
    mutating func echo(at time: Int64) {
        guard echoes < beats else { return }
        echoes += 1
        lastProof = time
        if isDoubtful, doubtfulBeats < echoes, recent.contains(where: { $0.beats < echoes }) {
            isDoubtful = false
        }
        if let last = recent.lastIndex(where: { $0.beats < echoes }) {
            environment = recent[last]
            recent.removeFirst(last + 1)
        }
        if let last = recentStates.lastIndex(where: { $0.beats < echoes }) {
            let proven = recentStates[last]
            // Which of the two the board took last is not known.
            let polled = proven.isPolled ? polledState.map { [$0] } ?? [] : []
            appStates = polled + [proven.state] + recentStates[(last + 1)...].map(\.state)
            recentStates.removeFirst(last + 1)
        }
    }

    /// The phone reported an environment, as the board takes it.
    mutating func report(environment document: JSONDocument, seq: Int) {
        guard recent.count < Self.maximumRecent else { return doubt() }
        recent.append(Environment(document: document, seq: seq, beats: beats))
    }

    /// The phone reported one that the board may take or not.
    mutating func doubt() {
        isDoubtful = true
        doubtfulBeats = beats
        recent = []
    }

    /// The phone reported a state over this connection.
    mutating func report(appState: String) {
        guard recentStates.count < Self.maximumRecent else { return forgetAppState() }
        recentStates.append((appState, beats, false))
        appStates?.append(appState)
    }

    /// A state was reported by another way, which the board has answered.
    mutating func set(appState: String) {
        // What was said here meanwhile may be later or earlier.
        appStates = [appState] + recentStates.map(\.state)
        polledState = appState
        for index in recentStates.indices { recentStates[index].isPolled = true }
    }

    /// Another phone, or nobody knows who, may have said something.
    mutating func forgetAppState() {
        appStates = nil
        recentStates = []
    }
}
