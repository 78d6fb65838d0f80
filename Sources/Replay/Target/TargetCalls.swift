import Network
import Wire

/// The command lines and requests that are under way for a target.
final class TargetCalls {
    /// How long a connection is used again: far less than any server keeps one.
    private static let keptTime = nanosecondsPerSecond / 2

    /// Connections that are kept for the next requests.
    private static let maximumIdle = 64

    private let loop: any EventLoop
    private var calls: [ObjectIdentifier: Call] = [:]
    private var shells: [ObjectIdentifier: ShellProcess] = [:]
    private var clients: [Endpoint: HTTPClient] = [:]
    private var lastUse: [Endpoint: Int64] = [:]
    private var onEnd: (() -> Void)?
    /// What has to be told that it was stopped.
    private var stopped: [(Result<Bytes, TargetError>) -> Void] = []

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs a command line for the shell; see `ShellProcess`.
    ///
    /// Cancelling ends the program as well.
    @discardableResult
    func run(
        _ line: String, for step: TargetStep, input: Bytes = [], environment: [String: String],
        timeout: Int64, _ completion: @escaping (Result<Bytes, TargetError>) -> Void
    ) -> any Cancellable {
        let call = Call(completion)
        guard let real = loop as? UVLoop else {
            return fail(call, .noPrograms(step))
        }
        do throws(TargetError) {
            var id: ObjectIdentifier?
            let shell = try ShellProcess(
                line, for: step, input: input, environment: environment, timeout: timeout, on: real
            ) { [weak self] result in
                self?.calls[ObjectIdentifier(call)] = nil
                call.finish(result)
                if let id { self?.shells[id] = nil }
                self?.lookForEnd()
            }
            id = ObjectIdentifier(shell)
            shells[ObjectIdentifier(shell)] = shell
            call.onCancel = { [weak self, weak shell] in
                self?.calls[ObjectIdentifier(call)] = nil
                shell?.end(.stopped)
            }
            calls[ObjectIdentifier(call)] = call
            return call
        } catch {
            return fail(call, error)
        }
    }

    /// Sends a request; an answer with another status than a 2xx is a refusal.
    @discardableResult
    func send(
        _ request: HTTPMessage, to endpoint: Endpoint, for step: TargetStep, timeout: Int64,
        _ completion: @escaping (Result<Bytes, TargetError>) -> Void
    ) -> any Cancellable {
        ask(request, to: endpoint, for: step, timeout: timeout) { result in
            completion(
                result.flatMap { response in
                    let status = response.head.status ?? 0
                    guard (200...299).contains(status) else {
                        return .failure(
                            .refused(step, status: status, body: Self.start(of: response.body)))
                    }
                    return .success(response.body)
                })
        }
    }

    /// Sends a request, whatever its answer is.
    @discardableResult
    func ask(
        _ request: HTTPMessage, to endpoint: Endpoint, for step: TargetStep, timeout: Int64,
        _ completion: @escaping (Result<HTTPMessage, TargetError>) -> Void
    ) -> any Cancellable {
        var response: HTTPMessage?
        let call = Call { result in
            completion(
                result.flatMap { _ in response.map { .success($0) } ?? .failure(.stopped) })
        }
        let client = client(for: endpoint)
        let sent = client.send(request, timeout: timeout) { [weak self] result in
            self?.calls[ObjectIdentifier(call)] = nil
            switch result {
            case .success(let message):
                response = message
                call.finish(.success(message.body))
            case .failure(let error): call.finish(.failure(.noAnswer(step, error)))
            }
        }
        call.onCancel = { [weak self] in
            self?.calls[ObjectIdentifier(call)] = nil
            sent.cancel()
        }
        calls[ObjectIdentifier(call)] = call
        return call
    }

    private func client(for endpoint: Endpoint) -> HTTPClient {
        let client = clients[endpoint] ?? HTTPClient(to: endpoint, on: loop)
        // A stimulus may wait as long as its command, and many commands may be in flight.
        client.maximumIdle = Self.maximumIdle
        clients[endpoint] = client
        // A server that tires of a kept connection closes it just when the next request is on its
        // way, and nobody can tell then whether the request was run.
        if let last = lastUse[endpoint], loop.now - last > Self.keptTime { client.closeIdle() }
        lastUse[endpoint] = loop.now
        return client
    }

    /// Fails a call that cannot be made, as it would fail later.
    private func fail(_ call: Call, _ error: TargetError) -> any Cancellable {
        loop.schedule(at: loop.now) { call.finish(.failure(error)) }
        return call
    }

    /// Ends everything.
    /// - Parameter completion: runs once no program is left, after what was under way has failed
    ///   as stopped.
    func end(_ completion: @escaping () -> Void) {
        let calls = calls.values
        self.calls = [:]
        for call in calls {
            if let finish = call.take() { stopped.append(finish) }
            call.onCancel?()
        }
        for shell in shells.values { shell.end(.stopped) }
        for client in clients.values { client.closeIdle() }
        clients = [:]
        lastUse = [:]
        onEnd = completion
        loop.schedule(at: loop.now) { [self] in lookForEnd() }
    }

    private func lookForEnd() {
        guard shells.isEmpty, let onEnd else { return }
        self.onEnd = nil
        let stopped = stopped
        self.stopped = []
        for finish in stopped { finish(.failure(.stopped)) }
        onEnd()
    }

    /// The start of a body, on one line.
    private static func start(of body: Bytes) -> String {
        let maximumLength = 200
        let text = String(decoding: body.prefix(4 * maximumLength), as: UTF8.self)
        let words = text.split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 } }
        let line = words.joined(separator: " ")
        return line.count > maximumLength ? String(line.prefix(maximumLength)) + "…" : line
    }

    /// One call; it ends once.
    private final class Call: Cancellable {
        private var completion: ((Result<Bytes, TargetError>) -> Void)?
        var onCancel: (() -> Void)?

        init(_ completion: @escaping (Result<Bytes, TargetError>) -> Void) {
            self.completion = completion
        }

        func take() -> ((Result<Bytes, TargetError>) -> Void)? {
            defer { completion = nil }
            return completion
        }

        func finish(_ result: Result<Bytes, TargetError>) {
            onCancel = nil
            take()?(result)
        }

        func cancel() {
            guard take() != nil else { return }
            onCancel?()
            onCancel = nil
        }
    }
}
