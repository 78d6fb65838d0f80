package import Network

/// Something that a person at the recorder's terminal should know.
package enum ProxyRemark: Equatable, Sendable {
    case cannotAccept(NetworkError)
    case peerRefused(SocketAddress)
    case noDestination(SocketAddress)
    case upstreamFailed(SocketAddress, NetworkError)
    case strictlyClosed
    case interfaceGone(String)
    case interfaceReturned(String)
    /// HTTP has been arriving for a while, and no WebSocket ever did.
    case noWebSocket(requests: Int)
}
