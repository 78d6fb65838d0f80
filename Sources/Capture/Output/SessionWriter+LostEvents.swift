/// What could not be written, until the file tells of it (capture format, "Disk full").
struct LostEvents {
    /// Connections that began and ended meanwhile are told of one by one up to here; a disk may
    /// stay full for days.
    static let maximumClosed = 16_384

    /// One for each direction, and what else a strange file may hold.
    static let maximumCloses = 4

    /// What is lost of one connection.
    struct Connection {
        var app: UInt64 = 0
        var board: UInt64 = 0
        /// Its `open` is not in the file.
        var lacksOpen = false
        /// Its last state, if it is over.
        var over: OpenConnections.State?
        var closes: [(from: Side?, close: Event.Close)] = []
    }

    private(set) var connections: [Int: Connection] = [:]
    /// Events since the file last told of any.
    private(set) var events = 0
    /// Connections that are not in `connections` any more.
    private(set) var forgottenConnections = 0
    private(set) var forgottenBytes: UInt64 = 0
    private var closed = 0

    var isEmpty: Bool { events == 0 && connections.isEmpty }

    /// Adds an event, or a line that told of some.
    mutating func add(conn: Int, from: Side?, length: UInt64, isEvent: Bool) {
        if isEvent { events += 1 }
        guard conn != 0, length > 0, let from else { return }
        switch from {
        case .app: connections[conn, default: Connection()].app &+= length
        case .board: connections[conn, default: Connection()].board &+= length
        }
    }

    /// Takes back what a note told of that did not get onto the file either.
    mutating func restore(events count: Int) {
        events += count
    }

    mutating func addOpen(conn: Int) {
        connections[conn, default: Connection()].lacksOpen = true
    }

    mutating func addClose(_ close: Event.Close, conn: Int, from: Side?) {
        guard connections[conn]?.closes.count ?? 0 < Self.maximumCloses else { return }
        connections[conn, default: Connection()].closes.append((from, close))
    }

    /// Takes note that a connection is over, whose end is lost.
    mutating func end(conn: Int, state: OpenConnections.State) {
        guard closed < Self.maximumClosed else {
            if let lost = connections.removeValue(forKey: conn) {
                forgottenConnections += 1
                forgottenBytes &+= lost.app &+ lost.board
            }
            return
        }
        closed += 1
        connections[conn, default: Connection()].over = state
    }

    /// A note about what is lost, for people.
    func text(why: String) -> String {
        var text = "recording paused (\(why)); \(events) events are missing"
        if forgottenConnections > 0 {
            text +=
                ", among them those of \(forgottenConnections) connections that began and ended "
                + "meanwhile (\(forgottenBytes) bytes)"
        }
        return text
    }
}
