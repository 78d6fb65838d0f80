/// A small table for a terminal: the first column to the left, the others to the right.
struct TextTable {
    private var rows: [[String]] = []
    private let indent: Int
    /// Columns that stand to the left, besides the first.
    private let leftColumns: Set<Int>

    init(indent: Int, leftColumns: Set<Int> = []) {
        self.indent = indent
        self.leftColumns = leftColumns
    }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The rows, without spaces at their ends.
    var lines: [String] {
        let widths = rows.reduce(into: [Int]()) { widths, row in
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], columns(cell))
            }
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            for (index, cell) in row.enumerated() {
                let gap = String(repeating: " ", count: widths[index] - columns(cell))
                if index > 0 { line += "  " }
                line += index == 0 || leftColumns.contains(index) ? cell + gap : gap + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
