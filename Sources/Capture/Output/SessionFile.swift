import Glibc
import Wire

/// A file of a session on disk, or a descriptor such as standard output.
///
/// Made with mode 0600, since a session holds personal data, and written with O_APPEND.
package final class SessionFile: ByteOutput {
    package let path: String
    package private(set) var size: UInt64
    /// For `fdatasync` on another thread; valid until `close`.
    package private(set) var descriptor: Int32
    private let closesDescriptor: Bool
    private let synchronises: Bool

    /// Makes the file.
    ///
    /// A file that is there already is refused with EEXIST, or emptied if `overwrites`. What is
    /// no regular file, such as a pipe or /dev/null, is opened as it is.
    ///
    /// - Parameter synchronises: have it on the disk before it is closed.
    package init(
        path: String, overwrites: Bool = false, synchronises: Bool = false
    ) throws(OutputError) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC
        var descriptor = Self.open(path, flags | (overwrites ? O_TRUNC : O_EXCL))
        if descriptor < 0, errno == EEXIST, !Self.isRegularFile(path) {
            descriptor = Self.open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw OutputError(errno: errno, call: "open", path: path) }
        self.path = path
        self.descriptor = descriptor
        self.synchronises = synchronises
        closesDescriptor = true
        size = 0
    }

    /// Goes on at the end of a file that is there.
    package init(appendingTo path: String) throws(OutputError) {
        let descriptor = Self.open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputError(errno: errno, call: "open", path: path) }
        self.path = path
        self.descriptor = descriptor
        synchronises = false
        closesDescriptor = true
        var information = stat()
        size = unsafe fstat(descriptor, &information) == 0 ? UInt64(max(0, information.st_size)) : 0
    }

    /// Takes a descriptor that somebody else closes, such as that of standard output.
    package init(descriptor: Int32, name: String) {
        path = name
        self.descriptor = descriptor
        synchronises = false
        closesDescriptor = false
        size = 0
    }

    deinit {
        if closesDescriptor, descriptor >= 0 { _ = Glibc.close(descriptor) }
    }

    private static func open(_ path: String, _ flags: Int32) -> Int32 {
        while true {
            let descriptor = unsafe Glibc.open(path, flags, 0o600)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }

    private static func isRegularFile(_ path: String) -> Bool {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return true }
        return information.st_mode & S_IFMT == S_IFREG
    }

    /// The corresponding C function is `write`.
    package func append(_ bytes: borrowing Span<UInt8>) throws(OutputError) {
        var written = 0
        var failure: Int32 = 0
        unsafe bytes.withUnsafeBufferPointer { buffer in
            while written < buffer.count {
                let result = unsafe write(
                    descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                if result > 0 {
                    written += result
                } else if result == 0 || errno != EINTR {
                    failure = result == 0 ? ENOSPC : errno
                    return
                }
            }
        }
        size += UInt64(written)
        guard failure == 0 else {
            throw OutputError(errno: failure, call: "write", path: path, written: written)
        }
    }

    /// The corresponding C function is `ftruncate`.
    package func truncate(to size: UInt64) throws(OutputError) {
        guard size != self.size else { return }
        while ftruncate(descriptor, off_t(clamping: size)) != 0 {
            guard errno == EINTR else {
                throw OutputError(errno: errno, call: "ftruncate", path: path)
            }
        }
        self.size = size
    }

    /// The corresponding C function is `close`, with `fdatasync` before it where that is wanted.
    package func close() throws(OutputError) {
        guard closesDescriptor, descriptor >= 0 else { return }
        // A pipe or a device has nothing to put on a disk.
        let isSynchronised = !synchronises || fdatasync(descriptor) == 0 || errno == EINVAL
        let trouble = errno
        let result = Glibc.close(descriptor)
        descriptor = -1
        guard result == 0 || errno == EINTR else {
            throw OutputError(errno: errno, call: "close", path: path)
        }
        guard isSynchronised else {
            throw OutputError(errno: trouble, call: "fdatasync", path: path)
        }
    }
}
