extension FuzzFinding {
    /// Checks that say that something is wrong and not what: very different bugs break them.
    private static let general: Set<String> = ["alive", "bystander", "process", "polls"]

    /// Whether another finding, made short, is this bug: one shows what the other shows and does all
    /// that it takes, or both break one check in other words and one does all that the other does.
    func isSameBug(as other: FuzzFinding) -> Bool {
        let mine = Set(bucket.kinds)
        let its = Set(other.bucket.kinds)
        if name == other.name || explains(other.bucket.signal, kinds: its) { return true }
        if other.signals.contains(bucket.signal), mine.isSubset(of: its) { return true }
        // This one shows what the other shows, which takes less.
        if signals.contains(other.bucket.signal), its.isSubset(of: mine),
            !Self.general.contains(other.bucket.signal.check)
        {
            return true
        }
        return bucket.signal.check == other.bucket.signal.check
            && !Self.general.contains(bucket.signal.check)
            && (mine.isSubset(of: its) || its.isSubset(of: mine))
    }

    /// Takes the script of another finding of the same bucket, with what it showed; the name stays.
    package mutating func take(shorter finding: FuzzFinding) {
        script = finding.script
        observation = finding.observation
        rate = finding.rate
        evidence = finding.evidence
        control = finding.control
        isMinimised = finding.isMinimised
        isFresh = finding.isFresh
        questions += finding.questions
        signals.formUnion(finding.signals)
    }
}
