package import Network
package import Wire

/// The last lines that a program wrote.
///
/// At most 200 lines and 64 KiB are kept: enough for the traces of a crash, and nothing that a
/// program which writes for a whole night could grow.
package struct TargetOutput: Sendable, Equatable {
    /// A line without its line feed; what is no UTF-8 is replaced.
    package struct Line: Sendable, Equatable {
        package var stream: ChildOutput
        package var text: String

        package init(_ stream: ChildOutput, _ text: String) {
            self.stream = stream
            self.text = text
        }
    }

    /// The lines that are kept, oldest first.
    package private(set) var lines: [Line] = []
    /// How many older lines are gone.
    package private(set) var droppedCount = 0

    private let maximumLines: Int
    private let maximumBytes: Int
    private var bytes = 0

    /// Makes an empty one.
    package init(maximumLines: Int = 200, maximumBytes: Int = 64 << 10) {
        self.maximumLines = max(1, maximumLines)
        self.maximumBytes = max(1, maximumBytes)
    }

    /// Adds a line; one that is longer than everything together is cut.
    package mutating func append(_ stream: ChildOutput, _ line: Bytes) {
        let text = String(decoding: line.prefix(maximumBytes), as: UTF8.self)
        lines.append(Line(stream, text))
        bytes += text.utf8.count
        while lines.count > maximumLines || (bytes > maximumBytes && lines.count > 1) {
            bytes -= lines.removeFirst().text.utf8.count
            droppedCount += 1
        }
    }

    /// Whether a line has `text` in it, letter case aside.
    package func contains(_ text: String) -> Bool {
        let wanted = text.lowercased()
        return lines.contains { $0.text.lowercased().contains(wanted) }
    }

    /// The last lines as text, for a message.
    package func last(_ count: Int) -> [String] {
        lines.suffix(max(0, count)).map(\.text)
    }
}
