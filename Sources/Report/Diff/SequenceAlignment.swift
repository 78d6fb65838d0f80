/// Pairs the elements of two lists in order, so that what is paired has the most in common.
enum SequenceAlignment {
    /// Cells of the table that is filled to find the best alignment; what would take more is
    /// paired by its order.
    static let maximumCells = 4_000_000

    /// Pairs of elements; what stands between two that have something in common is paired in
    /// order.
    ///
    /// - Parameters:
    ///   - perfect: the likeness of two that have all in common.
    ///   - likeness: how much two elements have in common, 0 for nothing.
    static func pairs(
        _ left: [Int], _ right: [Int], perfect: Int32, likeness: (Int, Int) -> Int32
    ) -> [(Int, Int)] {
        var left = left[...]
        var right = right[...]
        var pairs: [(Int, Int)] = []
        while let one = left.first, let other = right.first, likeness(one, other) == perfect {
            pairs.append((left.removeFirst(), right.removeFirst()))
        }
        while let one = left.last, let other = right.last, likeness(one, other) == perfect {
            pairs.append((left.removeLast(), right.removeLast()))
        }
        let (cells, overflow) = (left.count + 1).multipliedReportingOverflow(by: right.count + 1)
        guard !overflow, cells <= maximumCells else { return pairs + Array(zip(left, right)) }
        var gap: (left: [Int], right: [Int]) = ([], [])
        for step in bestPath(Array(left), Array(right), likeness: likeness) {
            switch step {
            case (let one?, let other?):
                pairs += zip(gap.left, gap.right)
                gap = ([], [])
                pairs.append((one, other))
            case (let one?, nil): gap.left.append(one)
            case (nil, let other?): gap.right.append(other)
            case (nil, nil): break
            }
        }
        return pairs + zip(gap.left, gap.right)
    }

    /// The alignment with the greatest sum of likenesses, in order.
    private static func bestPath(
        _ left: [Int], _ right: [Int], likeness: (Int, Int) -> Int32
    ) -> [(Int?, Int?)] {
        let width = right.count + 1
        // The best sum of what stands behind a place in both lists.
        var best = [Int32](repeating: 0, count: (left.count + 1) * width)
        for row in left.indices.reversed() {
            for column in right.indices.reversed() {
                let likeness = likeness(left[row], right[column])
                best[row * width + column] = max(
                    best[(row + 1) * width + column], best[row * width + column + 1],
                    likeness > 0 ? best[(row + 1) * width + column + 1] + likeness : 0)
            }
        }
        var path: [(Int?, Int?)] = []
        var row = 0
        var column = 0
        while row < left.count, column < right.count {
            let likeness = likeness(left[row], right[column])
            let here = best[row * width + column]
            if likeness > 0, here == best[(row + 1) * width + column + 1] + likeness {
                path.append((left[row], right[column]))
                row += 1
                column += 1
            } else if here == best[(row + 1) * width + column] {
                path.append((left[row], nil))
                row += 1
            } else {
                path.append((nil, right[column]))
                column += 1
            }
        }
        return path + left[row...].map { ($0, nil) } + right[column...].map { (nil, $0) }
    }
}
