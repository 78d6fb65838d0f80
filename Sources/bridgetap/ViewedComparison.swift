import Capture
import Report
import Wire

/// Two sessions side by side, for whoever looks at them anyway: the page of `bridgetap diff --html`,
/// with what messages say.
enum ViewedComparison {
    /// Reads both files as they are now, and makes the page.
    static func page(_ first: String, _ second: String) throws -> Bytes {
        var rows: [SessionRows?] = [SessionRows(), SessionRows()]
        let sessions = (
            try SessionInputs.diffSession(first, rows: &rows[0]),
            try SessionInputs.diffSession(second, rows: &rows[1])
        )
        var diff = SessionDiff(sessions.0, sessions.1)
        var items: [ComparedItem] = []
        while let pair = try diff.nextCommand() { items.append(ComparedItem(pair)) }
        while let pair = try diff.nextExchange() { items.append(ComparedItem(pair)) }
        while let pair = try diff.nextEvent() { items.append(ComparedItem(pair)) }
        items += diff.facts.filter(\.counts).map { ComparedItem($0) }
        let page = ComparisonPage(title: "bridgetap", showsValues: true)
        var bytes = page.head
        guard let left = rows[0], let right = rows[1] else { return bytes + page.tail }
        try page.write(
            ComparisonPage.Comparison(
                name: "\(first) and \(second)", verdict: diff.isDifferent ? "different" : "same",
                isDifferent: diff.isDifferent, summary: DiffText(isColoured: false).sum(diff),
                sides: (diff.first.name, diff.second.name), items: items, rows: (left, right))
        ) { bytes += $0 }
        return bytes + page.tail
    }
}
