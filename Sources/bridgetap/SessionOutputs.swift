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

    /// Removes a file that a failed job has begun; standard output cannot be taken back.
    static func remove(_ path: String) {
        guard path != "-" else { return }
        // Where even that fails, the error that is told says why.
        _ = unsafe unlink(path)
    }
}
