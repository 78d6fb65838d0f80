import Wire

/// The board's WebSocket to the app: there is one, and the newest wins
/// (board-http-facts, "Handshake" and "Heartbeat and events").
struct BoardLink {
    let id: LinkID
    /// The handshake's `platform`, as sent.
    let platform: String
    var lastHeartbeat: Moment
    /// When the heartbeat is looked at next, on the monotonic clock.
    var nextCheck: Int64
    /// Set by defect B23: nothing is read any more.
    var isReaderDead = false

    init(id: LinkID, platform: String, at now: Moment, scale: TimeScale) {
        self.id = id
        self.platform = platform
        lastHeartbeat = now
        nextCheck = now.monotonic + scale.nanoseconds(seconds: BoardTimes.heartbeatCheck)
    }

    /// Looks whether the heartbeat is too old, as every 15 s from the connect.
    ///
    /// - Parameter limit: in seconds, before they are scaled.
    mutating func isTimedOut(at now: Moment, limit: Double, scale: TimeScale) -> Bool {
        nextCheck = now.monotonic + scale.nanoseconds(seconds: BoardTimes.heartbeatCheck)
        return now.monotonic - lastHeartbeat.monotonic
            > scale.nanoseconds(seconds: limit)
    }
}

/// The commands that were sent over the WebSocket and wait for their answers.
struct PendingCommands {
    /// Who gets to know how a command ended.
    enum Origin {
        /// An HTTP request that blocks until then.
        case exchange(ExchangeID)
        /// A step of a script, by its index.
        case script(Int)
    }

    struct Entry {
        let command: BridgeCommand
        let origin: Origin
        /// What the answer may take, in nanoseconds.
        let duration: Int64
        var deadline: Int64

        var id: CommandID { command.id }
    }

    /// In the order of sending.
    private(set) var entries: [Entry] = []
    private let defects: Set<Defect>

    init(defects: Set<Defect>) {
        self.defects = defects
    }

    var count: Int { entries.count }
    var nextDeadline: Int64? { entries.lazy.map(\.deadline).min() }

    func contains(_ id: CommandID) -> Bool {
        entries.contains { isSame($0.id, id) }
    }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
    }

    /// Takes out the command that an answer with this id ends.
    mutating func take(answeredBy id: CommandID) -> Entry? {
        let index = entries.firstIndex { entry in
            defects.contains(.b7) ? id.isPrefix(of: entry.id) : isSame(entry.id, id)
        }
        if let index { return entries.remove(at: index) }
        return defects.contains(.b6) ? takeOldest() : nil
    }

    mutating func takeOldest() -> Entry? {
        entries.isEmpty ? nil : entries.removeFirst()
    }

    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    /// Gives all commands their time anew; what defect B14 does with each message.
    mutating func restart(at now: Int64) {
        for index in entries.indices { entries[index].deadline = now + entries[index].duration }
    }

    /// Takes out what has waited long enough.
    mutating func takeExpired(at now: Int64) -> [Entry] {
        let expired = entries.filter { $0.deadline <= now }
        entries.removeAll { $0.deadline <= now }
        return expired
    }

    private func isSame(_ a: CommandID, _ b: CommandID) -> Bool {
        defects.contains(.b3) ? a.folded == b.folded : a == b
    }
}
