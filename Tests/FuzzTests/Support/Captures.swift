import Capture
import Network
import Replay

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
