import Wire

/// A file, or what stands in for one, that grows at its end.
///
/// A session writer hands it whole batches of lines, at most one `append` a turn of the loop.
package protocol ByteOutput: AnyObject {
    /// What people call it; for messages.
    var path: String { get }

    /// How many bytes it holds.
    var size: UInt64 { get }

    /// Appends all of `bytes`, or throws with how many of them it took.
    func append(_ bytes: borrowing Span<UInt8>) throws(OutputError)

    /// Cuts off what stands behind the first `size` bytes; later appends go there.
    func truncate(to size: UInt64) throws(OutputError)

    /// Lets go of it. Nothing is appended afterwards.
    func close() throws(OutputError)
}

/// Why an output could not be opened, written, cut or closed.
package struct OutputError: Error, Sendable, Equatable {
    /// The system's error number, such as ENOSPC.
    package var errno: Int32
    /// The call that failed, such as `write`.
    package var call: String
    package var path: String
    /// How many bytes of an append were taken before it failed.
    package var written: Int

    package init(errno: Int32, call: String, path: String, written: Int = 0) {
        self.errno = errno
        self.call = call
        self.path = path
        self.written = written
    }
}

/// How the lines of a session file are packed.
package enum SessionCompression: Sendable, Equatable, CaseIterable {
    case none
    case gzip
    case zstd

    /// What the ending of a file's name asks for: `.gz`, `.zst`, or neither.
    package init(path: String) {
        self = path.hasSuffix(".gz") ? .gzip : path.hasSuffix(".zst") ? .zstd : .none
    }
}
