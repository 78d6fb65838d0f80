import Glibc

/// A file that tells a script that the program is ready, and where.
enum ReadyFile {
    /// Writes `text` beside `path` and renames it, so that a reader finds all of it or nothing.
    static func write(_ text: String, to path: String) throws {
        let draft = path + ".part"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        let isWritten = count == bytes.count
        guard Glibc.close(descriptor) == 0, isWritten, unsafe rename(draft, path) == 0 else {
            throw failure(path)
        }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.badInput, "cannot write \(path): \(ProcessStreams.describe(errno))")
    }
}
