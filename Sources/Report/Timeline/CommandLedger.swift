/// The commands of a session: which are waiting, and how the others ended.
///
/// Each gets a number, so that a result is found beside its command whatever the length of its
/// id. What a result means (late, duplicate) is read elsewhere; the ledger only pairs.
struct CommandLedger: Sendable {
    /// A command that was handed to the app.
    struct Entry: Sendable, Equatable {
        var number: Int
        var id: String
        var type: String
        /// The connection that carried it.
        var conn: Int
        /// When its time to answer ends; nil where a queue decides, or where it has been told.
        var deadline: Int64?
        /// The time that it had to answer, in nanoseconds.
        var allowance: Int64?
        /// Whether its own line was shown.
        var isShown: Bool
        /// The order in which it came, given again ones included.
        fileprivate var order = 0
    }

    /// How many of each outcome there were.
    struct Counts: Sendable, Equatable {
        var commands = 0
        var succeeded = 0
        var failed = 0
        var late = 0
        var duplicate = 0

        /// Those that no result came for.
        var unanswered: Int { max(0, commands - succeeded - failed) }
    }

    private(set) var counts = Counts()
    private var waiting: [String: Entry] = [:]
    private var settled: [String: Entry] = [:]
    private var settledOrder: [String] = []
    private var nextDeadline: Int64 = .max
    private var order = 0

    /// More than any board has in flight; a file made to fill memory stops here.
    private let maximumWaiting = 10_000
    /// So many results back, a duplicate still finds its command's number.
    private let maximumSettled = 1000

    /// Takes a command; `isAgain` where it is one that was handed out before and still waits.
    mutating func add(
        id: String, type: String, conn: Int, time: Int64, allowance: Int64?, isShown: Bool
    ) -> (entry: Entry, isAgain: Bool) {
        order += 1
        if var entry = waiting[id], allowance == nil {
            entry.conn = conn
            entry.order = order
            waiting[id] = entry
            return (entry, true)
        }
        counts.commands += 1
        var deadline: Int64?
        if let allowance {
            let (sum, overflow) = time.addingReportingOverflow(allowance)
            deadline = overflow ? nil : sum
        }
        let entry = Entry(
            number: counts.commands, id: id, type: type, conn: conn, deadline: deadline,
            allowance: allowance, isShown: isShown, order: order)
        if waiting.count >= maximumWaiting { forgetOldest() }
        waiting[id] = entry
        settled[id] = nil
        nextDeadline = min(nextDeadline, deadline ?? .max)
        return (entry, false)
    }

    private mutating func forgetOldest() {
        // A tenth at once, so that the search for the oldest is rare.
        let oldest = waiting.values.sorted { $0.order < $1.order }.prefix(maximumWaiting / 10)
        for entry in oldest { waiting[entry.id] = nil }
    }

    /// Takes a result; nil where no such command is known.
    mutating func settle(id: String, isOK: Bool, isLate: Bool, isDuplicate: Bool) -> Entry? {
        if isDuplicate { counts.duplicate += 1 }
        guard let entry = waiting.removeValue(forKey: id) else { return settled[id] }
        if isLate { counts.late += 1 }
        if isOK { counts.succeeded += 1 } else { counts.failed += 1 }
        settled[id] = entry
        settledOrder.append(id)
        if settledOrder.count > 2 * maximumSettled {
            for id in settledOrder.prefix(maximumSettled) { settled[id] = nil }
            settledOrder.removeFirst(maximumSettled)
        }
        return entry
    }

    /// The commands whose time ended before `now`, each told once.
    mutating func overdue(before now: Int64) -> [Entry] {
        guard now > nextDeadline else { return [] }
        let late = waiting.values.filter { ($0.deadline ?? .max) < now }
        for entry in late { waiting[entry.id]?.deadline = nil }
        nextDeadline = waiting.values.reduce(.max) { min($0, $1.deadline ?? .max) }
        return late.sorted { ($0.deadline ?? 0, $0.number) < ($1.deadline ?? 0, $1.number) }
    }

    /// The commands that still had time when the connection that carried them ended.
    mutating func connectionEnded(_ conn: Int) -> [Entry] {
        let cut = waiting.values.filter { $0.conn == conn && $0.deadline != nil }
        for entry in cut { waiting[entry.id]?.deadline = nil }
        return cut.sorted { $0.number < $1.number }
    }
}
