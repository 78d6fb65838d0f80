import BridgeProxy
import Capture
import Network
package import PhoneBridge
import Replay
package import Simulator
import Wire

/// The reference peer in one process and in virtual time: a fresh one for each script, and a wait of
/// five minutes costs microseconds.
package struct SimulatedTarget: Sendable {
    package var defects: Set<Defect> = []
    package let contract: Contract
    package let profile: Profile
    private let checker: RuleChecker
    private let meaning: MeaningReader
    /// Decides about latencies and chance, together with the number of a run.
    package var seed: UInt64 = 1
    /// What the link adds to every message, in nanoseconds, from and to.
    package var latency: ClosedRange<Int>?
    /// The first line's `tool` of sessions that are kept.
    package var tool = "bridgetap"

    package init(profile: Profile = .reference, contract: Contract = .current) {
        self.profile = profile
        self.contract = contract
        checker = RuleChecker(contract: contract, profile: profile, counts: false)
        meaning = MeaningReader(contract: contract)
    }

    /// No case takes longer, in virtual time.
    private static let day: Int64 = 86_400 * nanosecondsPerSecond

    /// Runs a script against a fresh reference peer.
    ///
    /// - Parameter run: runs with different numbers differ in latencies and chance, as those against
    ///   a target over the network do.
    package func outcome(
        of script: FuzzScript, run: Int = 0, keepsSession: Bool = false
    ) -> CaseOutcome {
        let world = SimulatedWorld(seed: seed &+ UInt64(truncatingIfNeeded: run))
        if let latency { world.conditions.latency = latency }
        // An address of the link (contract, "Connection").
        let host = world.addHost(IPAddress.v4(0xc0a8_2a01))
        do {
            let recording = try CaseRecording(
                script, on: host, contract: contract, checker: checker, meaning: meaning,
                tool: tool, keepsSession: keepsSession)
            let start = world.now
            let played =
                switch script.played {
                case .app: try runAsApp(script, world, host, recording)
                case .board: try runAsBoard(script, world, host, recording)
                }
            let duration = world.now - start
            world.run(for: nanosecondsPerSecond)
            var outcome = recording.outcome(of: played, profile: profile)
            outcome.duration = duration
            return outcome
        } catch {
            var outcome = CaseOutcome()
            outcome.target = .trouble("\(error)")
            return outcome
        }
    }

    private func runAsApp(
        _ script: FuzzScript, _ world: SimulatedWorld, _ host: SimulatedLoop,
        _ recording: CaseRecording
    ) throws(NetworkError) -> ScriptRun {
        var options = BoardOptions()
        options.defects = defects
        let board = BoardHost(loop: host, options: options)
        // The board lets its own machine alone have commands sent.
        let address = SocketAddress.loopback(port: 8080)
        try board.listen(on: address)
        let driver = ReferenceBoardDriver(host, board: Endpoint(address))
        let recorder = recording.recorder
        let run = ScriptRun(
            script, on: TappedLoop(host, recorder: recorder), driver: driver,
            options: ScriptOptions(contract: contract))
        run.onOutcome = { id, response in recorder.outcome(of: id, response) }
        run.onHole = { recording.noteHole() }
        var isOver = false
        run.onEnd = { isOver = true }
        run.start(to: Endpoint(address))
        world.run(limit: Self.day, until: { isOver })
        board.stop()
        return withExtendedLifetime(driver) { run }
    }

    private func runAsBoard(
        _ script: FuzzScript, _ world: SimulatedWorld, _ host: SimulatedLoop,
        _ recording: CaseRecording
    ) throws(NetworkError) -> ScriptRun {
        let phone = world.addHost(IPAddress.v4(0xc0a8_2a02))
        let address = SocketAddress(host.ip, port: 8080)
        var options = AppOptions()
        options.defects = defects
        options.platform = script.platform
        let app = AppHost(loop: phone, board: Endpoint(address), options: options)
        let driver = ReferenceAppDriver(host, app: app)
        let run = ScriptRun(
            script, on: TappedLoop(host, recorder: recording.recorder), driver: driver,
            options: ScriptOptions(contract: contract))
        run.onHole = { recording.noteHole() }
        _ = try run.listen(on: address)
        var isOver = false
        run.onEnd = { isOver = true }
        run.startServing()
        app.start()
        world.run(limit: Self.day, until: { isOver })
        app.stop()
        return withExtendedLifetime(driver) { run }
    }
}
