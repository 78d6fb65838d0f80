import Wire

/// One connection of an HTTP client: one request at a time.
final class HTTPClientConnection: Cancellable {
    let stream: any TCPStream
    private let loop: any EventLoop
    private var machine: HTTPClientMachine
    private var timer: DeadlineTimer?
    private var completion: ((Result<HTTPMessage, HTTPRequestError>) -> Void)?
    /// Called with the 101 and the bytes behind it; without it a switch is an error.
    var onSwitch: ((HTTPHead, Bytes) -> Void)?
    /// Called when the server ends the connection while it is idle.
    var onIdleEnd: (() -> Void)?
    private var isOver = false

    init(_ stream: any TCPStream, limits: HTTPClientMachine.Limits, on loop: any EventLoop) {
        self.stream = stream
        self.loop = loop
        machine = HTTPClientMachine(limits: limits)
        timer = DeadlineTimer(on: loop) { [weak self] in
            guard let self else { return }
            carryOut(machine.deadlineReached(now: loop.now))
        }
        stream.onRead = { [self] chunk in
            carryOut(chunk.withSpan { machine.receive($0, now: loop.now) })
        }
        stream.onEnd = { [self] end in
            switch end {
            case .fin: carryOut(machine.peerEnded(now: loop.now))
            case .reset(let error), .timedOut(let error), .failed(let error):
                finish(.failure(.network(error)))
                close()
            }
        }
        stream.resume()
    }

    /// Whether another request can be sent.
    var canSend: Bool { !isOver && completion == nil && machine.canSend }

    /// Sends a request; `completion` runs exactly once, unless it is cancelled.
    func send(
        _ request: HTTPMessage, timeout: Int64,
        _ completion: @escaping (Result<HTTPMessage, HTTPRequestError>) -> Void
    ) {
        guard canSend else {
            loop.schedule(at: loop.now) {
                completion(.failure(.http(.closed(isWithinResponse: false))))
            }
            return
        }
        self.completion = completion
        carryOut(machine.send(request, timeout: timeout, now: loop.now))
    }

    private func carryOut(_ actions: [HTTPClientMachine.Action]) {
        var result: Result<HTTPMessage, HTTPRequestError>?
        for action in actions {
            guard !isOver else { return }
            switch action {
            case .send(let bytes): stream.write(bytes)
            case .interim: break
            case .response(let message): result = .success(message)
            case .failed(let error): result = .failure(.http(error))
            case .switched(let head, let rest):
                guard let onSwitch else {
                    result = .failure(.http(.unexpectedSwitch))
                    close()
                    break
                }
                letGo()
                completion = nil
                stream.pause()
                return onSwitch(head, rest)
            case .close: close()
            }
        }
        timer?.set(machine.deadline)
        if let result { finish(result) }
    }

    private func finish(_ result: Result<HTTPMessage, HTTPRequestError>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    /// Closes the connection; a request under way gets no answer.
    func close() {
        guard !isOver else { return }
        letGo()
        stream.close()
        onIdleEnd?()
        onIdleEnd = nil
    }

    /// Gives up the request under way, and with it the connection.
    func cancel() {
        completion = nil
        close()
    }

    private func letGo() {
        isOver = true
        timer?.cancel()
        timer = nil
        stream.onRead = nil
        stream.onEnd = nil
    }
}
