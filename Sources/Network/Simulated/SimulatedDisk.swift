import Glibc
package import Wire

/// The files of a simulated host, with a disk that can be full or broken.
package final class SimulatedDisk {
    /// The content of each file by its path.
    package var files: [String: Bytes] = [:]
    /// How many bytes fit on the disk over all files; nil for any number.
    package var capacity: Int?
    /// The error number that writing fails with, such as EIO; nil when it works.
    package var writeError: Int32?
    /// The error number that opening fails with, such as EACCES; nil when it works.
    package var openError: Int32?
    /// How long a sync takes, in nanoseconds.
    package var syncDuration: Int64 = 5 * nanosecondsPerMillisecond

    package init() {}

    /// How many bytes still fit.
    var room: Int {
        guard let capacity else { return .max }
        return max(0, capacity - files.values.reduce(0) { $0 + $1.count })
    }
}

/// A file of a simulated host.
final class SimulatedFile: AppendFile {
    let path: String
    private let disk: SimulatedDisk
    private unowned let loop: SimulatedLoop
    private var isOpen = true

    init(
        _ path: String, _ disposition: AppendDisposition, disk: SimulatedDisk,
        loop: SimulatedLoop
    ) throws(FileError) {
        if let errno = disk.openError { throw FileError(errno: errno, call: "open", path: path) }
        switch disposition {
        case .append: break
        case .truncate: disk.files[path] = []
        case .createNew:
            guard disk.files[path] == nil else {
                throw FileError(errno: EEXIST, call: "open", path: path)
            }
        }
        if disk.files[path] == nil { disk.files[path] = [] }
        self.path = path
        self.disk = disk
        self.loop = loop
    }

    var size: Int64 { Int64(disk.files[path]?.count ?? 0) }

    func append(_ bytes: borrowing Span<UInt8>) throws(FileError) {
        guard isOpen else { throw FileError(errno: EBADF, call: "write", path: path) }
        if let errno = disk.writeError {
            throw FileError(errno: errno, call: "write", path: path)
        }
        let count = min(bytes.count, disk.room)
        var file = disk.files[path] ?? []
        // The dictionary lets go of its copy first, or each append would copy the whole file.
        disk.files[path] = nil
        unsafe bytes.withUnsafeBufferPointer { unsafe file.append(contentsOf: $0.prefix(count)) }
        disk.files[path] = file
        if count < bytes.count {
            throw FileError(errno: ENOSPC, call: "write", path: path, written: count)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        guard isOpen, var file = disk.files[path] else {
            throw FileError(errno: EBADF, call: "ftruncate", path: path)
        }
        guard let size = Int(exactly: size), size >= 0 else {
            throw FileError(errno: EINVAL, call: "ftruncate", path: path)
        }
        if size <= file.count {
            file.removeLast(file.count - size)
        } else {
            guard size - file.count <= disk.room, size < 1 << 30 else {
                throw FileError(errno: EFBIG, call: "ftruncate", path: path)
            }
            file.append(contentsOf: repeatElement(0, count: size - file.count))
        }
        disk.files[path] = file
    }

    func sync(_ completion: @escaping (FileError?) -> Void) {
        let path = path
        let errno = isOpen ? disk.writeError : EBADF
        loop.schedule(after: disk.syncDuration) {
            completion(errno.map { FileError(errno: $0, call: "fdatasync", path: path) })
        }
    }

    func close() {
        isOpen = false
    }
}
