package import BridgeProxy
package import Capture
package import Network
package import PhoneBridge
package import Replay
import Wire

/// What the sides of a live session have shown.
package struct InlineActivity: Sendable {
    package var reached: [Side: Set<Sometimes>] = [:]
    /// Different states and shapes of answers.
    package var shapes: [Side: Int] = [:]

    package init() {}
}

/// A live session between an app and a board, in which messages are mutated on their way.
///
/// The app's link and the board's are two sessions, since each side is judged by what it really got
/// and said; a third one is what was sent, with a note behind each message that was changed.
package final class InlineSession {
    /// How it goes about it.
    package struct Options: Sendable {
        package var seed: UInt64 = 0
        package var profile = Profile.contract
        package var contract = Contract.current
        package var levels: Set<FuzzLevel> = []
        /// Letters and digits for the ids of this session, so that an app that remembers those of
        /// an earlier one takes none for the same.
        package var mark = ""
        package var budget = InlineCampaign.Budget()
        /// What may be made of commands on their way to the phone.
        package var effects = TargetEffects.none
        /// The day by which waivers end, as in `2026-12-31`; nil to have all hold.
        package var today: String?
        /// The first lines' `tool`.
        package var tool = "bridgetap"
        /// Who may connect, besides this machine.
        package var allowFrom: [CIDR] = []
        /// The board is told to send a command so often, in nanoseconds of the protocol's time,
        /// where there is a way to tell it.
        package var pace = 3 * nanosecondsPerSecond

        package init() {}
    }

    /// Told what is worth it.
    package var onEvent: ((InlineCampaign.Event) -> Void)?
    /// Told in words what goes wrong beside the link, each thing once.
    package var onTrouble: ((String) -> Void)?
    /// Told what a person at the terminal should know of the relay.
    package var onRemark: ((RecordingRemark) -> Void)?
    package var campaign: InlineCampaign { state.campaign }
    /// Where it listens; nil before `start`.
    package var localAddress: SocketAddress? { proxy?.localAddress }
    /// Nanoseconds since it began.
    package var elapsed: Int64 { loop.now - startedAt }
    /// What the two sides have shown so far.
    package var activity: InlineActivity {
        var activity = InlineActivity()
        for (side, end) in ends {
            activity.reached[side] = end.observer.reached
            activity.shapes[side] = end.observer.shapes.count
        }
        return activity
    }
    /// How the files of the session stand.
    package var outputs: [OutputStatus] { recorder.statuses }

    private let loop: any EventLoop
    private let options: Options
    private let startedAt: Int64
    /// What was sent, with notes.
    private let recorder: Recorder
    private let ends: [Side: End]
    private let tapped: TappedLoop
    private let state: InlineState
    private var proxy: Proxy?
    private var client: HTTPClient?
    private var timer: ScheduledAction?
    private var driver: (any TargetDriver)?
    private var source: InlineCommands?
    private var looks: [ScheduledAction] = []
    private var current: Int64?

    /// One side's link, as that side knows it.
    private struct End {
        var recorder: Recorder
        var observer: CaseObserver
        var ring: EventRing
    }

    private var troubles: Set<String> = []
    private var statusPath = ""
    private var isStopped = false

    /// Between two looks at what was seen, in nanoseconds of the protocol's time.
    private static let tick = nanosecondsPerSecond
    /// So many troubles are told.
    private static let maximumTroubles = 20
    /// What is kept of a link.
    private static let bounds = EventRing.Bounds(size: 8 << 20, events: 20_000)
    /// What stands before a mutation in a finding's session.
    private static let before = 20 * nanosecondsPerSecond

    /// - Parameter outputs: where the session goes.
    package init(_ options: Options, on loop: any EventLoop, outputs: [any SessionOutput]) {
        self.options = options
        self.loop = loop
        startedAt = loop.now
        recorder = Recorder(
            outputs: outputs, loop: loop, contract: options.contract, tellsOutcomes: true)
        let checker = RuleChecker(
            contract: options.contract, profile: options.profile, today: options.today,
            counts: false)
        var ends: [Side: End] = [:]
        for side in Side.allCases {
            let observer = CaseObserver(judging: side, checker: checker)
            let ring = EventRing(
                SessionInfo(
                    id: "inline-\(side.rawValue)",
                    startedAt: Timestamp(wall: loop.wallClock).nanosecondText,
                    tool: options.tool, contract: options.contract.version, source: "fuzz",
                    labels: [FieldLine("as", side.peer.rawValue)]),
                bounds: Self.bounds)
            ends[side] = End(
                recorder: Recorder(
                    outputs: [observer, ring], loop: loop, contract: options.contract,
                    tellsOutcomes: side == .board, gathersFrames: false), observer: observer,
                ring: ring)
        }
        self.ends = ends
        tapped = TappedLoop(
            loop, accepted: ends[.app]?.recorder ?? recorder,
            dialled: ends[.board]?.recorder ?? recorder)
        let plan = InlinePlan(
            seed: options.seed, contract: options.contract, profile: options.profile,
            levels: options.levels, mark: options.mark)
        let campaign = InlineCampaign(
            plan, judge: Judge(profile: options.profile, today: options.today),
            budget: options.budget, timeScale: options.profile.timeScale, now: loop.now)
        state = InlineState(
            campaign, gate: Self.gate(options), options.contract,
            timeScale: options.profile.timeScale, on: loop)
    }

    private static func gate(_ options: Options) -> EffectGate? {
        switch options.effects {
        case .none: EffectGate(level: .none, contract: options.contract)
        case .own: EffectGate(level: .own, contract: options.contract)
        case .all: nil
        }
    }

    // MARK: Start and end

    /// Begins to listen for the app.
    ///
    /// - Parameters:
    ///   - upstream: the addresses of the board, tried in turn.
    ///   - basePath: the path of the board's interface; nil for the contract's.
    ///   - driver: has the board send commands; held weakly. Nil where others do.
    package func start(
        on address: SocketAddress, upstream: [SocketAddress], basePath: String? = nil,
        driver: (any TargetDriver)? = nil
    ) throws(NetworkError) {
        guard let board = upstream.first else { return }
        var configuration = ProxyConfiguration(
            listen: address, target: .upstream(Endpoint(board)))
        configuration.allowFrom = options.allowFrom
        let proxy = Proxy(configuration, loop: tapped, recorder: recorder, striker: state) {
            [weak self] in self?.onRemark?($0)
        }
        try proxy.start(upstream: upstream)
        self.proxy = proxy
        self.driver = driver
        client = HTTPClient(to: Endpoint(board), on: tapped)
        statusPath = (basePath ?? options.contract.paths.base) + "/status"
        if let driver, driver.canStimulate {
            source = InlineCommands(
                options.contract, seed: options.seed, mark: options.mark,
                gate: Self.gate(options))
            loop.schedule(after: scaled(options.pace)) { [weak self] in self?.stimulate() }
        }
        timer = loop.schedule(after: scaled(Self.tick)) { [weak self] in self?.look() }
    }

    /// Ends the session; what is being looked into is judged by what is known.
    package func stop() {
        guard !isStopped else { return }
        look()
        isStopped = true
        timer?.cancel()
        for look in looks { look.cancel() }
        looks = []
        // What was seen a moment ago is not forgotten: a death, say.
        if state.campaign.current?.observations.isEmpty == false { endCase() }
        state.campaign.stop(now: loop.now)
        tellEvents()
        client?.closeIdle()
        client = nil
        // It holds what holds it.
        proxy?.stop()
        proxy = nil
        driver = nil
        for end in ends.values { _ = end.recorder.finish() }
        _ = recorder.finish()
    }

    /// A side is gone.
    package func died(_ words: String, of side: Side) {
        state.campaign.observe(.process(words), of: side, now: loop.now)
    }

    private func scaled(_ time: Int64) -> Int64 {
        Int64(max(0, min(Double(time) / max(options.profile.timeScale, 1e-6), 4e18)))
    }

    // MARK: What is seen

    private func look() {
        guard !isStopped else { return }
        timer = loop.schedule(after: scaled(Self.tick)) { [weak self] in self?.look() }
        recorder.tick()
        for side in Side.allCases {
            guard let end = ends[side] else { continue }
            end.recorder.commit()
            end.observer.advance(to: end.recorder.time)
            let breaches = end.observer.takeBreaches()
            guard !breaches.isEmpty else { continue }
            for observation in Oracle.observations(
                breaches, [], profile: options.profile, prompted: [])
            {
                state.campaign.observe(observation, of: side, now: loop.now)
            }
        }
        lookAtStatus()
        if state.campaign.isDue(loop.now) { endCase() }
        state.campaign.advance(to: loop.now)
        tellEvents()
    }

    private func endCase() {
        guard let current = state.campaign.current, let end = ends[current.judged] else { return }
        var evidence = Investigation.Evidence()
        var observations = current.observations
        if !observations.isEmpty || current.reason != .explore(state.campaign.cases - 1) {
            let since = end.recorder.time - (loop.now - current.startedAt) - Self.before
            let (bytes, shift) = end.ring.session(since: since).inMemory()
            evidence.session = bytes
            for index in observations.indices {
                observations[index].events = observations[index].events.map { $0 + shift }
                    .filter { $0 > 0 }
            }
        }
        state.campaign.endCase(observations, evidence, now: loop.now)
    }

    private func tellEvents() {
        for event in state.campaign.takeEvents() { onEvent?(event) }
    }

    /// What a board has made of what it got stands in its status document, which nobody else may
    /// ask for.
    private func lookAtStatus() {
        guard let open = state.campaign.current, open.judged == .board,
            open.startedAt != current
        else { return }
        current = open.startedAt
        looks.removeAll { !$0.isPending }
        let last = max(open.until - loop.now - scaled(2 * nanosecondsPerSecond), 0)
        for time in [scaled(1500 * nanosecondsPerMillisecond), last] {
            looks.append(loop.schedule(after: time) { [weak self] in self?.askForStatus() })
        }
    }

    private func askForStatus() {
        guard let client, !isStopped else { return }
        let request = HTTPMessage.request(
            "GET", statusPath, host: client.endpoint.description, fieldLines: [], body: [])
        client.send(request, timeout: 5 * nanosecondsPerSecond) { _ in }
    }

    // MARK: Commands

    /// Has the board send the next command.
    private func stimulate() {
        guard !isStopped, let driver else { return }
        loop.schedule(after: scaled(options.pace)) { [weak self] in self?.stimulate() }
        source?.take(things: state.things)
        guard let command = source?.next() else { return }
        let id = command["id"]?.stringValue ?? ""
        let bound =
            loop.now + scaled(InlineCommands.timeout * nanosecondsPerMillisecond)
            + Self.slack
        driver.stimulate(command, timeout: bound - loop.now + 4 * Self.slack) {
            [weak self] result in
            guard let self, !isStopped else { return }
            if loop.now > bound {
                state.campaign.observe(
                    .stimulus(command["type"]?.stringValue ?? ""), of: .board, now: loop.now)
            }
            if case .failure(let error) = result { tell("\(error)") }
            guard case .success(let response?) = result else { return }
            ends[.board]?.recorder.outcome(of: id, response)
            recorder.outcome(of: id, response)
        }
    }

    private func tell(_ trouble: String) {
        guard troubles.count < Self.maximumTroubles, troubles.insert(trouble).inserted else {
            return
        }
        onTrouble?(trouble)
    }

    private static let slack = 1500 * nanosecondsPerMillisecond
}

extension Observation {
    /// A board that was told to send a command and goes on with it for too long (U9).
    fileprivate static func stimulus(_ type: String) -> Observation {
        let check = ScriptRemark.Check.stimulusEnds
        return Observation(
            check: check.rawValue, rating: check.rating, section: check.section,
            demand: check.demand,
            text: "the board was told to send a \(type) command, and behind its time-out it had "
                + "not ended it", type: type, isUniversal: true)
    }
}
