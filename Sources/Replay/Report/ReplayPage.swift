package import Report

extension ReplayVerdict {
    /// One line about the whole, such as `11 of 11 commands in 768 ms: 1 changed`.
    package var summary: String {
        let parts = counts.filter { $0.key != .same && $0.value > 0 }
            .sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.value) \($0.key.word)" }
        return "\(exercised) of \(counted(commandCount, "command")) in \(timeSpan(duration))"
            + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    /// The verdict as a part of a page; nil where the lines of both sessions were not kept.
    ///
    /// - Parameters:
    ///   - index: its place among the others of the page.
    ///   - again: the command that does it again.
    package func comparison(
        index: Int, minimumExercised: Int, again: String
    ) -> ComparisonPage.Comparison? {
        guard let rows else { return nil }
        let isThin = !isExercised(percent: minimumExercised)
        var comparison = ComparisonPage.Comparison(
            index: index, name: name,
            verdict: isDifferent ? "different" : isThin ? "untested" : "same",
            isDifferent: isDifferent || isThin, summary: summary,
            sides: ("recorded", "live"), items: items.map(\.compared),
            rows: (rows.recorded, rows.live))
        comparison.again = again
        if let loss {
            comparison.remarks.append("the target was lost: \(visible("\(loss)"))")
            comparison.remarks += loss.output.lines.suffix(10).map { "| \(visible($0.text))" }
        }
        if let first = unplayable.first {
            comparison.remarks.append(
                "not played: \(counted(unplayable.count, "event")), such as event "
                    + "\(first.seq), \(visible(first.why))")
        }
        return comparison
    }
}
