import Wire

/// Something that bytes are read from, in order: a file, standard input, memory.
package protocol ByteSource: AnyObject {
    /// What people call it; for messages.
    var name: String { get }

    /// Whether a read may wait for bytes that do not exist yet, as of a pipe.
    var mayWait: Bool { get }

    /// Appends at most `maximum` bytes, which may wait for them; none at the end.
    ///
    /// An end need not be for ever: a file that is still written has more later.
    func read(into bytes: inout [UInt8], maximum: Int) throws(SourceError)
}

extension ByteSource {
    package var mayWait: Bool { true }
}

/// Something that can be read from its start, more than once unless it is a stream.
package protocol SessionInput {
    /// What people call it; for messages.
    var name: String { get }

    /// Whether it can be opened once only.
    var isStream: Bool { get }

    /// Begins to read it.
    func open() throws(SourceError) -> any ByteSource
}

extension SessionInput {
    package var isStream: Bool { false }
}

/// Why an input cannot be read.
package struct SourceError: Error, Sendable, Equatable {
    /// The system's error number, such as ENOENT.
    package var errno: Int32
    /// The call that failed, such as `open`.
    package var call: String
    package var name: String

    package init(errno: Int32, call: String, name: String) {
        self.errno = errno
        self.call = call
        self.name = name
    }
}

/// Bytes in memory as a source; more may be added behind them.
package final class MemorySource: ByteSource, SessionInput {
    package let name: String
    package let mayWait = false
    private var bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8], name: String = "memory") {
        self.bytes = bytes
        self.name = name
    }

    /// Adds bytes, as a recorder does to its file.
    package func append(_ more: [UInt8]) {
        bytes += more
    }

    package func open() -> any ByteSource {
        MemorySource(bytes, name: name)
    }

    package func read(into target: inout [UInt8], maximum: Int) {
        let end = min(bytes.count, position + maximum)
        target += bytes[position..<end]
        position = end
    }
}
