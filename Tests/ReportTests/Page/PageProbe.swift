import Capture
import Report
import Testing

/// Sketches of sessions, laid out side by side.
struct PageProbe {
    let first: SessionRows
    let second: SessionRows
    let items: [ComparedItem]
    let layout: RowLayout

    init(_ left: SessionSketch, _ right: SessionSketch) throws {
        first = try Self.rows(left)
        second = try Self.rows(right)
        var diff = try DiffProbe().diff(left, right)
        var items: [ComparedItem] = []
        while let pair = try diff.nextCommand() { items.append(ComparedItem(pair)) }
        while let pair = try diff.nextExchange() { items.append(ComparedItem(pair)) }
        while let pair = try diff.nextEvent() { items.append(ComparedItem(pair)) }
        for fact in diff.facts where fact.counts { items.append(ComparedItem(fact)) }
        self.items = items
        layout = RowLayout(first, second, items: items)
    }

    static func rows(_ sketch: SessionSketch) throws -> SessionRows {
        var rows = SessionRows()
        for event in sketch.events { try rows.receive(event) }
        try rows.finish()
        return rows
    }

    /// The layout as text: what stands on each side, and the outcome of what it belongs to.
    var text: [String] {
        get throws {
            try layout.lines.map { line in
                let left = try line.left.map { try name(first.line(at: $0)) } ?? "-"
                let right = try line.right.map { try name(second.line(at: $0)) } ?? "-"
                let outcome = line.item.map { "  \(items[$0].outcome.rawValue)" } ?? ""
                return "\(left) | \(right)\(outcome)"
            }
        }
    }

    private func name(_ line: TimelineLine) -> String {
        "\(line.label.text)\(line.id.map { " \($0)" } ?? "")"
    }

    /// Index of the first item of a kind that counts.
    func differing(_ group: String) throws -> Int {
        try #require(items.firstIndex { $0.outcome.counts && $0.group == group })
    }
}
