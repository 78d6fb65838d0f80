import Glibc

/// An error number with its call, worded as messages have it:
/// `no such file or directory (open, ENOENT)`.
struct SystemError: CustomStringConvertible {
    let number: Int32
    let call: String

    init(_ number: Int32, call: String) {
        self.number = number
        self.call = call
    }

    /// What files and streams of the command line run into; glibc's own table is out of reach.
    private static let names: [Int32: String] = [
        ENOENT: "ENOENT", EACCES: "EACCES", EPERM: "EPERM", EISDIR: "EISDIR",
        ENOTDIR: "ENOTDIR", EEXIST: "EEXIST", ENOSPC: "ENOSPC", EDQUOT: "EDQUOT",
        EROFS: "EROFS", EIO: "EIO", EFBIG: "EFBIG", EINVAL: "EINVAL", EBADF: "EBADF",
        EMFILE: "EMFILE", ENFILE: "ENFILE", ELOOP: "ELOOP", ENAMETOOLONG: "ENAMETOOLONG",
        EPIPE: "EPIPE", ENXIO: "ENXIO", ETXTBSY: "ETXTBSY",
    ]

    /// The symbolic name of an error number, as far as it is one of those.
    static func name(_ number: Int32) -> String { names[number] ?? "error \(number)" }

    var description: String {
        let words = unsafe strerror(number).map { unsafe String(cString: $0).lowercased() }
        return "\(words ?? "unknown error") (\(call), \(Self.name(number)))"
    }
}
