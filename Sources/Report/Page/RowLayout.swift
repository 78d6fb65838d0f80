/// Two sessions side by side: which line of the one stands beside which of the other.
///
/// What was compared stands side by side, as far as both sessions have it in the same order;
/// between, lines of one kind. What has no partner beside it stands alone.
package struct RowLayout: Sendable {
    /// One line of the layout: the index of the row on each side, and of the item it belongs to.
    package struct Line: Sendable, Equatable {
        package var left: Int?
        package var right: Int?
        package var item: Int?
    }

    /// All lines, from the first to the last.
    package private(set) var lines: [Line] = []
    /// Where each item stands, first what is looked at first.
    package private(set) var places: [Int: [Int]] = [:]

    private struct Key: Hashable {
        var seq: Int
        var id: Int
    }

    /// A side: its rows, and the items that they belong to.
    private struct Column {
        var rows: [SessionRows.Row]
        var items: [Int?]
        private var found: [Key: Int] = [:]

        init(_ rows: [SessionRows.Row]) {
            self.rows = rows
            items = Array(repeating: nil, count: rows.count)
            for (index, row) in rows.enumerated() where row.seq != 0 {
                for id in Set([0, row.id]) where found[Key(seq: row.seq, id: id)] == nil {
                    found[Key(seq: row.seq, id: id)] = index
                }
            }
        }

        func row(_ seq: Int?, _ id: String?) -> Int? {
            guard let seq else { return nil }
            if let id, let row = found[Key(seq: seq, id: SessionRows.key(id))] { return row }
            return found[Key(seq: seq, id: 0)]
        }
    }

    /// Lays out two sessions; the indexes of `items` are those in `Line.item`.
    package init(_ first: SessionRows, _ second: SessionRows, items: [ComparedItem]) {
        var left = Column(first.rows)
        var right = Column(second.rows)
        var pairs: [(left: Int, right: Int)] = []
        var focus: [Int: (left: Int?, right: Int?)] = [:]
        var ids: (left: [Int: Int], right: [Int: Int]) = ([:], [:])
        // What counts is written last, and so wins where two are about one row.
        let order = items.indices.sorted {
            let one = items[$0].outcome.counts
            return one == items[$1].outcome.counts ? $0 < $1 : !one
        }
        for index in order {
            for place in items[index].places {
                let one = left.row(place.first, place.firstID)
                let other = right.row(place.second, place.secondID)
                if let one { left.items[one] = index }
                if let other { right.items[other] = index }
                if let one, let other { pairs.append((one, other)) }
                if place.isFocus { focus[index] = (one, other) }
                if let id = place.firstID { ids.left[SessionRows.key(id)] = index }
                if let id = place.secondID { ids.right[SessionRows.key(id)] = index }
            }
        }
        Self.spread(ids.left, in: &left)
        Self.spread(ids.right, in: &right)
        lay(left, right, Self.inOrder(pairs))
        var lineOfLeft: [Int: Int] = [:]
        var lineOfRight: [Int: Int] = [:]
        for (number, line) in lines.enumerated() {
            guard let item = line.item else { continue }
            places[item, default: []].append(number)
            if let row = line.left { lineOfLeft[row] = number }
            if let row = line.right { lineOfRight[row] = number }
        }
        for (item, rows) in focus {
            let line =
                rows.left.flatMap { lineOfLeft[$0] } ?? rows.right.flatMap { lineOfRight[$0] }
            guard let line, let place = places[item]?.firstIndex(of: line) else { continue }
            places[item]?.remove(at: place)
            places[item]?.insert(line, at: 0)
        }
    }

    /// Other lines about a command, such as a second answer, belong to its item too.
    private static func spread(_ ids: [Int: Int], in column: inout Column) {
        for (index, row) in column.rows.enumerated()
        where row.id != 0 && column.items[index] == nil {
            column.items[index] = ids[row.id]
        }
    }

    /// The most pairs that stand in one order on both sides, each row once.
    private static func inOrder(_ pairs: [(left: Int, right: Int)]) -> [(left: Int, right: Int)] {
        // Rows of one left row in falling order, so that at most one of them is taken.
        let sorted = pairs.sorted { ($0.left, $1.right) < ($1.left, $0.right) }
        // The last element of the best chain of each length, and what stands before each.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: sorted.count)
        for (index, pair) in sorted.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if sorted[ends[middle]].right < pair.right {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var chain: [(left: Int, right: Int)] = []
        var place = ends.last
        while let index = place {
            chain.append(sorted[index])
            place = before[index]
        }
        return chain.reversed()
    }

    private mutating func lay(
        _ left: Column, _ right: Column, _ pairs: [(left: Int, right: Int)]
    ) {
        var one = 0
        var other = 0
        for pair in pairs + [(left.rows.count, right.rows.count)] {
            layGap(left, one..<pair.left, right, other..<pair.right)
            one = pair.left + 1
            other = pair.right + 1
            guard pair.left < left.rows.count else { break }
            add(left, pair.left, right, pair.right)
        }
    }

    /// What stands between two pairs: lines of one kind side by side, in order.
    private mutating func layGap(
        _ left: Column, _ ones: Range<Int>, _ right: Column, _ others: Range<Int>
    ) {
        func isAlike(_ one: Int, _ other: Int) -> Bool {
            left.rows[one].kind == right.rows[other].kind && left.items[one] == nil
                && right.items[other] == nil
        }
        var next = (ones.lowerBound, others.lowerBound)
        // What was compared is like nothing here; its partner is elsewhere.
        let pairs = SequenceAlignment.pairs(
            ones.map { .init(place: $0, key: left.items[$0] == nil ? left.rows[$0].kind : -1) },
            others.map { .init(place: $0, key: right.items[$0] == nil ? right.rows[$0].kind : -2) }
        ).filter { isAlike($0.0, $0.1) }.sorted { $0.0 < $1.0 }
        for pair in pairs where pair.0 >= next.0 && pair.1 >= next.1 {
            for row in next.0..<pair.0 { add(left, row, right, nil) }
            for row in next.1..<pair.1 { add(left, nil, right, row) }
            add(left, pair.0, right, pair.1)
            next = (pair.0 + 1, pair.1 + 1)
        }
        for row in next.0..<ones.upperBound { add(left, row, right, nil) }
        for row in next.1..<others.upperBound { add(left, nil, right, row) }
    }

    private mutating func add(_ left: Column, _ one: Int?, _ right: Column, _ other: Int?) {
        let item = one.flatMap { left.items[$0] } ?? other.flatMap { right.items[$0] }
        lines.append(Line(left: one, right: other, item: item))
    }
}
