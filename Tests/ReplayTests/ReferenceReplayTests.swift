import Capture
import ExampleSessions
import GoldenFiles
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

/// No flake: other chances, other delays, the same result.
@Suite struct RepeatedReplayTests {
    @Test(arguments: Captures.names, [Side.app, .board])
    func `an example session is the same again and again, however slow and uneven the link`(
        name: String, side: Side
    ) throws {
        for seed in UInt64(2)...4 {
            var replay = ReferenceReplay()
            replay.seed = seed
            // Messages on two connections overtake each other by up to 80 ms.
            replay.latency = Int(seed) * 10_000_000...Int(seed) * 30_000_000
            guard let verdict = try Captures.verdict(name, side, replay) else { return }
            let isDifferent = verdict.isDifferent
            #expect(!isDifferent, "seed \(seed): \(Captures.told(verdict))")
            #expect(verdict.isExercised(percent: 100), "seed \(seed): \(verdict.counts)")
        }
    }
}

/// Which replays turn red for which planted defect: a table that a person can read.
@Suite struct PlantedDefectReplayTests {
    @Test func `each planted defect turns the replay of a session red, and says how`() throws {
        var lines: [String] = []
        for defect in Defect.allCases {
            let side: Side = defect.side == .board ? .app : .board
            for name in Captures.names {
                var replay = ReferenceReplay()
                replay.defects = [defect]
                guard let verdict = try Captures.verdict(name, side, replay) else { continue }
                guard let first = verdict.differences.first else { continue }
                let what = "\(first.outcome.word) \(first.group) \(first.name)"
                let how = first.details.first.map { ": \($0)" } ?? ""
                lines.append("\(defect.rawValue)  \(name)  \(what)\(how)")
            }
            #expect(
                lines.contains { $0.hasPrefix("\(defect.rawValue)  ") },
                "no replay turns red for \(defect.rawValue), \(defect.summary)")
        }
        let text = lines.map { $0 + "\n" }.joined()
        #expect(GoldenFile("defects-and-replays.txt").difference(from: text) == nil)
    }
}
