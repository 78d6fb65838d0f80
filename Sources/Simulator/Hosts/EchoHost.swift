package import Network
import Wire

/// A WebSocket server that sends every message back; for conformance tests of the endpoint that
/// the reference board stands on.
package final class EchoHost {
    private let server: HTTPServer
    private var links: [ObjectIdentifier: WebSocketConnection] = [:]

    /// Bytes of a message; the conformance suite sends up to 16 MiB.
    private static let maximumMessage = 16 << 20

    package init(loop: any EventLoop) {
        server = HTTPServer(on: loop)
        server.onRequest = { [weak self] exchange in self?.answer(exchange) }
    }

    /// Starts to listen; port 0 takes any free one.
    /// - Returns: the address with the port that was taken.
    @discardableResult
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        try server.listen(on: address)
    }

    /// Stops listening and ends all connections.
    package func stop() {
        server.close()
        for link in links.values { link.abort() }
        links = [:]
    }

    private func answer(_ exchange: HTTPExchange) {
        if let refusal = HandshakeRefusal(of: exchange.request.head) {
            exchange.respond(.refusal(refusal))
            return
        }
        let link = exchange.upgradeToWebSocket(deflate: .full) { options in
            options.maximumMessage = Self.maximumMessage
            options.compressionThreshold = 0
        }
        guard let link else { return }
        let key = ObjectIdentifier(link)
        links[key] = link
        link.onMessage = { [unowned link] opcode, bytes in link.send(opcode, bytes) }
        link.onClosed = { [weak self] _ in self?.links[key] = nil }
    }
}
