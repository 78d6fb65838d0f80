import Capture
import PhoneBridge
import Replay
import Report
import Simulator
import Testing

@Suite struct ReferenceReplayTests {
    @Test(arguments: Captures.names, [Side.app, .board])
    func `an example session is the same against the reference peers`(
        name: String, side: Side
    ) throws {
        guard let verdict = try Captures.verdict(name, side) else { return }
        let isDifferent = verdict.isDifferent
        #expect(!isDifferent, "\(Captures.told(verdict))")
        #expect(verdict.isExercised(percent: 100), "\(verdict.counts)")
    }

    @Test(arguments: Captures.names, [Side.app, .board])
    func `an example session is the same at the speed at which it was recorded`(
        name: String, side: Side
    ) throws {
        var replay = ReferenceReplay()
        replay.speed = .real
        guard let verdict = try Captures.verdict(name, side, replay) else { return }
        let isDifferent = verdict.isDifferent
        #expect(!isDifferent, "\(Captures.told(verdict))")
        #expect(verdict.isExercised(percent: 100), "\(verdict.counts)")
    }
}

@Suite struct PlantedDefectReplayTests {
    @Test func table() throws {
        for defect in Defect.allCases {
            var red: [String] = []
            for name in Captures.names {
                var replay = ReferenceReplay()
                replay.defects = [defect]
                let side: Side = defect.side == .board ? .app : .board
                guard let verdict = try Captures.verdict(name, side, replay) else { continue }
                if verdict.isDifferent {
                    red.append(name + ": " + (Captures.told(verdict).split(separator: "\n").first ?? ""))
                }
            }
            print(defect.rawValue, red)
        }
    }
}
