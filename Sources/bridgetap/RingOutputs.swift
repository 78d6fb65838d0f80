import BridgeProxy
import Capture
import PhoneBridge

/// Where `--ring` writes.
enum RingOutputs {
    /// The first number that is free for a file, found by making the file; nothing else stays of it.
    ///
    /// So a folder that is not there is told at the beginning, and not when the bug has happened.
    static func firstNumber(_ path: String) throws(OutputError) -> Int {
        var number = 1
        while true {
            let name = Rotation.path(path, part: number)
            do {
                try SessionFile(path: name).close()
                SessionOutputs.remove(name)
                return number
            } catch {
                guard error.name == "EEXIST", number < Int.max else { throw error }
                number += 1
            }
        }
    }

    /// What is made of the ring at a trigger: the place for each kind of file.
    static func writer(
        for path: String, _ flags: RecordingFlags, makeRedactor: (@Sendable () -> Redactor)?
    ) -> RingFile.Writer {
        RingFile.session(synchronises: flags.sync, makeRedactor: makeRedactor)
    }
}
