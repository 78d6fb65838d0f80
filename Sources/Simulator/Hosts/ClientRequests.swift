import Network
import Wire

/// The HTTP requests of an app: each on a connection of its own, or on one that is kept alive.
final class ClientRequests {
    /// A request under way.
    private final class Exchange {
        let request: HTTPMessage
        let completion: (HTTPMessage?) -> Void
        var attempt: (any Cancellable)?
        var connection: Connection?
        /// Whether the connection had served another request before.
        var isReused = false

        init(_ request: HTTPMessage, _ completion: @escaping (HTTPMessage?) -> Void) {
            self.request = request
            self.completion = completion
        }
    }

    private final class Connection {
        let stream: any TCPStream
        var machine = HTTPClientMachine()
        var exchange: RequestID?

        init(_ stream: any TCPStream) {
            self.stream = stream
        }
    }

    /// Connections that are kept for the next request.
    private static let maximumIdleCount = 2

    private let loop: any EventLoop
    private let board: Endpoint
    /// How long a request may take, in nanoseconds; its owner gives it up before that.
    private let limit: Int64
    private var exchanges: [RequestID: Exchange] = [:]
    private var idle: [Connection] = []

    init(loop: any EventLoop, board: Endpoint, limit: Int64) {
        self.loop = loop
        self.board = board
        self.limit = limit
    }

    /// Makes a request; `completion` gets the whole response, or nil, exactly once unless it is
    /// cancelled before.
    func start(
        _ id: RequestID, method: String, target: String, body: Bytes?,
        _ completion: @escaping (HTTPMessage?) -> Void
    ) {
        var fieldLines = [FieldLine("Accept", "application/json")]
        if body != nil { fieldLines.append(FieldLine("Content-Type", "application/json")) }
        let exchange = Exchange(
            .request(
                method, target, host: board.description, fieldLines: fieldLines, body: body ?? []),
            completion)
        exchanges[id] = exchange
        if let connection = idle.popLast() {
            exchange.isReused = true
            send(id, exchange, on: connection)
        } else {
            connect(id, exchange)
        }
    }

    /// Gives a request up; its completion is not called.
    func cancel(_ id: RequestID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        exchange.attempt?.cancel()
        exchange.connection?.stream.abort()
    }

    /// Gives everything up.
    func stop() {
        for id in Array(exchanges.keys) { cancel(id) }
        for connection in idle { connection.stream.close() }
        idle = []
    }

    private func connect(_ id: RequestID, _ exchange: Exchange) {
        exchange.isReused = false
        exchange.attempt = loop.connect(
            to: board, options: ConnectOptions(deadline: loop.now + limit)
        ) { [weak self, weak exchange] result in
            guard let self, let exchange, self.exchanges[id] === exchange else { return }
            exchange.attempt = nil
            switch result {
            case .success(let stream): self.send(id, exchange, on: self.adopt(stream))
            case .failure: self.end(id, with: nil)
            }
        }
    }

    private func adopt(_ stream: any TCPStream) -> Connection {
        let connection = Connection(stream)
        stream.onRead = { [weak self, unowned connection] chunk in
            guard let self else { return }
            let now = self.loop.now
            self.perform(
                chunk.withSpan { span in connection.machine.receive(span, now: now) },
                on: connection)
        }
        stream.onEnd = { [weak self, unowned connection] _ in
            guard let self else { return }
            self.perform(connection.machine.peerEnded(now: self.loop.now), on: connection)
            self.drop(connection)
        }
        stream.resume()
        return connection
    }

    private func send(_ id: RequestID, _ exchange: Exchange, on connection: Connection) {
        guard connection.machine.canSend else {
            connect(id, exchange)
            return
        }
        exchange.connection = connection
        connection.exchange = id
        perform(
            connection.machine.send(exchange.request, timeout: limit, now: loop.now),
            on: connection)
    }

    private func perform(_ actions: [HTTPClientMachine.Action], on connection: Connection) {
        for action in actions {
            switch action {
            case .send(let bytes): _ = connection.stream.write(bytes)
            case .interim, .switched: break
            case .response(let response):
                guard let id = connection.exchange else { continue }
                connection.exchange = nil
                if connection.machine.canSend, idle.count < Self.maximumIdleCount {
                    idle.append(connection)
                }
                end(id, with: response)
            case .failed(let error): fail(connection, error)
            case .close: drop(connection)
            }
        }
        if connection.machine.canSend, connection.exchange == nil,
            !idle.contains(where: { $0 === connection })
        {
            drop(connection)
        }
    }

    private func fail(_ connection: Connection, _ error: HTTPClientError) {
        guard let id = connection.exchange, let exchange = exchanges[id] else { return }
        connection.exchange = nil
        // A kept connection may have been closed by the board just now: that is no answer.
        if exchange.isReused, error == .closed(isWithinResponse: false) {
            exchange.connection = nil
            connect(id, exchange)
        } else {
            end(id, with: nil)
        }
    }

    private func end(_ id: RequestID, with response: HTTPMessage?) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        exchange.completion(response)
    }

    private func drop(_ connection: Connection) {
        idle.removeAll { $0 === connection }
        connection.stream.close()
        if let id = connection.exchange {
            connection.exchange = nil
            end(id, with: nil)
        }
    }
}
