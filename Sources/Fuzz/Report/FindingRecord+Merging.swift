import Capture

extension FindingRecord {
    /// The finding with a shorter script that shows the same; its folder keeps its name.
    package func with(shorter finding: FuzzFinding, _ now: Circumstances) -> FindingRecord {
        var record = self
        record.finding.take(shorter: finding)
        record.circumstances.tool = now.tool
        record.circumstances.profile = now.profile
        record.circumstances.flags = now.flags
        record.circumstances.isOwnTarget = circumstances.isOwnTarget && now.isOwnTarget
        record.circumstances.lastSeen = now.lastSeen
        return record
    }

    /// The finding together with the same one of another campaign: the shorter script, and what both
    /// have seen.
    package func merged(with other: FindingRecord) -> FindingRecord {
        let mine = (finding.verdict == .confirmed ? 0 : 1, finding.script.steps.count)
        let its = (
            other.finding.verdict == .confirmed ? 0 : 1, other.finding.script.steps.count
        )
        var record = its < mine ? other : self
        record.finding.count = finding.count &+ other.finding.count
        record.finding.signals = finding.signals.union(other.finding.signals)
        record.finding.related = Set(finding.related + other.finding.related).sorted()
        record.circumstances.isOwnTarget =
            circumstances.isOwnTarget && other.circumstances.isOwnTarget
        record.circumstances.seeds = Set(circumstances.seeds + other.circumstances.seeds).sorted()
        // Days of this form stand in the order of their texts.
        record.circumstances.firstSeen = min(
            circumstances.firstSeen, other.circumstances.firstSeen)
        record.circumstances.lastSeen = max(circumstances.lastSeen, other.circumstances.lastSeen)
        return record
    }
}
