package import Capture
package import Wire

/// What a page is told of one session: records, one JSON array a line, and the session's own lines
/// in blocks for whoever asks.
///
/// It only grows. Both lie in spools, so memory stays small; of a block stay 40 bytes.
package final class SessionLog {
    /// A block of the session's lines.
    package struct Block: Sendable, Equatable {
        /// The numbers of its first and last event; the session's first line has 0.
        package var first: Int
        package var last: Int
        fileprivate var offset: UInt64
        fileprivate var count: Int
    }

    /// Called after something was added.
    package var onGrowth: (() -> Void)?
    /// The blocks that are complete; behind them is one that still grows.
    package private(set) var blocks: [Block] = []
    /// Whether nothing more comes.
    package private(set) var isFinished = false

    private let records = SpoolFile()
    private let events = SpoolFile()
    private var open = Bytes()
    private var openFirst: Int?
    private var openLast = 0
    private var openCount = 0
    private let encoder = EventEncoder()

    /// A block ends with the event with which it reaches one of these: few enough to be fetched
    /// for a single event, large enough to pack well.
    private static let maximumEvents = 256
    private static let maximumSize = 512 << 10

    package init() {}

    /// Bytes of records.
    package var count: UInt64 { records.count }

    /// Adds a record.
    package func add(_ record: PageRecord) throws(OutputError) {
        var line = record.json.encoded
        line.append(0x0a)
        try records.append(line.span)
    }

    /// Adds an event of the session.
    package func add(_ event: Event) throws(OutputError) {
        encoder.encode(event, into: &open)
        openFirst = openFirst ?? event.seq
        openLast = max(openLast, event.seq)
        openCount += 1
        if openCount >= Self.maximumEvents || open.count >= Self.maximumSize { try endBlock() }
    }

    private func endBlock() throws(OutputError) {
        guard let first = openFirst else { return }
        let lines = open
        let block = Block(first: first, last: openLast, offset: events.count, count: lines.count)
        try events.append(lines.span)
        blocks.append(block)
        try add(.block(number: blocks.count - 1, first: first, last: openLast))
        open = Bytes()
        openFirst = nil
        openCount = 0
    }

    /// Tells that something was added.
    package func tellGrowth() { onGrowth?() }

    /// Nothing more comes.
    package func finish() throws(OutputError) {
        guard !isFinished else { return }
        try endBlock()
        isFinished = true
        onGrowth?()
    }

    /// Whole records from `offset` on, about `maximum` bytes of them but at least one; empty at
    /// the end, and for an offset that is no record's beginning.
    package func records(from offset: UInt64, maximum: Int) throws(OutputError) -> Bytes {
        guard offset < records.count else { return [] }
        if offset > 0 {
            var before = Bytes()
            try records.read(at: offset - 1, count: 1, into: &before)
            guard before == [0x0a] else { return [] }
        }
        var size = max(1, maximum)
        while true {
            var bytes = Bytes()
            try records.read(at: offset, count: size, into: &bytes)
            if let end = bytes.lastIndex(of: 0x0a) {
                bytes.removeSubrange((end + 1)...)
                return bytes
            }
            guard bytes.count == size else { return [] }
            size *= 2
        }
    }

    /// The lines of a block, by its number; the one behind the last is what it has so far, and nil
    /// comes for any other.
    package func lines(ofBlock number: Int) throws(OutputError) -> Bytes? {
        if number == blocks.count { return open }
        guard blocks.indices.contains(number) else { return nil }
        var bytes = Bytes()
        try events.read(at: blocks[number].offset, count: blocks[number].count, into: &bytes)
        return bytes
    }
}
