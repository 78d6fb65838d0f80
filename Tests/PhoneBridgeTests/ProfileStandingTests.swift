import Capture
import PhoneBridge
import Testing

@Suite struct ProfileStandingTests {
    private func breach(_ rating: Rule.Rating, known: String? = nil) -> Breach {
        Breach(
            rule: Rule("a-rule", rating, .app, section: "s", "d"), side: .app, conn: 1, time: 0,
            events: [1], text: "t", knownDeviation: known)
    }

    @Test func `a sure rule counts, a likely one where the profile says so, a weak one never`() {
        var profile = Profile.contract
        #expect(profile.standing(of: breach(.sure)) == .counted)
        #expect(profile.standing(of: breach(.likely)) == .remark)
        #expect(profile.standing(of: breach(.weak)) == .remark)
        profile.countedRules = ["a-rule"]
        #expect(profile.standing(of: breach(.likely)) == .counted)
        #expect(profile.standing(of: breach(.weak)) == .remark)
    }

    @Test(arguments: Rule.Rating.allCases)
    func `what the profile knows of is excused, and keeps its words`(rating: Rule.Rating) {
        var profile = Profile.contract
        profile.countedRules = ["a-rule"]
        #expect(profile.standing(of: breach(rating, known: "as seen")) == .excused("as seen"))
    }

    @Test func `a waiver holds to the end of its last day`() {
        var profile = Profile.contract
        profile.waivers = [
            Profile.Waiver(rule: "a", reason: "r"),
            Profile.Waiver(rule: "b", reason: "r", until: "2026-06-10"),
        ]
        #expect(profile.endedWaivers(today: "2026-06-10") == [])
        #expect(profile.endedWaivers(today: "2026-06-11").map(\.rule) == ["b"])
    }
}
