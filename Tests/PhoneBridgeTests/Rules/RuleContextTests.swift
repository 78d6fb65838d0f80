import Capture
import PhoneBridge
import Testing

/// Reports on each `wait` note what may be concluded.
private struct Doubter: RuleGroup {
    static let rule = Rule("certain", .sure, nil, section: "", "")
    static let rules = [rule]
    private var second: Int64 = 0

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        guard case .note(let note) = event.kind, note.code == "ask" else { return }
        let since = (Int64(note.text) ?? 0) * 1_000_000_000
        let facts = context.connections[1]
        context.exercise(Self.rule)
        context.report(
            Self.rule, rating: .likely, by: .app, events: [event.seq, 0],
            "session \(context.isCertain(since: since)), "
                + "app \(facts?.isCertain(.app, since: since) ?? false), "
                + "board \(facts?.isCertain(.board, since: since) ?? false), "
                + "whole \(facts?.isWhole ?? false)")
    }
}

@Suite struct RuleContextTests {
    private func answers(_ script: String, profile: Profile = .contract) -> [Breach] {
        var checker = RuleChecker(profile: profile, groups: [Doubter.self])
        return SessionScript(script).events.flatMap { checker.receive($0) }
    }

    @Test func `what may be concluded from silence depends on the holes`() {
        let rows: [(String, String)] = [
            ("0 connect\n9 note ask 0", "session true, app true, board true, whole true"),
            (
                "0 connect\n5 gap app\n9 note ask 0",
                "session false, app false, board true, whole false"
            ),
            // Nothing of the app was decoded since.
            (
                "0 connect\n5 gap app\n9 note ask 6",
                "session false, app false, board true, whole false"
            ),
            (
                #"0 connect"# + "\n5 gap app\n6 app> {}\n9 note ask 7",
                "session true, app true, board true, whole false"
            ),
            (
                #"0 connect"# + "\n5 gap app\n6 app> {}\n9 note ask 5",
                "session false, app false, board true, whole false"
            ),
            (
                "0 open continued websocket\n9 note ask 1",
                "session false, app false, board false, whole false"
            ),
            (
                "0 connect\n5 hole\n9 note ask 6",
                "session false, app false, board false, whole false"
            ),
        ]
        for (script, expected) in rows {
            #expect(answers(script).last?.text == expected, "\(script)")
        }
    }

    @Test func `a breach can be rated weaker than its rule, and excused by the profile`() throws {
        let script = "0 connect\n1 note ask 0"
        let plain = try #require(answers(script).first)
        #expect(plain.rule.rating == .likely && plain.knownDeviation == nil)
        #expect(plain.events.count == 1)
        #expect(!Profile.contract.counts(plain))

        var profile = Profile(name: "test")
        profile.countedRules = ["certain"]
        #expect(profile.counts(plain))
        profile.deviations = ["certain": "the board is known for it"]
        let known = try #require(answers(script, profile: profile).first)
        #expect(known.knownDeviation == "the board is known for it")
        #expect(!profile.counts(known))
    }

    @Test func `a waiver holds until its last day`() {
        var profile = Profile(name: "test")
        profile.waivers = [.init(rule: "certain", reason: "fixed soon", until: "2026-05-31")]
        func excuse(today: String?) -> String? {
            var checker = RuleChecker(profile: profile, today: today, groups: [Doubter.self])
            return SessionScript("0 connect\n1 note ask 0").events
                .flatMap { checker.receive($0) }.first?.knownDeviation
        }
        #expect(excuse(today: "2026-05-31") == "waived: fixed soon")
        #expect(excuse(today: nil) == "waived: fixed soon")
        #expect(excuse(today: "2026-06-01") == nil)
    }

    @Test func `durations are those of the target`() {
        var profile = Profile(name: "test")
        #expect(profile.nanoseconds(5_000) == 5_000_000_000)
        profile.timeScale = 100
        #expect(profile.nanoseconds(5_000) == 50_000_000)
        profile.timeScale = 0
        #expect(profile.nanoseconds(.max) == .max)
        #expect(Int64.max.clampedAdding(1) == .max && Int64.min.clampedAdding(-1) == .min)
    }
}
