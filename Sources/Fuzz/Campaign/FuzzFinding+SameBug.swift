extension FuzzFinding {
    /// Checks that say that something is wrong and not what: very different bugs break them.
    private static let general: Set<String> = ["alive", "bystander", "process", "polls"]

    /// Checks that look at one thing in several ways: how long the board waits for an answer, whether
    /// ids are told apart, what a phone in the background is given.
    private static let families: [Set<String>] = [
        ["outcome-timeout", "stimulus-ends"],
        ["queue-distinct-ids", "queue-result-exact-id"],
        ["queue-filter-ble-wake", "queue-filter-fgs", "queue-filter-pip"],
    ]

    /// Checks that one bug breaks in turn, where the same is done at other times or with other
    /// commands; other bugs break them too, for which it takes something else: that each command
    /// is answered once and for itself, and that things keep to their ids.
    private static let close: [Set<String>] = [
        ["command-answered", "created-id-new", "deleted-thing-gone", "result-once"]
    ]

    /// Whether another finding, made short, is this bug: one shows what the other shows and does all
    /// that it takes, or both break one check or two that are alike, or show one thing more, and one does
    /// all that the other does; or what they break is close, and they do the same.
    package func isSameBug(as other: FuzzFinding) -> Bool {
        let isLess = needs.isSubset(of: other.kinds)
        let isMore = other.needs.isSubset(of: kinds)
        if name == other.name || explains(other.bucket.signal, kinds: other.kinds) { return true }
        if other.signals.contains(bucket.signal), isLess { return true }
        // This one shows what the other shows, which takes less.
        if signals.contains(other.bucket.signal), isMore,
            !Self.general.contains(other.bucket.signal.check)
        {
            return true
        }
        guard isLess || isMore else { return false }
        let checks = [bucket.signal.check, other.bucket.signal.check]
        if checks[0] == checks[1] { return !Self.general.contains(checks[0]) }
        if Self.families.contains(where: { $0.isSuperset(of: checks) }) { return true }
        if isLess, isMore, Self.close.contains(where: { $0.isSuperset(of: checks) }) { return true }
        // What both show beside it is what the bug does first.
        return signals.intersection(other.signals).contains { !Self.general.contains($0.check) }
    }
}
