import Capture
import Glibc
import Network

/// The sessions that a command line names: files, and those in folders.
enum ReplayFiles {
    /// The endings by which a session in a folder is known.
    static let endings = [
        ".ndjson", ".ndjson.gz", ".ndjson.zst", ".pcap", ".pcapng", ".har",
    ]

    /// All sessions, in the order of the command line, those of a folder by their names; of them
    /// those of the shard.
    static func find(_ files: [String], shard: Shard?) throws -> [String] {
        var paths: [String] = []
        for file in files {
            var information = stat()
            guard unsafe stat(file, &information) == 0 else {
                throw Failure(.badInput, "\(file): \(SystemError(errno, call: "stat"))")
            }
            guard information.st_mode & S_IFMT == S_IFDIR else {
                paths.append(file)
                continue
            }
            let folder = file.hasSuffix("/") ? String(file.dropLast()) : file
            let names: [String]
            do {
                names = try FolderNames.read(file)
            } catch {
                throw Failure(.badInput, "\(file): \(error)")
            }
            let found = names.filter { name in
                !name.hasPrefix(".") && endings.contains(where: name.hasSuffix)
            }
            guard !found.isEmpty else {
                throw Failure(
                    .badInput, "\(file) has no session in it",
                    hint: "sessions end in \(endings.joined(separator: ", "))")
            }
            paths += found.sorted().map { "\(folder)/\($0)" }
        }
        guard let shard else { return paths }
        return paths.enumerated().filter { $0.offset % shard.count == shard.number - 1 }
            .map(\.element)
    }

    /// The rules file beside a session, where there is one.
    static func rules(_ path: String) -> String? {
        let folder = path.contains("/") ? path.split(separator: "/").dropLast() : []
        let prefix = path.hasPrefix("/") ? "/" : ""
        let file =
            prefix
            + (folder.map(String.init) + ["\(name(path)).rules.json5"]).joined(
                separator: "/")
        return FileIdentity(file)?.isRegular ?? false ? file : nil
    }

    /// The path's last part without its ending: `captures/errors.ndjson.gz` gives `errors`.
    static func name(_ path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        for ending in endings.sorted(by: { $0.count > $1.count }) where last.hasSuffix(ending) {
            return String(last.dropLast(ending.count))
        }
        return last
    }
}
