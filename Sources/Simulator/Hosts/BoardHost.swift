package import Network
import Wire

/// Runs the reference board on a loop: listens, and carries its actions out.
package final class BoardHost {
    /// Told in a short line what happens, for a terminal.
    package var onNote: ((String) -> Void)?
    /// Told how each command of the script ended.
    package var onOutcome: ((BridgeCommand, CommandResponse) -> Void)?

    private let loop: any EventLoop
    private let options: BoardOptions
    private var board: Board
    private var listener: (any TCPListener)?
    private var timer: ScheduledAction?
    private var connections: [UInt64: ServerConnection] = [:]
    private var connectionCount: UInt64 = 0
    /// The connection that waits for an exchange's answer, or that became a link.
    private var owners: [UInt64: UInt64] = [:]
    private var exchangeCount: UInt64 = 0
    /// The commands of the script by their steps.
    private var scripted: [BridgeCommand] = []
    private var steps: [ScheduledAction] = []

    /// Connections at once; one more is closed at once.
    private static let maximumConnections = 4096

    package init(loop: any EventLoop, options: BoardOptions = BoardOptions()) {
        self.loop = loop
        self.options = options
        board = Board(options: options)
    }

    /// Starts to listen; port 0 takes any free one.
    /// - Returns: the address with the port that was taken.
    @discardableResult
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        let listener = try loop.listen(on: address, options: ListenOptions()) {
            [weak self] stream in self?.accept(stream)
        }
        listener.onTrouble = { [weak self] error in
            self?.onNote?("cannot accept connections for a moment: \(error)")
        }
        self.listener = listener
        return listener.localAddress
    }

    /// Runs a script; its times count from now.
    package func run(_ script: BoardScript) {
        for entry in script.entries {
            let delay = options.timeScale.nanoseconds(seconds: entry.second)
            let step = loop.schedule(after: delay) { [weak self] in self?.perform(entry.step) }
            steps.append(step)
        }
    }

    /// Stops listening and ends all connections.
    package func stop() {
        listener?.close()
        listener = nil
        timer?.cancel()
        timer = nil
        for step in steps { step.cancel() }
        steps = []
        for connection in Array(connections.values) { connection.abort() }
    }

    // MARK: - Connections

    private func accept(_ stream: any TCPStream) {
        guard connections.count < Self.maximumConnections else {
            stream.abort()
            return
        }
        connectionCount += 1
        let number = connectionCount
        let isLoopback = stream.peerAddress.ip.isLoopback
        var callbacks = ServerConnection.Callbacks()
        callbacks.request = { [weak self] request in
            self?.take(request, from: number, isLoopback: isLoopback)
        }
        callbacks.cut = { [weak self] request in
            self?.input { board, now in
                board.receiveCut(request, isFromLoopback: isLoopback, at: now)
                return []
            }
        }
        callbacks.message = { [weak self] _, bytes in
            guard let link = self?.link(of: number) else { return }
            self?.input { board, now in board.receive(message: bytes, on: link, at: now) }
        }
        callbacks.webSocketEnded = { [weak self] cleanly in
            guard let link = self?.link(of: number) else { return }
            self?.onNote?("the phone's connection ended")
            self?.input { board, now in board.linkEnded(link, cleanly: cleanly, at: now) }
        }
        callbacks.ended = { [weak self] in self?.forget(number) }
        connections[number] = ServerConnection(
            stream, loop: loop, limits: limits, callbacks: callbacks)
    }

    /// The board's limits of HTTP (board-http-facts, "HTTP basics"); the times are scaled.
    private var limits: HTTPServerMachine.Limits {
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = options.maximumBodySize
        limits.headTime = options.timeScale.nanoseconds(seconds: 10)
        limits.requestTime = options.timeScale.nanoseconds(seconds: 30)
        limits.idleTime = options.timeScale.nanoseconds(seconds: 120)
        return limits
    }

    private func take(_ request: HTTPMessage, from number: UInt64, isLoopback: Bool) {
        exchangeCount += 1
        let exchange = exchangeCount
        owners[exchange] = number
        input { board, now in
            board.receive(
                request, isFromLoopback: isLoopback, exchange: ExchangeID(rawValue: exchange),
                at: now)
        }
    }

    /// The link that a connection became.
    private func link(of number: UInt64) -> LinkID? {
        owners.first { $0.value == number }.map { LinkID(rawValue: $0.key) }
    }

    private func forget(_ number: UInt64) {
        if let link = link(of: number) {
            // A link that ended says so before; a request whose asker is gone has no answer.
            input { board, now in board.linkEnded(link, cleanly: false, at: now) }
        }
        owners = owners.filter { $0.value != number }
        connections[number] = nil
    }

    // MARK: - The machine

    private var moment: Moment { Moment(monotonic: loop.now, wall: loop.wallClock) }

    private func input(_ body: (inout Board, Moment) -> [BoardAction]) {
        let actions = body(&board, moment)
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: BoardAction) {
        switch action {
        case .respond(let exchange, let response):
            guard let owner = owners.removeValue(forKey: exchange.rawValue) else { return }
            connections[owner]?.respond(response)
        case .accept(let exchange, _, let head, let deflate):
            guard let connection = owners[exchange.rawValue].flatMap({ connections[$0] }) else {
                return
            }
            var options = WebSocketEndpoint.Options(role: .server, deflate: deflate)
            options.framing = .board
            onNote?("a phone connected from \(connection.peerAddress)")
            connection.upgrade(head, options)
        case .send(let link, let bytes):
            owners[link.rawValue].flatMap { connections[$0] }?.send(.text, bytes)
        case .close(let link, let code, let reason):
            owners[link.rawValue].flatMap { connections[$0] }?.close(code, reason)
        case .commandEnded(let step, let response):
            guard scripted.indices.contains(step) else { return }
            onOutcome?(scripted[step], response)
        }
    }

    private func perform(_ step: BoardScript.Step) {
        switch step {
        case .send(let command):
            scripted.append(command)
            let number = scripted.count - 1
            input { board, now in board.issue(command, step: number, at: now) }
        case .enqueue(let command):
            input { board, now in
                _ = board.enqueue(command, at: now)
                return []
            }
        }
    }

    private func rearm() {
        let deadline = listener == nil ? nil : board.nextDeadline
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in
                self?.input { board, now in board.deadlineReached(at: now) }
            }
        }
    }
}
