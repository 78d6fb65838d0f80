import BridgeProxy
import Capture
package import Network
package import PhoneBridge
import Wire

/// Plays the board's side of a script on a loop, for an app that connects.
package final class BoardRun {
    /// Called once, when the script has come to its end and the connections are closed.
    package var onEnd: (() -> Void)?
    /// Told in a short line what happens.
    package var onNote: ((String) -> Void)?

    private let loop: any EventLoop
    private weak var driver: (any TargetDriver)?
    package private(set) var player: BoardPlayer
    private let server: HTTPServer
    private var exchanges: [Int: HTTPExchange] = [:]
    private let links: PlayLinks
    private var exchangeCount = 0
    private var course: PlayCourse?

    /// Requests that may hang at the same time; the app gives them up itself.
    private static let maximumHanging = 1024

    /// - Parameters:
    ///   - loop: the loop on which apps are served, a `TappedLoop` to record them.
    ///   - linger: how long to look for what comes too much, behind the last step; in nanoseconds.
    ///   - gate: what lets commands out to the phone.
    package init(
        _ script: ReplayScript, on loop: any EventLoop, driver: (any TargetDriver)?,
        options: PlayerOptions, linger: Int64 = 250_000_000,
        gate: EffectGate = EffectGate(level: .all)
    ) {
        self.loop = loop
        self.driver = driver
        links = PlayLinks(on: loop)
        player = BoardPlayer(script, options: options, gate: gate)
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 16 << 20
        server = HTTPServer(on: loop, limits: limits)
        server.onRequest = { [weak self] exchange in self?.take(exchange) }
        server.onTrouble = { [weak self] error in
            self?.onNote?("cannot accept connections for a moment: \(error)")
        }
        course = PlayCourse(
            on: loop, linger: linger,
            onDeadline: { [weak self] in
                self?.input { player, now in player.deadlineReached(at: now) }
            }, onFinish: { [weak self] in self?.finish() })
        links.onMessage = { [weak self] link, content in
            self?.input { player, now in player.message(content, on: link, at: now) }
        }
        links.onClosed = { [weak self] link in
            self?.input { player, now in player.linkClosed(link, at: now) }
        }
    }

    /// Starts to listen; port 0 takes any free one.
    @discardableResult
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        try server.listen(on: address)
    }

    /// Begins; apps that come before are served, but the script waits.
    package func start() {
        input { player, now in player.start(at: now) }
    }

    /// Ends at once; `onEnd` is not called.
    package func stop() {
        course?.end()
        server.close()
        links.abortAll()
        exchanges = [:]
    }

    private func input(_ body: (inout BoardPlayer, Int64) -> [BoardPlayer.Action]) {
        guard let course, course.isOpen else { return }
        for action in body(&player, loop.now) { perform(action) }
        course.update(deadline: player.nextDeadline, isFinished: player.isFinished)
    }

    /// Ends what is still open in good order.
    private func finish() {
        exchanges = [:]
        server.close()
        links.closeAll(.goingAway) { [weak self] in self?.end() }
    }

    private func end() {
        let onEnd = onEnd
        self.onEnd = nil
        loop.schedule(at: loop.now) { onEnd?() }
    }

    // MARK: What the app does

    private func take(_ exchange: HTTPExchange) {
        exchangeCount += 1
        let number = exchangeCount
        if exchanges.count < Self.maximumHanging { exchanges[number] = exchange }
        exchange.onGone = { [weak self] in self?.exchanges[number] = nil }
        let wall = loop.wallClock
        input { player, now in
            player.request(exchange.request, number, wall: wall, at: now)
        }
    }

    // MARK: Actions

    private func perform(_ action: BoardPlayer.Action) {
        switch action {
        case .respond, .cutOff, .accept, .setState, .end: links.flush()
        case .ignore, .send, .ping, .frame: break
        }
        switch action {
        case .respond(let number, let response):
            exchanges.removeValue(forKey: number)?.respond(response)
        case .ignore: break
        case .cutOff(let number): exchanges.removeValue(forKey: number)?.abort()
        case .accept(let number, let compresses, let framing):
            accept(number, compresses, framing)
        case .send(let link, let opcode, let content): links.send(opcode, content, on: link)
        case .ping(let link, let payload): links.ping(payload, on: link)
        case .frame(let link, let bytes): links.send(frame: bytes, on: link)
        case .end(let link, let how): links.end(link, how)
        case .setState(let step, let word): setState(step, word)
        }
    }

    private func accept(
        _ number: Int, _ compresses: Bool, _ framing: MessageWriter.Framing
    ) {
        let date = FieldLine(
            "Date", HTTPDate.format(secondsSince1970: loop.wallClock / nanosecondsPerSecond))
        let link = exchanges.removeValue(forKey: number)?.upgradeToWebSocket(
            deflate: compresses ? .board : nil, fieldLines: [date]
        ) { options in
            options.maximumMessage = 16 << 20
            options.framing = framing
        }
        guard let link else {
            // The app left before the answer.
            loop.schedule(at: loop.now) { [weak self] in
                self?.input { player, now in player.linkClosed(number, at: now) }
            }
            return
        }
        links.add(link, as: number)
    }

    private func setState(_ step: Int, _ word: String) {
        guard let driver else { return }
        driver.setState(word) { [weak self] result in
            var failure: String?
            if case .failure(let error) = result { failure = "\(error)" }
            self?.input { player, now in player.stateSet(step: step, failure, at: now) }
        }
    }
}
