package import Network
import Wire

/// Asks a board by HTTP, one request after the other on a connection that is kept.
package final class RequestHost {
    private let loop: any EventLoop
    private let board: Endpoint
    private let timeScale: TimeScale
    private let client: HTTPClient
    private var steps: [ScheduledAction] = []
    /// Connections of requests that are never whole.
    private var cut: [any TCPStream] = []
    private var attempts: [any Cancellable] = []

    /// Seconds that an answer may take; the board's own limit is shorter.
    private static let patience = 60.0

    package init(loop: any EventLoop, board: Endpoint, timeScale: TimeScale = TimeScale()) {
        self.loop = loop
        self.board = board
        self.timeScale = timeScale
        client = HTTPClient(to: board, on: loop)
    }

    /// Runs a script; its times count from now.
    package func run(_ script: RequestScript) {
        for entry in script.entries {
            let delay = timeScale.nanoseconds(seconds: entry.second)
            steps.append(
                loop.schedule(after: delay) { [weak self] in self?.perform(entry.step) })
        }
    }

    /// Ends everything; idle connections are closed in good order.
    package func stop() {
        for step in steps { step.cancel() }
        steps = []
        for attempt in attempts { attempt.cancel() }
        attempts = []
        client.closeIdle()
        for stream in cut { stream.close() }
        cut = []
    }

    private func perform(_ request: BoardRequest) {
        let message = request.message(to: board.description)
        guard request.missingCount == 0 else {
            return sendCut(message, missing: request.missingCount)
        }
        // What came of it stands in the recording, and nowhere else.
        client.send(message, timeout: timeScale.nanoseconds(seconds: Self.patience)) { _ in }
    }

    private func sendCut(_ message: HTTPMessage, missing: Int) {
        let (head, body) = message.encodedRequest()
        attempts.append(
            loop.connect(to: board, options: ConnectOptions()) { [weak self] result in
                guard let self, case .success(let stream) = result else { return }
                cut.append(stream)
                stream.resume()
                _ = stream.write(head + body.dropLast(missing))
                stream.shutdown()
            })
    }
}
