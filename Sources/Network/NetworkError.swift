/// Why a network call failed.
package struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller may want to tell apart.
    package enum Kind: Hashable, Sendable {
        /// Nobody listens there, and the machine said so.
        case refused
        /// The peer tore the connection down.
        case reset
        /// No answer came in time.
        case timedOut
        /// No way leads there.
        case unreachable
        case addressInUse
        /// The address is not one of this machine's.
        case addressNotAvailable
        case permission
        /// The name is unknown, or its servers do not answer.
        case nameNotFound
        /// There is no such interface.
        case noSuchInterface
        /// The process or the system is out of descriptors or memory.
        case outOfResources
        case other
    }

    package var kind: Kind
    /// The system's error number; 0 where a deadline of our own ran out.
    package var errno: Int32
    /// The symbolic name, such as `ECONNREFUSED`.
    package var name: String
    /// The call that failed, such as `connect`.
    package var call: String

    /// Makes an error from an error number; `kind` follows from it unless said otherwise.
    package init(errno: Int32, call: String, kind: Kind? = nil) {
        self.errno = errno
        self.call = call
        self.name = SystemErrorText.name(errno)
        self.kind = kind ?? Kind(errno: errno)
    }

    /// A deadline of our own ran out during `call`.
    package static func deadlinePassed(call: String) -> NetworkError {
        NetworkError(errno: SystemErrorText.timedOut, call: call)
    }

    /// Words without a capital or a full stop: `address already in use (bind, EADDRINUSE)`.
    package var description: String {
        "\(SystemErrorText.message(errno)) (\(call), \(name))"
    }
}

/// Why a file call failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number.
    package var errno: Int32
    /// The symbolic name, such as `ENOSPC`.
    package var name: String
    /// The call that failed, such as `write`.
    package var call: String
    package var path: String
    /// How many bytes of an append reached the file before it failed.
    package var written: Int

    /// Makes an error from an error number.
    package init(errno: Int32, call: String, path: String, written: Int = 0) {
        self.errno = errno
        self.name = SystemErrorText.name(errno)
        self.call = call
        self.path = path
        self.written = written
    }

    /// Words without a capital or a full stop: `no space left on device (write, ENOSPC)`.
    package var description: String {
        "\(SystemErrorText.message(errno)) (\(call), \(name))"
    }
}
