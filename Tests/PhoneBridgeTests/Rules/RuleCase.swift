import PhoneBridge
import Testing

/// A session that breaks a rule, and one that comes close and does not.
struct RuleCase: CustomTestStringConvertible {
    /// The rule's id.
    var rule: String
    /// What this pair is about, where a rule has several.
    var about: String
    /// The session that breaks it, as `SessionScript`.
    var breaks: String
    /// The session that puts it to the test and does not break it.
    var close: String
    var profile: Profile
    /// The rating of the breach, where that is weaker than the rule's.
    var rating: Rule.Rating?
    /// Rules rated sure that the first session breaks too, since one cannot be broken alone.
    var others: Set<String> = []

    init(
        _ rule: String, _ about: String = "", breaks: String, close: String,
        profile: Profile = .contract, rating: Rule.Rating? = nil
    ) {
        self.rule = rule
        self.about = about
        self.breaks = breaks
        self.close = close
        self.profile = profile
        self.rating = rating
    }

    var testDescription: String { about.isEmpty ? rule : "\(rule): \(about)" }

    /// Every case, of all groups.
    static let all: [RuleCase] =
        message + command + result + answer + thing + outcome + event + time
        + heartbeatEcho + effects + heartbeats + appStates + connecting + statuses + polls
        + habits
        + deliveries + boardAnswers + handshakes + oldHandshake + frames + conversations + http
}

@Suite struct RuleCaseTests {
    @Test func `every rule has a session that breaks it and one that comes close`() {
        let missing = Set(RuleChecker.rules.map(\.id)).subtracting(RuleCase.all.map(\.rule))
        #expect(missing.isEmpty, "\(missing.sorted())")
        let unknown = Set(RuleCase.all.map(\.rule)).subtracting(RuleChecker.rules.map(\.id))
        #expect(unknown.isEmpty, "\(unknown.sorted())")
    }

    @Test(arguments: RuleCase.all)
    func `a session that breaks a rule is reported, once, with its evidence`(row: RuleCase) throws {
        let (breaches, exercised) = RuleChecker.check(row.breaks, profile: row.profile)
        let own = breaches.filter { $0.rule.id == row.rule }
        #expect(own.count == 1, "\(breaches.map { "\($0.rule.id): \($0.text)" })")
        let breach = try #require(own.first)
        let rule = try #require(RuleChecker.rule(row.rule))
        #expect(breach.rule.rating == row.rating ?? rule.rating)
        if let obliged = rule.obliged { #expect(breach.side == obliged) }
        #expect(!breach.events.isEmpty, "no events: \(breach.text)")
        #expect(!breach.text.isEmpty && !breach.text.hasSuffix("."), "\(breach.text)")
        #expect((exercised[row.rule] ?? 0) > 0)
        // A script breaks the rule that it is about, and no other for sure.
        let others = breaches.filter {
            $0.rule.id != row.rule && $0.rule.rating == .sure && !row.others.contains($0.rule.id)
        }
        #expect(others.isEmpty, "\(others.map { "\($0.rule.id): \($0.text)" })")
    }

    @Test(arguments: RuleCase.all)
    func `a session that comes close puts the rule to the test and does not break it`(
        row: RuleCase
    ) {
        let (breaches, exercised) = RuleChecker.check(row.close, profile: row.profile)
        let own = breaches.filter { $0.rule.id == row.rule }
        #expect(own.isEmpty, "\(own.map(\.text))")
        #expect((exercised[row.rule] ?? 0) > 0, "the rule was not put to the test")
        let sure = breaches.filter {
            $0.rule.rating == .sure && !row.others.contains($0.rule.id)
        }
        #expect(sure.isEmpty, "\(sure.map { "\($0.rule.id): \($0.text)" })")
    }

    @Test func `rules have stable, distinct ids and speak in whole sentences`() {
        let rules = RuleChecker.rules
        #expect(Set(rules.map(\.id)).count == rules.count)
        for rule in rules {
            #expect(rule.id.allSatisfy { $0.isLowercase || $0 == "-" || $0.isNumber }, "\(rule.id)")
            #expect(rule.demand.first?.isUppercase ?? false, "\(rule.id): \(rule.demand)")
            #expect(!rule.demand.hasSuffix("."), "\(rule.id): \(rule.demand)")
            #expect(
                rule.section.hasPrefix("contract, \"") || rule.section.hasPrefix("RFC ")
                    || rule.section.hasPrefix("board facts, \""), "\(rule.id): \(rule.section)")
        }
    }
}
