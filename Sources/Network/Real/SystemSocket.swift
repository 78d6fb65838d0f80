import CUV

/// The system's sockets in the terms of this module: every call throws with its own name.
enum SystemSocket {
    /// Runs a call of the shim and throws its negated error number as an error.
    @discardableResult
    static func check(_ call: String, _ result: Int32) throws(NetworkError) -> Int32 {
        guard result >= 0 else { throw NetworkError(errno: -result, call: call) }
        return result
    }

    /// The socket of a listener.
    static func listening(
        on address: SocketAddress, options: ListenOptions
    ) throws(NetworkError) -> Int32 {
        let system = address.system
        let fd = try check("socket", cuv_socket(system.family))
        do throws(NetworkError) {
            try check("setsockopt(SO_REUSEADDR)", cuv_set_reuse_address(fd))
            if system.family == 6 && address.ip.isUnspecified {
                // `[::]` means every address, of both families, whatever the system's default.
                try check("setsockopt(IPV6_V6ONLY)", cuv_set_dual_stack(fd))
            }
            if options.isTransparent {
                try check("setsockopt(IP_TRANSPARENT)", cuv_set_transparent(fd, system.family))
            }
            // Accepted sockets inherit the buffers, and only so the window scale fits them.
            try setBuffers(fd, options.stream)
            try check("bind", cuv_bind(fd, system))
            try check("listen", cuv_listen(fd, options.backlog))
            return fd
        } catch {
            _ = cuv_close(fd)
            throw error
        }
    }

    /// A socket that has begun to connect to `address`.
    static func connecting(
        to address: SocketAddress, options: ConnectOptions
    ) throws(NetworkError) -> Int32 {
        let system = address.system
        let fd = try check("socket", cuv_socket(system.family))
        do throws(NetworkError) {
            if let interface = options.interface {
                try check("setsockopt(SO_BINDTODEVICE)", unsafe cuv_set_device(fd, interface))
            }
            try setBuffers(fd, options.stream)
            if let source = options.source {
                try check("bind", cuv_bind(fd, source.system))
            }
            let result = cuv_connect(fd, system)
            if result != -inProgress { try check("connect", result) }
            try configure(fd, options.stream)
            return fd
        } catch {
            _ = cuv_close(fd)
            throw error
        }
    }

    /// Gives an accepted or connecting socket its settings.
    static func configure(_ fd: Int32, _ options: StreamOptions) throws(NetworkError) {
        if options.noDelay { try check("setsockopt(TCP_NODELAY)", cuv_set_no_delay(fd)) }
        if let seconds = options.keepAliveSeconds {
            try check("setsockopt(SO_KEEPALIVE)", cuv_set_keep_alive(fd, max(1, seconds)))
        }
    }

    private static func setBuffers(_ fd: Int32, _ options: StreamOptions) throws(NetworkError) {
        if let size = options.receiveBuffer {
            try check("setsockopt(SO_RCVBUF)", cuv_set_receive_buffer(fd, size))
        }
        if let size = options.sendBuffer {
            try check("setsockopt(SO_SNDBUF)", cuv_set_send_buffer(fd, size))
        }
    }

    private static let inProgress = EINPROGRESS
}

extension SocketAddress {
    /// The address as the shim takes it.
    var system: cuv_address {
        switch ip {
        case .v4(let bits):
            cuv_address(family: 4, port: port, scope: 0, high: 0, low: UInt64(bits))
        case .v6(let high, let low, let scope):
            cuv_address(family: 6, port: port, scope: scope, high: high, low: low)
        }
    }

    /// An address of the shim; nil when it is of another family, or none.
    init?(system: cuv_address) {
        switch system.family {
        case 4:
            self.init(.v4(UInt32(truncatingIfNeeded: system.low)), port: system.port)
        case 6:
            // On a socket of both families IPv4 peers come in IPv6's clothes.
            let ip = IPAddress.v6(high: system.high, low: system.low, scope: system.scope)
            self.init(ip.unmapped, port: system.port)
        default: return nil
        }
    }

    /// What stands where the system did not tell an address.
    static let unknown = SocketAddress(.any, port: 0)
}
