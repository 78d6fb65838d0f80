import Wire

/// The commands of the board's queue, as far as enqueues, polls and results tell of them.
///
/// What the board enqueues for itself is known from its first handing out. Memory is bounded: a
/// command is forgotten a quarter of an hour after it was last heard of, and beyond
/// `maximumCount` all are.
struct QueueBook: Sendable {
    /// A place in the session.
    struct Mark: Sendable {
        /// Nanoseconds of the session.
        var time: Int64
        var seq: Int
    }

    /// A request with its answer.
    struct Exchange: Sendable {
        /// When the request began: the board acted behind this.
        var asked: Int64
        /// When the answer was complete: the board had acted before this.
        var answered: Int64
        var request: Int
        var response: Int
    }

    struct Entry: Sendable {
        var type: String?
        /// The phone that it was enqueued for; nil for none, or where that was not seen.
        var phoneID: String?
        /// The phone that alone was known when it was enqueued without one.
        var impliedPhoneID: String?
        /// What an answer may take, in milliseconds.
        var timeout: Int64
        /// A tool enqueued it, and the board answered 202.
        var accepted: Exchange?
        /// How often it was handed out since.
        var handOuts = 0
        var lastHandOut: Exchange?
        /// A result was posted since, whatever became of it.
        var hasResult = false
        /// A result was accepted since.
        var completed: Exchange?
        /// The hashes of the result that was accepted first, of those posted later, and of
        /// those before the command was enqueued again.
        var firstResult: Int?
        var laterResults: [Int] = []
        var formerResults: [Int] = []
        /// A poll whose answer was not seen may have taken it, or something else is not sure.
        var isUncertain = false
        var touched: Int64

        /// Whether it is queued or in flight, as far as is known.
        var isOpen: Bool { completed == nil && (accepted != nil || handOuts > 0) }
    }

    private(set) var entries: [String: Entry] = [:]
    private var nextPurge: Int64 = .min

    static let maximumCount = 16_384
    /// Bytes of an id; of commands with longer ones nothing is known.
    static let maximumID = 256
    /// Beyond the longest life that is known of a queue: 5 min, and a sweep.
    private static let retention: Int64 = 900_000_000_000

    subscript(id: String) -> Entry? { entries[id] }

    /// Changes what is known of a command, which may be nothing.
    mutating func update(
        _ id: String, at time: Int64, timeout: Int64 = 0, _ body: (inout Entry) -> Void
    ) {
        if entries[id] == nil {
            guard id.utf8.count <= Self.maximumID else { return }
            makeRoom(at: time)
        }
        body(&entries[id, default: Entry(timeout: timeout, touched: time)])
        entries[id]?.touched = time
    }

    mutating func forget(_ id: String) { entries[id] = nil }

    mutating func forgetAll() { entries = [:] }

    /// Nothing is sure of any command that is queued now.
    mutating func doubt() {
        for id in entries.keys where entries[id]?.isUncertain == false {
            entries[id]?.isUncertain = true
        }
    }

    /// A command that is open, whose id is not this one but nearly: equal but for case, spaces
    /// and characters that are none.
    func nearlyEqual(_ id: String) -> String? {
        let folded = Self.folded(id)
        return entries.first { $0.key != id && $0.value.isOpen && Self.folded($0.key) == folded }?
            .key
    }

    private static func folded(_ id: String) -> String {
        String(
            String.UnicodeScalarView(
                id.lowercased().unicodeScalars.filter { scalar in
                    scalar.value > 0x20 && scalar.value != 0xfffd
                }))
    }

    private mutating func makeRoom(at time: Int64) {
        if entries.count >= Self.maximumCount { entries = [:] }
        guard time >= nextPurge else { return }
        nextPurge = time.clampedAdding(Self.retention / 15)
        let limit = time.clampedSubtracting(Self.retention)
        entries = entries.filter { $0.value.touched >= limit }
    }
}

extension QueueBook.Entry {
    /// Notes the hash of a result that was posted; `isAccepted` for the one that counts.
    mutating func note(result: Int, isAccepted: Bool) {
        if isAccepted, firstResult == nil {
            firstResult = result
        } else if laterResults.count < 8 {
            laterResults.append(result)
        }
    }

    /// The command was enqueued again after it had ended.
    mutating func beginAgain(_ exchange: QueueBook.Exchange) {
        formerResults = Array(
            (formerResults + (firstResult.map { [$0] } ?? []) + laterResults).suffix(8))
        accepted = exchange
        handOuts = 0
        lastHandOut = nil
        hasResult = false
        completed = nil
        firstResult = nil
        laterResults = []
        isUncertain = false
    }
}
