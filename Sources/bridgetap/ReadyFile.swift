import Glibc

/// A file that tells a script that the program is ready, and where.
enum ReadyFile {
    /// Writes `text` beside `path` and renames it, so that a reader finds all of it or nothing.
    static func write(_ text: String, to path: String) throws {
        let draft = path + ".part"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, call: "open") }
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        // A short write without an error is a full disk.
        let number = count < 0 ? errno : ENOSPC
        let isClosed = Glibc.close(descriptor) == 0
        guard count == bytes.count else { throw failure(path, call: "write", number) }
        guard isClosed else { throw failure(path, call: "close") }
        guard unsafe rename(draft, path) == 0 else { throw failure(path, call: "rename") }
    }

    private static func failure(_ path: String, call: String, _ number: Int32 = errno) -> Failure {
        Failure(.badInput, "cannot write \(path): \(SystemError(number, call: call))")
    }
}
