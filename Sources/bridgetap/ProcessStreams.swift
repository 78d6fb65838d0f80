import Glibc
import Report
import Synchronization

/// Standard output and standard error of the process.
///
/// Remarks go to standard error, a line each, with the program's name in front; what was asked
/// for goes to standard output, and nothing else does.
enum ProcessStreams {
    /// Writes one line of remark: `bridgetap: warning: …`.
    static func remark(_ kind: Remark, _ text: String) {
        let prefix =
            isColoured(STDERR_FILENO) ? "\u{1b}[\(kind.colour)m\(kind)\u{1b}[0m" : "\(kind)"
        showStatus(nil)
        // Nobody is left to tell where standard error cannot be written.
        _ = write(Array("bridgetap: \(prefix): \(text)\n".utf8), to: STDERR_FILENO)
    }

    enum Remark {
        case error
        case warning
        case hint
        case note

        fileprivate var colour: Int {
            switch self {
            case .error: 31
            case .warning: 33
            case .hint: 36
            case .note: 2
            }
        }
    }

    /// Writes to standard output.
    ///
    /// Throws where it cannot be written; a reader that went away ends the job without a word.
    static func output(_ bytes: [UInt8]) throws {
        showStatus(nil)
        switch write(bytes, to: STDOUT_FILENO) {
        case 0: return
        case EPIPE: throw OutputClosed()
        case let code:
            throw Failure(
                .internalFault,
                "cannot write standard output: \(SystemError(code, call: "write"))")
        }
    }

    /// Writes text to standard output.
    static func output(_ text: String) throws {
        try output(Array(text.utf8))
    }

    /// Standard output has no reader any more, as in `bridgetap show FILE | head`.
    struct OutputClosed: Error {}

    /// Whether a stream is a terminal on which colours are wanted (`NO_COLOR` is respected).
    static func isColoured(_ descriptor: Int32) -> Bool {
        guard isatty(descriptor) == 1 else { return false }
        if let value = environment("NO_COLOR"), !value.isEmpty { return false }
        return environment("TERM") != "dumb"
    }

    /// Columns of the terminal that standard output is; nil where it is none.
    static var outputWidth: Int? { width(of: STDOUT_FILENO) }

    /// Columns of the terminal that standard error is; nil where it is none.
    static var errorWidth: Int? { width(of: STDERR_FILENO) }

    /// Lines of the status that is shown.
    private static let statusLines = Atomic<Int>(0)

    /// Shows lines that the next output or status is written over; nil takes them away.
    ///
    /// For terminals only.
    static func showStatus(_ text: String?) {
        let lines = text?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        let shown = statusLines.exchange(lines.count, ordering: .relaxed)
        guard shown > 0 || !lines.isEmpty else { return }
        let width = max(1, (errorWidth ?? 80) - 1)
        let body = lines.map { cut(String($0), toColumns: width) }.joined(separator: "\n")
        let up = shown > 1 ? "\u{1b}[\(shown - 1)A" : ""
        _ = write(Array("\r\(up)\u{1b}[J\(body)".utf8), to: STDERR_FILENO)
    }

    /// Shows it where standard error is a terminal.
    static func showStatusOnTerminal(_ text: String) {
        if isatty(STDERR_FILENO) == 1 { showStatus(text) }
    }

    private static func width(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// The text of an environment variable.
    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Writes all of it; gives the error number, or 0.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}
