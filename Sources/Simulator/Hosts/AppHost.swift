package import Network
import Wire

/// Runs the reference app on a loop: connects to a board, and carries its actions out.
package final class AppHost {
    /// Told in a short line what happens, for a terminal.
    package var onNote: ((String) -> Void)?

    private let loop: any EventLoop
    private let options: AppOptions
    private let board: Endpoint
    private var app: App
    private var links: [LinkID: ClientLink] = [:]
    private let requests: ClientRequests
    private var timer: ScheduledAction?
    private var steps: [ScheduledAction] = []
    private var isStopped = false

    package init(loop: any EventLoop, board: Endpoint, options: AppOptions = AppOptions()) {
        self.loop = loop
        self.board = board
        self.options = options
        app = App(options: options)
        // The app gives a request up itself; twice that is for a host that lost track.
        requests = ClientRequests(
            loop: loop, board: board,
            limit: options.timeScale.nanoseconds(seconds: 2 * AppTimes.requestLimit))
    }

    /// The phone behind the app.
    package var phone: Phone {
        get { app.phone }
        set { app.phone = newValue }
    }

    /// Whether a WebSocket is open.
    package var isConnected: Bool { app.isConnected }

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
        requests.stop()
        for link in Array(links.values) { link.close(1000, "") }
    }

    private var moment: Moment { Moment(monotonic: loop.now, wall: loop.wallClock) }

    private func input(_ body: (inout App, Moment) -> [AppAction]) {
        guard !isStopped else { return }
        let actions = body(&app, moment)
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: AppAction) {
        switch action {
        case .connect(let id, let target): connect(id, target)
        case .send(let id, let bytes): links[id]?.send(.text, bytes)
        case .close(let id, let code, let reason): links[id]?.close(code, reason)
        case .abort(let id): links[id]?.abort()
        case .request(let id, let method, let target, let body):
            requests.start(id, method: method, target: target, body: body) {
                [weak self] response in self?.take(response, to: id)
            }
        case .cancel(let id): requests.cancel(id)
        }
    }

    private func take(_ response: HTTPMessage?, to id: RequestID) {
        input { app, now in
            guard let response, let status = response.head.status else {
                return app.requestFailed(id, at: now)
            }
            return app.replied(to: id, status: status, body: response.body, at: now)
        }
    }

    private func connect(_ id: LinkID, _ target: String) {
        var linkOptions = ClientLink.Options(
            board: board, target: target,
            connectTime: options.timeScale.nanoseconds(seconds: 2 * AppTimes.connectLimit))
        if options.offersCompression {
            linkOptions.offers = [DeflateParameters()]
            linkOptions.compressionThreshold = options.compressionThreshold
        }
        linkOptions.maximumMessage = options.maximumMessageSize
        linkOptions.watchesFragments = options.defects.contains(.a18)
        var callbacks = ClientLink.Callbacks()
        callbacks.opened = { [weak self] in
            self?.onNote?("connected to \(self?.board.description ?? "the board")")
            self?.input { app, now in app.linkOpened(id, at: now) }
        }
        callbacks.message = { [weak self] _, bytes, firstFragmentCount in
            self?.input { app, now in
                app.receive(
                    message: bytes, firstFragmentCount: firstFragmentCount, on: id, at: now)
            }
        }
        callbacks.ended = { [weak self] why in
            self?.links[id] = nil
            self?.onNote?("no connection: \(why)")
            self?.input { app, now in app.linkEnded(id, at: now) }
        }
        links[id] = ClientLink(loop: loop, options: linkOptions, callbacks: callbacks)
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
