package import Capture

/// The few lines around something that was compared, in both sessions, without what messages say.
package struct ItemSurroundings: Sendable {
    /// A line, and whether it is what this is about.
    package struct Entry: Sendable {
        package var line: TimelineLine
        package var isMarked: Bool
    }

    package private(set) var first: [Entry] = []
    package private(set) var second: [Entry] = []

    /// Lines before it and behind it.
    private static let reach = 2

    /// Looks around an item; nothing is there where it stands in neither session.
    ///
    /// - Parameter item: its index among the items of the layout.
    package init(
        of item: Int, in layout: RowLayout, _ first: SessionRows, _ second: SessionRows
    ) throws(OutputError) {
        guard let centre = layout.places[item]?.first else { return }
        self.first = try Self.entries(first, layout, item, centre, \.left)
        self.second = try Self.entries(second, layout, item, centre, \.right)
    }

    private static func entries(
        _ rows: SessionRows, _ layout: RowLayout, _ item: Int, _ centre: Int,
        _ side: KeyPath<RowLayout.Line, Int?>
    ) throws(OutputError) -> [Entry] {
        let lines = layout.lines
        // Where this side has nothing at the place, it is what came last before it.
        guard
            let middle = lines[centre][keyPath: side]
                ?? lines[..<centre].reversed().lazy.compactMap({ $0[keyPath: side] }).first
                ?? lines[centre...].lazy.compactMap({ $0[keyPath: side] }).first
        else { return [] }
        var marked: Set<Int> = []
        for place in layout.places[item] ?? [] {
            if let row = lines[place][keyPath: side] { marked.insert(row) }
        }
        func entry(_ row: Int) throws(OutputError) -> Entry {
            Entry(line: try rows.line(at: row).withoutValues, isMarked: marked.contains(row))
        }
        var before: [Entry] = []
        var row = middle - 1
        while row >= 0, before.count < reach {
            let entry = try entry(row)
            if !isRemark(entry) { before.append(entry) }
            row -= 1
        }
        var entries = before.reversed() + [try entry(middle)]
        let end = entries.count + reach
        row = middle + 1
        while row < rows.count, entries.count < end {
            let entry = try entry(row)
            if !isRemark(entry) { entries.append(entry) }
            row += 1
        }
        return entries
    }

    /// Whether it is a note of the recorder, which says nothing without its text.
    private static func isRemark(_ entry: Entry) -> Bool {
        entry.line.label.text == "note" && !entry.line.isBroken
    }

    /// The lines as `show` has them, a mark in front of what this is about; each ends in a line
    /// feed.
    ///
    /// - Parameters:
    ///   - names: what the two sessions are called.
    ///   - indent: spaces in front of all.
    package func text(
        _ layout: TimelineText, names: (first: String, second: String), indent: Int
    ) -> String {
        let space = String(repeating: " ", count: indent)
        var text = ""
        for (name, entries) in [(names.first, first), (names.second, second)]
        where !entries.isEmpty {
            text += "\(space)\(name)\n"
            for entry in entries {
                text += "\(space)\(entry.isMarked ? ">" : " ")\(layout.text(entry.line))"
            }
        }
        return text
    }
}
