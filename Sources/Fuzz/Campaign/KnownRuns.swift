/// Runs the findings of earlier campaigns again, each some times, and says what became of them.
struct KnownRuns: Sendable {
    /// One that has come to its end.
    struct Over: Sendable {
        var finding: KnownFinding
        var fate: KnownFinding.Fate
        /// What was seen of it; nil where it did not come.
        var shown: Observation?
    }

    private struct Run: Sendable {
        var finding: KnownFinding
        var hits = 0
        var runs = 0
        var voids = 0
        var shown: Observation?
        var other: Observation?
        var isBusy = false
        var isOver = false
    }

    private var runs: [Run]
    private let repeats: Int

    /// So many runs may be without a target.
    private static let maximumVoids = 3

    init(_ findings: [KnownFinding], repeats: Int) {
        runs = findings.map { Run(finding: $0) }
        self.repeats = repeats
    }

    /// The one to be run now, with its number; nil where none is left that is not under way.
    mutating func next() -> (index: Int, finding: KnownFinding)? {
        guard let index = runs.firstIndex(where: { !$0.isOver && !$0.isBusy }) else { return nil }
        runs[index].isBusy = true
        return (index, runs[index].finding)
    }

    /// Takes what came of a run.
    ///
    /// - Parameter counted: what counts of what was seen; nil where there was no target.
    mutating func receive(_ index: Int, _ counted: [Observation]?) -> Over? {
        guard runs.indices.contains(index) else { return nil }
        runs[index].isBusy = false
        guard let counted else {
            runs[index].voids += 1
            return runs[index].voids >= Self.maximumVoids ? end(index, .undecided) : nil
        }
        runs[index].runs += 1
        let signals = runs[index].finding.signals
        if let shown = counted.first(where: { signals.contains(Signal($0)) }) {
            runs[index].hits += 1
            runs[index].shown = shown
        } else if let other = counted.first {
            runs[index].other = other
        }
        let run = runs[index]
        guard run.runs >= repeats else { return nil }
        if run.hits > 0 {
            return end(index, .stillThere(Investigation.Rate(run.hits, of: run.runs)))
        }
        return end(index, run.other.map { .changed($0) } ?? .fixed)
    }

    private mutating func end(_ index: Int, _ fate: KnownFinding.Fate) -> Over {
        runs[index].isOver = true
        return Over(finding: runs[index].finding, fate: fate, shown: runs[index].shown)
    }
}
