/// The app's side of the WebSocket: connecting, heartbeats, echoes, and the wait before the next
/// attempt (contract, "Heartbeat" and "Timeout and Reconnection").
///
///     idle ──► waiting ──► connecting ──► open
///                 ^            │            │   no echo for 15 s
///                 └────────────┴────────────┘   ended, refused, hung
struct AppLink: Sendable {
    enum State: Sendable {
        /// Not wanted: not started, or suspended.
        case idle
        case waiting(until: Int64)
        case connecting(LinkID, until: Int64)
        case open(LinkID, nextHeartbeat: Int64, lastEcho: Int64)
    }

    /// What time brings.
    enum Due: Equatable {
        case connect(LinkID)
        /// The handshake takes too long.
        case hung(LinkID)
        case heartbeat(LinkID)
        /// The board does not echo any more.
        case dead(LinkID)
    }

    private(set) var state = State.idle
    /// When the last connection or attempt was over.
    private var lastEnd: Int64?
    private var linkCount: UInt64 = 0
    private var generator: SplitMix64
    private let scale: TimeScale
    /// Seconds before another attempt, at least and at most.
    private let reconnect: ClosedRange<Double>

    init(
        scale: TimeScale, seed: UInt64, reconnect: ClosedRange<Double> = AppTimes.reconnect
    ) {
        self.scale = scale
        self.reconnect = reconnect
        generator = SplitMix64(seed: seed)
    }

    var nextDeadline: Int64? {
        switch state {
        case .idle: nil
        case .waiting(let until): until
        case .connecting(_, let until): until
        case .open(_, let nextHeartbeat, let lastEcho):
            min(nextHeartbeat, lastEcho + scale.nanoseconds(seconds: AppTimes.echoLimit))
        }
    }

    /// Whether no connection is there or wanted.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// The link that is there or being made.
    var current: LinkID? {
        switch state {
        case .idle, .waiting: nil
        case .connecting(let id, _), .open(let id, _, _): id
        }
    }

    /// The link that messages can be sent on.
    var open: LinkID? {
        if case .open(let id, _, _) = state { id } else { nil }
    }

    /// Wants a connection, at once if the last one has been over for long enough.
    mutating func start(at now: Int64) {
        state = .waiting(until: max(now, lastEnd.map { $0 + reconnectWait() } ?? now))
    }

    /// The connection or the attempt is over, and no other is wanted until `start`.
    mutating func stop(at now: Int64) {
        if current != nil { lastEnd = now }
        state = .idle
    }

    /// The connection or the attempt is over: waits 3 to 5 s.
    mutating func retry(at now: Int64) {
        lastEnd = now
        state = .waiting(until: now + reconnectWait())
    }

    private mutating func reconnectWait() -> Int64 {
        scale.nanoseconds(seconds: generator.number(in: reconnect))
    }

    mutating func opened(at now: Int64) {
        guard case .connecting(let id, _) = state else { return }
        state = .open(
            id, nextHeartbeat: now + scale.nanoseconds(seconds: AppTimes.heartbeat),
            lastEcho: now)
    }

    mutating func echoed(at now: Int64) {
        guard case .open(let id, let nextHeartbeat, _) = state else { return }
        state = .open(id, nextHeartbeat: nextHeartbeat, lastEcho: now)
    }

    /// What is due; nil when nothing is.
    ///
    /// - Parameter isBlocked: by defect A20: no heartbeat is sent, and none is missed.
    mutating func takeDue(at now: Int64, isBlocked: Bool = false) -> Due? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        switch state {
        case .idle:
            return nil
        case .waiting:
            linkCount += 1
            let id = LinkID(rawValue: linkCount)
            state = .connecting(
                id, until: now + scale.nanoseconds(seconds: AppTimes.connectLimit))
            return .connect(id)
        case .connecting(let id, _):
            retry(at: now)
            return .hung(id)
        case .open(let id, _, _) where isBlocked:
            state = .open(
                id, nextHeartbeat: now + scale.nanoseconds(seconds: AppTimes.heartbeat),
                lastEcho: now)
            return nil
        case .open(let id, let nextHeartbeat, let lastEcho):
            if now - lastEcho >= scale.nanoseconds(seconds: AppTimes.echoLimit) {
                retry(at: now)
                return .dead(id)
            }
            // Beats keep their rhythm; those that were missed are not made up for.
            let interval = scale.nanoseconds(seconds: AppTimes.heartbeat)
            let next = nextHeartbeat + interval
            state = .open(
                id, nextHeartbeat: next > now ? next : now + interval, lastEcho: lastEcho)
            return .heartbeat(id)
        }
    }
}
