package import Network
package import PhoneBridge
import Wire

/// Runs the reference app on a loop: connects to a board, and carries its actions out.
package final class AppHost {
    /// Told in a short line what happens, for a terminal.
    package var onNote: ((String) -> Void)?

    private let loop: any EventLoop
    private let options: AppOptions
    private let board: Endpoint
    private let client: HTTPClient
    private var app: App
    private var attempts: [LinkID: any Cancellable] = [:]
    private var links: [LinkID: WebSocketConnection] = [:]
    private var requests: [RequestID: any Cancellable] = [:]
    private var timer: ScheduledAction?
    private var steps: [ScheduledAction] = []
    private var isStopped = false

    package init(loop: any EventLoop, board: Endpoint, options: AppOptions = AppOptions()) {
        self.loop = loop
        self.board = board
        self.options = options
        app = App(options: options)
        client = HTTPClient(to: board, on: loop)
    }

    /// The phone behind the app.
    package var phone: Phone {
        get { app.phone }
        set { app.phone = newValue }
    }

    /// Whether a WebSocket is open.
    package var isConnected: Bool { app.isConnected }

    /// The state that the app is in.
    package var state: PhoneStateWord { app.state }

    /// Brings the app into a state; it has taken effect when this returns.
    package func enter(_ state: PhoneStateWord) {
        for step in AppStep.steps(into: state, from: app.state) { perform(step) }
    }

    /// Starts the app in the foreground.
    package func start() {
        input { app, now in app.start(at: now) }
    }

    /// Lets something happen to the app.
    package func perform(_ step: AppStep) {
        input { app, now in app.perform(step, at: now) }
    }

    /// Runs a scenario; its times count from now.
    package func run(_ scenario: AppScenario) {
        for entry in scenario.entries {
            let delay = options.timeScale.nanoseconds(seconds: entry.second)
            let step = loop.schedule(after: delay) { [weak self] in self?.perform(entry.step) }
            steps.append(step)
        }
    }

    /// Ends everything; the connection is closed in good order if there is one.
    package func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
        for step in steps { step.cancel() }
        steps = []
        for attempt in attempts.values { attempt.cancel() }
        attempts = [:]
        for request in requests.values { request.cancel() }
        requests = [:]
        client.closeIdle()
        for link in links.values { link.close(.normal) }
        links = [:]
    }

    private func input(_ body: (inout App, Moment) -> [AppAction]) {
        guard !isStopped else { return }
        let actions = body(&app, Moment(monotonic: loop.now, wall: loop.wallClock))
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: AppAction) {
        switch action {
        case .connect(let id, let target):
            for link in links.values { link.flush() }
            connect(id, target)
        case .send(let id, let bytes):
            links[id]?.send(.text, bytes)
        case .close(let id, let code, let reason):
            links[id]?.close(CloseCode(rawValue: code), reason)
        case .listen(let id, let isOn):
            if isOn { links[id]?.resume() } else { links[id]?.pause() }
        case .abort(let id):
            attempts.removeValue(forKey: id)?.cancel()
            links.removeValue(forKey: id)?.abort()
        case .request(let id, let method, let target, let body):
            for link in links.values { link.flush() }
            request(id, method, target, body)
        case .cancel(let id):
            requests.removeValue(forKey: id)?.cancel()
        }
    }

    // MARK: - HTTP

    private func request(_ id: RequestID, _ method: String, _ target: String, _ body: Bytes?) {
        var fieldLines = [FieldLine("Accept", "application/json")]
        if body != nil { fieldLines.append(FieldLine("Content-Type", "application/json")) }
        // The app gives a request up itself; twice its patience is for when it lost track.
        let patience = options.timeScale.nanoseconds(seconds: 2 * AppTimes.requestLimit)
        requests[id] = client.send(
            .request(
                method, target, host: board.description, fieldLines: fieldLines, body: body ?? []),
            timeout: patience
        ) { [weak self] result in
            self?.requests[id] = nil
            self?.input { app, now in
                guard case .success(let response) = result, let status = response.head.status
                else { return app.requestFailed(id, at: now) }
                return app.replied(to: id, status: status, body: response.body, at: now)
            }
        }
    }

    // MARK: - WebSocket

    private func connect(_ id: LinkID, _ target: String) {
        var request = WebSocketRequest(target: target)
        request.timeout = options.timeScale.nanoseconds(seconds: 2 * AppTimes.connectLimit)
        if options.offersCompression { request.offers = [DeflateParameters()] }
        attempts[id] = WebSocketClient.connect(
            to: board, request, on: loop,
            configure: { [options] endpoint in
                endpoint.maximumMessage = options.maximumMessageSize
                endpoint.compressionThreshold = options.compressionThreshold
                // Gone before the next attempt, so that there is one connection at a time.
                endpoint.closeTimeout = options.timeScale.nanoseconds(seconds: 2)
            }
        ) { [weak self] result in
            self?.attempts[id] = nil
            switch result {
            case .success(let link):
                self?.adopt(link, as: id)
            case .failure(let error):
                self?.onNote?("no connection: \(error.text)")
                self?.input { app, now in app.linkEnded(id, at: now) }
            }
        }
    }

    private func adopt(_ link: WebSocketConnection, as id: LinkID) {
        link.gathersWrites = true
        links[id] = link
        link.onMessage = { [weak self, unowned link] _, bytes in
            let firstFragmentCount = link.firstFrame.map(Self.visibleCount)
            self?.input { app, now in
                app.receive(
                    message: bytes, firstFragmentCount: firstFragmentCount, on: id, at: now)
            }
        }
        link.onClosed = { [weak self] closing in
            self?.links[id] = nil
            self?.onNote?("the connection ended: \(closing.text)")
            self?.input { app, now in app.linkEnded(id, at: now) }
        }
        onNote?("connected to \(board)")
        input { app, now in app.linkOpened(id, at: now) }
    }

    /// How much of a message its first frame carries; a compressed one carries all there is to see.
    private static func visibleCount(_ header: FrameHeader) -> Int {
        header.rsv & 4 == 0 ? Int(clamping: header.payloadLength) : .max
    }

    private func rearm() {
        let deadline = isStopped ? nil : app.nextDeadline
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in
                self?.input { app, now in app.deadlineReached(at: now) }
            }
        }
    }
}
