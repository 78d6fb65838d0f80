/// A file that a session is written to while it goes on: NDJSON or pcap.
///
/// Events are gathered and written as one batch by `flush`, which the owner calls at the end of
/// each turn of its loop, before what the events tell of is forwarded (capture format,
/// promise 2). No call ever throws: a file that cannot be written pauses, says so in `status`,
/// and is tried again each second. All times are nanoseconds since the session began.
package protocol SessionOutput: EventSink {
    /// Takes the events of a turn; the same as one after the other.
    func receive(_ batch: borrowing EventBatch)

    /// Writes what was gathered, tries again after a failure, and begins a new part when due.
    func flush(now: Int64)

    /// Counts as dropped what never came here, such as packets that the system dropped.
    func admit(dropped count: Int)

    /// When `flush` wants to be called though no event came; nil for never.
    var nextDeadline: Int64? { get }

    /// How the recording stands.
    var status: OutputStatus { get }

    /// Ends the file in good order, if that is possible; later events are ignored.
    @discardableResult
    func close(now: Int64) -> OutputStatus
}

extension SessionOutput {
    package func receive(_ batch: borrowing EventBatch) {
        receive(batch.events)
    }
}

/// How a recording stands, all its parts together.
package struct OutputStatus: Sendable, Equatable {
    /// The file under way, or the last one.
    package var path = ""
    /// Lines with a `seq`, or packets, that are on file.
    package var written = 0
    /// Events that could not be written.
    package var dropped = 0
    /// Bytes on file.
    package var size: UInt64 = 0
    /// Files begun.
    package var parts = 0
    /// Why nothing is written at the moment; nil while all is well.
    package var pausedBy: OutputError?
    /// How often writing stopped for a while, and why the last time: a pause may be over before
    /// anybody looks.
    package var pauses = 0
    package var lastPause: OutputError?

    package init() {}

    /// Whether the files hold everything so far.
    package var isComplete: Bool { dropped == 0 && pausedBy == nil }
}

/// When a writer ends its file and begins the next.
package struct Rotation: Sendable, Equatable {
    /// A part ends with the batch with which it reaches this many bytes.
    package var maximumSize: UInt64?
    /// A part ends once it covers this many nanoseconds, unless nothing happened in it.
    package var maximumDuration: Int64?

    package init(maximumSize: UInt64? = nil, maximumDuration: Int64? = nil) {
        self.maximumSize = maximumSize
        self.maximumDuration = maximumDuration
    }

    /// The file name of a part: `lab.ndjson.gz` gives `lab-0001.ndjson.gz`.
    package static func path(_ path: String, part: Int) -> String {
        let digits = String(part)
        let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        for ending in [".ndjson.gz", ".ndjson.zst", ".ndjson", ".pcap", ".zip"]
        where path.hasSuffix(ending) {
            return "\(path.dropLast(ending.count))-\(number)\(ending)"
        }
        return "\(path)-\(number)"
    }
}
