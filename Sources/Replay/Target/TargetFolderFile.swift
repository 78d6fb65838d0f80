import Glibc
import Network

/// The private folder of a target: `{dir}`.
enum TargetFolderFile {
    /// Makes a new folder with mode 0700 where TMPDIR says, or in /tmp.
    ///
    /// A TMPDIR with characters that mean something to a shell is passed over: the path stands in
    /// command lines.
    static func make() throws(FileError) -> String {
        var place = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        if !place.hasPrefix("/") || !place.utf8.allSatisfy(isPlain) { place = "/tmp" }
        while place.hasSuffix("/") && place.count > 1 { place.removeLast() }
        let pattern = place + "/bridgetap-XXXXXX"
        var path = Array(pattern.utf8CString)
        guard unsafe mkdtemp(&path) != nil else {
            throw FileError(errno: errno, call: "mkdtemp", path: pattern)
        }
        return String(
            decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder with all that is in it; links are not followed.
    static func remove(_ path: String) throws(FileError) {
        var pending = [path]
        // Each stands behind the one that it lies in.
        var folders: [String] = []
        while let next = pending.popLast() {
            // What somebody else removed meanwhile is gone, which is all that is wanted.
            if unsafe unlink(next) == 0 || errno == ENOENT { continue }
            guard errno == EISDIR else {
                throw FileError(errno: errno, call: "unlink", path: next)
            }
            folders.append(next)
            pending += try FolderNames.read(next).map { next + "/" + $0 }
        }
        for folder in folders.reversed() {
            guard unsafe rmdir(folder) == 0 || errno == ENOENT else {
                throw FileError(errno: errno, call: "rmdir", path: folder)
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// What tells a file that was there before from one that has come.
struct FileStamp: Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// The stamp of a file that is there; the corresponding C function is `stat`.
    init?(ofFile path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
