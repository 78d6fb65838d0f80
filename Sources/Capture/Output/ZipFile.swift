import CMiniZip
import Glibc
package import Wire

/// A zip archive on disk, written a file at a time (APPNOTE.TXT 6.3); files may be of any size.
///
/// Made with mode 0600, since what is in it is about people, and so are the files that are
/// unpacked. Memory for one window of deflate.
@safe
package final class ZipFile {
    package let path: String
    private var archive: UnsafeMutableRawPointer?
    private var hasEntry = false
    private var isMade = false
    private var isWhole = false

    /// Makes the archive; what is there already is refused with EEXIST.
    package init(path: String) throws(OutputError) {
        self.path = path
        // minizip would take any file, and make it as readable as others are.
        try SessionFile(path: path).close()
        var information = stat()
        guard unsafe stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG
        else {
            // It goes back to fill in sizes.
            throw OutputError(errno: ESPIPE, call: "open", path: path)
        }
        isMade = true
        unsafe archive = zipOpen64(path, APPEND_STATUS_CREATE)
        guard unsafe archive != nil else {
            throw OutputError(errno: errno, call: "open", path: path)
        }
    }

    deinit {
        if let archive = unsafe archive { _ = unsafe zipClose(archive, nil) }
        // Half an archive would look like a whole one.
        if isMade, !isWhole { _ = unsafe unlink(path) }
    }

    /// Begins the next file of the archive.
    ///
    /// - Parameters:
    ///   - name: with `/` between folders.
    ///   - time: when it was made, in seconds since 1970.
    package func begin(_ name: String, at time: Int64) throws(OutputError) {
        try endEntry()
        let date = Self.date(time)
        try unsafe perform { archive in unsafe cminizip_begin(archive, name, date) }
        hasEntry = true
    }

    /// Writes more of the file under way.
    package func append(_ bytes: Span<UInt8>) throws(OutputError) {
        var position = 0
        while position < bytes.count {
            let count = min(bytes.count - position, 1 << 20)
            let part = bytes.extracting(position..<position + count)
            try unsafe perform { archive in
                unsafe part.withUnsafeBytes { buffer in
                    unsafe zipWriteInFileInZip(archive, buffer.baseAddress, UInt32(count))
                }
            }
            position += count
        }
    }

    /// Writes a whole file.
    package func add(_ name: String, _ bytes: Bytes, at time: Int64) throws(OutputError) {
        try begin(name, at: time)
        try append(bytes.span)
    }

    /// Bytes of the archive, once it is closed.
    package private(set) var size: UInt64 = 0

    /// Ends the archive: without this it is none, and the file is removed.
    package func close() throws(OutputError) {
        try endEntry()
        try unsafe perform { archive in
            unsafe self.archive = nil
            return unsafe zipClose(archive, nil)
        }
        isWhole = true
        var information = stat()
        if unsafe stat(path, &information) == 0 { size = UInt64(max(0, information.st_size)) }
    }

    private func endEntry() throws(OutputError) {
        guard hasEntry else { return }
        hasEntry = false
        try unsafe perform { archive in unsafe zipCloseFileInZip(archive) }
    }

    private func perform(
        _ call: (UnsafeMutableRawPointer) -> Int32
    ) throws(OutputError) {
        guard let archive = unsafe archive else {
            throw OutputError(errno: EBADF, call: "write", path: path)
        }
        errno = 0
        guard unsafe call(archive) == ZIP_OK else {
            // zlib's own errors are about memory.
            throw OutputError(errno: errno == 0 ? ENOMEM : errno, call: "write", path: path)
        }
    }

    /// A time as archives have it: UTC, to two seconds, 1980 to 2107 (APPNOTE 4.4.6).
    private static func date(_ time: Int64) -> UInt {
        var seconds = time_t(time)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return 1 << 21 | 1 << 16 }
        let (year, month, day) = unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday)
        let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
        guard (80...207).contains(year) else { return 1 << 21 | 1 << 16 }
        return UInt(year - 80) << 25 | UInt(month + 1) << 21 | UInt(day) << 16
            | UInt(hour) << 11 | UInt(minute) << 5 | UInt(second / 2)
    }
}
