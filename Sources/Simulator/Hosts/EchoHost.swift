package import Network
import Wire

/// A WebSocket server that sends every message back; for conformance tests of the endpoint that
/// the reference board stands on.
package final class EchoHost {
    private let loop: any EventLoop
    private var listener: (any TCPListener)?
    private var connections: [UInt64: ServerConnection] = [:]
    private var connectionCount: UInt64 = 0

    /// Bytes of a message; the conformance suite sends up to 16 MiB.
    private static let maximumMessage = 16 << 20

    package init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Starts to listen; port 0 takes any free one.
    /// - Returns: the address with the port that was taken.
    @discardableResult
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        let listener = try loop.listen(on: address, options: ListenOptions()) {
            [weak self] stream in self?.accept(stream)
        }
        self.listener = listener
        return listener.localAddress
    }

    /// Stops listening and ends all connections.
    package func stop() {
        listener?.close()
        listener = nil
        for connection in Array(connections.values) { connection.abort() }
    }

    private func accept(_ stream: any TCPStream) {
        connectionCount += 1
        let number = connectionCount
        var callbacks = ServerConnection.Callbacks()
        callbacks.request = { [weak self] request in self?.answer(request, of: number) }
        callbacks.message = { [weak self] opcode, bytes in
            self?.connections[number]?.send(opcode, bytes)
        }
        callbacks.ended = { [weak self] in self?.connections[number] = nil }
        connections[number] = ServerConnection(
            stream, loop: loop, limits: HTTPServerMachine.Limits(), callbacks: callbacks)
    }

    private func answer(_ request: HTTPMessage, of number: UInt64) {
        guard let connection = connections[number] else { return }
        if let refusal = HandshakeRefusal(of: request.head) {
            connection.respond(.refusal(refusal))
            return
        }
        let deflate = WebSocketHandshake.deflate(for: request.head, policy: .full)
        let head = WebSocketHandshake.response(
            key: request.head.fieldLines.first("Sec-WebSocket-Key") ?? "", deflate: deflate)
        guard let head else {
            connection.respond(.plainText(500, "SHA-1 cannot be had on this machine"))
            return
        }
        var options = WebSocketEndpoint.Options(role: .server, deflate: deflate)
        options.maximumMessage = Self.maximumMessage
        options.compressionThreshold = 0
        connection.upgrade(head, options)
    }
}
