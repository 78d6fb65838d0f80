import Glibc

extension OutputError {
    /// The symbolic name of the error number, such as `ENOSPC`.
    package var name: String {
        switch errno {
        case ENOSPC: "ENOSPC"
        case EDQUOT: "EDQUOT"
        case EIO: "EIO"
        case EFBIG: "EFBIG"
        case EPIPE: "EPIPE"
        case EACCES: "EACCES"
        case EEXIST: "EEXIST"
        case ENOENT: "ENOENT"
        case EISDIR: "EISDIR"
        case EROFS: "EROFS"
        case EMFILE: "EMFILE"
        case EBADF: "EBADF"
        case EINVAL: "EINVAL"
        case ENOMEM: "ENOMEM"
        default: "error \(errno)"
        }
    }
}
