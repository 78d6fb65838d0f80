/// How values are spread, in memory that does not grow with their number.
///
/// Each power of two is divided into 64 steps, so that a quantile is at most 1 % from the true
/// one; numbers below 128 and the extremes are exact. Negative values count as 0.
package struct Distribution: Sendable, Equatable {
    /// How many values there are.
    package private(set) var count = 0
    /// The smallest and the largest; 0 without any.
    package private(set) var minimum: Int64 = 0
    package private(set) var maximum: Int64 = 0
    /// All values together, as far as 64 bits hold that.
    package private(set) var sum: Int64 = 0
    /// Counts by step; at most 3,776 steps exist.
    private var steps: [Int: Int] = [:]

    package init() {}

    /// Takes one value in.
    package mutating func add(_ value: Int64) {
        let value = max(0, value)
        minimum = count == 0 ? value : min(minimum, value)
        maximum = max(maximum, value)
        count += 1
        add(sum: value)
        steps[Self.step(of: value), default: 0] += 1
    }

    /// Takes in what another has.
    package mutating func add(_ other: Distribution) {
        guard other.count > 0 else { return }
        minimum = count == 0 ? other.minimum : min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        count += other.count
        add(sum: other.sum)
        steps.merge(other.steps, uniquingKeysWith: +)
    }

    private mutating func add(sum other: Int64) {
        let (total, overflow) = sum.addingReportingOverflow(other)
        sum = overflow ? .max : total
    }

    /// The least value that at least this share of all does not exceed (0.5 is the median, 1
    /// the maximum), within 1 %; nil without values.
    package func quantile(_ share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let rank = (min(max(share, 0), 1) * Double(count)).rounded(.up)
        // A Double may round up what it cannot hold.
        let wanted = max(1, min(count, Int(exactly: rank) ?? count))
        if wanted == count { return maximum }
        var seen = 0
        for step in steps.keys.sorted() {
            seen += steps[step] ?? 0
            if seen >= wanted { return min(max(Self.middle(of: step), minimum), maximum) }
        }
        return maximum
    }

    private static let bits = 6

    private static func step(of value: Int64) -> Int {
        let exponent = max(0, 63 - value.leadingZeroBitCount - bits)
        return exponent << bits + Int(value >> Int64(exponent))
    }

    private static func middle(of step: Int) -> Int64 {
        let exponent = max(0, step >> bits - 1)
        let lower = Int64(step - exponent << bits) << Int64(exponent)
        return lower + (Int64(1) << Int64(exponent)) / 2
    }
}
