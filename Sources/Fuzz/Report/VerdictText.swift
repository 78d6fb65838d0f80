import Capture
package import PhoneBridge
package import Report
package import Wire

/// A finding in words: `verdict.txt`.
package struct VerdictText: Sendable {
    private let isColoured: Bool
    private let width: Int?

    /// Lines of a timeline that are shown; what comes before is left out.
    package static let timelineLines = 60

    /// - Parameter width: columns of the terminal; nil for a file.
    package init(isColoured: Bool = false, width: Int? = nil) {
        self.isColoured = isColoured
        self.width = width
    }

    /// The whole text.
    package func text(_ record: FindingRecord, again: String) -> String {
        let finding = record.finding
        let observation = finding.observation
        var text = "\(finding.name)\n\n"
        text += row("demanded", "\(visible(observation.demand))")
        text += row("by", visible(observation.section))
        text += row("rating", Self.rating(observation.rating))
        text += row("seen", visible(observation.text))
        text += row("control", Self.control(finding))
        text += row("verdict", Self.verdict(finding))
        if !finding.isFresh {
            text += row("not fresh", "the target could not be started anew for each run")
        }
        let also = Set(finding.signals.map(\.check)).subtracting([observation.check]).sorted()
        if !also.isEmpty { text += row("also seen by", also.joined(separator: ", ")) }
        if !finding.related.isEmpty {
            text += row("is like", finding.related.joined(separator: ", "))
        }
        text += row("found", Self.found(record))
        text += row("with", visible(Self.circumstances(record)))
        text += "\nagain:\n  \(again)\n\nscript:\n"
        for line in finding.script.description.split(separator: "\n") { text += "  \(line)\n" }
        let layout = TimelineText(isColoured: isColoured, width: width)
        let shown = Self.events(observation.events, of: finding.evidence.session)
        if !shown.isEmpty {
            text +=
                "\nwhat shows it (seq \(observation.events.map(String.init).joined(separator: ", "))"
            text += " of failing.ndjson):\n" + shown.map(layout.text).joined()
        }
        let lines = Self.timeline(finding.evidence.session)
        if !lines.isEmpty {
            text += "\nwhat took place:\n"
            let left = lines.count - Self.timelineLines
            if left > 0 { text += "  \(counted(left, "line")) before\n" }
            for line in lines.suffix(Self.timelineLines) {
                text += layout.text(line)
            }
        }
        if !finding.evidence.output.isEmpty {
            text += "\nthe target's last lines:\n"
            for line in finding.evidence.output { text += "  | \(visible(line))\n" }
        }
        return text
    }

    private func row(_ name: String, _ text: String) -> String {
        name + String(repeating: " ", count: max(1, 14 - name.count)) + text + "\n"
    }

    /// A rating in words.
    package static func rating(_ rating: Rule.Rating) -> String {
        switch rating {
        case .sure: "sure (S): an explicit sentence of the contract, or a MUST of an RFC"
        case .likely: "likely (L): implied; the profile says that it counts"
        case .weak: "weak (W): the contract is silent"
        }
    }

    /// How sure the finding is, in words.
    package static func verdict(_ finding: FuzzFinding) -> String {
        let rate = "\(finding.rate.hits) of \(counted(finding.rate.runs, "repeat"))"
        let short =
            finding.isMinimised
            ? "; made short in \(counted(finding.questions, "question"))" : "; not made short"
        return switch finding.verdict {
        case .confirmed: "confirmed in \(rate)\(short)"
        case .keptAsSeen: "seen once, and its transcript proves it; it came again in \(rate)"
        case .withoutMutation: "comes without any mutation too; \(rate)"
        case .flaky: "flaky: \(rate)"
        case .unconfirmed: "not confirmed: \(rate)"
        case .undecided: "undecided"
        }
    }

    private static func control(_ finding: FuzzFinding) -> String {
        finding.control.isEmpty
            ? "was not run" : "the same exchange without the mutation passes (control.ndjson)"
    }

    private static func found(_ record: FindingRecord) -> String {
        var parts: [String] = []
        if let index = record.finding.firstCase { parts.append("case \(index)") }
        let seeds = record.circumstances.seeds.map { "\($0)" }
        if !seeds.isEmpty { parts.append("seed \(seeds.joined(separator: ", "))") }
        parts.append("in \(counted(record.finding.count, "case"))")
        let days = Set([record.circumstances.firstSeen, record.circumstances.lastSeen])
            .filter { !$0.isEmpty }.sorted()
        if !days.isEmpty { parts.append(days.joined(separator: " to ")) }
        return parts.joined(separator: ", ")
    }

    private static func circumstances(_ record: FindingRecord) -> String {
        "\(record.circumstances.tool), profile \(record.circumstances.profile), "
            + record.circumstances.flags
    }

    /// The timeline of a session, as far as it can be read.
    package static func timeline(_ session: Bytes) -> [TimelineLine] {
        var timeline = Timeline()
        var lines: [TimelineLine] = []
        read(session) { lines += timeline.receive($0) }
        return lines.isEmpty ? [] : lines + timeline.finish()
    }

    /// Events of a session, each as it is.
    private static func events(_ wanted: [Int], of session: Bytes) -> [TimelineLine] {
        guard !wanted.isEmpty else { return [] }
        var lines: [TimelineLine] = []
        read(session) { if wanted.contains($0.seq) { lines.append(RawTimeline().line($0)) } }
        return lines
    }

    /// Reads a session as far as it goes; the file says the rest.
    private static func read(_ session: Bytes, _ take: (Event) -> Void) {
        guard !session.isEmpty else { return }
        var reader = SessionReader(MemorySource(session), readsBridge: true)
        var meaning = MeaningReader(contract: .current)
        while let item = try? reader.next() {
            guard case .event(var event) = item else { continue }
            let stored = event.bridge
            meaning.annotate(&event)
            if !stored.isEmpty { event.bridge = stored }
            take(event)
        }
    }
}
