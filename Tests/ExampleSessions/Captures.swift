package import Capture
import Network
import PhoneBridge
package import Replay
import Report
import Wire

/// The example sessions of the repository, for the tests of several modules.
package enum Captures {
    /// The names of all of them.
    package static let names: [String] = {
        let folder = path("").dropLast("/.ndjson".count)
        let files = (try? FolderNames.read(String(folder))) ?? []
        return files.filter { $0.hasSuffix(".ndjson") }.map { String($0.dropLast(7)) }.sorted()
    }()

    /// The file of a session.
    package static func path(_ name: String) -> String {
        let folders = #filePath.split(separator: "/").dropLast(3)
        return "/" + folders.joined(separator: "/") + "/captures/\(name).ndjson"
    }

    /// A session as it is to be played.
    package static func session(_ name: String) throws -> RecordedSession {
        var session = RecordedSession()
        var reader = try SessionReader(SessionFileSource(path: path(name)))
        while let item = try reader.next() {
            if case .event(let event) = item { try session.receive(event) }
        }
        return session
    }
}

extension Captures {
    /// A session as it is to be played and compared.
    package static func loaded(_ name: String, keepsRows: Bool = false) throws -> LoadedSession {
        var reader = try SessionReader(SessionFileSource(path: path(name)))
        return try LoadedSession(
            name, &reader, contract: .current, profile: .contract, keepsRows: keepsRows)
    }

    /// Plays a session against a reference peer and compares; nil where that side was told what to do.
    package static func verdict(
        _ name: String, _ side: Side, _ replay: ReferenceReplay = ReferenceReplay(),
        keepsRows: Bool = false
    ) throws -> ReplayVerdict? {
        try verdict(try loaded(name, keepsRows: keepsRows), side, replay)
    }

    /// The same of a session that was read before.
    package static func verdict(
        _ session: LoadedSession, _ side: Side, _ replay: ReferenceReplay = ReferenceReplay()
    ) throws -> ReplayVerdict? {
        guard session.isFit(toJudge: side.peer) else { return nil }
        let result =
            try side == .app ? replay.asApp(session.recorded) : replay.asBoard(session.recorded)
        return try ReplayVerdict(session, result, profile: .contract, contract: .current)
    }

    /// What differs, in words.
    package static func told(_ verdict: ReplayVerdict) -> String {
        verdict.items.filter { $0.outcome != .same }
            .map { "\($0.outcome) \($0.group) \($0.name): \($0.details.joined(separator: "; "))" }
            .joined(separator: "\n")
    }
}
