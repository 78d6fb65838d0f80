/// What happens all the time and is told as a count: heartbeats with their echoes, pings and
/// pongs, polls that bring nothing.
///
/// One fold covers all connections. It ends when anything else happens.
struct QuietFold: Sendable {
    /// What is counted on one connection.
    struct Count: Sendable, Equatable {
        var conn: Int
        var first: Int64
        var last: Int64
        /// The first and the last event that it counts; nil where they have no numbers.
        var events: ClosedRange<Int>?
        var heartbeats = 0
        var echoes = 0
        var pings = 0
        var pongs = 0
        var emptyPolls = 0
        /// How many times another connection polled than the one before.
        var pollers = 0
        var lastPoller = 0
        /// The longest time from a heartbeat to its echo, in nanoseconds.
        var slowestEcho: Int64?
    }

    /// The quiet things that are counted.
    enum Thing: Sendable {
        case heartbeat
        case echo
        case ping
        case pong
        case emptyPoll
    }

    private(set) var counts: [Count] = []
    /// When the fold began.
    var start: Int64? { counts.first?.first }

    /// Heartbeats whose echo has not come, by connection; they outlive the fold.
    private var waiting: [Int: [Int64]] = [:]

    /// A phone sends a heartbeat every 5 s, so this many without an echo is a quarter of an hour.
    private let maximumWaiting = 180
    /// With more connections than this in one fold, the rest is counted with the last.
    private let maximumCounts = 64

    /// Counts a thing; `events` are those that belong to it.
    mutating func add(
        _ thing: Thing, conn: Int, time: Int64, events: ClosedRange<Int>? = nil
    ) {
        // Pollers open a connection for each poll, or keep one: they are counted together.
        let isPoll = if case .emptyPoll = thing { true } else { false }
        let index = index(of: isPoll ? 0 : conn, time: time)
        counts[index].last = max(counts[index].last, time)
        if let events {
            let known = counts[index].events ?? events
            counts[index].events =
                min(known.lowerBound, events.lowerBound)...max(known.upperBound, events.upperBound)
        }
        switch thing {
        case .heartbeat:
            counts[index].heartbeats += 1
            var times = waiting[conn] ?? []
            if times.count < maximumWaiting { times.append(time) }
            waiting[conn] = times
        case .echo:
            counts[index].echoes += 1
            guard let sent = waiting[conn]?.first else { break }
            waiting[conn]?.removeFirst()
            counts[index].slowestEcho = max(
                counts[index].slowestEcho ?? 0, span(from: sent, to: time))
        case .ping: counts[index].pings += 1
        case .pong: counts[index].pongs += 1
        case .emptyPoll:
            counts[index].emptyPolls += 1
            if counts[index].lastPoller != conn { counts[index].pollers += 1 }
            counts[index].lastPoller = conn
        }
    }

    private mutating func index(of conn: Int, time: Int64) -> Int {
        if let index = counts.firstIndex(where: { $0.conn == conn }) { return index }
        if counts.count >= maximumCounts { return counts.count - 1 }
        counts.append(Count(conn: conn, first: time, last: time))
        return counts.count - 1
    }

    /// Ends the fold: its counts, in the order in which they began.
    mutating func take() -> [Count] {
        defer { counts = [] }
        return counts
    }

    /// Forgets what a connection was waiting for.
    mutating func connectionEnded(_ conn: Int) {
        waiting[conn] = nil
    }
}

extension QuietFold.Count {
    /// The line for the count.
    var line: TimelineLine {
        var parts: [String] = []
        if heartbeats > 0 || echoes > 0 { parts.append(heartbeatText) }
        if pings > 0 { parts.append(counted(pings, "ping")) }
        if pongs > 0 { parts.append(counted(pongs, "pong")) }
        if emptyPolls > 0 {
            let place = pollers > 1 ? " on \(counted(pollers, "connection"))" : ""
            parts.append(counted(emptyPolls, "empty poll") + place)
        }
        // One heartbeat with its echo is no span of time.
        if max(heartbeats, echoes, pings, pongs, emptyPolls) > 1, last > first {
            parts.append("until " + clockTime(last))
        }
        let missing = max(0, heartbeats - echoes)
        let label = emptyPolls > 0 ? "polling" : heartbeats > 0 || echoes > 0 ? "alive" : "pings"
        return TimelineLine(
            time: first, conn: emptyPolls > 0 && pollers == 1 ? lastPoller : conn, direction: .both,
            label: Styled(label, .dim),
            text: [
                Styled(parts.joined(separator: ", "), .dim),
                Styled(missing > 1 ? ", \(grouped(missing)) without an echo" : "", .warning),
            ], counted: events)
    }

    private var heartbeatText: String {
        guard heartbeats > 0 else { return counted(echoes, "heartbeat echo", "heartbeat echoes") }
        let text = counted(heartbeats, "heartbeat")
        guard let slowestEcho else { return text + (echoes > 0 ? " echoed" : "") }
        return heartbeats == 1
            ? text + ", echo after \(timeSpan(slowestEcho))"
            : text + ", slowest echo \(timeSpan(slowestEcho))"
    }
}
