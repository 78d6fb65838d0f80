/// Pairs the elements of two lists in order, so that what is paired has the most in common.
struct SequenceAlignment {
    /// An element, by what it is compared by.
    struct Element: Equatable {
        /// Where it stands in its list.
        var place: Int
        /// Elements whose keys differ have nothing in common.
        var key: Int
        /// Of equal keys, those with equal details have more in common.
        var detail = 0
    }

    /// Cells of the table that is filled to find the best alignment.
    ///
    /// Longer lists are aligned within a band: they may lack as many elements as it is wide.
    static let maximumCells = 2_000_000

    private let left: [Element]
    private let right: [Element]
    /// How far a path leaves the diagonal, and how wide the band is by that.
    private let reach: Int
    private let width: Int
    /// The best sum of what stands behind a place in both lists: a row for each of the first,
    /// as wide as the band.
    private var best: [Int32] = []

    /// Places of elements that belong together; what stands between two pairs that have something
    /// in common is paired in order.
    static func pairs(_ left: [Element], _ right: [Element]) -> [(Int, Int)] {
        var left = left[...]
        var right = right[...]
        var pairs: [(Int, Int)] = []
        while let one = left.first, let other = right.first, likeness(one, other) == perfect {
            pairs.append((left.removeFirst().place, right.removeFirst().place))
        }
        while let one = left.last, let other = right.last, likeness(one, other) == perfect {
            pairs.append((left.removeLast().place, right.removeLast().place))
        }
        guard var alignment = SequenceAlignment(Array(left), Array(right)) else {
            return pairs + zip(left, right).map { ($0.place, $1.place) }
        }
        var gap: (left: [Int], right: [Int]) = ([], [])
        for (one, other) in alignment.path() {
            if let one, let other {
                pairs += zip(gap.left, gap.right)
                gap = ([], [])
                pairs.append((one, other))
            } else if let one {
                gap.left.append(one)
            } else if let other {
                gap.right.append(other)
            }
        }
        return pairs + zip(gap.left, gap.right)
    }

    private static let perfect: Int32 = 3

    private static func likeness(_ left: Element, _ right: Element) -> Int32 {
        left.key != right.key ? 0 : left.detail == right.detail ? perfect : 2
    }

    /// Nil for lists whose lengths differ by more than a band can be wide.
    private init?(_ left: [Element], _ right: [Element]) {
        self.left = left
        self.right = right
        let difference = (right.count - left.count).magnitude
        let most = Self.maximumCells / (left.count + 1) - Int(difference) - 1
        guard most >= 2 else { return nil }
        reach = min(most / 2, max(left.count, right.count))
        width = 2 * reach + Int(difference) + 1
    }

    /// The place of a cell; nil outside of the band.
    private func cell(_ row: Int, _ column: Int) -> Int? {
        let offset = column - row + reach - min(0, right.count - left.count)
        return offset >= 0 && offset < width ? row * width + offset : nil
    }

    /// The best sum behind a place; worse than any within the band for one outside.
    private func value(_ row: Int, _ column: Int) -> Int32 {
        cell(row, column).map { best[$0] } ?? -1
    }

    /// The alignment with the greatest sum of likenesses: pairs of places, in order.
    private mutating func path() -> [(Int?, Int?)] {
        best = Array(repeating: 0, count: (left.count + 1) * width)
        for row in left.indices.reversed() {
            let middle = row - reach + min(0, right.count - left.count)
            let columns = max(0, middle)..<max(0, min(right.count, middle + width))
            for column in columns.reversed() {
                let likeness = Self.likeness(left[row], right[column])
                guard let cell = cell(row, column) else { continue }
                best[cell] = max(
                    value(row + 1, column), value(row, column + 1),
                    likeness > 0 ? value(row + 1, column + 1) + likeness : 0)
            }
        }
        var path: [(Int?, Int?)] = []
        var row = 0
        var column = 0
        while row < left.count, column < right.count {
            let likeness = Self.likeness(left[row], right[column])
            let here = value(row, column)
            if likeness > 0, here == value(row + 1, column + 1) + likeness {
                path.append((left[row].place, right[column].place))
                row += 1
                column += 1
            } else if here == value(row + 1, column) {
                path.append((left[row].place, nil))
                row += 1
            } else {
                path.append((nil, right[column].place))
                column += 1
            }
        }
        return path + left[row...].map { ($0.place, nil) }
            + right[column...].map { (nil, $0.place) }
    }
}
