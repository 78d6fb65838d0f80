import Capture
import PhoneBridge
import Testing
import Wire

@Suite struct RuleCountsTests {
    @Test func `the rules' numbers tell them apart, and depend on the id alone`() {
        let numbers = RuleChecker.rules.map { rule in
            var hash = FNVHash()
            hash.combine(rule.id)
            return hash.number
        }
        #expect(Set(numbers).count == RuleChecker.rules.count)
    }

    /// Puts 600 rules to the test with each event, the first once, the second twice, and all of
    /// them once more with a weaker rating.
    private struct Many: RuleGroup {
        static let rules = (1...600).map {
            Rule("rule-\($0)", .sure, nil, section: "nowhere", "nothing is demanded")
        }

        init(contract: Contract, profile: Profile) {}

        mutating func receive(_ event: Event, _ context: inout RuleContext) {
            for (index, rule) in Self.rules.enumerated() {
                context.exercise(rule, times: index + 1)
                context.exercise(rule.rated(.weak))
            }
        }
    }

    @Test func `what is exercised is counted by id, whatever the rating`() {
        var checker = RuleChecker(groups: [Many.self])
        for seq in 1...3 {
            _ = checker.receive(
                Event(seq: seq, time: 0, kind: .note(Event.Note(code: "a", text: ""))))
        }
        let counts = checker.exercised
        #expect(counts.count == 600)
        for number in 1...600 { #expect(counts["rule-\(number)"] == 3 * (number + 1)) }
    }
}
