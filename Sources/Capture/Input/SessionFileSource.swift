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

    package func open() throws(SourceError) -> any ByteSource {
        try SessionFileSource(path: path)
    }
}
