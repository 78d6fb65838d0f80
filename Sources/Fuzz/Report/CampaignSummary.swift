package import Capture
import Network
package import PhoneBridge

/// All that a campaign has to report, in whatever form.
package struct CampaignSummary: Sendable {
    /// A finding of this run.
    package struct Entry: Sendable {
        package var record: FindingRecord
        /// Why it does not count; nil where it does.
        package var excuse: String?

        package init(record: FindingRecord, excuse: String?) {
            self.record = record
            self.excuse = excuse
        }
    }

    /// A finding of an earlier campaign.
    package struct Known: Sendable {
        package var record: FindingRecord
        package var fate: KnownFinding.Fate
        package var excuse: String?

        package init(record: FindingRecord, fate: KnownFinding.Fate, excuse: String?) {
            self.record = record
            self.fate = fate
            self.excuse = excuse
        }

        /// Whether it is there, and nobody knows of it.
        package var counts: Bool {
            switch fate {
            case .stillThere, .changed: excuse == nil
            case .fixed, .undecided: false
            }
        }
    }

    /// The command that made it, such as `fuzz`.
    package var command: String
    package var tool: String
    package var played: Side
    package var judge: Judge
    /// The folder of the findings.
    package var folder: String
    package var findings: [Entry] = []
    package var known: [Known] = []
    package var apart: [ApartSignal] = []
    package var status = CampaignStatus()
    package var end: CampaignEnd?
    /// Whether pages show what messages say; not where the target is somebody's phone.
    package var showsValues = true

    package init(command: String, tool: String, played: Side, judge: Judge, folder: String) {
        self.command = command
        self.tool = tool
        self.played = played
        self.judge = judge
        self.folder = folder
    }

    /// The side under test.
    package var judged: Side { played.peer }

    /// The findings, the worst first: those that count, the sure ones, those that come most often.
    package var ranked: [Entry] {
        func place(_ entry: Entry) -> (Int, Int, Int, Int, String) {
            let finding = entry.record.finding
            let rating: [Rule.Rating: Int] = [.sure: 0, .likely: 1, .weak: 2]
            return (
                entry.excuse == nil ? 0 : 1, rating[finding.observation.rating] ?? 2,
                finding.verdict == .confirmed ? 0 : 1, -finding.count, finding.name
            )
        }
        return findings.sorted { place($0) < place($1) }
    }

    /// What a clean exchange shows as well, and is sure.
    package var brokenWithoutMutation: [ApartSignal] {
        apart.filter { $0.verdict == .withoutMutation && $0.observation.rating == .sure }
    }

    /// What a night has to have reached, or it has tested little, and has not.
    ///
    /// A campaign is a night where it had an hour, or a thousand conversations that a mutation
    /// changed: a shorter one cannot be blamed for what it has not come to.
    package var missed: [Sometimes] { isNight ? status.figures.unreached(judging: judged) : [] }

    private static let nightTime = 3600 * nanosecondsPerSecond
    private static let nightCases = 1000

    private var isNight: Bool {
        guard end?.isComplete ?? true else { return false }
        let conversations = status.figures.mutations.reduce(0) { sum, row in
            FuzzLevel(row: row.key) == .session ? sum + row.value : sum
        }
        return conversations >= Self.nightCases
            || conversations > 0 && status.elapsed >= Self.nightTime
    }

    /// Whether something was found that nobody knows of.
    package var isRed: Bool {
        findings.contains { $0.excuse == nil } || known.contains(where: \.counts)
            || !brokenWithoutMutation.isEmpty
    }

    /// The checks that judge the side under test, in the order of their ids.
    package static func checks(of judged: Side) -> [Rule] {
        let rules = RuleChecker.rules.filter { $0.obliged == nil || $0.obliged == judged }
        let universal = ScriptRemark.Check.allCases.map { check in
            Rule(check.rawValue, .sure, judged, section: check.section, check.demand)
        }.filter { obliged[$0.id] ?? judged == judged }
        let process = Rule(
            "process", .sure, judged, section: "fuzzing plan, U2",
            "Whatever is sent, the process of the peer goes on")
        return (rules + universal + [process]).sorted { $0.id < $1.id }
    }

    /// Universal checks that are about one side only.
    private static let obliged: [String: Side] = ["polls": .app, "stimulus-ends": .board]

    /// Whether a check can turn a night red, for this target.
    package func isActive(_ check: Rule) -> Bool {
        guard judge.excuses[check.id] == nil else { return false }
        return check.rating == .sure
            || check.rating == .likely && judge.profile.countedRules.contains(check.id)
    }
}
