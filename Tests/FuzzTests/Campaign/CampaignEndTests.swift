import Capture
import Fuzz
import Network
import PhoneBridge
import Testing

/// When a campaign ends, and what becomes of its last minutes.
@Suite struct CampaignEndTests {
    @Test func `it ends when so many bugs were found as were wanted`() {
        var options = FakeRun.options(cases: 1000)
        options.findings = 1
        var run = FakeRun(FakePeer(bugs: [.ping, .reuse]), options)
        run.go()
        #expect(run.end == .findings(1))
        #expect(run.campaign.findings.count == 1)
        #expect(run.campaign.figures.cases < 10)
    }

    @Test func `a bug that is known does not count among them`() throws {
        let name = try #require(
            FakeRun.finished([.ping], cases: 12).campaign.findings.first?.name)
        var options = FakeRun.options(cases: 72)
        options.findings = 1
        options.excused = [name]
        var run = FakeRun(FakePeer(bugs: [.ping]), options)
        run.go()
        #expect(run.end == .cases)
        #expect(run.names == [name])
    }

    @Test func `it ends on a plateau, when nothing new is seen for so long`() throws {
        var options = FakeRun.options(cases: 100_000)
        options.plateau = 50
        var run = FakeRun(FakePeer(bugs: []), options)
        run.go()
        #expect(run.end == .plateau(50))
        let last = try #require(run.campaign.figures.lastEdge)
        #expect(run.campaign.figures.runs == Int(last) + 50)
    }

    @Test func `what is being looked into is no plateau`() {
        var options = FakeRun.options(cases: 72)
        options.plateau = 1
        var run = FakeRun(FakePeer(bugs: [.ping]), options)
        run.go()
        #expect(run.end == .plateau(1))
        #expect(run.campaign.findings.map(\.isMinimised) == [true])
    }

    @Test func `the last tenth of the time is for what was found`() {
        var options = FakeRun.options(cases: 100_000)
        options.time = 1000
        var run = FakeRun(FakePeer(bugs: []), options)
        var isFaulty = false
        var late: [Int] = []
        var runs = 0
        run.go { script, peer, number in
            runs += 1
            // A bug that comes up when there is not much time left.
            isFaulty = isFaulty || runs > 895
            return FakePeer(bugs: isFaulty ? [.ping] : []).outcome(of: script, run: number)
        }
        late = run.events.compactMap(\.exploredIndex).filter { $0 > 900 }
        #expect(run.end == .time)
        #expect(run.campaign.findings.map(\.isMinimised) == [true])
        // Behind it, cases go on.
        #expect(!late.isEmpty)
    }

    @Test func `a known finding that was left long is made short`() throws {
        var options = FakeRun.options(cases: 1000)
        options.time = 12
        var first = FakeRun(FakePeer(bugs: [.ping]), options)
        first.go()
        let long = try #require(first.campaign.findings.first)
        #expect(!long.isMinimised)
        var next = FakeRun.options(cases: 0)
        next.known = [
            KnownFinding(
                name: long.name, script: long.script, signal: long.bucket.signal,
                signals: long.signals, isMinimised: false)
        ]
        var run = FakeRun(FakePeer(bugs: [.ping]), next)
        run.go()
        #expect(run.campaign.findings.isEmpty)
        let shorter = try #require(run.events.lazy.compactMap(\.shortened).first)
        #expect(shorter.name == long.name)
        #expect(shorter.finding.isMinimised)
        #expect(shorter.finding.script.steps.count == 2)
        // The folder keeps its name.
        let record = FindingRecord(long, FindingRecord.Circumstances())
            .with(shorter: shorter.finding, FindingRecord.Circumstances())
        #expect(record.finding.name == long.name)
        #expect(record.finding.script.steps.count == 2)
    }

    @Test func `what a resumed campaign had found is made short as well`() throws {
        var options = FakeRun.options(cases: 72)
        options.time = 12
        var first = FakeRun(FakePeer(bugs: [.ping]), options)
        first.go()
        let long = try #require(first.campaign.findings.first)
        var run = FakeRun(FakePeer(bugs: [.ping]), FakeRun.options(cases: 72))
        run.campaign.restore(long)
        run.go()
        #expect(run.names == [long.name])
        #expect(run.campaign.findings.map(\.script.steps.count) == [2])
    }

    @Test func `each end has its word`() {
        let ends: [CampaignEnd] = [
            .cases, .time, .findings(3), .plateau(60 * nanosecondsPerSecond), .interrupted,
            .neverUsable("refused"), .targetLost("no route"), .broken("no more files"),
        ]
        #expect(Set(ends.map(\.word)).count == ends.count)
        #expect(CampaignEnd.findings(3).words == "3 findings as wanted")
        #expect(
            CampaignEnd.plateau(60 * nanosecondsPerSecond).words
                == "a plateau, nothing new for 60.0 s")
        #expect(ends.filter { $0.fault != nil }.count == 3)
        #expect(ends.filter(\.isComplete).count == 4)
    }
}

extension FakeRun {
    static func finished(_ bugs: [FakePeer.Bug], cases: Int) -> FakeRun {
        var run = FakeRun(FakePeer(bugs: bugs), options(cases: cases))
        run.go()
        return run
    }
}

extension Campaign.Event {
    /// The finding whose script is shorter now.
    fileprivate var shortened: (name: String, finding: FuzzFinding)? {
        if case .shortened(let name, let finding) = self { (name, finding) } else { nil }
    }
}
