import Glibc

extension NetworkError {
    /// The error that Linux gives for `kind` in `call`.
    static func simulated(_ kind: Kind, call: String) -> NetworkError {
        let errno: Int32 =
            switch kind {
            case .refused: ECONNREFUSED
            case .reset: ECONNRESET
            case .timedOut: ETIMEDOUT
            case .unreachable: EHOSTUNREACH
            case .addressInUse: EADDRINUSE
            case .addressNotAvailable: EADDRNOTAVAIL
            case .permission: EACCES
            case .noSuchInterface: ENODEV
            case .outOfResources: EMFILE
            case .nameNotFound, .other: EIO
            }
        return NetworkError(errno: errno, call: call, kind: kind)
    }

    /// The error of looking up a name that nobody knows (EAI_NONAME, in libuv's numbers).
    static let nameUnknown = NetworkError(errno: 3008, call: "getaddrinfo", kind: .nameNotFound)
}
