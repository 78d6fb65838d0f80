import Capture
import Fuzz
import Network
import PhoneBridge
import Replay
import Simulator
import Testing
import Wire

/// A live session of the reference peers in virtual time, with mutations on its way.
@Suite struct SimulatedInlineTests {
    private static func run(
        _ defects: Set<Defect> = [], seed: UInt64 = 1, minutes: Int64 = 60, cases: Int? = nil,
        effects: TargetEffects = .all, compresses: Bool = false, levels: Set<FuzzLevel> = []
    ) throws -> SimulatedInline.Outcome {
        var options = InlineSession.Options()
        options.seed = seed
        options.profile = .reference
        options.effects = effects
        options.levels = levels
        options.budget.cases = cases
        var simulated = SimulatedInline(options)
        simulated.defects = defects
        simulated.compresses = compresses
        simulated.onTrouble = { Issue.record("\($0)") }
        return try simulated.run(for: minutes * 60 * nanosecondsPerSecond)
    }

    private static func told(_ outcome: SimulatedInline.Outcome) -> String {
        var words: [String] = []
        for finding in outcome.campaign.findings {
            words.append("\(finding.name): \(finding.observation.text)\n\(finding.script)")
        }
        for (side, signals) in outcome.campaign.apart {
            for signal in signals {
                words.append(
                    "\(side) \(signal.verdict) \(signal.observation.check): "
                        + "\(signal.observation.text)\n\(signal.script)")
            }
        }
        return words.joined(separator: "\n")
    }

    @Test(arguments: 1...3)
    func `clean peers give no cause, whatever is done to their messages`(seed: UInt64) throws {
        let outcome = try Self.run(seed: seed, minutes: 45)
        #expect(outcome.campaign.cases > 40)
        #expect(outcome.campaign.findings.isEmpty, "\(Self.told(outcome))")
        #expect(outcome.campaign.apart.isEmpty, "\(Self.told(outcome))")
    }

    @Test func `a compressed connection lives on`() throws {
        let outcome = try Self.run(seed: 3, minutes: 20, compresses: true)
        #expect(outcome.campaign.cases > 5)
        #expect(outcome.campaign.findings.isEmpty, "\(Self.told(outcome))")
        #expect(outcome.campaign.apart.isEmpty, "\(Self.told(outcome))")
    }

    @Test(arguments: [
        (Defect.b16, FuzzLevel.session, "heartbeat-echo-id"),
        (.b6, .session, "outcome-first-result"),
        (.a18, .frames, "command-answered"),
    ])
    func `a defect is found while the session goes on`(
        _ defect: Defect, _ level: FuzzLevel, _ check: String
    ) throws {
        let outcome = try Self.run([defect], minutes: 40, levels: [level])
        let finding = try #require(
            outcome.campaign.findings.first { $0.observation.check == check },
            "\(Self.told(outcome))")
        #expect(finding.bucket.side == (defect.side == .board ? .board : .app))
        #expect(!finding.evidence.session.isEmpty && !finding.control.isEmpty)
        // Its script shows it against that side alone, and not against one without the defect.
        var target = SimulatedTarget()
        let clean = target.outcome(of: finding.script)
        #expect(clean.observations.isEmpty, "\(clean.observations)\n\(finding.script)")
        target.defects = [defect]
        #expect(
            target.outcome(of: finding.script).observations.contains { $0.check == check },
            "\(finding.script)")
        // Nobody else is blamed.
        #expect(outcome.campaign.findings.allSatisfy { $0.bucket.side == finding.bucket.side })
    }

    @Test func `the session has what was sent, and a note behind each message that was changed`()
        throws
    {
        let outcome = try Self.run(seed: 2, cases: 20)
        let lines = String(decoding: outcome.session, as: UTF8.self).split(separator: "\n")
        let notes = lines.filter { $0.contains(#""code":"fault""#) }
        #expect(notes.count { $0.contains("(mutation ") } == 20)
        #expect(notes.contains { $0.contains("(mutation 0)") })
        // The same seed makes the same session.
        #expect(try Self.run(seed: 2, cases: 20).session == outcome.session)
    }

    @Test(arguments: 1...2)
    func `nothing gets past the gate to the phone`(seed: UInt64) throws {
        let outcome = try Self.run(seed: seed, minutes: 40, effects: .none)
        #expect(outcome.campaign.cases > 10)
        #expect(outcome.campaign.refused > 0)
        #expect(outcome.phone.clipboard == "")
        #expect(outcome.phone.calendar.entries.isEmpty)
        #expect(outcome.phone.notifications.entries.isEmpty)
        #expect(outcome.phone.opened.isEmpty)
        #expect(outcome.phone.contacts.entries == Phone(platform: .ios).contacts.entries)
        let open = try Self.run(seed: seed, minutes: 3, effects: .all)
        #expect(open.phone.calendar.entries.count + open.phone.opened.count > 0)
    }
}
