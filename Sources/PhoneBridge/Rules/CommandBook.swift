import Capture
import Wire

/// Every command id of a session, and what became of it.
///
/// A command that waits for its answer is kept with all that a result is held against; of every
/// other id remain a hash and sixteen bytes in all, so that a session of any length can be held
/// against its ids. Ids are told apart by 64 bits of a hash that is seeded anew by each process:
/// among a million ids, two are taken for one with a chance of one in 30 million.
package struct CommandBook: Sendable {
    /// What is known of a command.
    package struct Entry: Sendable {
        /// nil for one that the contract does not know and that is not open any more.
        package var type: String?
        /// The type's place in `Contract.commands`.
        package var typeIndex: Int?
        /// How often it was sent or handed out, 255 at most; 0 while it waits in the queue.
        package var sendings: Int
        /// How often it was answered, 255 at most.
        package var results: Int
        /// The hash of what it asks for; 0 where that is not known.
        package var content: UInt32
        /// Its last sending; nil once it was answered, or nobody waits for that any more.
        package var sent: Sending?

        /// Whether every sending of it was answered.
        package var isAnswered: Bool { sendings > 0 && results >= sendings }
    }

    /// A command on its way.
    package struct Sending: Sendable {
        package var id: String
        package var time: Int64
        package var seq: Int
        package var conn: Int
        package var route: Route
        package var phoneID: String?
        /// What the answer may take, in nanoseconds of the session.
        package var timeout: Int64
    }

    /// Commands that wait for an answer are forgotten all at once beyond this number.
    package static let maximumOpen = 65_536

    private let typeNames: [String]
    private var table = HashTable()
    private var open: [UInt64: (sending: Sending, type: String?)] = [:]

    init(contract: Contract) {
        typeNames = contract.commands.map(\.name)
    }

    /// Distinct ids that were seen.
    package var count: Int { table.count }

    /// Bytes that the hashes and records take.
    package var byteCount: Int { table.byteCount }

    /// Commands that wait for an answer.
    package var openCount: Int { open.count }

    /// What is known of the command with this id; nil where it was never seen.
    package func entry(_ id: String) -> Entry? {
        let key = Self.key(id)
        guard let record = table[key] else { return nil }
        return entry(Record(bits: record), key)
    }

    private func entry(_ record: Record, _ key: UInt64) -> Entry {
        let sent = open[key]
        let index = record.typeIndex
        return Entry(
            type: sent?.type
                ?? index.flatMap { typeNames.indices.contains($0) ? typeNames[$0] : nil },
            typeIndex: index, sendings: record.sendings, results: record.results,
            content: record.content, sent: sent?.sending)
    }

    /// A command was sent or handed out; returns what was known of it before.
    mutating func sent(
        _ sending: Sending, type: String?, typeIndex: Int?, content: UInt32
    ) -> Entry? {
        let key = Self.key(sending.id)
        let before = table[key].map { entry(Record(bits: $0), key) }
        var record = Record(bits: table[key] ?? 0)
        record.sendings += 1
        record.typeIndex = typeIndex
        if record.content == 0 { record.content = content }
        table[key] = record.bits
        if open.count >= Self.maximumOpen { open.removeAll() }
        open[key] = (sending, type)
        return before
    }

    /// A tool put a command into the queue: its id is known from now on.
    mutating func enqueued(_ id: String, typeIndex: Int?) {
        let key = Self.key(id)
        guard table[key] == nil else { return }
        var record = Record(bits: 0)
        record.typeIndex = typeIndex
        table[key] = record.bits
    }

    /// A result came; returns what was known of its command before, nil for an unknown one.
    mutating func answered(_ id: String) -> Entry? {
        let key = Self.key(id)
        guard let bits = table[key] else { return nil }
        let before = entry(Record(bits: bits), key)
        var record = Record(bits: bits)
        record.results += 1
        table[key] = record.bits
        open[key] = nil
        return before
    }

    /// Nobody waits for the answer any more.
    package mutating func giveUp(_ id: String) {
        open[Self.key(id)] = nil
    }

    private static func key(_ id: String) -> UInt64 {
        // Unlike `String`, it tells canonically equivalent ids apart.
        var hasher = Hasher()
        var id = id
        id.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// What remains of a command, in 64 bits.
    private struct Record {
        var bits: UInt64

        var content: UInt32 {
            get { UInt32(truncatingIfNeeded: bits) }
            set { bits = bits & ~0xffff_ffff | UInt64(newValue) }
        }
        var sendings: Int {
            get { Int(bits >> 32 & 0xff) }
            set { set(newValue, at: 32) }
        }
        var results: Int {
            get { Int(bits >> 40 & 0xff) }
            set { set(newValue, at: 40) }
        }
        var typeIndex: Int? {
            get { bits >> 48 & 0xff == 0 ? nil : Int(bits >> 48 & 0xff) - 1 }
            set { set(newValue.map { $0 < 255 ? $0 + 1 : 0 } ?? 0, at: 48) }
        }

        private mutating func set(_ value: Int, at shift: UInt64) {
            bits = bits & ~(0xff << shift) | UInt64(min(max(0, value), 255)) << shift
        }
    }
}

/// Numbers by key in sixteen bytes a slot, at least three eighths of which are used.
///
/// Keys are hashes already: a key's place is its low bits, and its neighbours from there on.
struct HashTable: Sendable {
    private(set) var count = 0
    private var keys: [UInt64] = []
    private var values: [UInt64] = []

    /// Bytes that the slots take.
    var byteCount: Int { keys.count * 16 }

    subscript(key: UInt64) -> UInt64? {
        get {
            guard let slot = slot(of: key), keys[slot] != 0 else { return nil }
            return values[slot]
        }
        set {
            guard let newValue else { return }
            if (count + 1) * 4 > keys.count * 3 { grow() }
            guard let slot = slot(of: key) else { return }
            if keys[slot] == 0 {
                count += 1
                keys[slot] = Self.stored(key)
            }
            values[slot] = newValue
        }
    }

    /// Zero marks an empty slot.
    private static func stored(_ key: UInt64) -> UInt64 { key == 0 ? 1 : key }

    /// The slot of a key, or the empty one where it belongs; nil for an empty table.
    private func slot(of key: UInt64) -> Int? {
        guard !keys.isEmpty else { return nil }
        let key = Self.stored(key)
        let mask = keys.count - 1
        var slot = Int(truncatingIfNeeded: key) & mask
        while keys[slot] != 0, keys[slot] != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = (keys, values)
        let size = max(16, keys.count * 2)
        keys = Array(repeating: 0, count: size)
        values = Array(repeating: 0, count: size)
        for (key, value) in zip(old.0, old.1) where key != 0 {
            guard let slot = slot(of: key) else { continue }
            keys[slot] = key
            values[slot] = value
        }
    }
}
