import Glibc

extension SessionRepair {
    /// Why a file could not be repaired.
    package enum FileError: Error, Sendable, Equatable {
        /// The output is the input: a repair never happens in place.
        case sameFile(path: String)
        /// It is of packets, or a HAR, which are read as far as they go anyway.
        case notLines(path: String)
        case session(SessionError)
        case output(OutputError)
    }

    /// Repairs the file at `path` into a new one, packed as that one's name says.
    package static func repair(
        path: String, to target: String, overwrites: Bool = false
    ) throws(FileError) -> SessionRepair {
        guard !isSameFile(path, target) else { throw .sameFile(path: target) }
        let source: SessionFileSource
        do { source = try SessionFileSource(path: path) } catch {
            throw .session(.unreadable(error))
        }
        let found: (kind: SessionKind, start: [UInt8])
        do { found = try SessionKind.look(at: source) } catch { throw .session(error) }
        guard found.kind == .lines else { throw .notLines(path: path) }
        let output: SessionFile
        do { output = try SessionFile(path: target, overwrites: overwrites) } catch {
            throw .output(error)
        }
        do {
            return try repair(
                ResumedSource(source, start: found.start), into: output,
                compression: SessionCompression(path: target))
        } catch {
            throw .session(error)
        }
    }

    /// Whether both names lead to one file, by links too.
    private static func isSameFile(_ first: String, _ second: String) -> Bool {
        var one = stat()
        var other = stat()
        guard unsafe stat(first, &one) == 0, unsafe stat(second, &other) == 0 else {
            return first == second
        }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }
}
