package import Network
import PhoneBridge
import Wire

/// Runs the reference board on a loop: listens, and carries its actions out.
package final class BoardHost {
    /// Told in a short line what happens, for a terminal.
    package var onNote: ((String) -> Void)?
    /// Told how each command of the script ended.
    package var onOutcome: ((BridgeCommand, CommandResponse) -> Void)?

    private let loop: any EventLoop
    private let options: BoardOptions
    private let server: HTTPServer
    private var board: Board
    private var timer: ScheduledAction?
    /// The requests that wait for their answers.
    private var exchanges: [ExchangeID: HTTPExchange] = [:]
    private var links: [LinkID: WebSocketConnection] = [:]
    private var exchangeCount: UInt64 = 0
    /// The commands of the script by their steps.
    private var scripted: [BridgeCommand] = []
    private var steps: [ScheduledAction] = []
    /// Polls to come that get no answer.
    private var heldPollCount = 0
    private var isStopped = false

    package init(loop: any EventLoop, options: BoardOptions = BoardOptions()) {
        self.loop = loop
        self.options = options
        board = Board(options: options)
        // The limits of board-http-facts, "HTTP basics".
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = options.maximumBodySize
        limits.headTime = options.timeScale.nanoseconds(seconds: 10)
        limits.requestTime = options.timeScale.nanoseconds(seconds: 30)
        limits.idleTime = options.timeScale.nanoseconds(seconds: 120)
        server = HTTPServer(on: loop, limits: limits)
        server.onRequest = { [weak self] exchange in self?.take(exchange) }
        server.onCutRequest = { [weak self] request, peer in
            self?.input { board, now in
                board.receiveCut(request, isFromLoopback: peer.ip.isLoopback, at: now)
                return []
            }
        }
        server.onTrouble = { [weak self] error in
            self?.onNote?("cannot accept connections for a moment: \(error)")
        }
    }

    /// Starts to listen; port 0 takes any free one.
    /// - Returns: the address with the port that was taken.
    @discardableResult
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        try server.listen(on: address)
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
        isStopped = true
        timer?.cancel()
        timer = nil
        for step in steps { step.cancel() }
        steps = []
        server.close()
        for link in links.values { link.abort() }
        links = [:]
    }

    // MARK: - Connections

    private func take(_ exchange: HTTPExchange) {
        exchangeCount += 1
        let id = ExchangeID(rawValue: exchangeCount)
        exchanges[id] = exchange
        exchange.onGone = { [weak self] in self?.exchanges[id] = nil }
        if heldPollCount > 0, Self.isPoll(exchange.request.head) {
            heldPollCount -= 1
            return
        }
        input { board, now in
            board.receive(
                exchange.request, isFromLoopback: exchange.peerAddress.ip.isLoopback,
                exchange: id, at: now)
        }
    }

    private static func isPoll(_ head: HTTPHead) -> Bool {
        HTTPRoute(
            method: head.method ?? "", target: head.target ?? "",
            paths: Contract.current.paths) == .poll
    }

    private func accept(_ exchange: HTTPExchange, as id: LinkID, _ action: BoardAction.Accept) {
        guard let (stream, rest) = exchange.switchProtocols(action.head) else {
            input { board, now in board.linkEnded(id, cleanly: false, at: now) }
            return
        }
        var endpoint = WebSocketEndpoint.Options(role: .server, deflate: action.deflate)
        endpoint.framing = options.framing
        endpoint.closeTimeout = options.timeScale.nanoseconds(seconds: 5)
        let link = WebSocketConnection(stream, options: endpoint, rest: rest, on: loop)
        link.gathersWrites = true
        links[id] = link
        link.onMessage = { [weak self] _, bytes in
            self?.input { board, now in board.receive(message: bytes, on: id, at: now) }
        }
        link.onClosed = { [weak self] closing in
            self?.links[id] = nil
            self?.onNote?("a phone's connection ended: \(closing.text)")
            self?.input { board, now in
                board.linkEnded(id, cleanly: closing.isClean, at: now)
            }
        }
        onNote?("a phone connected from \(link.peerAddress)")
    }

    // MARK: - The machine

    private func input(_ body: (inout Board, Moment) -> [BoardAction]) {
        guard !isStopped else { return }
        let actions = body(&board, Moment(monotonic: loop.now, wall: loop.wallClock))
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: BoardAction) {
        switch action {
        case .respond(let id, let response):
            for link in links.values { link.flush() }
            exchanges.removeValue(forKey: id)?.respond(response)
        case .accept(let accepted):
            guard let exchange = exchanges.removeValue(forKey: accepted.exchange) else { return }
            accept(exchange, as: accepted.link, accepted)
        case .send(let link, let bytes):
            links[link]?.send(.text, bytes)
        case .close(let link, let code, let reason):
            links[link]?.close(CloseCode(rawValue: code), reason)
        case .commandEnded(let step, let response):
            guard scripted.indices.contains(step) else { return }
            onOutcome?(scripted[step], response)
        }
    }

    private func perform(_ step: BoardStep) {
        switch step {
        case .send(let command):
            scripted.append(command)
            let number = scripted.count - 1
            input { board, now in board.issue(command, step: number, at: now) }
        case .enqueue(let command):
            var isQueued = false
            input { board, now in
                isQueued = board.enqueue(command, at: now)
                return []
            }
            if !isQueued { onNote?("the queue does not take command \(command.id)") }
        case .close(let code, let reason):
            // The machine hears of it once they are closed.
            for link in links.values { link.close(CloseCode(rawValue: code), reason) }
        case .holdPoll: heldPollCount += 1
        }
    }

    private func rearm() {
        let deadline = isStopped ? nil : board.nextDeadline
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in
                self?.input { board, now in board.deadlineReached(at: now) }
            }
        }
    }
}

extension WebSocketEndpoint.Closing {
    /// Whether close frames crossed, so that both sides know that it is over.
    var isClean: Bool {
        switch cause {
        case .peer, .own, .failure: true
        case .lost, .timeout: false
        }
    }

    /// How it ended, in a few words.
    var text: String {
        let code = payload.code.map { " \($0.rawValue) \(payload.reason)" } ?? ""
        return switch cause {
        case .peer: "the peer closed it\(code)"
        case .own: "closed\(code)"
        case .failure: "closed\(code)"
        case .lost: "it broke off"
        case .timeout: "the peer did not answer the close frame"
        }
    }
}
