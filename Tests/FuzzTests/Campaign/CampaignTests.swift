import Capture
import Fuzz
import Network
import PhoneBridge
import Testing
import Wire

/// A campaign against peers whose bugs are known.
@Suite struct CampaignTests {
    private func run(
        _ bugs: [FakePeer.Bug], cases: Int = 72, profile: Profile = .contract, jobs: Int = 1
    ) -> FakeRun {
        var run = FakeRun(FakePeer(bugs: bugs), FakeRun.options(cases: cases, profile: profile))
        run.go(jobs: jobs)
        return run
    }

    @Test func `a peer without a bug is clean`() {
        let run = run([])
        #expect(run.campaign.findings.isEmpty)
        #expect(run.campaign.apart.isEmpty)
        #expect(run.end == .cases)
        #expect(run.campaign.figures.cases == 72)
        #expect(run.campaign.figures.runs == 72)
        #expect(
            run.campaign.figures.unreached(judging: .board)
                == [.lateAnswer, .redelivery, .overlap, .filteredPoll])
    }

    @Test func `one bug is one bucket, however often it shows itself`() throws {
        let run = run([.ping])
        let finding = try #require(run.campaign.findings.first)
        #expect(run.campaign.findings.count == 1)
        #expect(finding.verdict == .confirmed)
        #expect(finding.rate == Investigation.Rate(3, of: 3))
        #expect(finding.count > 10)
        #expect(finding.firstCase == 0)
        #expect(run.campaign.apart.isEmpty)
    }

    @Test func `a finding is as short as it can be`() {
        let run = run([.ping, .reuse])
        let texts = run.campaign.findings.map(\.script.description)
        #expect(
            texts == [
                """
                bridgetap-fuzz 1 as app
                connect a
                !F3 frame a ping ""

                """,
                """
                bridgetap-fuzz 1 as app
                enqueue q1 {"id":"q1","type":"clipboard_read"}
                !C1 wait 31s
                - wait 1s
                !C1 enqueue q1 {"id":"q1","type":"clipboard_read"}

                """,
            ])
        #expect(run.campaign.findings.filter { !$0.isMinimised }.isEmpty)
    }

    @Test func `two bugs are two buckets, with several jobs too`() {
        let one = run([.ping, .reuse])
        let four = run([.ping, .reuse], jobs: 4)
        #expect(one.names.count == 2)
        #expect(one.names == four.names)
    }

    @Test func `what one bug shows to two checks is one bucket`() throws {
        let run = run([.deaf])
        #expect(run.names.count == 1)
        let finding = try #require(run.campaign.findings.first)
        #expect(finding.observation.check == "heartbeat-echoed")
        #expect(finding.signals.map(\.check).sorted() == ["alive", "heartbeat-echoed"])
    }

    @Test func `what one check says in other words is one bucket, with the shorter script`() throws
    {
        let run = run([.worded])
        #expect(run.names.count == 1)
        let finding = try #require(run.campaign.findings.first)
        #expect(Set(finding.signals.map(\.text)) == ["too many came", "none came"])
        #expect(finding.script.steps.map(\.action) == [.close("a", code: nil, reason: [])])
    }

    @Test func `what the control shows as well is told apart`() throws {
        let run = run([.always])
        #expect(run.campaign.findings.isEmpty)
        #expect(run.campaign.apart.map(\.verdict) == [.withoutMutation])
    }

    @Test func `what comes too seldom is flaky`() {
        let run = run([.rarely(4)])
        #expect(run.campaign.findings.isEmpty)
        #expect(Set(run.campaign.apart.map(\.verdict)).isSubset(of: [.flaky, .unconfirmed]))
        #expect(!run.campaign.apart.isEmpty)
    }

    @Test func `a breach that a transcript proves is kept after one sight`() throws {
        let run = run([.once])
        let finding = try #require(run.campaign.findings.first)
        #expect(finding.verdict == .keptAsSeen)
        #expect(finding.rate == Investigation.Rate(0, of: 3))
        #expect(!finding.isMinimised)
    }

    @Test func `a likely check counts where the profile says so`() {
        #expect(run([.likely]).campaign.findings.isEmpty)
        #expect(run([.likely]).campaign.apart.isEmpty)
        var profile = Profile(name: "lab")
        profile.countedRules = ["status-connected"]
        #expect(run([.likely], profile: profile).campaign.apart.count == 1)
    }

    @Test func `what a profile excuses does not count`() {
        var profile = Profile(name: "lab")
        profile.waivers = [Profile.Waiver(rule: "heartbeat-echo-id", reason: "known")]
        #expect(run([.ping], profile: profile).campaign.findings.isEmpty)
    }

    @Test func `shards together find what the whole finds, and share no case`() {
        var cases: [Int] = []
        var names: Set<String> = []
        for number in 1...3 {
            var options = FakeRun.options(cases: 72)
            options.shard = (number, 3)
            var run = FakeRun(FakePeer(bugs: [.ping, .reuse]), options)
            run.go()
            names.formUnion(run.names)
            cases += run.events.compactMap(\.exploredIndex)
        }
        #expect(cases.sorted() == Array(0..<72))
        #expect(names.sorted() == run([.ping, .reuse]).names)
    }

    @Test(arguments: [1, 2, 7, 30, 55, 110])
    func `what is resumed finds what a whole run finds`(runs: Int) throws {
        var first = FakeRun(FakePeer(bugs: [.ping, .reuse]), FakeRun.options(cases: 72))
        first.go(maximumRuns: runs)
        var second = FakeRun(FakePeer(bugs: [.ping, .reuse]), FakeRun.options(cases: 72))
        var log = CampaignLog(CampaignLog.Identity())
        var file = log.head
        for event in first.events {
            if case .explored(let record) = event { file += log.take(record) }
        }
        // The last line is torn.
        file += Bytes("{\"case\":70,".utf8)
        let progress = try #require(CampaignLog(parsing: file)).progress
        #expect(progress == log.progress)
        second.campaign.restore(progress)
        for event in first.events {
            switch event {
            case .found(let finding), .seenAgain(let finding): second.campaign.restore(finding)
            default: break
            }
        }
        second.go()
        #expect(second.names == run([.ping, .reuse]).names)
        let indexes = (first.events + second.events).compactMap(\.exploredIndex)
        #expect(indexes.sorted() == Array(0..<72))
        #expect(second.campaign.figures.cases == 72)
        #expect(second.campaign.figures.edges == run([.ping, .reuse]).campaign.figures.edges)
    }

    @Test func `known findings are run first, and are told from new ones`() throws {
        let earlier = run([.ping, .reuse])
        var options = FakeRun.options(cases: 72)
        options.known = earlier.campaign.findings.map {
            KnownFinding(
                name: $0.name, script: $0.script, signal: $0.bucket.signal, signals: $0.signals)
        }
        var later = FakeRun(FakePeer(bugs: [.ping]), options)
        later.go()
        #expect(later.campaign.findings.isEmpty)
        let fates = Set(later.campaign.fates.values)
        #expect(fates == [.fixed, .stillThere(Investigation.Rate(3, of: 3))])
        guard case .known? = later.events.first(where: { $0.exploredIndex == nil }) else {
            Issue.record("no known finding came first")
            return
        }
    }

    @Test func `time that is over ends it, and what is known is kept`() throws {
        var options = FakeRun.options(cases: 1000)
        options.time = 12
        var run = FakeRun(FakePeer(bugs: [.ping]), options)
        run.go()
        #expect(run.end == .time)
        #expect(run.campaign.figures.runs == 12)
        let finding = try #require(run.campaign.findings.first)
        #expect(finding.verdict == .confirmed)
        #expect(!finding.isMinimised)
        #expect(finding.script.steps.count < finding.original.steps.count)
    }

    @Test func `an interruption leaves no case half told`() {
        var run = FakeRun(FakePeer(bugs: [.ping]), FakeRun.options(cases: 72))
        run.go(maximumRuns: 3)
        run.campaign.stop()
        run.go()
        #expect(run.end == .interrupted)
        // The transcript is proof enough, and the case is done again by who goes on.
        #expect(run.campaign.findings.map(\.verdict) == [.keptAsSeen])
        #expect(run.campaign.findings.map(\.rate) == [Investigation.Rate(2, of: 2)])
        #expect(run.events.compactMap(\.exploredIndex).isEmpty)
    }

    @Test func `a target that is never there ends it`() {
        var run = FakeRun(FakePeer(bugs: []), FakeRun.options(cases: 72))
        run.go { _, _, _ in
            var outcome = CaseOutcome()
            outcome.target = .lost("connection refused")
            return outcome
        }
        #expect(run.end == .neverUsable("connection refused"))
        #expect(run.campaign.figures.cases == 0)
        #expect(run.campaign.figures.lost == 3)
    }

    @Test func `a target that does not come back ends it`() {
        var run = FakeRun(FakePeer(bugs: []), FakeRun.options(cases: 72))
        var count = 0
        run.go { script, peer, _ in
            count += 1
            guard count > 5 else { return peer.outcome(of: script) }
            var outcome = CaseOutcome()
            outcome.target = .lost("no route")
            return outcome
        }
        #expect(run.end == .targetLost("no route"))
        #expect(run.campaign.figures.cases == 5)
    }

    @Test func `faults of the harness are counted by themselves`() {
        var run = FakeRun(FakePeer(bugs: []), FakeRun.options(cases: 72))
        var count = 0
        run.go { script, peer, _ in
            count += 1
            guard count % 3 == 0 else { return peer.outcome(of: script) }
            var outcome = CaseOutcome()
            outcome.target = .trouble("no more files")
            return outcome
        }
        #expect(run.end == .cases)
        #expect(run.campaign.figures.cases == 72)
        #expect(run.campaign.figures.troubles > 20)
        #expect(run.campaign.findings.isEmpty)
    }
}

extension Campaign.Event {
    /// The case that is over.
    var exploredIndex: Int? {
        if case .explored(let record) = self { record.index } else { nil }
    }
}
