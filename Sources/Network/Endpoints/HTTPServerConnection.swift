import Wire

/// One connection of an `HTTPServer`.
final class HTTPServerConnection {
    /// How much of the answers may wait for a slow client before its next request is read.
    private static let maximumBuffered = 1 << 20

    let stream: any TCPStream
    private weak var server: HTTPServer?
    let loop: any EventLoop
    private var machine: HTTPServerMachine
    private var timer: DeadlineTimer?
    private var exchange: HTTPExchange?
    /// What has to be done yet, while `carryOut` is at it.
    private var waiting: [HTTPServerMachine.Action]?
    private var peerHasEnded = false
    private var isOver = false

    init(_ stream: any TCPStream, server: HTTPServer) {
        self.stream = stream
        self.server = server
        loop = server.loop
        machine = HTTPServerMachine(
            limits: server.limits, now: server.loop.now, refusal: server.refusal)
    }

    func start() {
        timer = DeadlineTimer(on: loop) { [weak self] in
            guard let self else { return }
            carryOut(machine.deadlineReached(now: loop.now))
        }
        stream.onRead = { [self] chunk in
            carryOut(chunk.withSpan { machine.receive($0, now: loop.now) })
        }
        stream.onEnd = { [self] end in
            if let cut = machine.unfinishedRequest {
                server?.onCutRequest?(cut, stream.peerAddress)
            }
            if case .fin = end {
                peerHasEnded = true
                carryOut(machine.peerEnded(now: loop.now))
            } else {
                finish()
            }
        }
        stream.onDrain = { [self] in updateReading() }
        update()
    }

    /// Answers the request of `exchange`; without effect once the connection is over.
    func respond(_ response: HTTPMessage, to exchange: HTTPExchange) {
        guard !isOver, self.exchange === exchange else { return }
        self.exchange = nil
        carryOut(machine.respond(response, now: loop.now))
    }

    /// Ends HTTP on the connection with a 101 and gives out what the client sent behind its
    /// request; nil once the connection is over.
    func switchProtocols(_ head: HTTPHead, for exchange: HTTPExchange) -> Bytes? {
        guard !isOver, self.exchange === exchange else { return nil }
        self.exchange = nil
        var rest: Bytes?
        for action in machine.switchProtocols(head) {
            switch action {
            case .send(let bytes): stream.write(bytes)
            case .switched(let bytes): rest = bytes
            case .request, .close: break
            }
        }
        stream.pause()
        letGo()
        return rest
    }

    /// Sends bytes as they are if the exchange still waits for its answer, and ends the connection.
    func end(with bytes: Bytes, for exchange: HTTPExchange) {
        guard !isOver, self.exchange === exchange else { return }
        if !bytes.isEmpty { stream.write(bytes) }
        letGo()
        LingeringClose.begin(stream, peerHasEnded: peerHasEnded, on: loop)
    }

    /// Resets the connection if the exchange still waits for its answer.
    func abort(for exchange: HTTPExchange) {
        guard self.exchange === exchange else { return }
        abort()
    }

    /// Resets the connection.
    func abort() {
        stream.abort()
        finish()
    }

    private func carryOut(_ actions: [HTTPServerMachine.Action]) {
        guard !isOver else { return }
        // An answer within the call brings the next request of a pipeline. Done by recursion, the
        // thousands that one read can hold would stand on the stack.
        guard waiting == nil else {
            waiting? += actions
            return
        }
        waiting = actions
        var next = 0
        while let action = waiting.flatMap({ next < $0.count ? $0[next] : nil }) {
            next += 1
            switch action {
            case .send(let bytes):
                stream.write(bytes)
            case .request(let message):
                let exchange = HTTPExchange(message, on: self)
                self.exchange = exchange
                // The answer may come within the call, and with it the next request.
                server?.handle(exchange)
                if isOver { return }
            case .switched:
                // Only `switchProtocols` leads here, and it takes this action itself.
                break
            case .close:
                letGo()
                LingeringClose.begin(stream, peerHasEnded: peerHasEnded, on: loop)
                return
            }
        }
        waiting = nil
        update()
    }

    private func update() {
        timer?.set(machine.deadline)
        updateReading()
    }

    private func updateReading() {
        guard !isOver else { return }
        if machine.wantsInput && stream.bufferedBytes <= Self.maximumBuffered {
            stream.resume()
        } else {
            stream.pause()
        }
    }

    /// The connection has ended, whoever ended it.
    private func finish() {
        guard !isOver else { return }
        let exchange = exchange
        letGo()
        stream.close()
        exchange?.onGone?()
    }

    /// HTTP is over on this connection; the stream belongs to somebody else now, or to nobody.
    private func letGo() {
        isOver = true
        exchange = nil
        waiting = nil
        timer?.cancel()
        timer = nil
        stream.onRead = nil
        stream.onEnd = nil
        stream.onDrain = nil
        server?.remove(self)
    }
}
