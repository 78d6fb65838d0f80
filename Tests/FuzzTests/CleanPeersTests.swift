import Capture
import ExampleSessions
import Fuzz
import PhoneBridge
import Replay
import Testing
import Wire

/// What is planned gives no alarm on the reference peers: neither the cases, nor their controls,
/// nor what recorded sessions are made into.
@Suite struct CleanPeersTests {
    private static let target = SimulatedTarget()

    /// Observations that count, as a campaign takes them.
    private static func alarms(_ script: FuzzScript) -> [String] {
        target.outcome(of: script).observations.filter { observation in
            observation.rating != .weak && (observation.isUniversal || script.rating != .weak)
        }.map { "\($0.check): \($0.text)" }
    }

    @Test(arguments: CasePlanTests.sides)
    func `cases and their controls give no alarm`(_ side: Side) {
        let plan = CasePlan(as: side, seed: 21, profile: .reference)
        let finite = stride(from: 0, to: plan.conformanceCount, by: 29)
        for index in Array(finite) + Array(1000..<1030) {
            let script = plan.script(index)
            #expect(Self.alarms(script) == [], "case \(index)\n\(script)")
            #expect(Self.alarms(script.control) == [], "control of case \(index)\n\(script)")
        }
    }

    @Test(arguments: CasePlanTests.sides)
    func `recorded sessions become scripts that give no alarm`(_ side: Side) throws {
        var count = 0
        for name in Captures.names {
            let session = try Captures.session(name)
            guard let script = FuzzScript(playing: side, of: session) else { continue }
            count += 1
            #expect(try FuzzScript(parsing: script.description) == script)
            #expect(script.mutations.isEmpty)
            #expect(Self.alarms(script) == [], "\(name)\n\(script)")
        }
        #expect(count > 15)
    }

    @Test(arguments: CasePlanTests.sides)
    func `cases start from recorded sessions too`(_ side: Side) throws {
        let corpus = try ["all-commands", "pip-queue", "same-id"].compactMap { name in
            FuzzScript(playing: side, of: try Captures.session(name))
        }
        #expect(corpus.count == 3)
        let plan = CasePlan(as: side, seed: 4, corpus: corpus)
        let bare = CasePlan(as: side, seed: 4)
        let differ = (1000..<1100).count { plan.script($0) != bare.script($0) }
        #expect((20...73).contains(differ), "\(differ)")
    }
}
