/// What a parser says about the bytes of a section (a head, a chunk line, trailers) so far.
enum HTTPSectionScan {
    /// The section goes on behind them.
    case more
    /// The section is whole and has so many bytes.
    case complete(length: Int)
    /// No section begins with these bytes.
    case impossible(why: String)
}

/// A parser of a section that may arrive in parts and is wanted whole.
///
/// What it decides depends on the section's bytes alone, never on how they were cut.
protocol HTTPSectionParser {
    associatedtype Output

    /// Looks at the bytes of the section that have come, `range` of `bytes`.
    ///
    /// Called again with the same bytes and more behind them until it does not say `more`.
    mutating func scan(_ bytes: Span<UInt8>, in range: Range<Int>) -> HTTPSectionScan

    /// The result, once the section is complete, and readiness for the next one.
    mutating func take(_ bytes: Span<UInt8>, section: Range<Int>) -> Output
}

/// The bytes of a section that is not complete yet.
struct HTTPHeldSection: Sendable {
    enum Outcome<Output> {
        case more
        case complete(Output)
        /// All of the section's bytes and all that was fed behind them.
        case impossible(Bytes, why: String)
    }

    private(set) var bytes = Bytes()
    /// A section was impossible because it is over the limit.
    private(set) var isOverLimit = false

    /// Gives up the bytes held.
    mutating func takeAll() -> Bytes {
        let all = bytes
        bytes = []
        return all
    }

    /// Feeds the parser from `position` on; consumes the section when it completes, else all.
    mutating func gather<Parser: HTTPSectionParser>(
        _ parser: inout Parser, _ input: Span<UInt8>, at position: inout Int, limit: Int,
        name: String
    ) -> Outcome<Parser.Output> {
        let start = position
        guard start < input.count else { return .more }
        if bytes.isEmpty {
            // Most sections come whole, and are read where they lie.
            let end = input.count - start > limit ? start + limit : input.count
            switch parser.scan(input, in: start..<end) {
            case .complete(let length):
                position = start + length
                return .complete(parser.take(input, section: start..<position))
            case .more:
                position = input.count
                bytes.append(input, start..<input.count)
                guard input.count > end else { return .more }
                return .impossible(takeAll(), why: overLimit(name, limit))
            case .impossible(let why):
                position = input.count
                return .impossible(input.bytes(start..<input.count), why: why)
            }
        }
        let held = bytes.count
        // A byte over the limit is enough to know.
        let taken = min(input.count - start, max(1, limit - held))
        bytes.append(input, start..<(start + taken))
        let end = min(bytes.count, limit)
        switch parser.scan(bytes.span, in: 0..<end) {
        case .complete(let length):
            position = start + max(0, length - held)
            let output = parser.take(bytes.span, section: 0..<length)
            bytes = []
            return .complete(output)
        case .more:
            position = input.count
            bytes.append(input, (start + taken)..<input.count)
            guard bytes.count > limit else { return .more }
            return .impossible(takeAll(), why: overLimit(name, limit))
        case .impossible(let why):
            position = input.count
            bytes.append(input, (start + taken)..<input.count)
            return .impossible(takeAll(), why: why)
        }
    }

    private mutating func overLimit(_ name: String, _ limit: Int) -> String {
        isOverLimit = true
        return "\(name) of over \(limit) bytes"
    }
}
