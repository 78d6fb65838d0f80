/// A listening socket.
package protocol TCPListener: AnyObject {
    /// The address it listens on, with the port that was really taken.
    var localAddress: SocketAddress { get }

    /// Called when connections cannot be accepted for a moment, as when descriptors run out.
    ///
    /// The listener tries again by itself; the connections wait in the system's queue.
    var onTrouble: ((NetworkError) -> Void)? { get set }

    /// Stops listening. Connections accepted before live on.
    func close()
}

/// How to listen.
package struct ListenOptions: Sendable {
    /// Connections that may wait to be accepted; the system caps it (net.core.somaxconn).
    package var backlog: Int32 = 4096
    /// Takes connections to addresses that are not this machine's (IP_TRANSPARENT; needs a
    /// TPROXY rule and CAP_NET_ADMIN).
    package var isTransparent = false
    /// What the accepted streams get.
    package var stream = StreamOptions()

    package init() {}
}

/// Settings of one stream.
package struct StreamOptions: Sendable {
    /// Sends small writes at once (TCP_NODELAY).
    package var noDelay = true
    /// Asks a silent peer for a sign of life after so many idle seconds; nil never asks.
    package var keepAliveSeconds: Int32?
    /// The system's receive buffer in bytes; nil leaves it to the system.
    package var receiveBuffer: Int32?
    /// The system's send buffer in bytes; nil leaves it to the system.
    package var sendBuffer: Int32?

    package init() {}
}

/// How to connect.
package struct ConnectOptions: Sendable {
    /// When to give up, on the loop's monotonic clock; nil leaves it to the system (minutes).
    package var deadline: Int64?
    /// The interface to go out by (SO_BINDTODEVICE), whatever the routing table says.
    package var interface: String?
    /// The local address to connect from.
    package var source: SocketAddress?
    /// What the stream gets.
    package var stream = StreamOptions()

    package init(deadline: Int64? = nil) {
        self.deadline = deadline
    }
}
