import Glibc
package import Wire

/// Bytes that are put aside for later: in memory while they are few, then in a file without a
/// name, which only this process can read and which is gone with it.
///
/// The file is made where TMPDIR says, or else in /var/tmp, which is on a disk.
package final class SpoolFile {
    private let maximumMemory: Int
    /// What is not in the file: all, or its tail.
    private var memory = Bytes()
    private var descriptor: Int32 = -1
    private var fileSize: UInt64 = 0

    /// Bytes that are kept back before they are written, once there is a file.
    private static let writeSize = 256 << 10

    /// Makes an empty one; more than `maximumMemory` bytes go to the file.
    package init(maximumMemory: Int = 4 << 20) {
        self.maximumMemory = maximumMemory
    }

    deinit {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
    }

    /// Bytes that were put aside.
    package var count: UInt64 { fileSize + UInt64(memory.count) }

    /// Puts bytes behind those that are there.
    package func append(_ bytes: Span<UInt8>) throws(OutputError) {
        memory.append(copying: bytes)
        guard memory.count > (descriptor < 0 ? maximumMemory : Self.writeSize) else { return }
        try flush()
    }

    /// Appends up to `count` bytes from `offset` on to `output`; fewer at the end.
    package func read(
        at offset: UInt64, count: Int, into output: inout Bytes
    ) throws(OutputError) {
        var offset = offset
        var left = Int(min(UInt64(max(0, count)), self.count - min(offset, self.count)))
        if offset < fileSize {
            let wanted = Int(min(UInt64(left), fileSize - offset))
            try readFile(at: offset, count: wanted, into: &output)
            left -= wanted
            offset += UInt64(wanted)
        }
        guard left > 0 else { return }
        let start = Int(offset - fileSize)
        output += memory[start..<start + left]
    }

    /// Forgets all of it; memory and file are used again.
    package func removeAll() throws(OutputError) {
        memory.removeAll(keepingCapacity: memory.capacity <= 2 * maximumMemory)
        guard fileSize > 0 else { return }
        guard ftruncate(descriptor, 0) == 0 else { throw Self.error("ftruncate") }
        fileSize = 0
    }

    /// Forgets what stands behind the first `size` bytes.
    package func truncate(to size: UInt64) throws(OutputError) {
        guard size < count else { return }
        guard size < fileSize else {
            memory.removeLast(Int(count - size))
            return
        }
        memory.removeAll(keepingCapacity: true)
        guard ftruncate(descriptor, off_t(clamping: size)) == 0 else {
            throw Self.error("ftruncate")
        }
        fileSize = size
    }

    /// The corresponding C function is `pwrite`.
    private func flush() throws(OutputError) {
        if descriptor < 0 { descriptor = try Self.open() }
        var written = 0
        var failed = false
        unsafe memory.withUnsafeBytes { buffer in
            while written < buffer.count {
                let result = unsafe pwrite(
                    descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written,
                    off_t(clamping: fileSize + UInt64(written)))
                if result > 0 {
                    written += result
                } else if result == 0 || errno != EINTR {
                    failed = true
                    return
                }
            }
        }
        if failed { throw Self.error("pwrite") }
        fileSize += UInt64(written)
        memory.removeAll(keepingCapacity: memory.capacity <= 4 * Self.writeSize)
    }

    /// The corresponding C function is `pread`.
    private func readFile(
        at offset: UInt64, count: Int, into output: inout Bytes
    ) throws(OutputError) {
        var done = 0
        output.append(addingCapacity: count) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                while done < count {
                    let result = unsafe pread(
                        descriptor, buffer.baseAddress?.advanced(by: initialized), count - done,
                        off_t(clamping: offset + UInt64(done)))
                    if result > 0 {
                        initialized += result
                        done += result
                    } else if result == 0 || errno != EINTR {
                        return
                    }
                }
            }
        }
        if done < count { throw Self.error("pread") }
    }

    private static var folder: String {
        guard let value = unsafe getenv("TMPDIR") else { return "/var/tmp" }
        let text = unsafe String(cString: value)
        return text.isEmpty ? "/var/tmp" : text
    }

    /// The corresponding C functions are `open` with O_TMPFILE and, where a file system lacks
    /// that, `mkstemp` and `unlink`.
    private static func open() throws(OutputError) -> Int32 {
        // O_TMPFILE, which includes O_DIRECTORY.
        let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
        let descriptor = unsafe Glibc.open(folder, O_RDWR | O_CLOEXEC | unnamed, 0o600)
        if descriptor >= 0 { return descriptor }
        var template = Array("\(folder)/bridgetap-XXXXXX".utf8CString)
        let named = unsafe mkstemp(&template)
        guard named >= 0 else { throw error("mkstemp") }
        _ = unsafe unlink(template)
        _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        return named
    }

    private static func error(_ call: String) -> OutputError {
        OutputError(errno: errno, call: call, path: "a temporary file in \(folder)")
    }
}
