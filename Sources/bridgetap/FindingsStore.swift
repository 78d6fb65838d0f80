import Capture
import Fuzz
import Glibc
import Network
import Wire

/// A folder of findings on the disk: a folder each, the state of the campaign, and the baseline.
///
/// Folders have mode 0700 and files 0600, since sessions hold personal data.
struct FindingsStore {
    let folder: String

    init(_ folder: String) {
        self.folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    var statePath: String { "\(folder)/state.ndjson" }
    var baselinePath: String { "\(folder)/baseline.ndjson" }

    /// Where a finding is.
    func path(of name: String) -> String { "\(folder)/\(name)" }

    /// Makes the folder, if it is not there.
    func make() throws { try Self.makeFolder(folder) }

    // MARK: Findings

    /// Writes all files of a finding; the one that makes it a finding comes last.
    func write(_ record: FindingRecord) throws {
        let path = path(of: record.finding.name)
        try Self.makeFolder(path)
        for file in FindingFolder.files(record, path: path) {
            try Self.replace("\(path)/\(file.name)", with: file.content)
        }
    }

    /// All findings in it, by their names; what cannot be read is told and left out.
    func load() throws -> [FindingRecord] {
        guard FileIdentity(folder) != nil else { return [] }
        let names: [String]
        do {
            names = try FolderNames.read(folder).sorted()
        } catch {
            throw Failure(.badInput, "\(folder): \(error)")
        }
        return names.compactMap { name in
            let path = path(of: name)
            guard FileIdentity("\(path)/\(FindingFolder.record)") != nil else { return nil }
            do {
                return try Self.read(path)
            } catch let failure as Failure {
                ProcessStreams.remark(.warning, "\(failure.message); it is left out")
                return nil
            } catch {
                return nil
            }
        }
    }

    /// Reads a finding's folder.
    static func read(_ path: String) throws -> FindingRecord {
        let folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let script = try readScript("\(folder)/\(FindingFolder.script)")
        let file = "\(folder)/\(FindingFolder.record)"
        do {
            var record = try FindingRecord(
                parsing: try JSON(parsing: try bytes(file)), script: script)
            record.finding.evidence.session = (try? bytes("\(folder)/failing.ndjson")) ?? []
            record.finding.control = (try? bytes("\(folder)/control.ndjson")) ?? []
            record.finding.evidence.output = Self.lines((try? bytes("\(folder)/output.txt")) ?? [])
            return record
        } catch let error as JSONError {
            throw Failure(.badInput, "\(file): \(error)")
        } catch let error as FindingRecordError {
            throw Failure(.badInput, "\(file): \(error)")
        }
    }

    /// Reads a script.
    static func readScript(_ path: String) throws -> FuzzScript {
        let text = String(decoding: try bytes(path), as: UTF8.self)
        do {
            return try FuzzScript(parsing: text)
        } catch {
            throw Failure(.badInput, "\(path), \(error)")
        }
    }

    private static func lines(_ bytes: Bytes) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    // MARK: The baseline

    /// Reads a baseline; an empty one where there is no file.
    ///
    /// - Parameter isNeeded: whether the file has to be there.
    static func baseline(_ path: String, isNeeded: Bool) throws -> Baseline {
        guard isNeeded || FileIdentity(path) != nil else { return Baseline() }
        do {
            return try Baseline(parsing: try bytes(path))
        } catch let error as BaselineError {
            throw Failure(.badInput, "\(path), \(error)")
        }
    }

    // MARK: Files

    /// No file of a finding is larger than this.
    private static let maximumSize = 256 << 20

    /// The content of a file.
    static func bytes(_ path: String) throws -> Bytes {
        do throws(SourceError) {
            let source = try SessionFileSource(path: path)
            var bytes: Bytes = []
            while true {
                let before = bytes.count
                try source.read(into: &bytes, maximum: 256 << 10)
                if bytes.count == before { return bytes }
                guard bytes.count <= maximumSize else { break }
            }
        } catch {
            throw Failure(
                .badInput, "cannot read \(path): \(SystemError(error.errno, call: error.call))")
        }
        throw Failure(.badInput, "\(path) is larger than any such file")
    }

    /// Writes a file beside its place and renames it, so that a reader finds all of it or what was
    /// there before.
    static func replace(_ path: String, with content: Bytes) throws {
        let draft = "\(path).part"
        do throws(OutputError) {
            let file = try SessionFile(path: draft, overwrites: true)
            try file.append(content.span)
            try file.close()
        } catch {
            throw Failure(
                .badInput, "cannot write \(path): \(SystemError(error.errno, call: error.call))")
        }
        guard unsafe rename(draft, path) == 0 else {
            throw Failure(
                .badInput, "cannot write \(path): \(SystemError(errno, call: "rename"))")
        }
    }

    /// Makes a folder and those above it, with mode 0700.
    private static func makeFolder(_ path: String) throws {
        var place = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            place += (place.isEmpty || place.hasSuffix("/") ? "" : "/") + part
            guard unsafe mkdir(place, 0o700) == 0 || errno == EEXIST else {
                throw Failure(
                    .badInput, "cannot make \(path): \(SystemError(errno, call: "mkdir"))")
            }
        }
        guard FileIdentity(path).map({ !$0.isRegular }) ?? false else {
            throw Failure(.badInput, "\(path) is no folder")
        }
    }
}
