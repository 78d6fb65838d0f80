import Capture
import Fuzz
import Network
import PhoneBridge
import Testing

/// How long cases take where timers are real.
@Suite struct PlanEstimateTests {
    private let plan = CasePlan(as: .app, seed: 3, profile: .contract)

    private func estimate(
        scale: Double = 1, shard: (number: Int, count: Int) = (1, 1), overhead: Int64 = 0
    ) -> PlanEstimate {
        var profile = Profile.contract
        profile.timeScale = scale
        return PlanEstimate(plan, profile: profile, shard: shard, count: 60, overhead: overhead)
    }

    @Test func `a case takes what its waits take, and what it costs besides`() throws {
        let plain = estimate()
        #expect(plain.entries.map(\.index) == Array(0..<60))
        let longest = try #require(plain.entries.map(\.time).max())
        #expect(longest > nanosecondsPerSecond)
        let scaled = estimate(scale: 10)
        #expect(abs(scaled.time(below: 60) - plain.time(below: 60) / 10) < 1000)
        let slow = estimate(overhead: nanosecondsPerSecond)
        #expect(slow.time(below: 60) == plain.time(below: 60) + 60 * nanosecondsPerSecond)
        #expect(
            estimate(shard: (2, 3)).entries.map(\.index) == Array(stride(from: 1, to: 60, by: 3)))
    }

    @Test func `what does not fit into a budget is named`() throws {
        let estimate = estimate()
        let all = estimate.time(below: 60)
        #expect(estimate.unfit(budget: all, jobs: 1).isEmpty)
        let late = estimate.unfit(budget: all / 2, jobs: 1)
        #expect(!late.isEmpty)
        #expect(late.last?.index == 59)
        #expect(estimate.unfit(budget: all / 2, jobs: 2).isEmpty)
        let longest = try #require(estimate.entries.map(\.time).max())
        #expect(estimate.unfit(budget: longest - 1, jobs: 1000).allSatisfy { $0.time >= longest })
        // The finite pass is longer than what was estimated.
        #expect(estimate.conformanceCount > 60)
        #expect(estimate.conversation == nil)
    }

    @Test(arguments: [Side.app, .board])
    func `a plan has the same digest twice, and another seed another one`(
        _ side: Side
    ) {
        func digest(_ seed: UInt64) -> String {
            CasePlan(as: side, seed: seed, profile: .contract).digest(count: 300)
        }
        #expect(digest(1) == digest(1))
        #expect(digest(1) != digest(2))
    }
}
