package import Capture
package import PhoneBridge
import Wire

/// The lines of a session's timeline, put aside as they come, to be looked at beside another
/// session's.
///
/// They lie in a spool; of each stay about 40 bytes in memory. Lines about the whole session are
/// not kept.
package struct SessionRows {
    /// Where a line lies, and what it takes to find its partner.
    struct Row: Sendable {
        var offset: UInt64
        var count: Int
        /// The event that it tells of; 0 for none.
        var seq: Int
        /// The same for lines that are the same kind of thing.
        var kind: Int
        /// The same for lines about one command; 0 for lines about none.
        var id: Int
    }

    /// Lines that are kept; a browser shows so many at ease.
    package static let maximumRows = 200_000

    private(set) var rows: [Row] = []
    /// Lines that were not kept.
    package private(set) var left = 0
    private var timeline = Timeline()
    private var meaning: MeaningReader
    private let spool = SpoolFile()

    package init(contract: Contract = .current) {
        meaning = MeaningReader(contract: contract)
    }

    /// How many lines there are.
    package var count: Int { rows.count }

    /// Takes the next event.
    package mutating func receive(_ original: Event) throws(OutputError) {
        var event = original
        meaning.annotate(&event)
        // What the recorder understood stands: it may have known what is not in this file.
        if !original.bridge.isEmpty { event.bridge = original.bridge }
        try keep(timeline.receive(event))
    }

    /// Takes what was held back, once there are no more events.
    package mutating func finish() throws(OutputError) {
        try keep(timeline.finish())
    }

    /// The line at an index, without what it says of its command and what it counts; a line without a time for an index that there is none at.
    package func line(at index: Int) throws(OutputError) -> TimelineLine {
        guard rows.indices.contains(index) else { return TimelineLine(time: nil, label: "") }
        var bytes = Bytes()
        try spool.read(at: rows[index].offset, count: rows[index].count, into: &bytes)
        return Self.decoded(bytes)
    }

    private mutating func keep(_ lines: [TimelineLine]) throws(OutputError) {
        for line in lines where line.time != nil {
            guard rows.count < Self.maximumRows else {
                left += 1
                continue
            }
            let bytes = Self.encoded(line).encoded
            rows.append(
                Row(
                    offset: spool.count, count: bytes.count, seq: line.seq ?? 0,
                    kind: Self.kind(of: line), id: line.id.map(Self.key) ?? 0))
            try spool.append(bytes.span)
        }
    }

    // MARK: Likeness

    private static func kind(of line: TimelineLine) -> Int {
        var hasher = Hasher()
        hasher.combine(line.label.text)
        switch line.direction {
        case .none: hasher.combine(0)
        case .both: hasher.combine(1)
        case .from(let side): hasher.combine(side == .app ? 2 : 3)
        }
        return hasher.finalize()
    }

    /// A number for a command's id; never 0.
    static func key(_ id: String) -> Int {
        let value = id.hashValue
        return value == 0 ? 1 : value
    }

    // MARK: Lines in the spool

    private static func encoded(_ line: TimelineLine) -> JSON {
        return .array([
            .bool(line.isBroken), line.time.map { .integer($0) } ?? .null, .integer(line.conn),
            .integer(line.direction.number), run(line.label), .array(line.text.map(run)),
            line.seq.map { .integer($0) } ?? .null, line.id.map { .string($0) } ?? .null,
        ])
    }

    private static func run(_ styled: Styled) -> JSON {
        .array([.string(styled.style.rawValue), .string(styled.text), .bool(styled.isValue)])
    }

    private static func decoded(_ bytes: Bytes) -> TimelineLine {
        // What is read was written above.
        guard let value = try? JSON(parsing: bytes) else {
            return TimelineLine(time: nil, label: "")
        }
        let direction: TimelineLine.Direction =
            switch value[3]?.integerValue {
            case 1: .from(.app)
            case 2: .from(.board)
            case 3: .both
            default: .none
            }
        return TimelineLine(
            isBroken: value[0]?.boolValue ?? false, time: value[1]?.integerValue,
            conn: value[2]?.integerValue.flatMap { Int(exactly: $0) } ?? 0, direction: direction,
            label: run(value[4]), text: (value[5]?.elements ?? []).map { run($0) },
            seq: value[6]?.integerValue.flatMap { Int(exactly: $0) }, id: value[7]?.stringValue)
    }

    private static func run(_ value: JSON?) -> Styled {
        Styled(
            value?[1]?.stringValue ?? "",
            value?[0]?.stringValue.flatMap { Styled.Style(rawValue: $0) } ?? .plain,
            isValue: value?[2]?.boolValue ?? false)
    }
}
