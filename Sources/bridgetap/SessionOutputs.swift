import Capture
import Glibc

/// The files that a job writes.
enum SessionOutputs {
    /// What ends a job whose output cannot be written.
    static func failure(_ error: OutputError) -> Failure {
        let isThere = error.call == "open" && SystemError.name(error.errno) == "EEXIST"
        return Failure(
            isThere ? .usage : .incomplete,
            "cannot write \(error.path): \(SystemError(error.errno, call: error.call))",
            hint: isThere ? "nothing is ever written over; choose another name" : nil)
    }

    /// Removes a file that a failed job has begun; standard output cannot be taken back, and a
    /// device or a pipe is not the job's.
    static func remove(_ path: String) {
        var information = stat()
        guard path != "-", unsafe lstat(path, &information) == 0,
            information.st_mode & S_IFMT == S_IFREG
        else { return }
        // Where even that fails, the error that is told says why.
        _ = unsafe unlink(path)
    }
}
