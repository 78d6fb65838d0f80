import Capture
import Network
import PhoneBridge
import Replay
import Report
import Testing
import Wire

/// The example sessions of the repository.
enum Captures {
    /// The names of all of them.
    static let names: [String] = {
        let folder = path("").dropLast("/.ndjson".count)
        let files = (try? FolderNames.read(String(folder))) ?? []
        return files.filter { $0.hasSuffix(".ndjson") }.map { String($0.dropLast(7)) }.sorted()
    }()

    static func path(_ name: String) -> String {
        let folders = #filePath.split(separator: "/").dropLast(4)
        return "/" + folders.joined(separator: "/") + "/captures/\(name).ndjson"
    }

    static func session(_ name: String) throws -> RecordedSession {
        var session = RecordedSession()
        var reader = try SessionReader(SessionFileSource(path: path(name)))
        while let item = try reader.next() {
            if case .event(let event) = item { try session.receive(event) }
        }
        return session
    }
}

extension Captures {
    static func loaded(_ name: String, keepsRows: Bool = false) throws -> LoadedSession {
        var reader = try SessionReader(SessionFileSource(path: path(name)))
        return try LoadedSession(
            name, &reader, contract: .current, profile: .contract, keepsRows: keepsRows)
    }

    /// Plays a session against a reference peer and compares.
    static func verdict(
        _ name: String, _ side: Side, _ replay: ReferenceReplay = ReferenceReplay(),
        keepsRows: Bool = false
    ) throws -> ReplayVerdict? {
        let session = try loaded(name, keepsRows: keepsRows)
        guard session.isFit(toJudge: side.peer) else { return nil }
        let result =
            try side == .app ? replay.asApp(session.recorded) : replay.asBoard(session.recorded)
        return try ReplayVerdict(session, result, profile: .contract, contract: .current)
    }

    /// What differs, in words.
    static func told(_ verdict: ReplayVerdict) -> String {
        verdict.items.filter { $0.outcome != .same }
            .map { "\($0.outcome) \($0.group) \($0.name): \($0.details.joined(separator: "; "))" }
            .joined(separator: "\n")
    }
}
