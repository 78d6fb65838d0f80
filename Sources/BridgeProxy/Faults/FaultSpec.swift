package import Capture

/// The faults of `--fault`: terms that are separated by commas, each `NAME[=VALUE][[FILTER]][:P]`
/// (command line, `record`), such as `drop[result]:0.05,delay=200ms..2s`.
///
/// A filter chooses the messages that a term is about, and the number behind the colon is how
/// likely it strikes one of them: 1 where there is none.
package struct FaultSpec {
    /// What is done to a message.
    ///
    /// Times are nanoseconds.
    package enum Kind: Equatable, Sendable {
        /// It is passed on so much later, and what follows it on its way is not before it.
        case delay(ClosedRange<Int64>)
        case drop
        case duplicate
        /// It changes places with the next one, if that comes within a second.
        case reorder
        /// Its content is cut short; what frames it fits what is left.
        case truncate
        /// One bit of its content is turned over.
        case corrupt
        /// The connection is torn down in its place.
        case reset
        /// Nothing passes this way for so long.
        case stall(Int64)
        case throttle(bitsPerSecond: Int64)
        /// Its bytes leave in several segments.
        case split
        /// It leaves in one segment with the next one, if that comes within 50 ms.
        case merge
    }

    /// One fault, whom it strikes, and how likely.
    package struct Term {
        package let kind: Kind
        package let filter: Filter?
        /// More than 0, at most 1.
        package let probability: Double
    }

    package let terms: [Term]

    /// The names of all faults, as people write them.
    static let names = [
        "delay", "drop", "duplicate", "reorder", "truncate", "corrupt", "reset", "stall",
        "throttle", "split", "merge",
    ]

    /// No faults.
    static var none: FaultSpec { FaultSpec(terms: []) }

    private init(terms: [Term]) {
        self.terms = terms
    }

    /// Reads the text of a flag.
    package init(parsing text: String) throws(FaultSpecError) {
        var terms: [Term] = []
        for part in try Self.parts(text) { terms.append(try Self.term(part)) }
        self.terms = terms
    }

    /// The text between commas that stand in no brackets and no quotes.
    private static func parts(_ text: String) throws(FaultSpecError) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var depth = 0
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
                continue
            }
            switch character {
            case "\"", "'": if depth > 0 { quote = character }
            case "[": depth += 1
            case "]": depth -= 1
            case "," where depth == 0:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        guard depth == 0, quote == nil else {
            throw FaultSpecError("a bracket or a quote is not closed")
        }
        return parts + [text[start...]]
    }

    private static func term(_ text: Substring) throws(FaultSpecError) -> Term {
        var rest = text
        let word = rest.prefix { $0.isLetter }
        let name = String(word)
        rest = rest.dropFirst(word.count)
        var value: Substring?
        if rest.first == "=" {
            let text = rest.dropFirst().prefix { $0 != "[" && $0 != ":" }
            rest = rest.dropFirst(1 + text.count)
            value = text
        }
        var filter: Filter?
        if rest.first == "[" {
            guard let end = rest.lastIndex(of: "]") else {
                throw FaultSpecError("a bracket is not closed")
            }
            let inside = rest[rest.index(after: rest.startIndex)..<end]
            do throws(FilterError) {
                filter = try Filter(parsing: String(inside))
            } catch {
                throw FaultSpecError("\(name): the filter in brackets: \(error)")
            }
            rest = rest[rest.index(after: end)...]
        }
        var probability = 1.0
        if rest.first == ":" {
            guard let number = Double(rest.dropFirst()), number > 0, number <= 1 else {
                throw FaultSpecError(
                    "\(name): behind the colon stands how likely it is, over 0 and at most 1")
            }
            probability = number
            rest = ""
        }
        guard rest.isEmpty else {
            throw FaultSpecError("`\(rest)` stands where nothing is expected, in `\(text)`")
        }
        return Term(
            kind: try kind(name, value), filter: filter, probability: probability)
    }

    private static func kind(
        _ name: String, _ value: Substring?
    ) throws(FaultSpecError) -> Kind {
        switch name {
        case "delay": return .delay(try times(name, value))
        case "stall": return .stall(try time(name, value))
        case "throttle": return .throttle(bitsPerSecond: try rate(value))
        default: break
        }
        guard value == nil else { throw FaultSpecError("\(name) takes no value") }
        switch name {
        case "drop": return .drop
        case "duplicate": return .duplicate
        case "reorder": return .reorder
        case "truncate": return .truncate
        case "corrupt": return .corrupt
        case "reset": return .reset
        case "split": return .split
        case "merge": return .merge
        default:
            throw FaultSpecError(
                "`\(name)` is no fault; there are \(names.joined(separator: ", "))")
        }
    }

    private static func times(
        _ name: String, _ value: Substring?
    ) throws(FaultSpecError) -> ClosedRange<Int64> {
        guard let value, let dots = value.firstRange(ofDots: 2) else {
            let time = try time(name, value)
            return time...time
        }
        let low = try time(name, value[..<dots.lowerBound])
        let high = try time(name, value[dots.upperBound...])
        guard low <= high else { throw FaultSpecError("\(name): the first time is the longer one") }
        return low...high
    }

    private static func time(
        _ name: String, _ value: Substring?
    ) throws(FaultSpecError) -> Int64 {
        guard let value, let time = parse(value, units: [("ms", 1_000_000), ("s", 1_000_000_000)]),
            (1...3_600_000_000_000).contains(time)
        else {
            throw FaultSpecError(
                "\(name) needs a time such as \(name)=200ms or \(name)=2s, "
                    + "at most an hour")
        }
        return time
    }

    private static func rate(_ value: Substring?) throws(FaultSpecError) -> Int64 {
        let units: [(String, Int64)] = [("Mbps", 1_000_000), ("kbps", 1000), ("bps", 1)]
        guard let value, let rate = parse(value, units: units),
            (100...10_000_000_000).contains(rate)
        else {
            throw FaultSpecError(
                "throttle needs a rate such as throttle=9600bps or 1Mbps, "
                    + "from 100bps to 10000Mbps")
        }
        return rate
    }

    private static func parse(_ text: Substring, units: [(String, Int64)]) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.0) }),
            let number = Int64(text.dropLast(unit.0.count))
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.1)
        return overflow ? nil : product
    }
}

extension Substring {
    /// Where so many dots stand first.
    fileprivate func firstRange(ofDots count: Int) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            let run = self[index...].prefix { $0 == "." }
            if run.count == count { return index..<run.endIndex }
            index = run.isEmpty ? self.index(after: index) : run.endIndex
        }
        return nil
    }
}

/// Why a text names no faults: one sentence in lower case without a full stop.
package struct FaultSpecError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
