package import Capture

/// Where an event stands: a file and, if that has lines, the line.
package struct EventPlace: Sendable, Hashable {
    package var file: String
    /// Counted from 1; nil in a file of packets.
    package var line: Int?

    package init(file: String, line: Int?) {
        self.file = file
        self.line = line
    }
}

/// Remembers on which line of which file each event of a session stands.
///
/// Lines and numbers run side by side in a good file, so that a run of events costs one entry.
package struct EventPlaces: Sendable {
    private struct Run: Sendable {
        var seq: Int
        var line: Int?
        /// The index of its file.
        var file: Int
    }

    private var runs: [Run] = []
    private var files: [String] = []
    private var input = -1
    private var lastSeq = 0

    /// A file with more holes than this has lost its meaning; later events have no place then.
    package static let maximumRuns = 65_536

    package init() {}

    /// An event was read there; the numbers of a session never fall.
    ///
    /// - Parameter name: the file's name, asked for once for each input.
    package mutating func add(
        seq: Int, at position: SessionPosition, name: @autoclosure () -> String
    ) {
        guard seq > 0, runs.count < Self.maximumRuns else { return }
        lastSeq = max(lastSeq, seq)
        if position.input != input {
            input = position.input
            files.append(name())
        }
        let line = position.isPacket ? nil : position.line
        if let last = runs.last, last.file == files.count - 1 {
            guard let start = last.line, let line else { return }
            if line &- start == seq &- last.seq { return }
        }
        runs.append(Run(seq: seq, line: line, file: files.count - 1))
    }

    /// Where the event with this number stands; nil where that is not known.
    package func place(of seq: Int) -> EventPlace? {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].seq <= seq { low = middle + 1 } else { high = middle }
        }
        guard low > 0, seq <= lastSeq else { return nil }
        let run = runs[low - 1]
        return EventPlace(file: files[run.file], line: run.line.map { $0 &+ (seq &- run.seq) })
    }
}
