import Capture
package import PhoneBridge
import Replay
import Report
package import Simulator
package import Wire

/// A finding as a test of its fix: the session that takes place where the bug is not there, for
/// `bridgetap replay`.
///
/// The session is the script, played against the reference peer. A replay does what the script did,
/// and finds what differs and each rule that is broken and was not.
package struct FindingRegression: Sendable {
    /// NDJSON.
    package let session: Bytes
    /// The rules file that belongs beside it.
    package let rules: String
    /// Why a replay may not tell the bug, though the script does; nil where it does.
    package let doubt: String?

    /// Why there is none.
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The reference peer shows a check as broken too.
        case referenceShows(String)
        /// A replay against the reference peer differs: what, in words.
        case differs(String)
        /// Its session cannot be read.
        case unreadable

        package var description: String {
            switch self {
            case .referenceShows(let check): "the reference peer breaks \(check) as well"
            case .differs(let what): "a replay differs on the reference peer too: \(what)"
            case .unreadable: "the session with the reference peer cannot be read"
            }
        }
    }

    /// - Parameters:
    ///   - record: masked already, where it has to be.
    ///   - profile: what counts.
    ///   - defects: those of the simulated peer that the finding was made on.
    package init(
        _ record: FindingRecord, profile: Profile, tool: String, defects: Set<Defect> = [],
        contract: Contract = .current
    ) throws(Failure) {
        let finding = record.finding
        var target = SimulatedTarget(profile: profile, contract: contract)
        target.tool = tool
        var script = finding.script
        // A look at the target behind it: a replay without a command puts nothing to the test.
        script.steps += [FuzzStep(.heal), FuzzStep(.alive), FuzzStep(.bystander)]
        let outcome = target.outcome(of: script, keepsSession: true)
        let judge = Judge(profile: profile, today: nil)
        if let seen = outcome.observations.first(where: { judge.counts($0, in: finding.script) }) {
            throw .referenceShows(seen.check)
        }
        session = Self.titled(outcome.session, finding)
        let text = JSON.string("\(finding.name): \(finding.observation.demand)").description
        rules = """
            // Made of a finding; docs/comparison-rules.md lists what else may stand here.
            {
                version: 1,
                description: \(text),
            }

            """
        guard let expected = Self.loaded(session, profile, contract) else { throw .unreadable }
        // What fails where all is well would be no test.
        let clean = Self.replay(expected, finding, [], profile, contract)
        guard let clean else { throw .unreadable }
        if let item = clean.differences.first { throw .differs("\(item.group) \(item.name)") }
        let faulty =
            defects.isEmpty ? nil : Self.replay(expected, finding, defects, profile, contract)
        doubt =
            if let faulty {
                faulty.isDifferent ? nil : "it is the same with the defect"
            } else {
                Self.doubt(expected, finding, profile, contract)
            }
    }

    /// What a replay against the reference peer shows; nil where there is none.
    private static func replay(
        _ session: LoadedSession, _ finding: FuzzFinding, _ defects: Set<Defect>,
        _ profile: Profile, _ contract: Contract
    ) -> ReplayVerdict? {
        var replay = ReferenceReplay()
        replay.speed = .real
        replay.defects = defects
        replay.contract = contract
        replay.profile = profile
        let isApp = finding.script.played == .app
        let result =
            try? (isApp ? replay.asApp(session.recorded) : replay.asBoard(session.recorded))
        guard let result else { return nil }
        return try? ReplayVerdict(session, result, profile: profile, contract: contract)
    }

    /// The session under the finding's name.
    private static func titled(_ session: Bytes, _ finding: FuzzFinding) -> Bytes {
        guard let end = session.firstIndex(of: UInt8(ascii: "\n")),
            case .object(var members)? = try? JSON(parsing: Bytes(session[..<end]))
        else { return session }
        for index in members.indices {
            switch members[index].name {
            case "id": members[index].value = .string(finding.name)
            case "source": members[index].value = "simulation"
            // The other side does what the script says.
            case "labels": members[index].value = ["peers": .string(finding.script.judged.rawValue)]
            default: break
            }
        }
        return JSON.object(members).encoded + session[end...]
    }

    private static func doubt(
        _ expected: LoadedSession, _ finding: FuzzFinding, _ profile: Profile,
        _ contract: Contract
    ) -> String? {
        let script =
            finding.script.played == .app
            ? ReplayScript.app(expected.recorded, canStimulate: true, contract: contract)
            : ReplayScript.board(expected.recorded, contract: contract)
        if let step = script.unplayable.first {
            return "a replay leaves out event \(step.seq): \(step.why)"
        }
        guard let failing = loaded(finding.evidence.session, profile, contract) else {
            return "without the session of the failing run it is not known what a replay tells"
        }
        let isTold = failing.breaches.contains { rule, count in
            count > (expected.breaches[rule] ?? 0)
        }
        return isTold || finding.observation.check == "process"
            ? nil : "no rule that a session is held against is broken by it"
    }

    private static func loaded(
        _ session: Bytes, _ profile: Profile, _ contract: Contract
    ) -> LoadedSession? {
        guard !session.isEmpty else { return nil }
        var reader = SessionReader(MemorySource(session))
        return try? LoadedSession("finding", &reader, contract: contract, profile: profile)
    }
}
