package import Capture
package import Network

/// What a proxy listens on, where it connects to, and what it may hold.
package struct ProxyConfiguration {
    /// Where the other end of a connection is looked for.
    package enum Target: Sendable, Equatable {
        /// Always this host and port: a reverse proxy.
        case upstream(Endpoint)
        /// The original destination of a redirected connection, else the host and port.
        case originalDestination(fallback: Endpoint?)
    }

    package var listen: SocketAddress
    package var target: Target
    /// The interface through which connections to the board leave; nil leaves it to the routes.
    package var upstreamInterface: String?
    /// Peers that may connect; loopback ones always may.
    package var allowFrom: [CIDR] = []
    /// Close the link rather than pass on what cannot be recorded.
    package var isStrict = false
    /// How long a connection to the board may take, in nanoseconds.
    ///
    /// 20 s: by then an app has given up on its own.
    package var connectTimeout: Int64 = 20 * nanosecondsPerSecond
    /// Bytes that may wait for one side before the other side is paused.
    ///
    /// 256 KiB: as much as the system's own buffers, so that the link hardly behaves otherwise.
    package var maximumBuffered = 256 << 10
    /// How long data that arrived before a reset may take to leave, in nanoseconds.
    package var resetLinger: Int64 = 5 * nanosecondsPerSecond
    package var limits = ConnectionLimits()
    /// What is done to messages on their way; nil to pass them on as they came.
    package var faults: FaultSpec?

    package init(listen: SocketAddress, target: Target) {
        self.listen = listen
        self.target = target
    }

    /// Whether a peer at `address` may use the proxy.
    func allows(_ address: SocketAddress) -> Bool {
        address.ip.isLoopback || allowFrom.contains { $0.contains(address.ip) }
    }
}
