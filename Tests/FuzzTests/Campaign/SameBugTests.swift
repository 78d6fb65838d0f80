import Capture
import Fuzz
import PhoneBridge
import Testing

/// Which findings are one bug.
@Suite struct SameBugTests {
    /// What a finding is known by: `CHECK TEXT: KIND, KIND`, and the checks that it shows besides.
    private func finding(_ words: String, besides: [String]) -> FuzzFinding {
        let parts = words.split(separator: ": ", maxSplits: 1).map(String.init)
        let signal = parts[0].split(separator: " ", maxSplits: 1).map(String.init)
        let observation = Observation(
            check: signal[0], rating: .sure, section: "", demand: "", text: signal[1],
            isUniversal: false)
        var finding = FuzzFinding(
            bucket: Bucket(
                side: .board, signal: Signal(observation),
                kinds: parts[1].split(separator: ", ").map(String.init)),
            observation: observation, verdict: .confirmed, FuzzScript(as: .app))
        finding.signals.formUnion(besides.map { Signal(check: $0, text: "besides") })
        return finding
    }

    @Test(arguments: [
        // In other words, with more steps.
        ("result-once two came: command", [], "result-once none came: command, end", [], true),
        ("result-once two came: command", [], "result-once none came: end", [], false),
        // Another check, and nothing in common.
        ("result-once two came: command", [], "result-data no text: command", [], false),
        (
            "one-effect two: command", ["result-once"], "result-data no: command", ["result-once"],
            true
        ),
        ("one-effect two: command", ["result-once"], "result-data no: end", ["result-once"], false),
        // What any bug may show says nothing.
        ("one-effect two: command", ["alive"], "result-data no: command", ["alive"], false),
        ("alive deaf: command", [], "alive mute: command", [], false),
        // Checks that are alike.
        ("queue-filter-pip out: enqueue", [], "queue-filter-fgs out: enqueue", [], true),
        ("outcome-timeout late: connect", [], "stimulus-ends late: connect, end", [], true),
        // Checks that are close, if the same is done.
        (
            "result-once two: command, command 2", [],
            "command-answered none: command, command 2", [], true
        ),
        ("result-once two: command, command 2", [], "command-answered none: command", [], false),
        // How it was asked for is nothing that it takes.
        ("queue-limit 4: enqueue, get status", [], "queue-limit 5: enqueue, end", [], true),
        ("queue-limit 4: get status", [], "queue-limit 5: enqueue, end", [], false),
    ])
    func `one does all that the other does, and both show one thing`(
        one: String, oneBesides: [String], other: String, otherBesides: [String], isSame: Bool
    ) {
        let one = finding(one, besides: oneBesides)
        let other = finding(other, besides: otherBesides)
        #expect(one.isSameBug(as: other) == isSame)
        #expect(other.isSameBug(as: one) == isSame)
    }
}
