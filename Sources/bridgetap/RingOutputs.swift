import BridgeProxy
import Capture
import Inspector
import PhoneBridge

/// Where `--ring` writes.
enum RingOutputs {
    /// The ending of a bundle.
    static let bundle = ".zip"

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

    /// What is made of the ring at a trigger, by the ending of the file: a session, or a bundle.
    ///
    /// - Parameters:
    ///   - makeRedactor: nil where sessions have all that crossed; a bundle is always redacted.
    ///   - profile: by which a bundle's check judges.
    static func writer(
        for path: String, _ flags: RecordingFlags, makeRedactor: (@Sendable () -> Redactor)?,
        profile: Profile
    ) throws -> RingFile.Writer {
        guard path.hasSuffix(bundle) else {
            return RingFile.session(synchronises: flags.sync, makeRedactor: makeRedactor)
        }
        // One key for all files of a recording, so that they agree.
        let key = try RedactionInput.key(flags.key)
        let policy = try RedactionInput.policy(flags.policy)
        let makeRedactor = makeRedactor ?? { Redactor(key: key, policy: policy) }
        return { (session, remark, path) throws(OutputError) in
            let redactor = makeRedactor()
            let bundle = try BundleOutput(
                path: path, session: session.info, redactor: redactor,
                about: BundleFacts.about(profile))
            session.write(to: RedactedOutput(bundle, redactor: redactor), remark: remark)
            return RingFile.Written(status: bundle.status)
        }
    }
}
