import Foundation
import Fuzz
import PhoneBridge
import Simulator
import Testing

/// The shortest known script for each planted defect: it fails on the defect, and the clean peer
/// gives no cause.
@Suite struct DefectScriptTests {
    static let ids: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return (files ?? []).filter { $0.hasSuffix(".fuzz") }.map { String($0.dropLast(5)) }
            .sorted()
    }()

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Defects").path

    static func script(_ id: String) throws -> FuzzScript {
        try FuzzScript(
            parsing: String(contentsOfFile: folder + "/" + id + ".fuzz", encoding: .utf8))
    }

    @Test func `each planted defect has a script`() {
        #expect(Defect.allCases.map(\.rawValue).filter { !Self.ids.contains($0) } == [])
    }

    @Test(arguments: ids) func `a script fails on its defect only`(_ id: String) throws {
        let script = try Self.script(id)
        #expect(script.description.split(separator: "\n").count <= 14)
        let clean = SimulatedTarget().outcome(of: script)
        #expect(clean.observations.map(\.text) == [])
        #expect(clean.target == .well)
        guard let defect = Defect(id: id) else { return }
        var target = SimulatedTarget()
        target.defects = [defect]
        #expect(!target.outcome(of: script).observations.isEmpty)
        #expect(target.outcome(of: script.control).observations.map(\.text) == [])
    }
}
