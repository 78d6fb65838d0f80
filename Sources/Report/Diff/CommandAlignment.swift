import PhoneBridge
import Wire

/// Finds which commands of two sessions belong together by what they are, where nothing better
/// is known.
struct CommandAlignment {
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
        func key(_ command: DiffSession.Command) -> Bytes {
            Bytes("\(command.id)\n\(command.type)".utf8)
        }
        var waiting: [Bytes: [Int]] = [:]
        for index in second.indices.reversed() {
            waiting[key(second[index]), default: []].append(index)
        }
        for index in first.indices {
            let key = key(first[index])
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

    /// Pairs two lists in order so that what is paired has the most in common.
    private mutating func align(_ left: [Int], _ right: [Int]) {
        let pairs = SequenceAlignment.pairs(
            left.map { first[$0].element(at: $0) }, right.map { second[$0].element(at: $0) })
        for (one, other) in pairs { pair(one, other) }
    }
}

extension DiffSession.Command {
    /// What it asks for, and what it was answered.
    fileprivate func element(at place: Int) -> SequenceAlignment.Element {
        .init(place: place, key: content?.hash ?? 0, detail: answer?.content?.hash ?? 0)
    }
}
