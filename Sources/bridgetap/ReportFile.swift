import Arguments
import Glibc

/// A report on its way to a file: written beside it and renamed, so that a reader finds all of
/// it or what was there before.
///
/// Made with mode 0600, since a report quotes a session. What is no regular file, such as
/// /dev/null, is written as it is; `-` is standard output.
final class ReportFile {
    private let path: String
    /// The name beside it; nil where there is none.
    private var draft: String?
    private let descriptor: Int32

    /// Begins a report, so that a folder that cannot be written is told before the work.
    ///
    /// Throws a `Failure`; never goes on where the path is one of `inputs`.
    init(_ path: String, flag: String, inputs: [String]) throws {
        self.path = path
        guard path != "-" else {
            draft = nil
            descriptor = STDOUT_FILENO
            return
        }
        let target = FileIdentity(path)
        for input in inputs where target != nil && FileIdentity(input) == target {
            throw Failure(
                .usage, "\(flag): \(path) is an input",
                hint: "a session is never written over; choose another name")
        }
        if let target, !target.isRegular {
            draft = nil
            descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure(path, call: "open") }
            return
        }
        var template = Array((path + ".XXXXXX").utf8CString)
        descriptor = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe mkstemp($0) } ?? -1
        }
        guard descriptor >= 0 else { throw Self.failure(path, call: "open") }
        draft = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        guard descriptor > STDERR_FILENO else { return }
        _ = Glibc.close(descriptor)
        // A job that failed leaves nothing behind.
        if let draft { _ = unsafe unlink(draft) }
    }

    /// Writes a part of the report, which is in its place once it is finished.
    func write(_ bytes: [UInt8]) throws {
        guard path != "-" else { return try ProcessStreams.output(bytes) }
        let number = ProcessStreams.write(bytes, to: descriptor)
        guard number == 0 else { throw Self.failure(path, call: "write", number) }
    }

    /// Writes the rest of the report, and puts it in its place.
    func finish(_ bytes: [UInt8]) throws {
        try write(bytes)
        guard let draft else { return }
        guard unsafe rename(draft, path) == 0 else { throw Self.failure(path, call: "rename") }
        self.draft = nil
    }

    /// Refuses a page on standard output, which is for the terminal's report.
    static func checkPage(_ path: String?) throws(UsageError) {
        guard path == "-" else { return }
        throw .rule(message: "--html: a page is a file", hint: "give it a name such as page.html")
    }

    private static func failure(_ path: String, call: String, _ number: Int32 = errno) -> Failure {
        Failure(.badInput, "cannot write \(path): \(SystemError(number, call: call))")
    }
}

/// Which file a path leads to; two names of one file are equal.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    let isRegular: Bool

    /// Nil where there is no file.
    init?(_ path: String) {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return nil }
        device = UInt64(information.st_dev)
        number = UInt64(information.st_ino)
        isRegular = information.st_mode & S_IFMT == S_IFREG
    }
}
