extension EventLoop {
    /// Connects to a host by name or number, trying all its addresses in turn.
    ///
    /// The deadline of `options` holds for everything together; what is left of it is shared out
    /// evenly among the addresses not tried yet. The error is the last address's.
    @discardableResult
    package func connect(
        to endpoint: Endpoint, options: ConnectOptions = ConnectOptions(),
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) -> any Cancellable {
        if let address = endpoint.address {
            return connect(to: address, options: options, completion)
        }
        let attempt = NamedConnect(options: options, loop: self, completion)
        attempt.start(endpoint)
        return attempt
    }
}

/// A connection attempt to a name.
private final class NamedConnect: Cancellable {
    private let loop: any EventLoop
    private let options: ConnectOptions
    private var completion: ((Result<any TCPStream, NetworkError>) -> Void)?
    private var step: (any Cancellable)?
    private var deadline: ScheduledAction?

    init(
        options: ConnectOptions, loop: any EventLoop,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) {
        self.options = options
        self.loop = loop
        self.completion = completion
    }

    func start(_ endpoint: Endpoint) {
        if let time = options.deadline {
            // The look-up has no deadline of its own.
            deadline = loop.schedule(at: time) {
                self.finish(.failure(.deadlinePassed(call: "connect")))
            }
        }
        step = loop.resolve(endpoint.host, port: endpoint.port) { result in
            switch result {
            case .success(let addresses): self.tryNext(of: addresses[...], lastError: nil)
            case .failure(let error): self.finish(.failure(error))
            }
        }
    }

    private func tryNext(of addresses: ArraySlice<SocketAddress>, lastError: NetworkError?) {
        guard let address = addresses.first else {
            let error =
                lastError ?? NetworkError(errno: 0, call: "getaddrinfo", kind: .nameNotFound)
            return finish(.failure(error))
        }
        var options = options
        if let time = options.deadline {
            options.deadline = loop.now + max(0, time - loop.now) / Int64(addresses.count)
        }
        step = loop.connect(to: address, options: options) { result in
            switch result {
            case .success: self.finish(result)
            case .failure(let error):
                self.tryNext(of: addresses.dropFirst(), lastError: error)
            }
        }
    }

    private func finish(_ result: Result<any TCPStream, NetworkError>) {
        let completion = completion
        step = nil
        cancel()
        completion?(result)
    }

    func cancel() {
        completion = nil
        step?.cancel()
        step = nil
        deadline?.cancel()
        deadline = nil
    }
}
