package import Capture
package import PhoneBridge
import Wire

/// Writes what was in a ring to a new file, whose number is the first that is free.
package struct RingFile: Sendable {
    /// Writes a session, whose first note says why, to a new file, and closes it.
    ///
    /// Runs beside the loop. One that is there is an error (EEXIST), so that nothing is written
    /// over.
    package typealias Writer =
        @Sendable (_ session: RingSession, _ remark: String, _ path: String) throws(OutputError)
        -> Written

    /// A file that was written.
    package struct Written: Sendable, Equatable {
        package var status: OutputStatus
        /// What its format cannot hold, a phrase each.
        package var losses: [String]

        package init(status: OutputStatus, losses: [String] = []) {
            self.status = status
            self.losses = losses
        }
    }

    /// The name that was asked for: `bug.ndjson` gives `bug-0001.ndjson`.
    package let path: String
    private let write: Writer
    private var next: Int

    /// Numbers that are tried at a time.
    private static let maximumTries = 100_000

    /// - Parameter number: the first that is tried.
    package init(_ path: String, from number: Int = 1, write: @escaping Writer) {
        self.path = path
        next = number
        self.write = write
    }

    /// Writes a session to the next free name.
    mutating func write(_ session: RingSession, remark: String) throws(OutputError) -> Written {
        var tries = 0
        while true {
            let path = Rotation.path(path, part: next)
            next += 1
            do {
                return try write(session, remark, path)
            } catch {
                tries += 1
                guard error.name == "EEXIST", error.call == "open", tries < Self.maximumTries else {
                    throw error
                }
            }
        }
    }

    /// Writes a session file, in the format of its ending.
    ///
    /// - Parameters:
    ///   - synchronises: have it on the disk before it is called written.
    ///   - makeRedactor: that of `Recording.Options`.
    package static func session(
        synchronises: Bool = false, makeRedactor: (@Sendable () -> Redactor)? = nil
    ) -> Writer {
        { (session, remark, path) throws(OutputError) in
            let redactor = makeRedactor?()
            let info = redactor?.redacted(session.info) ?? session.info
            let output = try Recording.output(path, session: info) {
                (_) throws(OutputError) in
                try SessionFile(path: path, synchronises: synchronises)
            }
            let written = session.write(
                to: redactor.map { RedactedOutput(output, redactor: $0) } ?? output,
                remark: remark)
            var losses: [String] = []
            if let pcap = output as? PcapSessionWriter {
                losses = pcap.losses.warnings
                if written.undecodable > 0 {
                    losses.append(
                        "\(written.undecodable) compressed messages refer to frames that are left "
                            + "out, and cannot be read from it")
                }
            }
            return Written(status: output.status, losses: losses)
        }
    }
}

/// What came of a trigger.
package struct RingOutcome: Sendable {
    package let trigger: RingTrigger
    /// Nanoseconds that the files cover.
    package let duration: Int64
    /// Whether the ring was full before its time was over.
    package let isCut: Bool
    /// The files that were written.
    package var files: [RingFile.Written] = []
    /// Why others were not.
    package var errors: [OutputError] = []

    /// Whether all that was asked for is on file.
    package var isComplete: Bool { errors.isEmpty && files.allSatisfy(\.status.isComplete) }

    init(_ trigger: RingTrigger, _ session: RingSession) {
        self.trigger = trigger
        duration = session.duration
        isCut = session.isCut
    }

    /// What the file's first note says.
    var remark: String {
        let tenths = duration / 100_000_000
        let cut = isCut ? "; the ring has no room for more" : ""
        return "the last \(tenths / 10).\(tenths % 10) s, because of \(trigger.text)\(cut); "
            + "what is from before is what they rest on"
    }
}
