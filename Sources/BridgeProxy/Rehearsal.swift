package import Capture
package import Network
package import PhoneBridge
package import Simulator
package import Wire

/// Records an example session between the two reference peers, in one process and in virtual
/// time: the phone, the recorder and the board are hosts of a simulated network.
///
/// The recorder is the very one of `bridgetap record`; the same seed gives the same file.
package enum Rehearsal {
    /// What came of it.
    package struct Outcome: Sendable {
        /// The session as NDJSON.
        package var session: Bytes
        /// How long it took for the peers, in nanoseconds.
        package var duration: Int64
        package var statistics: RecordingStatistics
    }

    /// Why a rehearsal could not begin; no input leads here.
    package enum Failure: Error {
        case network(NetworkError)
        case output(OutputError)
        case noHost
    }

    private static let file = "session.ndjson"

    /// Plays and records `example`.
    ///
    /// - Parameter makeRedactor: that of `Recording.Options`.
    package static func record(
        _ example: ExampleSession, seed: UInt64 = 1, tool: String,
        makeRedactor: (() -> Redactor)? = nil
    ) throws(Failure) -> Outcome {
        let world = SimulatedWorld(seed: seed)
        guard let phone = world.addHost("192.168.42.2"),
            let toolHost = world.addHost("192.168.42.3"),
            let otherPhone = world.addHost("192.168.42.4"),
            let middle = world.addHost("192.168.42.100"),
            let boardHost = world.addHost("192.168.42.1")
        else { throw .noHost }
        let board = BoardHost(loop: boardHost, options: example.board)
        let address = SocketAddress(boardHost.ip, port: 8080)
        var proxy = ProxyConfiguration(
            listen: SocketAddress(middle.ip, port: 8080), target: .upstream(Endpoint(address)))
        proxy.allowFrom = [CIDR(parsing: "192.168.42.0/24")].compactMap(\.self)
        let info = SessionInfo(
            id: example.name, startedAt: Timestamp(wall: middle.wallClock).nanosecondText,
            tool: tool, source: "simulation", listen: proxy.listen.description,
            upstream: address.description,
            labels: [
                FieldLine("example", example.summary),
                FieldLine("peers", example.peers.map(\.rawValue).joined(separator: " ")),
            ])
        let recording: Recording
        do {
            var options = Recording.Options(session: info, outputs: [file])
            options.tellsOutcomes = true
            options.makeRedactor = makeRedactor
            recording = try Recording(options, loop: middle) { _ in }
        } catch {
            throw .output(error)
        }
        let carrier = Proxy(proxy, loop: middle, recorder: recording.recorder) { _ in }
        do {
            try board.listen(on: address)
            try carrier.start(upstream: [address])
            recording.start(carrier)
        } catch {
            throw .network(error)
        }
        let app = AppHost(loop: phone, board: Endpoint(proxy.listen), options: example.app)
        board.onOutcome = { command, response in
            recording.recorder.outcome(of: command.id.text, response.json)
        }
        let callers = [(toolHost, example.tool), (otherPhone, example.otherPhone)].map {
            loop, script in
            let caller = RequestHost(loop: loop, board: Endpoint(proxy.listen))
            caller.run(script)
            return caller
        }
        let guest = example.visitor.map {
            visit(of: $0, to: Endpoint(proxy.listen), from: otherPhone)
        }
        app.start()
        app.run(example.scenario)
        board.run(example.script)
        world.run(for: Int64(example.duration * Double(nanosecondsPerSecond)))
        for caller in callers { caller.stop() }
        guest?.stop()
        app.stop()
        world.run(for: nanosecondsPerSecond)
        let summary = recording.stop()
        board.stop()
        return Outcome(
            session: middle.disk.files[file] ?? [], duration: summary.duration,
            statistics: summary.statistics)
    }

    private static func visit(
        of visitor: ExampleSession.Visitor, to board: Endpoint, from loop: SimulatedLoop
    ) -> AppHost {
        let app = AppHost(loop: loop, board: board, options: visitor.app)
        let scale = visitor.app.timeScale
        loop.schedule(after: scale.nanoseconds(seconds: visitor.comes)) { [weak app] in
            app?.start()
        }
        loop.schedule(after: scale.nanoseconds(seconds: visitor.goes)) { [weak app] in
            app?.stop()
        }
        return app
    }
}
