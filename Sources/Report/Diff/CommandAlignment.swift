import PhoneBridge

/// Finds which commands of two sessions belong together by what they are, where nothing better
/// is known.
struct CommandAlignment {
    /// Cells of a table that is filled to find the best alignment; longer lists are paired by
    /// their order.
    static let maximumCells = 4_000_000

    /// For each command of the first session, its partner in the second.
    private(set) var partners: [Int?]
    private var isTaken: [Bool]
    private let first: [DiffSession.Command]
    private let second: [DiffSession.Command]

    /// Pairs commands by id and type, then by type and route so that as many as possible say
    /// the same, and what is left of a type across routes, in order.
    init(_ first: [DiffSession.Command], _ second: [DiffSession.Command]) {
        self.first = first
        self.second = second
        partners = Array(repeating: nil, count: first.count)
        isTaken = Array(repeating: false, count: second.count)
        pairEqualIDs()
        for (left, right) in groups(by: { "\($0.type)\n\($0.route.rawValue)" }) {
            align(left, right)
        }
        for (left, right) in groups(by: \.type) {
            for (one, other) in zip(left, right) where first[one].route != second[other].route {
                pair(one, other)
            }
        }
    }

    /// Indexes into both lists, in the order of the first; behind them what the second has more.
    var pairs: [(first: Int?, second: Int?)] {
        first.indices.map { ($0, partners[$0]) }
            + second.indices.filter { !isTaken[$0] }.map { (nil, $0) }
    }

    private mutating func pair(_ left: Int, _ right: Int) {
        partners[left] = right
        isTaken[right] = true
    }

    private mutating func pairEqualIDs() {
        var waiting: [String: [Int]] = [:]
        for index in second.indices.reversed() {
            waiting["\(second[index].id)\n\(second[index].type)", default: []].append(index)
        }
        for index in first.indices {
            let key = "\(first[index].id)\n\(first[index].type)"
            if let match = waiting[key]?.popLast() { pair(index, match) }
        }
    }

    /// Those without a partner that have a key in common, in the order of the first session.
    private func groups(
        by key: (DiffSession.Command) -> String
    ) -> [(first: [Int], second: [Int])] {
        var waiting: [String: [Int]] = [:]
        for index in second.indices where !isTaken[index] {
            waiting[key(second[index]), default: []].append(index)
        }
        guard !waiting.isEmpty else { return [] }
        var places: [String: Int] = [:]
        var groups: [(first: [Int], second: [Int])] = []
        for index in first.indices where partners[index] == nil {
            let key = key(first[index])
            if let place = places[key] {
                groups[place].first.append(index)
            } else if let right = waiting[key] {
                places[key] = groups.count
                groups.append(([index], right))
            }
        }
        return groups
    }

    // MARK: The best alignment

    /// How much two commands have in common.
    private func likeness(_ left: Int, _ right: Int) -> Int32 {
        guard first[left].content?.hash == second[right].content?.hash else { return 0 }
        return first[left].answer?.content?.hash == second[right].answer?.content?.hash ? 3 : 2
    }

    /// Pairs two lists in order so that what is paired has the most in common; what stands
    /// between such pairs is paired in order.
    private mutating func align(_ left: [Int], _ right: [Int]) {
        var left = left[...]
        var right = right[...]
        while let one = left.first, let other = right.first, likeness(one, other) == 3 {
            pair(left.removeFirst(), right.removeFirst())
        }
        while let one = left.last, let other = right.last, likeness(one, other) == 3 {
            pair(left.removeLast(), right.removeLast())
        }
        let (cells, overflow) = (left.count + 1).multipliedReportingOverflow(by: right.count + 1)
        guard !overflow, cells <= Self.maximumCells else {
            for (one, other) in zip(left, right) { pair(one, other) }
            return
        }
        var gapLeft: [Int] = []
        var gapRight: [Int] = []
        for step in bestPath(Array(left), Array(right)) {
            switch step {
            case (let one?, let other?):
                for (one, other) in zip(gapLeft, gapRight) { pair(one, other) }
                gapLeft = []
                gapRight = []
                pair(one, other)
            case (let one?, nil): gapLeft.append(one)
            case (nil, let other?): gapRight.append(other)
            case (nil, nil): break
            }
        }
        for (one, other) in zip(gapLeft, gapRight) { pair(one, other) }
    }

    /// The alignment with the greatest sum of likenesses, in order.
    private func bestPath(_ left: [Int], _ right: [Int]) -> [(Int?, Int?)] {
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
