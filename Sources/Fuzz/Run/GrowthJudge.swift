/// Decides whether a figure of a process, such as its memory, goes on growing (fuzzing plan, U6).
///
/// Pure: it takes one value behind each case, and knows no unit but its own. Three things have to
/// come together, so that neither a warm-up, nor a cache that fills, nor a collector that runs now
/// and then, nor noise is called growth: the slope (Theil and Sen: the median of the slopes of all
/// pairs), the growth in all, and that nearly all pairs go up, in the last third as in the whole.
package struct GrowthJudge: Sendable {
    /// From where on it is growth.
    package struct Limits: Sendable, Hashable {
        /// Values at the beginning that do not count.
        package var warmUp = 10
        /// Values that are looked at, at least and at most.
        package var count = 24...96
        /// The slope, in units a value.
        package var slope: Double
        /// The growth from the first eighth to the last one, in units.
        package var growth: Double
        /// The part of all pairs that has to go up.
        package var rising = 0.85

        package init(slope: Double, growth: Double) {
            self.slope = slope
            self.growth = growth
        }

        /// Resident memory in bytes: 32 KiB a case, and 3 MiB in all.
        package static let memory = Limits(slope: 32 * 1024, growth: 3 * 1024 * 1024)
        /// Open descriptors: one in four cases, and 12 in all.
        package static let handles = Limits(slope: 0.25, growth: 12)
    }

    /// What was found out.
    package struct Growth: Sendable, Hashable {
        /// Units a value.
        package var slope: Double
        /// From the first values that count to the last ones.
        package var from: Double
        package var to: Double
        /// So many values were looked at.
        package var count: Int
    }

    private let limits: Limits
    private var skipped = 0
    private var values: [Double] = []

    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Takes the next value; tells growth where that is certain.
    package mutating func receive(_ value: Int64) -> Growth? {
        guard skipped >= limits.warmUp else {
            skipped += 1
            return nil
        }
        values.append(Double(value))
        if values.count > limits.count.upperBound { values.removeFirst() }
        guard values.count >= limits.count.lowerBound else { return nil }
        return growth
    }

    /// Whether what there is looks like growth, so that more values are worth while.
    package var isSuspicious: Bool {
        guard values.count >= limits.count.lowerBound / 2, let slope = Self.slope(values[...])
        else { return false }
        return slope.median > 0 && slope.rising >= limits.rising
    }

    private var growth: Growth? {
        guard let all = Self.slope(values[...]), all.median >= limits.slope,
            all.rising >= limits.rising,
            let last = Self.slope(values.suffix(values.count / 3)),
            // What fills up grows less and less.
            last.median >= max(limits.slope, all.median) * 3 / 4,
            last.rising >= limits.rising - 0.15
        else { return nil }
        let part = max(3, values.count / 8)
        let from = Self.median(Array(values.prefix(part)))
        let to = Self.median(Array(values.suffix(part)))
        guard to - from >= limits.growth else { return nil }
        return Growth(slope: all.median, from: from, to: to, count: values.count)
    }

    /// The median of the slopes of all pairs, and the part of the pairs that goes up.
    private static func slope(
        _ values: ArraySlice<Double>
    ) -> (median: Double, rising: Double)? {
        guard values.count > 2 else { return nil }
        var slopes: [Double] = []
        var rising = 0
        for first in values.indices {
            for second in values.indices where second > first {
                let rise = values[second] - values[first]
                slopes.append(rise / Double(second - first))
                if rise > 0 { rising += 1 }
            }
        }
        return (median(slopes), Double(rising) / Double(slopes.count))
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
