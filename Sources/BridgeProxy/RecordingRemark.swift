package import Network

/// Something that a person at the recorder's terminal should know.
package enum RecordingRemark: Equatable, Sendable {
    case cannotAccept(NetworkError)
    case peerRefused(SocketAddress)
    case noDestination(SocketAddress)
    case upstreamFailed(SocketAddress, NetworkError)
    case strictlyClosed
    case interfaceGone(String)
    case interfaceReturned(String)
    /// There is no such interface yet; it is waited for.
    case interfaceAwaited(String)
    /// The interface is there, but its packets cannot be captured; it is tried again.
    case cannotCapture(String, TapError)
    /// So many packets were dropped in all, by the system or by the interface.
    case packetsDropped(Int)
    /// HTTP has been arriving for a while, and no WebSocket ever did.
    case noWebSocket(requests: Int)
    /// The command of a log ended for the first time, and in what way; it is started again.
    case logEnded(String, String)
}
