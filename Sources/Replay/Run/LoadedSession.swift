package import Capture
package import PhoneBridge
package import Report
import Wire

/// A session that was read to be played and compared.
package struct LoadedSession {
    /// What people call it: the file as it was given.
    package let name: String
    package private(set) var recorded: RecordedSession
    package private(set) var comparable: DiffSession
    /// How often each rule was broken in the recording, by its id and side.
    package private(set) var breaches: [String: Int] = [:]
    /// Rules that it was put to the test by, by id.
    package private(set) var exercised: Set<String> = []
    /// What its reader remarked: something of the file could not be read.
    package private(set) var remarks: [SessionRemark] = []
    /// The lines of its timeline, where they are kept.
    package private(set) var rows: SessionRows?

    private static let maximumRemarks = 100

    /// Why a session cannot be played.
    package enum Failure: Error {
        case unreadable(SessionError)
        case tooLarge(RecordedSession.Failure)
        case cannotSpool(OutputError)
    }

    /// Reads all of a session.
    ///
    /// - Parameter keepsRows: keeps the lines of its timeline, to show them beside what takes place.
    package init(
        _ name: String, _ reader: inout SessionReader, contract: Contract, profile: Profile,
        keepsRows: Bool = false
    ) throws(Failure) {
        self.name = name
        var rows = keepsRows ? SessionRows(contract: contract) : nil
        var recorded = RecordedSession(contract: contract)
        var diff = DiffReader(name: name, contract: contract)
        var checker = RuleChecker(contract: contract, profile: profile)
        var breaches: [Breach] = []
        var remarks: [SessionRemark] = []
        while true {
            let item: SessionReader.Item?
            do {
                item = try reader.next()
            } catch {
                throw .unreadable(error)
            }
            switch item {
            case nil:
                breaches += checker.finish()
                exercised = Set(checker.exercised.keys)
                do {
                    try rows?.finish()
                } catch {
                    throw .cannotSpool(error)
                }
                self.rows = rows
                self.recorded = recorded
                comparable = diff.session
                for breach in breaches { self.breaches[breach.rule.id, default: 0] += 1 }
                self.remarks = remarks
                return
            case .event(let event)?:
                do {
                    try recorded.receive(event)
                } catch {
                    throw .tooLarge(error)
                }
                do {
                    try diff.receive(event)
                    try rows?.receive(event)
                } catch {
                    throw .cannotSpool(error)
                }
                breaches += checker.receive(event)
            case .remark(let remark)?:
                diff.lost()
                if remarks.count < Self.maximumRemarks { remarks.append(remark) }
            }
        }
    }

    /// Whether a peer of this side can be held to it: in some examples a side was told what to do,
    /// which none would do of itself (label `peers`).
    package func isFit(toJudge side: Side) -> Bool {
        guard let peers = recorded.info?.labels.first(where: { $0.name == "peers" })?.value else {
            return true
        }
        return peers.split { $0 == " " || $0 == "," }.contains { $0 == side.rawValue }
    }
}

extension SessionInfo {
    /// Whether the session may tell about people: it was not redacted, and is no simulation.
    package var mayBePersonal: Bool { redacted == nil && source != "simulation" }
}
