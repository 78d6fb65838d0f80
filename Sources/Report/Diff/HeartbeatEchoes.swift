import Capture

/// Counts the heartbeats of the app that the board read and did not echo (contract,
/// "Heartbeat").
///
/// That the board read one is known where a later one was echoed, where the board answered the
/// app's close frame, or where the connection stayed open long enough.
struct HeartbeatEchoes {
    /// An echo that takes longer is none, in nanoseconds: twice the interval of heartbeats.
    static let limit: Int64 = 10_000_000_000
    /// Where a connection breaks, an echo that was due for this long would have come.
    static let limitAtEnd: Int64 = 1_000_000_000
    /// Heartbeats of a connection that are remembered: a peer that never echoes has long shown it.
    private static let maximumWaiting = 64

    /// Those without an echo.
    private(set) var missing = 0

    private struct Connection {
        var waiting: [(id: String, time: Int64)] = []
        var isClosedByApp = false
    }
    private var connections: [Int: Connection] = [:]
    private var nextDeadline = Int64.max

    /// Time went on.
    mutating func advance(to time: Int64) {
        guard time > nextDeadline else { return }
        nextDeadline = .max
        for conn in connections.keys {
            let list = connections[conn]?.waiting ?? []
            let rest = list.drop { Self.end(of: $0.time) < time }
            missing += list.count - rest.count
            connections[conn]?.waiting = Array(rest)
            if let first = rest.first { nextDeadline = min(nextDeadline, Self.end(of: first.time)) }
        }
    }

    private static func end(of time: Int64) -> Int64 {
        let (end, overflow) = time.addingReportingOverflow(limit)
        return overflow ? .max : end
    }

    /// The app sent a heartbeat.
    mutating func sent(_ id: String, on conn: Int, at time: Int64) {
        if connections[conn]?.waiting.count ?? 0 >= Self.maximumWaiting {
            connections[conn]?.waiting.removeFirst()
            missing += 1
        }
        connections[conn, default: Connection()].waiting.append((id, time))
        nextDeadline = min(nextDeadline, Self.end(of: time))
    }

    /// The board sent an echo: those before the one that it answers were left out.
    mutating func echoed(_ id: String, on conn: Int) {
        guard let index = connections[conn]?.waiting.firstIndex(where: { $0.id == id }) else {
            return
        }
        missing += index
        connections[conn]?.waiting.removeFirst(index + 1)
    }

    /// A side sent its close frame.
    mutating func closing(_ conn: Int, by side: Side?, at time: Int64) {
        guard side == .board else {
            connections[conn]?.isClosedByApp = true
            return
        }
        if let connection = connections[conn], connection.isClosedByApp {
            // It has read all that came before the app's close frame.
            missing += connection.waiting.count
            connections[conn] = nil
        } else {
            ended(conn, at: time)
        }
    }

    /// The connection broke.
    mutating func ended(_ conn: Int, at time: Int64) {
        guard let connection = connections.removeValue(forKey: conn) else { return }
        missing += connection.waiting.count { span(from: $0.time, to: time) >= Self.limitAtEnd }
    }

    /// Something of the link is not known: nobody is blamed for that.
    mutating func forget(_ conn: Int) {
        if conn > 0 { connections[conn] = nil } else { connections = [:] }
    }
}
