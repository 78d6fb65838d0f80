import Capture
import Fuzz
import Network
import PhoneBridge
import Testing
import Wire

/// What becomes of what a live session shows: repeats, controls, and whom nobody blames.
@Suite struct InlineCampaignTests {
    private static let second = nanosecondsPerSecond

    /// A session in which heartbeats pass each five seconds, and a board that reacts to mutations.
    private struct Lab {
        var campaign: InlineCampaign
        var now: Int64 = 0
        var strikes: [(time: Int64, strike: InlineStrike)] = []
        /// What the board shows: of a mutation, or nil of a heartbeat that was left alone.
        var shows: (InlineStrike?, Int) -> Observation? = { _, _ in nil }
        var admission = InlineCampaign.Admission.allowed
        private var number = 0

        init(seed: UInt64 = 1, cases: Int? = nil) {
            var budget = InlineCampaign.Budget()
            budget.cases = cases
            campaign = InlineCampaign(
                InlinePlan(seed: seed, levels: [.session]),
                judge: Judge(profile: .contract, today: nil), budget: budget, now: 0)
        }

        mutating func run(minutes: Int) {
            let beat = InlinePlanTests.messages[0]
            for _ in 0..<minutes * 12 {
                now += 5 * InlineCampaignTests.second
                campaign.advance(to: now)
                if campaign.isDue(now) {
                    campaign.endCase(
                        campaign.current?.observations ?? [], Investigation.Evidence(), now: now)
                }
                let admission = admission
                let strike = campaign.consider(beat, now: now) { _ in admission }
                if let strike { strikes.append((now, strike)) }
                number += 1
                if let seen = shows(strike, number) {
                    campaign.observe(seen, of: .board, now: now + 1)
                }
            }
        }
    }

    private static func seen(_ text: String = "it is wrong") -> Observation {
        Observation(
            check: "heartbeat-echo-id", rating: .sure, section: "contract, \"Heartbeat\"",
            demand: "An echo carries the id", text: text, isUniversal: true)
    }

    @Test func `nothing is done at first, and then one thing at a time`() {
        var lab = Lab()
        lab.run(minutes: 60)
        #expect(lab.strikes.count > 10)
        #expect(lab.campaign.cases == lab.strikes.count)
        #expect(lab.strikes.first?.time ?? 0 >= 20 * Self.second)
        for (one, next) in zip(lab.strikes, lab.strikes.dropFirst()) {
            #expect(next.time - one.time >= 25 * Self.second)
        }
        let ends = lab.strikes.filter(\.strike.endsLink).map(\.time)
        for (one, next) in zip(ends, ends.dropFirst()) { #expect(next - one >= 120 * Self.second) }
        #expect(lab.campaign.findings.isEmpty && lab.campaign.apart.isEmpty)
    }

    @Test func `what a mutation shows again and again, and no other heartbeat, is a finding`() {
        var lab = Lab()
        lab.shows = { strike, _ in strike?.mutation.id == "C10" ? Self.seen() : nil }
        lab.run(minutes: 120)
        #expect(lab.campaign.findings.map(\.verdict) == [.confirmed])
        let finding = lab.campaign.findings.first
        #expect(finding?.rate == Investigation.Rate(3, of: 3))
        #expect(finding?.bucket.side == .board)
        #expect(finding?.script.mutations.map(\.id) == ["C10"])
        #expect(finding?.isFresh == false)
        // Later ones are the same.
        #expect(finding?.count ?? 0 > 1)
        #expect(lab.campaign.apart.isEmpty)
    }

    @Test func `what comes without a mutation as well is no finding`() {
        var lab = Lab()
        lab.shows = { _, number in number > 20 ? Self.seen() : nil }
        lab.run(minutes: 120)
        #expect(lab.campaign.findings.isEmpty)
        #expect(lab.campaign.apart[.board]?.contains { $0.verdict == .withoutMutation } == true)
    }

    @Test func `what comes once is kept only where it proves itself`() {
        for (check, verdicts) in [
            ("heartbeat-echo-id", [Investigation.Verdict.keptAsSeen]), ("heartbeat-echoed", []),
        ] {
            var lab = Lab()
            var isOver = false
            lab.shows = { strike, _ in
                guard strike?.mutation.id == "C10", !isOver else { return nil }
                isOver = true
                var seen = Self.seen()
                seen.check = check
                return seen
            }
            lab.run(minutes: 120)
            #expect(lab.campaign.findings.map(\.verdict) == verdicts)
            #expect((lab.campaign.apart[.board] ?? []).isEmpty == !verdicts.isEmpty)
        }
    }

    @Test func `a mutation that may not be made is counted, and nothing is done`() {
        var lab = Lab()
        lab.admission = .refused
        lab.run(minutes: 10)
        #expect(lab.strikes.isEmpty && lab.campaign.cases == 0)
        #expect(lab.campaign.refused > 0)
        lab = Lab()
        lab.admission = .unfit
        lab.run(minutes: 10)
        #expect(lab.strikes.isEmpty && lab.campaign.refused == 0)
    }

    @Test func `it is over after so many cases, and what is open then is looked into first`() {
        var lab = Lab(cases: 3)
        lab.run(minutes: 60)
        #expect(lab.campaign.cases == 3)
        #expect(lab.campaign.isDone)
        lab = Lab()
        lab.shows = { strike, _ in strike == nil ? nil : Self.seen() }
        while lab.campaign.current == nil { lab.run(minutes: 1) }
        lab.campaign.stop(now: lab.now)
        #expect(!lab.campaign.isDone)
        #expect(lab.campaign.findings.allSatisfy { $0.verdict == .keptAsSeen })
    }
}
