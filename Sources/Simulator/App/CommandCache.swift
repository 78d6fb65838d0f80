import Wire

/// Where an answer goes.
enum AnswerRoute: Hashable, Sendable {
    case link(LinkID)
    /// Posted to the queue's results.
    case queue
}

/// Remembers the commands that were seen and their answers, so that an id has one effect however
/// often and by whatever route it comes (contract, "Timeout and Reconnection": idempotence).
struct CommandCache: Sendable {
    /// What is to be done with a command that arrived.
    enum Verdict {
        case run(Key)
        /// It is running, and will be answered here too.
        case wait
        case answer(Bytes)
    }

    /// What makes two commands the same: their id.
    struct Key: Hashable, Sendable {
        fileprivate let bytes: Bytes
        /// Tells runs apart where the reference would not.
        fileprivate let discriminator: UInt64
    }

    private enum Entry {
        /// The routes beyond the first that want the answer.
        case running([AnswerRoute])
        case done(Bytes)
    }

    private var entries: [Key: Entry] = [:]
    /// The keys that are done, oldest first, from `oldest` on.
    private var doneKeys: [Key] = []
    private var oldest = 0
    private var size = 0
    private var runCount: UInt64 = 0
    private let options: AppOptions

    /// Routes that one running command may have to answer.
    private static let maximumRouteCount = 64

    init(options: AppOptions) {
        self.options = options
    }

    /// Takes in a command, and says whether it has been seen.
    mutating func arrive(_ command: BridgeCommand, by route: AnswerRoute) -> Verdict {
        let key = key(command, route)
        switch entries[key] {
        case nil:
            entries[key] = .running([])
            return .run(key)
        case .running(var routes)?:
            if routes.count < Self.maximumRouteCount { routes.append(route) }
            entries[key] = .running(routes)
            return .wait
        case .done(let answer)?:
            return .answer(answer)
        }
    }

    /// Keeps the answer of a command, and returns the other routes that want it.
    mutating func finish(_ key: Key, with answer: Bytes) -> [AnswerRoute] {
        // Forgotten since: a defect, or nothing.
        guard case .running(let routes)? = entries[key] else { return [] }
        entries[key] = .done(answer)
        doneKeys.append(key)
        size += answer.count
        evict()
        return routes
    }

    /// Forgets everything; what defect A2 does at each connection.
    mutating func forget() {
        entries = [:]
        doneKeys = []
        oldest = 0
        size = 0
    }

    private mutating func key(_ command: BridgeCommand, _ route: AnswerRoute) -> Key {
        if options.defects.contains(.a1) {
            runCount += 1
            return Key(bytes: command.id.bytes, discriminator: runCount)
        }
        if options.defects.contains(.a4) {
            var content = command
            content.id = CommandID("")
            return Key(bytes: JSONText.encode(content.json), discriminator: 0)
        }
        let isSplit = options.defects.contains(.a3) && route == .queue
        return Key(bytes: command.id.bytes, discriminator: isSplit ? 1 : 0)
    }

    private mutating func evict() {
        while doneKeys.count - oldest > options.maximumCacheCount
            || size > options.maximumCacheSize, oldest < doneKeys.count
        {
            if case .done(let answer)? = entries.removeValue(forKey: doneKeys[oldest]) {
                size -= answer.count
            }
            oldest += 1
        }
        if oldest > 1000, oldest > doneKeys.count / 2 {
            doneKeys.removeFirst(oldest)
            oldest = 0
        }
    }
}
