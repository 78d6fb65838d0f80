package import Wire

/// Why a request got no response.
package enum HTTPRequestError: Error, Equatable, Sendable {
    /// There was no connection to send it on.
    case connect(NetworkError)
    /// The connection broke.
    case network(NetworkError)
    /// The peer did not answer as HTTP demands, or not in time.
    case http(HTTPClientError)
}

/// An HTTP/1.1 client of one server on a loop; connections are kept and used again.
package final class HTTPClient {
    /// The server.
    package let endpoint: Endpoint
    /// How to connect; its deadline is replaced by each request's own.
    package var options: ConnectOptions
    /// How many idle connections are kept.
    package var maximumIdle = 2

    private let loop: any EventLoop
    private let limits: HTTPClientMachine.Limits
    private var idle: [HTTPClientConnection] = []

    /// Makes a client that has no connection yet.
    package init(
        to endpoint: Endpoint, on loop: any EventLoop, options: ConnectOptions = ConnectOptions(),
        limits: HTTPClientMachine.Limits = .init()
    ) {
        self.endpoint = endpoint
        self.loop = loop
        self.options = options
        self.limits = limits
    }

    /// Sends a request; its whole response, connecting included, has `timeout` nanoseconds.
    ///
    /// A kept connection that turns out to be closed is replaced once, where that cannot run a
    /// request twice (RFC 9110 §9.2.2: GET, HEAD, PUT, DELETE, OPTIONS, TRACE).
    /// - Parameter completion: runs exactly once, unless the request is cancelled.
    @discardableResult
    package func send(
        _ request: HTTPMessage, timeout: Int64,
        _ completion: @escaping (Result<HTTPMessage, HTTPRequestError>) -> Void
    ) -> any Cancellable {
        let attempt = HTTPRequestAttempt(
            request, deadline: loop.now + max(0, min(timeout, 1 << 60)), completion)
        if let connection = idle.popLast() {
            run(attempt, on: connection, isReused: true)
        } else {
            connect(attempt)
        }
        return attempt
    }

    deinit {
        closeIdle()
    }

    /// Closes the idle connections; those in use close when their response is there.
    package func closeIdle() {
        for connection in idle { connection.close() }
        idle = []
    }

    private func connect(_ attempt: HTTPRequestAttempt) {
        var options = options
        options.deadline = attempt.deadline
        attempt.step = loop.connect(to: endpoint, options: options) { [self] result in
            switch result {
            case .success(let stream):
                let connection = HTTPClientConnection(stream, limits: limits, on: loop)
                run(attempt, on: connection, isReused: false)
            case .failure(let error):
                attempt.finish(.failure(.connect(error)))
            }
        }
    }

    private func run(
        _ attempt: HTTPRequestAttempt, on connection: HTTPClientConnection, isReused: Bool
    ) {
        attempt.step = connection
        connection.onIdleEnd = nil
        connection.send(attempt.request, timeout: attempt.deadline - loop.now) { [self] result in
            if isReused, attempt.isRepeatable, case .failure(let error) = result,
                error.meansStaleConnection
            {
                return connect(attempt)
            }
            if connection.canSend { keep(connection) }
            attempt.finish(result)
        }
    }

    private func keep(_ connection: HTTPClientConnection) {
        guard idle.count < maximumIdle else { return connection.close() }
        idle.append(connection)
        connection.onIdleEnd = { [weak self, unowned connection] in
            self?.idle.removeAll { $0 === connection }
        }
    }
}

extension HTTPRequestError {
    /// Whether the server closed a kept connection before it saw the request.
    fileprivate var meansStaleConnection: Bool {
        switch self {
        case .network, .http(.closed(isWithinResponse: false)): true
        case .connect, .http: false
        }
    }
}

/// A request on its way.
private final class HTTPRequestAttempt: Cancellable {
    let request: HTTPMessage
    let deadline: Int64
    var step: (any Cancellable)?
    private var completion: ((Result<HTTPMessage, HTTPRequestError>) -> Void)?

    init(
        _ request: HTTPMessage, deadline: Int64,
        _ completion: @escaping (Result<HTTPMessage, HTTPRequestError>) -> Void
    ) {
        self.request = request
        self.deadline = deadline
        self.completion = completion
    }

    var isRepeatable: Bool {
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(request.head.method ?? "")
    }

    func finish(_ result: Result<HTTPMessage, HTTPRequestError>) {
        step = nil
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    func cancel() {
        completion = nil
        step?.cancel()
        step = nil
    }
}
