package import Wire

/// A request that waits for its answer.
package final class HTTPExchange {
    /// The request.
    package let request: HTTPMessage
    /// The client's address.
    package var peerAddress: SocketAddress { connection.stream.peerAddress }
    /// The address that the client reached.
    package var localAddress: SocketAddress { connection.stream.localAddress }
    /// Called when the connection ends before the answer; then nothing need be answered.
    package var onGone: (() -> Void)?

    private let connection: HTTPServerConnection

    init(_ request: HTTPMessage, on connection: HTTPServerConnection) {
        self.request = request
        self.connection = connection
    }

    /// Answers; the first call counts, later ones and answers to clients gone have no effect.
    package func respond(_ response: HTTPMessage) {
        connection.respond(response, to: self)
    }

    /// Sends bytes as they are instead of an answer, and ends the connection in good order: for who
    /// wants to see what the client makes of them.
    package func end(with bytes: Bytes) {
        connection.end(with: bytes, for: self)
    }

    /// Tears the connection down with a reset, instead of an answer.
    package func abort() {
        connection.abort(for: self)
    }

    /// Answers with a 101 and gives out the connection, with what the client sent behind its
    /// request; nil when the client is gone.
    ///
    /// The stream is paused and has no callbacks.
    package func switchProtocols(_ head: HTTPHead) -> (stream: any TCPStream, rest: Bytes)? {
        guard let rest = connection.switchProtocols(head, for: self) else { return nil }
        return (connection.stream, rest)
    }

    /// Accepts an upgrade to WebSocket; nil when the client is gone.
    ///
    /// The caller has judged the request (`HandshakeRefusal`).
    /// - Parameters:
    ///   - deflate: what to agree on for compression; nil for none.
    ///   - fieldLines: what the 101 says besides, such as a Date.
    ///   - configure: changes the endpoint's options.
    package func upgradeToWebSocket(
        deflate: DeflateServerPolicy? = nil, fieldLines: [FieldLine] = [],
        _ configure: (inout WebSocketEndpoint.Options) -> Void = { _ in }
    ) -> WebSocketConnection? {
        let agreed = deflate.flatMap {
            WebSocketHandshake.deflate(for: request.head, policy: $0)
        }
        let key = request.head.fieldLines.first("Sec-WebSocket-Key") ?? ""
        guard
            let head = WebSocketHandshake.response(key: key, deflate: agreed, more: fieldLines)
        else {
            respond(.plainText(500, "SHA-1 is not to be had here"))
            return nil
        }
        var options = WebSocketEndpoint.Options(role: .server, deflate: agreed)
        configure(&options)
        let loop = connection.loop
        guard let (stream, rest) = switchProtocols(head) else { return nil }
        return WebSocketConnection(stream, options: options, rest: rest, on: loop)
    }
}
