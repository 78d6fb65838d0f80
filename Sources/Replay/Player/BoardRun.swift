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
    private var links: [Int: WebSocketConnection] = [:]
    private var exchangeCount = 0
    private var timer: ScheduledAction?
    private var phase = Phase.playing

    private enum Phase { case playing, lingering, ended }

    /// How long to look for what comes too much, behind the last step; in nanoseconds.
    private let linger: Int64

    /// Requests that may hang at the same time; the app gives them up itself.
    private static let maximumHanging = 1024

    /// - Parameters:
    ///   - loop: the loop on which apps are served, a `TappedLoop` to record them.
    ///   - gate: what lets commands out to the phone.
    package init(
        _ script: ReplayScript, on loop: any EventLoop, driver: (any TargetDriver)?,
        options: BoardPlayer.Options, linger: Int64 = 250_000_000,
        gate: EffectGate = EffectGate(level: .all)
    ) {
        self.loop = loop
        self.driver = driver
        self.linger = linger
        player = BoardPlayer(script, options: options, gate: gate)
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 16 << 20
        server = HTTPServer(on: loop, limits: limits)
        server.onRequest = { [weak self] exchange in self?.take(exchange) }
        server.onTrouble = { [weak self] error in
            self?.onNote?("cannot accept connections for a moment: \(error)")
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
        phase = .ended
        timer?.cancel()
        server.close()
        for link in links.values { link.abort() }
        links = [:]
        exchanges = [:]
    }

    private func input(_ body: (inout BoardPlayer, Int64) -> [BoardPlayer.Action]) {
        guard phase != .ended else { return }
        for action in body(&player, loop.now) { perform(action) }
        if player.isFinished, phase == .playing {
            phase = .lingering
            loop.schedule(after: linger) { [weak self] in self?.finish() }
        }
        rearm()
    }

    private func rearm() {
        let deadline = phase == .playing ? player.nextDeadline : nil
        guard deadline != timer?.deadline || timer?.isPending == false else { return }
        timer?.cancel()
        timer = deadline.map { time in
            loop.schedule(at: time) { [weak self] in
                self?.input { player, now in player.deadlineReached(at: now) }
            }
        }
    }

    private func finish() {
        guard phase == .lingering else { return }
        phase = .ended
        timer?.cancel()
        exchanges = [:]
        server.close()
        guard !links.isEmpty else { return end() }
        for link in links.values { link.close(.goingAway) }
        loop.schedule(after: nanosecondsPerSecond) { [weak self] in
            guard let self else { return }
            for link in links.values { link.abort() }
            links = [:]
            end()
        }
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
        case .respond(let number, let response):
            exchanges.removeValue(forKey: number)?.respond(response)
        case .ignore: break
        case .accept(let number, let compresses, let framing):
            accept(number, compresses, framing)
        case .send(let link, let opcode, let content): links[link]?.send(opcode, content)
        case .ping(let link, let payload): links[link]?.ping(payload)
        case .end(let link, let how): end(link, how)
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
        links[number] = link
        link.onMessage = { [weak self] _, content in
            self?.input { player, now in player.message(content, on: number, at: now) }
        }
        link.onClosed = { [weak self] _ in
            guard let self else { return }
            links[number] = nil
            if phase == .ended, links.isEmpty { return end() }
            input { player, now in player.linkClosed(number, at: now) }
        }
    }

    private func end(_ number: Int, _ how: ReplayScript.Ending) {
        guard let link = links[number] else { return }
        switch how {
        case .frame(.status(let code, let reason)):
            link.close(code, String(decoding: reason, as: UTF8.self))
        case .frame(.empty), .frame(.oneByte): link.close(nil)
        case .reset, .fin:
            if how == .reset { link.abort() } else { link.drop() }
            links[number] = nil
            loop.schedule(at: loop.now) { [weak self] in
                self?.input { player, now in player.linkClosed(number, at: now) }
            }
        }
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
