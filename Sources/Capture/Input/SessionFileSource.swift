import Glibc

/// Reads a file, or a descriptor such as that of standard input.
package final class SessionFileSource: ByteSource {
    package let name: String
    private let descriptor: Int32
    private let closesDescriptor: Bool

    /// Opens a file; `-` is standard input.
    package init(path: String) throws(SourceError) {
        name = path == "-" ? "standard input" : path
        guard path != "-" else {
            descriptor = 0
            closesDescriptor = false
            return
        }
        var opened: Int32
        repeat {
            opened = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw SourceError(errno: errno, call: "open", name: path) }
        descriptor = opened
        closesDescriptor = true
    }

    deinit {
        if closesDescriptor { _ = Glibc.close(descriptor) }
    }

    /// Whether a read gives bytes, the end or an error at once, or will within some time.
    ///
    /// A signal may end the wait early. The corresponding C function is `poll`.
    package func isReady(withinMilliseconds time: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, time) > 0
    }

    /// False for a regular file; the corresponding C function is `fstat`.
    package var mayWait: Bool {
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else { return true }
        return information.st_mode & S_IFMT != S_IFREG
    }

    /// The corresponding C function is `read`.
    package func read(into bytes: inout [UInt8], maximum: Int) throws(SourceError) {
        var failure: Int32 = 0
        bytes.append(addingCapacity: maximum) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                let count = min(maximum, buffer.count - initialized)
                while true {
                    let result = unsafe Glibc.read(
                        descriptor, buffer.baseAddress?.advanced(by: initialized), count)
                    if result >= 0 {
                        initialized += result
                        return
                    }
                    guard errno == EINTR else {
                        failure = errno
                        return
                    }
                }
            }
        }
        if failure != 0 { throw SourceError(errno: failure, call: "read", name: name) }
    }
}

/// A file as an input, by its path; `-` is standard input, which can be opened once.
package struct SessionFileInput: SessionInput {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    package var name: String { path == "-" ? "standard input" : path }

    /// Whether it is standard input, a pipe or the like; a file that is not there is none.
    package var isStream: Bool {
        guard path != "-" else { return true }
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return false }
        return information.st_mode & S_IFMT != S_IFREG
    }

    /// Bytes of the file as it is now; nil where it has no size, as a stream.
    package var size: UInt64? {
        guard !isStream else { return nil }
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return nil }
        return UInt64(clamping: information.st_size)
    }

    package func open() throws(SourceError) -> any ByteSource {
        try SessionFileSource(path: path)
    }
}
