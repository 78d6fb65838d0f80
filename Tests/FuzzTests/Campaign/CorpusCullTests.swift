import Capture
import Fuzz
import Testing

/// Which entries of a corpus are kept.
@Suite struct CorpusCullTests {
    private func entry(_ name: String, _ steps: Int) -> CorpusEntry {
        CorpusEntry(
            name: name, script: FuzzScript(as: .app, (0..<steps).map { _ in FuzzStep(.heal) }))
    }

    private func outcome(_ shapes: Set<UInt64>) -> CaseOutcome {
        var outcome = CaseOutcome()
        outcome.shapes = shapes
        outcome.shapeNames = Dictionary(
            uniqueKeysWithValues: shapes.map { ($0, "answer \($0)") })
        return outcome
    }

    @Test func `an entry is kept for what no shorter one shows`() {
        let entries = CorpusCull.inOrder([entry("c", 3), entry("b", 1), entry("a", 3)])
        #expect(entries.map(\.name) == ["b", "a", "c"])
        var cull = CorpusCull()
        cull.take(entries[0], outcome([1, 2]))
        cull.take(entries[1], outcome([2]))
        cull.take(entries[2], outcome([2, 3, 4]))
        #expect(cull.kept.map(\.entry.name) == ["b", "c"])
        #expect(cull.dropped == ["a"])
        #expect(cull.shapes == [1, 2, 3, 4])
        #expect(cull.index == "b\n    answer 1\n    answer 2\nc\n    answer 3\n    answer 4\n")
    }

    @Test func `what a script shows has words where its session is kept`() throws {
        let script = try FuzzScript(
            parsing: "bridgetap-fuzz 1 as app\nconnect a platform=ios\nget status\n")
        let outcome = SimulatedTarget().outcome(of: script, keepsSession: true)
        #expect(Set(outcome.shapeNames.keys) == outcome.shapes)
        #expect(outcome.shapeNames.values.contains { $0.hasPrefix("response 200") })
        #expect(SimulatedTarget().outcome(of: script).shapeNames.isEmpty)
    }
}
