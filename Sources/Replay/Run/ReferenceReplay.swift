import BridgeProxy
import Capture
package import Network
package import PhoneBridge
package import Report
package import Simulator
import Wire

/// Plays sessions against the reference peers in one process and in virtual time: an hour of a
/// session takes well under a second.
package struct ReferenceReplay: Sendable {
    package var speed = StepSchedule.Speed.max
    package var defects: Set<Defect> = []
    package var seed: UInt64 = 1
    package var contract = Contract.current
    package var profile = Profile.contract
    /// What the session's rules file says.
    package var rules = ComparisonRules()
    /// What the link adds to every message, in nanoseconds, from and to.
    package var latency: ClosedRange<Int>?
    /// The people that the reference app's phone knows from before; nil for its own.
    package var contacts: PhoneContacts?
    /// Whether the app's state can be set, as a hook would.
    package var canSetState = true
    /// Keeps the lines of the live session's timeline.
    package var keepsRows = false

    package init() {}

    /// Why nothing was played; no session leads here.
    package enum Failure: Error {
        case network(NetworkError)
        case noHost
        /// The play did not come to its end in a day of virtual time.
        case endless
    }

    /// Plays the app's side against the reference board.
    package func asApp(_ session: RecordedSession) throws(Failure) -> ReplayResult {
        let world = makeWorld()
        guard let host = world.addHost("192.168.42.1") else { throw .noHost }
        var options = BoardOptions()
        options.defects = defects
        let board = BoardHost(loop: host, options: options)
        // The board lets its own machine alone have commands sent.
        guard let loopback = IPAddress(parsing: "127.0.0.1") else { throw .noHost }
        let address = SocketAddress(loopback, port: 8080)
        let live = LiveSession(
            name: "live", contract: contract, profile: profile, keepsRows: keepsRows)
        let recorder = Recorder(
            outputs: [live], loop: host, contract: contract, tellsOutcomes: true)
        live.receive(Self.beginning(host))
        let loop = TappedLoop(host, recorder: recorder)
        do {
            try board.listen(on: address)
        } catch {
            throw .network(error)
        }
        let driver = ReferenceBoardDriver(host, board: Endpoint(address))
        var playing = PlayerOptions()
        playing.speed = speed
        playing.canStimulate = true
        playing.contract = contract
        playing.rules = rules
        let run = AppRun(
            ReplayScript.app(session, canStimulate: true, contract: contract),
            to: Endpoint(address), on: loop, driver: driver, options: playing)
        run.onOutcome = { id, response in recorder.outcome(of: id, response) }
        var isOver = false
        run.onEnd = { isOver = true }
        let start = world.now
        run.start()
        guard world.run(limit: Self.day, until: { isOver }) else { throw .endless }
        let duration = world.now - start
        world.run(for: nanosecondsPerSecond)
        _ = recorder.finish()
        board.stop()
        return withExtendedLifetime(driver) {
            ReplayResult(run.player, live: live, duration: duration)
        }
    }

    /// Plays the board's side against the reference app.
    package func asBoard(_ session: RecordedSession) throws(Failure) -> ReplayResult {
        let world = makeWorld()
        guard let host = world.addHost("192.168.42.1"), let phone = world.addHost("192.168.42.2")
        else { throw .noHost }
        let live = LiveSession(
            name: "live", contract: contract, profile: profile, keepsRows: keepsRows)
        let recorder = Recorder(outputs: [live], loop: host, contract: contract)
        live.receive(Self.beginning(host))
        let script = ReplayScript.board(session, contract: contract)
        let address = SocketAddress(host.ip, port: 8080)
        let app = AppHost(loop: phone, board: Endpoint(address), options: options(for: script))
        let driver = ReferenceAppDriver(host, app: app)
        var playing = PlayerOptions()
        playing.speed = speed
        playing.canSetState = canSetState
        playing.contract = contract
        playing.rules = rules
        let run = BoardRun(
            script, on: TappedLoop(host, recorder: recorder), driver: driver, options: playing)
        do {
            try run.listen(on: address)
        } catch {
            throw .network(error)
        }
        var isOver = false
        run.onEnd = { isOver = true }
        let start = world.now
        run.start()
        app.start()
        guard world.run(limit: Self.day, until: { isOver }) else { throw .endless }
        let duration = world.now - start
        world.run(for: nanosecondsPerSecond)
        app.stop()
        _ = recorder.finish()
        return withExtendedLifetime(driver) {
            ReplayResult(run.player, live: live, duration: duration)
        }
    }

    /// The first line of what takes place.
    private static func beginning(_ host: SimulatedLoop) -> Event {
        let start = Timestamp(wall: host.wallClock).nanosecondText
        return Event(
            time: 0,
            kind: .session(
                SessionInfo(id: "live", startedAt: start, tool: "bridgetap", source: "replay")))
    }

    private static let day: Int64 = 86_400 * nanosecondsPerSecond

    private func makeWorld() -> SimulatedWorld {
        let world = SimulatedWorld(seed: seed)
        if let latency { world.conditions.latency = latency }
        return world
    }

    /// An app on the platform that the recording shows.
    private func options(for script: ReplayScript) -> AppOptions {
        var options = AppOptions()
        options.defects = defects
        if let contacts { options.contacts = contacts }
        if let phone = script.phone(contract) {
            options.platform = phone.platform
            options.phoneID = phone.id ?? options.phoneID
        }
        return options
    }
}
