import Network

/// The choices that a case is made of: drawn from a seed, or given as numbers.
///
/// What was chosen is kept as numbers. The same numbers make the same case again, and numbers that
/// were edited make another one of its kind: 0 is always the simplest choice, a number too large
/// is taken for the largest, and where there are none any more all further ones are 0.
package struct Choices: Sendable {
    private enum Source: Sendable {
        case drawn(SeededGenerator)
        case given([Int])
    }

    private var source: Source
    /// The numbers that were chosen up to now.
    package private(set) var made: [Int] = []

    /// Choices that follow from a seed.
    package init(seed: UInt64) {
        source = .drawn(SeededGenerator(seed: seed))
    }

    /// Choices that are known: those of another case, edited or not.
    package init(given numbers: [Int]) {
        source = .given(numbers)
    }

    /// A number from 0 up to, not including, `bound`; 0 where the bound is not positive.
    package mutating func below(_ bound: Int) -> Int {
        guard bound > 1 else { return 0 }
        let number: Int
        switch source {
        case .drawn(var generator):
            number = generator.below(bound)
            source = .drawn(generator)
        case .given(let numbers):
            number =
                made.count < numbers.count ? max(0, min(numbers[made.count], bound - 1)) : 0
        }
        made.append(number)
        return number
    }

    /// A number of the closed range; its lower bound is the simplest.
    package mutating func number(in range: ClosedRange<Int>) -> Int {
        let (width, overflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
        guard !overflow, width < .max else { return range.lowerBound }
        return range.lowerBound + below(width + 1)
    }

    /// True once in `n` times on average; false is the simplest.
    package mutating func oneIn(_ n: Int) -> Bool { n <= 1 || below(n) == n - 1 }

    /// One of the items, of which the first is the simplest; nil where there are none.
    package mutating func pick<Item>(_ items: [Item]) -> Item? {
        items.isEmpty ? nil : items[below(items.count)]
    }

    /// The items in another order; as they are is the simplest.
    package mutating func shuffled<Item>(_ items: [Item]) -> [Item] {
        var items = items
        for index in items.indices.dropLast() {
            items.swapAt(index, index + below(items.count - index))
        }
        return items
    }
}
