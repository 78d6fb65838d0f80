import Wire

/// A parsed filter.
indirect enum FilterExpression {
    case term(FilterField, FilterTest)
    case not(FilterExpression)
    case and([FilterExpression])
    case or([FilterExpression])

    /// Whether it holds of the event with at least one of its `bridge` objects, or without one
    /// where there is none.
    func matches(_ event: Event) -> Bool {
        if event.bridge.isEmpty { return matches(event, nil) }
        return event.bridge.contains { matches(event, $0) }
    }

    private func matches(_ event: Event, _ object: JSON?) -> Bool {
        switch self {
        case .term(let field, let test):
            field.anyValue(of: event, in: object, test.matches)
        case .not(let expression): !expression.matches(event)
        case .and(let parts): parts.allSatisfy { $0.matches(event, object) }
        case .or(let parts): parts.contains { $0.matches(event, object) }
        }
    }
}

/// What a term demands of a field's value.
enum FilterTest {
    /// The same text; numbers may be spelt differently.
    case equals(String)
    case matches(Regex<AnyRegexOutput>)
    case compares(FilterComparison, FilterNumber)

    func matches(_ value: FilterValue) -> Bool {
        switch (self, value) {
        case (.equals(let wanted), .text(let text)):
            text.hasSameScalars(as: wanted)
        case (.equals(let wanted), .bytes(let bytes)):
            bytes.elementsEqual(wanted.utf8)
        case (.equals(let wanted), .number(let number)):
            FilterNumber(wanted) == number
        case (.equals(let wanted), .bool(let flag)):
            wanted == (flag ? "true" : "false")
        case (.matches(let pattern), _):
            value.text.map { $0.contains(pattern) } ?? false
        case (.compares(let comparison, let limit), .number(let number)):
            comparison.holds(number, limit)
        case (.compares(let comparison, let limit), .text(let text)):
            FilterNumber(text).map { comparison.holds($0, limit) } ?? false
        case (.compares, .bool), (.compares, .bytes):
            false
        }
    }
}

/// The operators that compare numbers.
enum FilterComparison: String {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    func holds(_ left: FilterNumber, _ right: FilterNumber) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left < right || left == right
        case .greater: right < left
        case .greaterOrEqual: right < left || left == right
        }
    }
}

/// A number of a field or filter: integers of 64 bits are exact.
struct FilterNumber: Comparable {
    private var integer: Int64?
    private var approximate: Double

    init(_ value: Int64) {
        integer = value
        approximate = Double(value)
    }

    init(_ value: UInt64) {
        integer = Int64(exactly: value)
        approximate = Double(value)
    }

    /// Reads a decimal number; nil for other text, "inf" and "nan" included.
    init?(_ text: String) {
        let exact = JSON.number(text).integerValue
        guard !text.isEmpty,
            text.utf8.allSatisfy({
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                    UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                    true
                default: false
                }
            }), let value = Double(text)
        else { return nil }
        integer = exact
        approximate = value
    }

    /// The number in decimal digits.
    var description: String { integer.map(String.init) ?? approximate.description }

    static func == (left: FilterNumber, right: FilterNumber) -> Bool {
        if let a = left.integer, let b = right.integer { return a == b }
        return left.approximate == right.approximate
    }

    static func < (left: FilterNumber, right: FilterNumber) -> Bool {
        if let a = left.integer, let b = right.integer { return a < b }
        return left.approximate < right.approximate
    }
}
