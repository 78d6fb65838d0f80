import Network

/// Free ports for targets that are spawned.
///
/// A port is free when it is asked for, and may be taken before the target takes it. Among the
/// jobs of this process none gets the port of another; where a stranger was faster the target dies
/// of it, and is started again on another port.
enum TargetPorts {
    private static let taken = Guarded<Set<UInt16>>([])
    /// Ports that were found and belong to another job, until it is given up.
    private static let maximumAttempts = 64

    /// Finds a free port; `release` gives it back.
    static func reserve(on loop: any EventLoop, at ip: IPAddress) throws(NetworkError) -> UInt16 {
        // Held open until the end, so that each attempt finds another one.
        var listeners: [any TCPListener] = []
        defer { for listener in listeners { listener.close() } }
        for _ in 0..<maximumAttempts {
            let listener = try loop.listen(
                on: SocketAddress(ip, port: 0), options: ListenOptions()
            ) { $0.close() }
            listeners.append(listener)
            let port = listener.localAddress.port
            if taken.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw NetworkError(errno: 0, call: "bind", kind: .addressInUse)
    }

    /// Gives ports back.
    static func release(_ ports: [UInt16]) {
        taken.withLock { $0.subtract(ports) }
    }

    /// Whether somebody listens at an address of this machine.
    static func isTaken(_ address: SocketAddress, on loop: any EventLoop) -> Bool {
        do throws(NetworkError) {
            try loop.listen(on: address, options: ListenOptions()) { $0.close() }.close()
            return false
        } catch {
            // Another machine's address, or a port that only root may take: not for us to say.
            return error.kind == .addressInUse
        }
    }
}
