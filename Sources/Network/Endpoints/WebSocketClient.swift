package import Wire

/// Why no WebSocket connection came about.
package enum WebSocketConnectError: Error, Equatable, Sendable {
    /// There was no TCP connection.
    case connect(NetworkError)
    /// TCP broke during the handshake.
    case network(NetworkError)
    /// The peer did not answer as HTTP demands, or not in time.
    case http(HTTPClientError)
    /// The server answered, but with something else than 101.
    case refused(HTTPMessage)
    /// The server's 101 breaks the rules of the handshake.
    case violations([HandshakeViolation])
}

/// What to ask of a WebSocket server.
package struct WebSocketRequest: Sendable {
    /// The request target, such as `/ws`.
    package var target: String
    /// The value of Host; nil for the endpoint's own.
    package var host: String?
    /// The compressions to offer, in order of preference.
    package var offers: [DeflateParameters] = []
    package var subprotocols: [String] = []
    /// Further field lines: an origin, a user agent.
    package var fieldLines: [FieldLine] = []
    /// How long everything may take, from looking up the name to the 101, in nanoseconds.
    package var timeout: Int64 = 10 * nanosecondsPerSecond

    package init(target: String) {
        self.target = target
    }
}

/// Makes WebSocket connections from a loop.
package enum WebSocketClient {
    /// Connects and shakes hands; `completion` runs exactly once, unless it is cancelled.
    /// - Parameter configure: changes the endpoint's options; it sees what was agreed on.
    @discardableResult
    package static func connect(
        to endpoint: Endpoint, _ request: WebSocketRequest, on loop: any EventLoop,
        options: ConnectOptions = ConnectOptions(),
        configure: @escaping (inout WebSocketEndpoint.Options) -> Void = { _ in },
        _ completion: @escaping (Result<WebSocketConnection, WebSocketConnectError>) -> Void
    ) -> any Cancellable {
        let attempt = WebSocketAttempt(
            endpoint, request, on: loop, configure: configure, completion)
        attempt.start(options)
        return attempt
    }
}

/// A handshake under way.
private final class WebSocketAttempt: Cancellable {
    private let loop: any EventLoop
    private let endpoint: Endpoint
    private let request: WebSocketRequest
    private let deadline: Int64
    private let configure: (inout WebSocketEndpoint.Options) -> Void
    private var completion: ((Result<WebSocketConnection, WebSocketConnectError>) -> Void)?
    private var step: (any Cancellable)?

    init(
        _ endpoint: Endpoint, _ request: WebSocketRequest, on loop: any EventLoop,
        configure: @escaping (inout WebSocketEndpoint.Options) -> Void,
        _ completion: @escaping (Result<WebSocketConnection, WebSocketConnectError>) -> Void
    ) {
        self.endpoint = endpoint
        self.request = request
        self.loop = loop
        self.configure = configure
        self.completion = completion
        deadline = loop.now + max(0, min(request.timeout, 1 << 60))
    }

    func start(_ options: ConnectOptions) {
        var options = options
        options.deadline = min(options.deadline ?? .max, deadline)
        step = loop.connect(to: endpoint, options: options) { [self] result in
            switch result {
            case .success(let stream): shakeHands(over: stream)
            case .failure(let error): finish(.failure(.connect(error)))
            }
        }
    }

    private func shakeHands(over stream: any TCPStream) {
        let head = WebSocketHandshake.request(
            target: request.target, host: request.host ?? endpoint.description,
            key: WebSocketHandshake.key(from: loop.randomBytes(16)), offers: request.offers,
            subprotocols: request.subprotocols, more: request.fieldLines)
        let connection = HTTPClientConnection(stream, limits: .init(), on: loop)
        step = connection
        connection.onSwitch = { [self] response, rest in
            switched(stream, head, response, rest)
        }
        connection.send(HTTPMessage(head: head), timeout: deadline - loop.now) { [self] result in
            switch result {
            case .success(let response):
                connection.close()
                finish(.failure(.refused(response)))
            case .failure(.connect(let error)), .failure(.network(let error)):
                finish(.failure(.network(error)))
            case .failure(.http(let error)):
                finish(.failure(.http(error)))
            }
        }
    }

    private func switched(
        _ stream: any TCPStream, _ head: HTTPHead, _ response: HTTPHead, _ rest: Bytes
    ) {
        let violations = WebSocketHandshake.violations(ofResponse: response, to: head)
        guard violations.isEmpty else {
            stream.abort()
            return finish(.failure(.violations(violations)))
        }
        let deflate: PerMessageDeflate?
        do throws(ExtensionAnswerError) {
            deflate = try PerMessageDeflate.agreed(
                answer: WebSocketHandshake.extensions(of: response), offers: request.offers)
        } catch {
            stream.abort()
            return finish(.failure(.violations([.extensions(error)])))
        }
        var options = WebSocketEndpoint.Options(role: .client, deflate: deflate)
        configure(&options)
        finish(
            .success(WebSocketConnection(stream, options: options, rest: rest, on: loop)))
    }

    private func finish(_ result: Result<WebSocketConnection, WebSocketConnectError>) {
        let completion = completion
        step = nil
        self.completion = nil
        completion?(result)
    }

    func cancel() {
        completion = nil
        step?.cancel()
        step = nil
    }
}
