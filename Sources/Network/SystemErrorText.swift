import CUV
import Glibc

/// Names and words of the system's error numbers, and what they mean to a network.
enum SystemErrorText {
    static let timedOut = ETIMEDOUT

    /// The symbolic name, `ECONNREFUSED`; libuv's table also knows look-up errors.
    static func name(_ errno: Int32) -> String {
        unsafe text(errno, uv_err_name_r)
    }

    /// The words, in lower case: `connection refused`.
    static func message(_ errno: Int32) -> String {
        unsafe text(errno, uv_strerror_r)
    }

    private static func text(
        _ errno: Int32,
        _ fill: (Int32, UnsafeMutablePointer<CChar>?, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        // libuv's codes are negated error numbers; its own (EAI_*) lie beyond -3000.
        let code = errno > 0 ? -errno : errno
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress,
                let filled = unsafe fill(code, base, buffer.count)
            else { return "error \(errno)" }
            return unsafe String(cString: filled)
        }
    }
}

extension NetworkError.Kind {
    /// The kind of an error number (errno(3)).
    init(errno: Int32) {
        switch errno {
        case ECONNREFUSED: self = .refused
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN: self = .reset
        case ETIMEDOUT: self = .timedOut
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN: self = .unreachable
        case EADDRINUSE: self = .addressInUse
        case EADDRNOTAVAIL: self = .addressNotAvailable
        case EACCES, EPERM: self = .permission
        case ENODEV: self = .noSuchInterface
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: self = .outOfResources
        default: self = .other
        }
    }
}
