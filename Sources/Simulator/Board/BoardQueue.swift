import PhoneBridge
import Wire

/// The board's HTTP queue: commands wait here until a phone polls for them
/// (board-http-facts, "Queue times and limits").
///
///     enqueue -> queued -> (poll) -> in flight -> (result) -> completed -> (2 min) -> gone
///                  ^                    |
///                  +-- over 30 s, at most 3 times; then gone
struct BoardQueue {
    /// What a query says about an id.
    enum Status {
        case queued
        case inFlight
        case completed(CommandResponse, completedAt: Int64)
        /// Also an id that was never there.
        case expired
    }

    /// Why a command is not taken.
    enum Refusal: Error {
        case idTaken
        case full
    }

    private struct Entry {
        let sequence: UInt64
        var command: BridgeCommand
        let size: Int
        let enqueuedAt: Int64
        var handedOutAt: Int64?
        var retryCount = 0
    }

    private struct Kept {
        let response: CommandResponse
        let size: Int
        let completedAt: Moment
    }

    /// By sequence, so the oldest comes first.
    private var waiting: [Entry] = []
    private var sequences: [CommandID: UInt64] = [:]
    private var results: [CommandID: Kept] = [:]
    private var nextSequence: UInt64 = 0
    /// Bytes of all commands and results.
    private var size = 0
    private let options: BoardOptions

    init(options: BoardOptions) {
        self.options = options
    }

    /// The earliest change that only time brings, were it looked for at once; nil when empty.
    var isEmpty: Bool { waiting.isEmpty && results.isEmpty }

    mutating func enqueue(_ command: BridgeCommand, at now: Moment) throws(Refusal) {
        let key = key(command.id)
        let isTaken = sequences[key] != nil && !options.defects.contains(.b1)
        let isKept = results[key] != nil && !options.defects.contains(.b2)
        guard !isTaken, !isKept else { throw .idTaken }
        let entrySize = JSONText.encode(command.json).count
        guard waiting.count < options.maximumQueueCount,
            size + entrySize <= options.maximumQueueSize
        else { throw .full }
        waiting.append(
            Entry(
                sequence: nextSequence, command: command, size: entrySize,
                enqueuedAt: now.monotonic))
        sequences[key] = nextSequence
        nextSequence += 1
        size += entrySize
    }

    /// Hands out at most `limit` commands that a phone in this state may have, oldest first.
    mutating func poll(
        limit: Int, phoneID: CommandID, state: PollState, at now: Moment
    ) -> [BridgeCommand] {
        var limit = limit
        if options.defects.contains(.b28) { limit += 1 }
        var handedOut: [BridgeCommand] = []
        var dropped: [UInt64] = []
        for index in waiting.indices {
            let loses = options.defects.contains(.b27)
            guard handedOut.count < limit || loses else { break }
            let entry = waiting[index]
            guard entry.handedOutAt == nil,
                entry.command.phoneID == nil || entry.command.phoneID == phoneID
            else { continue }
            guard mayHandOut(entry.command.type, to: state) else {
                if options.defects.contains(.b31) { dropped.append(entry.sequence) }
                continue
            }
            waiting[index].handedOutAt = now.monotonic
            if handedOut.count < limit { handedOut.append(entry.command) }
        }
        for sequence in dropped { remove(sequence) }
        return handedOut
    }

    /// Takes a phone's result; false when no command waits for it.
    mutating func complete(_ response: CommandResponse, at now: Moment) -> Bool {
        let key = key(response.id)
        let keepsFlying = options.defects.contains(.b26)
        if let sequence = sequences[key], !(keepsFlying && results[key] != nil) {
            if !keepsFlying { remove(sequence) }
        } else if results[key] == nil || !options.defects.contains(.b8) {
            return false
        }
        if options.defects.contains(.b2), results[key] != nil { return true }
        if let former = results.removeValue(forKey: key) { size -= former.size }
        let kept = Kept(
            response: response, size: JSONText.encode(response.json).count, completedAt: now)
        results[key] = kept
        size += kept.size
        dropOldestResults()
        return true
    }

    func status(of id: CommandID) -> Status {
        let key = key(id)
        if let kept = results[key], !options.defects.isDisjoint(with: [.b2, .b26]) {
            return .completed(kept.response, completedAt: kept.completedAt.wall)
        }
        if let sequence = sequences[key], let index = index(of: sequence) {
            return waiting[index].handedOutAt == nil ? .queued : .inFlight
        }
        if let kept = results[key] {
            return .completed(kept.response, completedAt: kept.completedAt.wall)
        }
        return .expired
    }

    /// Does what the board does once a minute: takes back, drops, forgets.
    mutating func sweep(at now: Moment) {
        let window = options.timeScale.nanoseconds(seconds: BoardTimes.inFlightWindow)
        let queueLife = options.timeScale.nanoseconds(seconds: BoardTimes.queueLife)
        let resultLife = options.timeScale.nanoseconds(seconds: BoardTimes.resultLife)
        var ended: [UInt64] = []
        for index in waiting.indices {
            if let since = waiting[index].handedOutAt, now.monotonic - since > window,
                !options.defects.contains(.b24)
            {
                if waiting[index].retryCount == Self.maximumRetryCount {
                    ended.append(waiting[index].sequence)
                    continue
                }
                waiting[index].retryCount += 1
                waiting[index].handedOutAt = nil
                if options.defects.contains(.b25) { rename(index) }
            }
            if waiting[index].handedOutAt == nil,
                now.monotonic - waiting[index].enqueuedAt > queueLife
            {
                ended.append(waiting[index].sequence)
            }
        }
        for sequence in ended { remove(sequence) }
        for (key, kept) in results where now.monotonic - kept.completedAt.monotonic > resultLife {
            results[key] = nil
            size -= kept.size
        }
    }

    /// How often a command without result goes back to the queue.
    private static let maximumRetryCount = 3

    private func mayHandOut(_ type: String, to state: PollState) -> Bool {
        guard options.defects.contains(.b30),
            case .only(let route) = Contract.current.handOut(to: state)
        else { return Contract.current.mayHandOut(type, to: state) }
        // A careless filter: by the beginning of a type's name.
        var prefixes = ["calendar_", "contacts_", "notification_"]
        if route != .bleWake { prefixes += ["clipboard_", "open_"] }
        return prefixes.contains { type.hasPrefix($0) }
    }

    /// Gives a command that goes back to the queue a new id, as defect B25 does.
    private mutating func rename(_ index: Int) {
        let entry = waiting[index]
        let old = key(entry.command.id)
        if sequences[old] == entry.sequence { sequences[old] = nil }
        let new = CommandID(entry.command.id.bytes + Bytes("-\(entry.retryCount)".utf8))
        waiting[index].command.id = new
        sequences[key(new)] = entry.sequence
    }

    private func key(_ id: CommandID) -> CommandID {
        options.defects.contains(.b3) ? id.folded : id
    }

    /// The place of an entry in `waiting`, which is sorted.
    private func index(of sequence: UInt64) -> Int? {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low < waiting.count && waiting[low].sequence == sequence ? low : nil
    }

    private mutating func remove(_ sequence: UInt64) {
        guard let index = index(of: sequence) else { return }
        let entry = waiting.remove(at: index)
        size -= entry.size
        let key = key(entry.command.id)
        if sequences[key] == sequence { sequences[key] = nil }
    }

    /// Keeps the promise of `maximumQueueSize` where results alone break it.
    private mutating func dropOldestResults() {
        while size > options.maximumQueueSize,
            let oldest = results.min(by: {
                $0.value.completedAt.monotonic < $1.value.completedAt.monotonic
            })
        {
            results[oldest.key] = nil
            size -= oldest.value.size
        }
    }
}
