package import Network
package import Simulator
package import Wire

/// The implementation under test, from its start to its end.
///
///     idle ──start──> starting ──> running ──dies──> down
///      ^                 │ fails ───────────────────^ │
///      └──── stopping <──┴──────────── stop ──────────┘
///
/// A start runs `--before`, starts or restarts the target, waits until it is ready, and looks for
/// the reference board's stimulus where none was named. Whatever came of it, `stop` follows: it ends
/// what was spawned, runs `--after`, and leaves nothing behind.
package final class Target: TargetDriver {
    private enum State {
        case idle
        case starting((Result<Endpoint, TargetError>) -> Void)
        case running
        /// It is lost, or never came; what there is of it waits for `stop`.
        case down
        case stopping
    }

    /// How often a target is started that dies because its free port was taken meanwhile.
    private static let maximumAttempts = 3
    /// How long a target that others keep running may take to accept a connection.
    private static let connectTime = 10 * nanosecondsPerSecond
    /// How long a board may take to say whether it has the reference board's stimulus.
    private static let lookTime = 5 * nanosecondsPerSecond
    private static let stimulusPath = "/simulate/command"

    package let options: TargetOptions
    /// The number of the job, from 1: `{job}`.
    package let job: Int
    /// Told once when a target that was started ends by itself while it runs.
    package var onDeath: ((TargetError) -> Void)?
    /// Told each line that a spawned target writes.
    package var onOutput: ((TargetOutput.Line) -> Void)?
    /// Where it is, or where it comes to; nil before a start was successful.
    package private(set) var endpoint: Endpoint?
    /// The last lines that a spawned target wrote; they stay when it is stopped.
    package var output: TargetOutput { process?.output ?? lastOutput }
    /// The process id of a spawned target, while it runs.
    package var processID: Int32? { process?.pid }

    private let loop: any EventLoop
    private let calls: TargetCalls
    private var state = State.idle
    private var values: TargetValues
    private var ports: [UInt16] = []
    private var hasFolder = false
    private var hasReferenceStimulus = false
    private var process: TargetProcess?
    private var lastOutput = TargetOutput()
    private var watch: ReadinessWatch?
    private var step: (any Cancellable)?
    private var attempt = 0
    private var stopWaiters: [(Result<Void, TargetError>) -> Void] = []

    /// Makes a target that is not started.
    /// - Parameter loop: programs are run on the real driver only.
    package init(_ options: TargetOptions, on loop: any EventLoop, job: Int = 1) {
        self.options = options
        self.loop = loop
        self.job = job
        calls = TargetCalls(on: loop)
        values = TargetValues(job: job)
    }

    // MARK: - Start

    /// Brings a fresh target up.
    ///
    /// - Parameters:
    ///   - port: where the player listens, for an app under test; nil takes the port of the
    ///     options.
    ///   - platform: the system that an app under test is to be on.
    ///   - completion: runs exactly once: with the place where a board serves, or where an app
    ///     comes to. `stop` has to follow in either case.
    package func start(
        listeningOn port: UInt16? = nil, platform: Platform = .ios,
        _ completion: @escaping (Result<Endpoint, TargetError>) -> Void
    ) {
        guard case .idle = state else {
            loop.schedule(at: loop.now) { completion(.failure(.stopped)) }
            return
        }
        state = .starting(completion)
        values.platform = platform
        attempt = 1
        hasReferenceStimulus = options.stimulus == .reference
        do throws(TargetError) {
            try prepare(listeningOn: port)
        } catch {
            return failLater(error)
        }
        guard let before = options.before else { return launch() }
        run(before, for: .before) { [self] in launch() }
    }

    /// Whether a fresh target can be brought up in place of the one that runs.
    package var canRestart: Bool { options.launch != .byOthers }

    /// Brings a fresh target up, whether the one that there was still runs or not.
    /// - Parameter completion: as for `start`; the port of a board may be another one than before.
    package func restart(_ completion: @escaping (Result<Endpoint, TargetError>) -> Void) {
        switch state {
        case .running where canRestart, .down where canRestart: break
        case .idle, .starting, .running, .down, .stopping:
            let error = canRestart ? TargetError.stopped : .noWay(.restart)
            loop.schedule(at: loop.now) { completion(.failure(error)) }
            return
        }
        state = .starting(completion)
        attempt = 1
        calls.end { [self] in endProcess { [self] in relaunch() } }
    }

    private func prepare(listeningOn port: UInt16?) throws(TargetError) {
        if options.runsPrograms, !hasFolder, loop is UVLoop {
            do throws(FileError) {
                values.folder = try TargetFolderFile.make()
            } catch {
                throw .noFolder(error)
            }
            hasFolder = true
        }
        if options.usesControl, loop is UVLoop { values.control = try reserve(.loopback) }
        switch options.reach {
        case .listen(let endpoint): values.port = port ?? endpoint.port
        case .dial: try takePort()
        }
    }

    /// Settles where a board is to serve.
    private func takePort() throws(TargetError) {
        guard case .dial(let url) = options.reach else { return }
        values.port = url.endpoint.port
        guard options.isSpawned, loop is UVLoop else { return }
        let ip = url.endpoint.address?.ip
        if url.endpoint.port == 0 {
            values.port = try reserve(ip ?? .loopback)
        } else if let ip, TargetPorts.isTaken(SocketAddress(ip, port: values.port), on: loop) {
            throw .portTaken(place)
        }
    }

    private func reserve(_ ip: IPAddress) throws(TargetError) -> UInt16 {
        do throws(NetworkError) {
            let port = try TargetPorts.reserve(on: loop, at: ip)
            ports.append(port)
            return port
        } catch {
            throw .noPort(error)
        }
    }

    /// Where the target is, or comes to.
    private var place: Endpoint {
        switch options.reach {
        case .dial(let url): Endpoint(host: url.endpoint.host, port: values.port)
        case .listen(let endpoint): Endpoint(host: endpoint.host, port: values.port)
        }
    }

    private func launch() {
        guard case .starting = state else { return }
        switch options.launch {
        case .byOthers: reach()
        case .restart(let command, let readiness):
            let sign = sign(of: readiness)
            run(command, for: .restart) { [self] in waitFor(sign) }
        case .spawn(let command, let readiness):
            guard let real = loop as? UVLoop else { return failLater(.noPrograms(.spawn)) }
            let sign = sign(of: readiness)
            do throws(TargetError) {
                let process = try TargetProcess(
                    command.filled(with: values), environment: values.environment, on: real)
                process.onLine = { [weak self] line in
                    self?.onOutput?(line)
                    self?.watch?.take(line: line.text)
                }
                process.onDeath = { [weak self, unowned process] exit in
                    self?.died(exit, process.output)
                }
                self.process = process
            } catch {
                return failLater(error)
            }
            waitFor(sign)
        }
    }

    /// What shows that the target is ready; nil for an app, which says so by connecting.
    private func sign(of readiness: TargetReadiness) -> ReadinessWatch.Sign? {
        switch readiness {
        case .connection:
            if case .listen = options.reach { nil } else { .connection(place) }
        case .text(let text): .text(text)
        case .file(let template):
            .file(
                template.filled(with: values),
                before: FileStamp(ofFile: template.filled(with: values)))
        }
    }

    private func waitFor(_ sign: ReadinessWatch.Sign?) {
        guard let sign else {
            step = loop.schedule(at: loop.now) { [self] in succeed() }
            return
        }
        watch = ReadinessWatch(sign, time: options.readyTime, on: loop) { [self] isReady in
            let waitedFor = watch?.waitedFor ?? ""
            watch = nil
            if isReady {
                lookForStimulus()
            } else {
                fail(
                    .notReady(
                        waitedFor: waitedFor, seconds: options.readyTime / nanosecondsPerSecond,
                        output))
            }
        }
    }

    /// Sees whether a target that others keep running is there.
    private func reach() {
        guard case .dial = options.reach else { return waitFor(nil) }
        let place = place
        let connect = ConnectOptions(deadline: loop.now + Self.connectTime)
        step = loop.connect(to: place, options: connect) { [self] result in
            switch result {
            case .success(let stream):
                stream.close()
                lookForStimulus()
            case .failure(let error): fail(.unreachable(place, error))
            }
        }
    }

    /// Asks a board whether it has the reference board's stimulus, where no other was named.
    ///
    /// GET has no effect there: it is answered with 405 and `Allow: POST`. A board without it
    /// says 404, or anything else.
    private func lookForStimulus() {
        guard case .dial = options.reach, options.stimulus == nil else { return succeed() }
        let place = place
        let request = TargetRequest.message("GET", Self.stimulusPath, to: place, body: [])
        step = calls.ask(request, to: place, for: .stimulus, timeout: Self.lookTime) { [self] in
            if case .success(let response) = $0, response.head.status == 405 {
                hasReferenceStimulus = response.head.fieldLines.has(token: "POST", in: "Allow")
            }
            succeed()
        }
    }

    private func succeed() {
        guard case .starting(let completion) = state else { return }
        step = nil
        state = .running
        endpoint = place
        completion(.success(place))
    }

    private func fail(_ error: TargetError) {
        guard case .starting(let completion) = state else { return }
        state = .down
        step?.cancel()
        step = nil
        watch?.cancel()
        watch = nil
        completion(.failure(error))
    }

    private func failLater(_ error: TargetError) {
        step = loop.schedule(at: loop.now) { [self] in fail(error) }
    }

    // MARK: - Death

    private func died(_ exit: ChildExit, _ output: TargetOutput) {
        let error = TargetError.died(exit, output)
        switch state {
        case .starting:
            watch?.cancel()
            watch = nil
            step?.cancel()
            guard mayTryAgain(after: output) else { return fail(error) }
            attempt += 1
            endProcess { [self] in relaunch() }
        case .running:
            state = .down
            onDeath?(error)
        case .idle, .down, .stopping: break
        }
    }

    /// Whether it died because somebody took its free port, and another one would do.
    private func mayTryAgain(after output: TargetOutput) -> Bool {
        guard case .dial(let url) = options.reach, url.endpoint.port == 0,
            attempt < Self.maximumAttempts,
            // What was made ready for this port would be wrong for another.
            options.before?.places.contains(.port) != true
        else { return false }
        return output.contains("address already in use") || output.contains("EADDRINUSE")
    }

    private func relaunch() {
        guard case .starting = state else { return }
        do throws(TargetError) {
            try takePort()
        } catch {
            return failLater(error)
        }
        launch()
    }

    private func endProcess(_ completion: @escaping () -> Void) {
        guard let process else { return completion() }
        process.end { [self] in
            lastOutput = process.output
            self.process = nil
            completion()
        }
    }

    // MARK: - Stop

    /// Ends what was started, and takes away all that there is of it.
    ///
    /// A spawned target is asked to end (SIGTERM), and killed with all that it started when two
    /// seconds have passed. Calls that are under way fail as stopped. The target can be started
    /// anew afterwards.
    /// - Parameter completion: runs exactly once, when nothing is left; it fails where `--after`
    ///   failed, or the private folder cannot be removed.
    package func stop(_ completion: @escaping (Result<Void, TargetError>) -> Void) {
        stopWaiters.append(completion)
        switch state {
        case .stopping: return
        case .starting(let start):
            stopWaiters.insert({ _ in start(.failure(.stopped)) }, at: 0)
        case .idle:
            state = .stopping
            loop.schedule(at: loop.now) { [self] in isStopped(.success(())) }
            return
        case .running, .down: break
        }
        state = .stopping
        step?.cancel()
        step = nil
        watch?.cancel()
        watch = nil
        calls.end { [self] in
            endProcess { [self] in
                guard let after = options.after else { return cleanUp(.success(())) }
                call(after, for: .after) { [self] in cleanUp($0.map { _ in () }) }
            }
        }
    }

    private func cleanUp(_ result: Result<Void, TargetError>) {
        var result = result
        TargetPorts.release(ports)
        ports = []
        if hasFolder {
            hasFolder = false
            do throws(FileError) {
                try TargetFolderFile.remove(values.folder)
            } catch {
                if case .success = result { result = .failure(.noFolder(error)) }
            }
        }
        isStopped(result)
    }

    private func isStopped(_ result: Result<Void, TargetError>) {
        state = .idle
        endpoint = nil
        let waiters = stopWaiters
        stopWaiters = []
        for waiter in waiters { waiter(result) }
    }

    // MARK: - Calls

    /// Runs a hook of a start, and goes on where it ended well.
    private func run(
        _ command: TargetTemplate, for step: TargetStep, _ next: @escaping () -> Void
    ) {
        call(command, for: step) { [self] result in
            switch result {
            case .success: next()
            case .failure(let error): fail(error)
            }
        }
    }

    private func call(
        _ command: TargetTemplate, for step: TargetStep,
        _ completion: @escaping (Result<Bytes, TargetError>) -> Void
    ) {
        calls.run(
            command.filled(with: values), for: step, environment: values.environment,
            timeout: options.hookTime, completion)
    }

    package var canStimulate: Bool {
        hasReferenceStimulus || options.stimulus != nil
    }

    package var canSetState: Bool { options.onState != nil }

    // MARK: - Measures

    /// Whether it can be told what the target's process takes: it was spawned, or there is a probe.
    package var canMeasure: Bool { options.probe != nil || options.isSpawned }

    /// How long a probe may take.
    private static let probeTime = 10 * nanosecondsPerSecond

    /// Measures what the target's process takes: all of its group where it was spawned.
    /// - Parameter completion: runs exactly once, unless the call is cancelled.
    @discardableResult
    package func measure(
        _ completion: @escaping (Result<ProcessMeasure, TargetError>) -> Void
    ) -> any Cancellable {
        guard let probe = options.probe else {
            let measure = processID.flatMap { ProcessMeasure.ofGroup($0) }
            return loop.schedule(at: loop.now) {
                completion(measure.map { .success($0) } ?? .failure(.noWay(.probe)))
            }
        }
        return calls.run(
            probe.filled(with: values), for: .probe, environment: values.environment,
            timeout: Self.probeTime
        ) { result in
            completion(
                result.flatMap { output in
                    if let measure = ProbeAnswer.read(output) { return .success(measure) }
                    let start = String(decoding: output.prefix(80), as: UTF8.self)
                    return .failure(.strangeAnswer(.probe, start))
                })
        }
    }

    @discardableResult
    package func stimulate(
        _ command: JSON, timeout: Int64,
        _ completion: @escaping (Result<JSON?, TargetError>) -> Void
    ) -> any Cancellable {
        let answer = { (result: Result<Bytes, TargetError>) in
            completion(result.map(StimulusAnswer.read))
        }
        var values = values
        values.command = command.description
        switch options.stimulus {
        case nil where !hasReferenceStimulus: return refuse(.noWay(.stimulus), completion)
        case nil, .reference?:
            let request = TargetRequest.message(
                "POST", Self.stimulusPath, to: place, body: command.encoded)
            return calls.send(request, to: place, for: .stimulus, timeout: timeout, answer)
        case .call(.request(let request))?:
            return send(request, values, for: .stimulus, timeout: timeout, answer)
        case .call(.command(let line))?:
            return calls.run(
                line.filled(with: values), for: .stimulus, input: command.encoded,
                environment: values.environment, timeout: timeout, answer)
        }
    }

    package func setState(
        _ state: String, _ completion: @escaping (Result<Void, TargetError>) -> Void
    ) {
        let done = { (result: Result<Bytes, TargetError>) in completion(result.map { _ in () }) }
        var values = values
        values.state = state
        switch options.onState {
        case nil: refuse(.noWay(.onState), completion)
        case .request(let request)?:
            send(request, values, for: .onState, timeout: options.hookTime, done)
        case .command(let line)?:
            // It comes from a recording, and stands in a command line: quoted or not, nothing in
            // it may mean anything to the shell.
            guard state.utf8.allSatisfy(Self.isPlain) else {
                return _ = refuse(.strangeState(state), completion)
            }
            calls.run(
                line.filled(with: values), for: .onState, environment: values.environment,
                timeout: options.hookTime, done)
        }
    }

    @discardableResult
    private func send(
        _ request: TargetRequest, _ values: TargetValues, for step: TargetStep, timeout: Int64,
        _ completion: @escaping (Result<Bytes, TargetError>) -> Void
    ) -> any Cancellable {
        do throws(TargetTextError) {
            let (endpoint, message) = try request.message(with: values)
            return calls.send(message, to: endpoint, for: step, timeout: timeout, completion)
        } catch {
            return refuse(.wrongText(step, error), completion)
        }
    }

    @discardableResult
    private func refuse<Value>(
        _ error: TargetError, _ completion: @escaping (Result<Value, TargetError>) -> Void
    ) -> any Cancellable {
        loop.schedule(at: loop.now) { completion(.failure(error)) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.,:= ".utf8.contains(byte)
        }
    }
}
