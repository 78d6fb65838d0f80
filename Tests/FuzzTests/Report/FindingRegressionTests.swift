import Capture
import ExampleSessions
import Foundation
import Fuzz
import PhoneBridge
import Replay
import Report
import Simulator
import Testing
import Wire

/// Findings as tests of their fixes: a replay of the session fails on the bug, and passes without it.
@Suite struct FindingRegressionTests {
    /// The finding that a defect's script makes.
    private func record(_ id: String, _ defect: Defect) throws -> FindingRecord {
        let script = try DefectScriptTests.script(id)
        var target = SimulatedTarget()
        target.defects = [defect]
        let outcome = target.outcome(of: script, keepsSession: true)
        let observation = try #require(outcome.observations.first)
        var finding = FuzzFinding(
            bucket: Bucket(script, Signal(observation)), observation: observation,
            verdict: .confirmed, script)
        finding.evidence = Investigation.Evidence(outcome)
        return FindingRecord(finding, FindingRecord.Circumstances())
    }

    /// What a replay of the session shows.
    private func replay(
        _ regression: FindingRegression, _ side: Side, _ defects: Set<Defect>
    ) throws -> ReplayVerdict {
        var reader = SessionReader(MemorySource(regression.session))
        let session = try LoadedSession(
            "finding", &reader, contract: .current, profile: .contract)
        #expect(session.isFit(toJudge: side.peer))
        #expect(!session.isFit(toJudge: side))
        #expect(session.recorded.info?.mayBePersonal == false)
        var replay = ReferenceReplay()
        replay.rules = try ComparisonRulesText.parse(Bytes(regression.rules.utf8))
        replay.speed = .real
        replay.defects = defects
        let result =
            try side == .app ? replay.asApp(session.recorded) : replay.asBoard(session.recorded)
        return try ReplayVerdict(
            session, result, rules: replay.rules, profile: .contract, contract: .current)
    }

    /// Defects that a replay may not bring about: the script alone shows them.
    private static let untold: Set<String> = ["A20", "B17", "B20", "B22", "B26"]
    /// Those whose script does what a replay may not do in the same way.
    private static let unfit: Set<String> = ["A22", "A24", "B21"]

    @Test(arguments: DefectScriptTests.ids.filter { Defect(id: $0) != nil })
    func `a replay of an export fails on the bug, and passes without it`(_ id: String) throws {
        let defect = try #require(Defect(id: id))
        let record = try record(id, defect)
        let made = Result { () throws(FindingRegression.Failure) in
            try FindingRegression(
                record, profile: .reference, tool: "bridgetap", defects: [defect])
        }
        guard let regression = try? made.get() else {
            #expect(Self.unfit.contains(id), "\(made)")
            return
        }
        let side = record.finding.script.played
        let clean = try replay(regression, side, [])
        #expect(!clean.isDifferent, "\(id) on the clean peer: \(Captures.told(clean))")
        #expect(clean.isExercised(percent: 100))
        let isTold = try replay(regression, side, [defect]).isDifferent
        #expect(isTold || Self.untold.contains(id), "\(id)")
        #expect((regression.doubt == nil) == isTold, "\(id)")
    }

    @Test func `what the reference peer shows as well is no test`() throws {
        let script = try FuzzScript(
            parsing: "bridgetap-fuzz 1 as app\nconnect a\n!C10 text a {\"id\":\"ping\"}\n")
        let observation = Observation(
            check: "x", rating: .sure, section: "", demand: "", text: "", isUniversal: false)
        let finding = FuzzFinding(
            bucket: Bucket(script, Signal(observation)), observation: observation,
            verdict: .confirmed, script)
        let regression = try FindingRegression(
            FindingRecord(finding, FindingRecord.Circumstances()), profile: .reference,
            tool: "bridgetap")
        #expect(regression.doubt?.contains("failing run") == true)
        #expect(
            FindingRegression.Failure.referenceShows("alive").description
                == "the reference peer breaks alive as well")
    }
}
