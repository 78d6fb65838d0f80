/// An entry of a corpus.
package struct CorpusEntry: Sendable, Equatable {
    /// The name of its file.
    package var name: String
    package var script: FuzzScript

    package init(name: String, script: FuzzScript) {
        self.name = name
        self.script = script
    }
}

/// Decides which entries of a corpus are worth keeping: each has to show something that no shorter
/// one does (fuzzing plan, 3.8).
package struct CorpusCull: Sendable {
    /// An entry that is kept, and what it is for.
    package struct Kept: Sendable, Equatable {
        package var entry: CorpusEntry
        /// What it is the first to show, in words, in the order of the texts.
        package var reasons: [String]
    }

    package private(set) var kept: [Kept] = []
    /// Names of what shows nothing of its own.
    package private(set) var dropped: [String] = []
    /// All that the kept ones show.
    package private(set) var shapes: Set<UInt64> = []

    package init() {}

    /// The entries in the order in which they have to be given: the shortest first.
    package static func inOrder(_ entries: [CorpusEntry]) -> [CorpusEntry] {
        entries.sorted {
            ($0.script.steps.count, $0.name) < ($1.script.steps.count, $1.name)
        }
    }

    /// Takes what an entry has shown.
    package mutating func take(_ entry: CorpusEntry, _ outcome: CaseOutcome) {
        let new = outcome.shapes.subtracting(shapes)
        guard !new.isEmpty else {
            dropped.append(entry.name)
            return
        }
        shapes.formUnion(new)
        kept.append(
            Kept(entry: entry, reasons: new.map { outcome.shapeNames[$0] ?? "?" }.sorted()))
    }

    /// What each entry is for, a line an entry and a line a reason.
    package var index: String {
        var text = ""
        for kept in kept.sorted(by: { $0.entry.name < $1.entry.name }) {
            let rows = kept.entry.script.mutations.map(\.id).joined(separator: " ")
            text += kept.entry.name + (rows.isEmpty ? "" : " (\(rows))") + "\n"
            for reason in kept.reasons { text += "    \(reason)\n" }
        }
        return text
    }
}
