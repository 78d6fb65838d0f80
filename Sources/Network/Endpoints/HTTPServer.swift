package import Wire

/// An HTTP/1.1 server on a loop: connections in, requests out.
///
/// What the protocol demands is `HTTPServerMachine`'s; this binds it to sockets and timers.
package final class HTTPServer {
    /// Called for each request; answer through the exchange, at once or later.
    ///
    /// Without a handler every request is answered with 503.
    package var onRequest: ((HTTPExchange) -> Void)?
    /// Called with what came of a request that ended before its body did, and its sender's address.
    ///
    /// It is refused by itself; nobody needs to look at it.
    package var onCutRequest: ((HTTPMessage, SocketAddress) -> Void)?
    /// Decides about a connection by its peer's address; what is refused is reset.
    package var accepts: ((SocketAddress) -> Bool)?
    /// Called when connections cannot be accepted for a moment.
    package var onTrouble: ((NetworkError) -> Void)?

    let loop: any EventLoop
    let limits: HTTPServerMachine.Limits
    let refusal: @Sendable (_ status: Int, _ why: String) -> HTTPMessage
    private var listener: (any TCPListener)?
    private var connections: [ObjectIdentifier: HTTPServerConnection] = [:]

    /// Makes a server that does not listen yet.
    /// - Parameter refusal: see `HTTPServerMachine.init`.
    package init(
        on loop: any EventLoop, limits: HTTPServerMachine.Limits = .init(),
        refusal: @escaping @Sendable (_ status: Int, _ why: String) -> HTTPMessage = {
            .plainText($0, $1)
        }
    ) {
        self.loop = loop
        self.limits = limits
        self.refusal = refusal
    }

    /// Begins to listen and gives back the address with its real port.
    @discardableResult
    package func listen(
        on address: SocketAddress, options: ListenOptions = ListenOptions()
    ) throws(NetworkError) -> SocketAddress {
        let listener = try loop.listen(on: address, options: options) { [weak self] stream in
            if let self { accept(stream) } else { stream.abort() }
        }
        listener.onTrouble = { [weak self] in self?.onTrouble?($0) }
        self.listener?.close()
        self.listener = listener
        return listener.localAddress
    }

    /// The address it listens on; nil while it does not.
    package var localAddress: SocketAddress? { listener?.localAddress }

    /// How many HTTP connections are open; upgraded ones no longer count.
    package var connectionCount: Int { connections.count }

    /// Serves a stream that was accepted elsewhere.
    package func accept(_ stream: any TCPStream) {
        guard accepts?(stream.peerAddress) ?? true else { return stream.abort() }
        let connection = HTTPServerConnection(stream, server: self)
        connections[ObjectIdentifier(connection)] = connection
        connection.start()
    }

    func handle(_ exchange: HTTPExchange) {
        if let onRequest {
            onRequest(exchange)
        } else {
            exchange.respond(refusal(503, "nobody answers requests here yet"))
        }
    }

    func remove(_ connection: HTTPServerConnection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Stops listening, and ends all HTTP connections with a reset.
    package func close() {
        listener?.close()
        listener = nil
        for connection in connections.values { connection.abort() }
        connections = [:]
    }
}
