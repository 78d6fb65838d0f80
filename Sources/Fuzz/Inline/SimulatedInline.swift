import Capture
import Network
import PhoneBridge
import Replay
package import Simulator
package import Wire

/// Both reference peers and what stands between them, in one process and in virtual time.
package struct SimulatedInline {
    /// What came of it.
    package struct Outcome: Sendable {
        package var campaign: InlineCampaign
        /// Nanoseconds of virtual time.
        package var duration: Int64
        /// What was sent, with a note behind each message that was changed: NDJSON.
        package var session: Bytes
        package var activity: InlineActivity
        /// The phone, with what was done on it.
        package var phone: Phone
    }

    /// Planted in the one peer or the other.
    package var defects: Set<Defect> = []
    package var options: InlineSession.Options
    /// Whether the app offers compression and the board takes it.
    package var compresses = false
    /// Told what is worth it, as it goes on.
    package var onEvent: ((InlineCampaign.Event) -> Void)?
    /// Told in words what goes wrong with the session itself.
    package var onTrouble: ((String) -> Void)?
    /// Asked now and then whether to end.
    package var shouldStop: () -> Bool = { false }

    package init(_ options: InlineSession.Options) {
        self.options = options
    }

    /// Between two looks whether it is over.
    private static let step = 5 * nanosecondsPerSecond

    /// Runs a session of so many nanoseconds of virtual time, or until all cases that were asked
    /// for are over.
    package func run(for time: Int64) throws -> Outcome {
        let world = SimulatedWorld(seed: options.seed)
        // Addresses of the link (contract, "Connection").
        let phone = world.addHost(IPAddress.v4(0xc0a8_2a02))
        let middle = world.addHost(IPAddress.v4(0xc0a8_2a64))
        let machine = world.addHost(IPAddress.v4(0xc0a8_2a01))
        var boardOptions = BoardOptions()
        boardOptions.defects = defects.filter { $0.side == .board }
        let board = BoardHost(loop: machine, options: boardOptions)
        let place = SocketAddress(machine.ip, port: 8080)
        // By its own machine too, which alone may have commands sent.
        try board.listen(on: SocketAddress(IPAddress.v4(0), port: place.port))
        let memory = SessionMemory()
        let info = SessionInfo(
            id: "inline", startedAt: Timestamp(wall: middle.wallClock).nanosecondText,
            tool: options.tool, contract: options.contract.version, source: "fuzz")
        let output = try SessionWriter(session: info) { (_) throws(OutputError) in memory }
        var options = options
        options.allowFrom = [CIDR(parsing: "192.168.42.0/24")].compactMap(\.self)
        let session = InlineSession(options, on: middle, outputs: [output])
        session.onEvent = onEvent
        session.onTrouble = onTrouble
        let driver = ReferenceBoardDriver(machine, board: Endpoint(place))
        let door = SocketAddress(middle.ip, port: 8080)
        try session.start(on: door, upstream: [place], driver: driver)
        var appOptions = AppOptions()
        appOptions.defects = defects.filter { $0.side == .app }
        appOptions.offersCompression = compresses
        let app = AppHost(loop: phone, board: Endpoint(door), options: appOptions)
        app.start()
        while world.now < time, !session.campaign.isDone, !shouldStop() {
            world.run(for: min(Self.step, time - world.now))
        }
        session.stop()
        app.stop()
        board.stop()
        return withExtendedLifetime(driver) {
            Outcome(
                campaign: session.campaign, duration: world.now, session: memory.bytes,
                activity: session.activity, phone: app.phone)
        }
    }
}
