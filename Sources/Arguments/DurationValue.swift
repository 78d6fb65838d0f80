/// The units of a duration, longest name first where one ends in another.
private let durationUnits: [(name: String, nanoseconds: Int64)] = [
    ("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000),
    ("min", 60_000_000_000), ("h", 3_600_000_000_000), ("d", 86_400_000_000_000),
]

extension ArgumentValue where Value == Duration {
    /// A duration with its unit: `200ms`, `2s`, `1.5s`, `10min`, `1h`.
    ///
    /// Up to 10,000 days, so that nanoseconds always fit an `Int64`.
    package static func duration(_ placeholder: String = "TIME") -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            .nanoseconds(try parseNanoseconds(text))
        }
    }
}

private func parseNanoseconds(_ text: String) throws(ValueError) -> Int64 {
    let maximumDays: Int64 = 10_000
    guard let (number, unit) = splitUnit(text) else {
        throw ValueError("\(quoted(text)) is not a duration; write one like 200ms, 2s or 10min")
    }
    guard !unit.isEmpty else {
        throw ValueError("\(quoted(text)) has no unit; write \(text)s, \(text)ms or \(text)min")
    }
    guard let scale = durationUnits.first(where: { $0.name == unit })?.nanoseconds else {
        let names = durationUnits.map(\.name).joined(separator: ", ")
        throw ValueError("\(quoted(text)) has the unknown unit \(quoted(unit)); known are \(names)")
    }
    guard let value = number.scaled(by: scale), value <= maximumDays * 86_400_000_000_000 else {
        throw ValueError("\(quoted(text)) is too long; \(maximumDays)d is the most")
    }
    return value
}

/// A decimal number as written: its digits without the point, and how many stand behind it.
struct DecimalText: Equatable {
    var digits: Int64
    var decimals: Int

    /// The number times `factor`, digits below 1 cut off; nil on overflow.
    func scaled(by factor: Int64) -> Int64? {
        // All unsigned: a signed full-width division traps where the quotient needs 64 bits.
        let (high, low) = digits.magnitude.multipliedFullWidth(by: factor.magnitude)
        var divisor: UInt64 = 1
        for _ in 0..<decimals { divisor *= 10 }
        guard high < divisor else { return nil }
        return Int64(exactly: divisor.dividingFullWidth((high, low)).quotient)
    }
}

/// Splits `1.5MiB` into its number and its unit; nil where no decimal number stands in front.
///
/// At most 15 digits are taken, so that nothing here can overflow.
func splitUnit(_ text: String) -> (number: DecimalText, unit: String)? {
    var digits: Int64 = 0
    var decimals = 0
    var count = 0
    var pointSeen = false
    var rest = Substring(text)
    while let character = rest.first {
        if let digit = character.wholeNumberValue, character.isASCII {
            count += 1
            guard count <= 15 else { return nil }
            digits = digits * 10 + Int64(digit)
            if pointSeen { decimals += 1 }
        } else if character == ".", !pointSeen, count > 0 {
            pointSeen = true
        } else {
            break
        }
        rest = rest.dropFirst()
    }
    guard count > 0, !pointSeen || decimals > 0 else { return nil }
    return (DecimalText(digits: digits, decimals: decimals), String(rest))
}
