package import Wire

/// A bug that a campaign found: one bucket, with the shortest script that shows it.
package struct FuzzFinding: Sendable {
    package var bucket: Bucket
    /// The kinds of messages in the script; the bucket has those of the first one.
    private(set) var kinds: Set<String>
    /// Those of them that it takes.
    var needs: Set<String> { StepKind.needed(of: kinds) }
    package var observation: Observation
    package var verdict: Investigation.Verdict
    package var script: FuzzScript
    /// The script that showed it first.
    package var original: FuzzScript
    /// The case that showed it first; nil where it was no case of a plan.
    package var firstCase: Int?
    /// The latest case that showed it.
    package var lastCase: Int?
    /// Cases that showed it.
    package var count = 1
    package var rate: Investigation.Rate
    package var isMinimised: Bool
    /// Questions of the minimisation.
    package var questions: Int
    /// Whether each run had a target that knew nothing of those before.
    package var isFresh: Bool
    /// What else the minimised script shows: the same bug, seen by other checks.
    package var signals: Set<Signal>
    /// Names of buckets that are like it.
    package var related: [String] = []
    /// The session of the script, and what the target wrote.
    package var evidence: Investigation.Evidence
    /// The session of its control: NDJSON.
    package var control: Bytes

    /// The name of its bucket, and of its folder.
    package var name: String { bucket.name }

    package init(
        _ investigation: Investigation, verdict: Investigation.Verdict, firstCase: Int?,
        isFresh: Bool
    ) {
        bucket = Bucket(investigation.script, investigation.signal)
        kinds = Set(bucket.kinds)
        observation = investigation.observation
        self.verdict = verdict
        script = investigation.script
        original = investigation.original
        self.firstCase = firstCase
        lastCase = firstCase
        rate = investigation.rate
        isMinimised = investigation.isMinimised
        questions = investigation.questions
        self.isFresh = isFresh
        signals = investigation.signals
        evidence = investigation.evidence
        control = investigation.control
    }

    /// A finding of which nothing else is known yet.
    package init(
        bucket: Bucket, observation: Observation, verdict: Investigation.Verdict,
        _ script: FuzzScript
    ) {
        self.bucket = bucket
        kinds = Set(bucket.kinds)
        self.observation = observation
        self.verdict = verdict
        self.script = script
        original = script
        rate = Investigation.Rate(0, of: 0)
        isMinimised = false
        questions = 0
        isFresh = false
        signals = [bucket.signal]
        evidence = Investigation.Evidence()
        control = []
    }

    /// Whether a script that shows a signal shows this bug: the bug shows itself so, and the script
    /// does all that it takes.
    package func explains(_ signal: Signal, kinds: Set<String>) -> Bool {
        signals.contains(signal) && needs.isSubset(of: kinds)
    }

    /// Takes the script of another finding of the same bucket, with what it showed; the name stays.
    package mutating func take(shorter finding: FuzzFinding) {
        script = finding.script
        kinds = finding.kinds
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
