import BridgeProxy
package import Capture
package import Network
package import PhoneBridge
package import Report
import Simulator
import Wire

/// How sessions are played.
package struct ReplayOptions: Sendable {
    package var speed = StepSchedule.Speed.max
    /// Everything has to come in the recorded order.
    package var isStrict = false
    package var contract = Contract.current
    package var profile = Profile.contract
    /// What the peer gets for each thing it has to do, in nanoseconds.
    package var patience: Int64 = 10 * nanosecondsPerSecond
    /// The first line's `tool`.
    package var tool = "bridgetap"
    /// Rules count as broken though the recorded peer broke them as well.
    package var countsRecordedBreaches = false
    /// Keeps the lines of both sessions' timelines, to show where something differs.
    package var keepsRows = false
    /// Keeps the session that takes place, to show it by itself.
    package var keepsSession = false

    package init() {}
}

/// Plays one session against the implementation under test: starts it, plays, records what takes
/// place, and ends it.
package final class SessionReplay {
    /// What came of it.
    package enum Ending {
        /// It was played.
        case played(ReplayResult)
        /// The target could not be used; what took place before is there where anything did.
        case lost(TargetError, ReplayResult?)
        /// The session that takes place cannot be written, or where to play the board not listened.
        case cannotRecord(OutputError)
        case cannotListen(SocketAddress, NetworkError)
    }

    private let session: LoadedSession
    private let options: ReplayOptions
    private let target: Target
    private let loop: any EventLoop
    private let outputs: [String]
    private let rules: ComparisonRules
    private var recording: Recording?
    private var live: LiveSession
    private var kept: SpooledOutput?
    private var appRun: AppRun?
    private var boardRun: BoardRun?
    private var startedAt: Int64 = 0
    private var completion: ((Ending) -> Void)?
    /// Told in a short line what happens.
    package var onNote: ((String) -> Void)?
    /// Whether the files hold everything that took place, once it was played.
    package private(set) var isRecordComplete = true
    /// What remains on the phone, once it was played.
    package private(set) var remaining: [EffectGate.Remainder] = []

    /// - Parameters:
    ///   - outputs: the files of the session that takes place.
    ///   - rules: the session's rules file: which values flow, what a phone has to be brought into.
    package init(
        _ session: LoadedSession, options: ReplayOptions, target: Target, loop: any EventLoop,
        outputs: [String] = [], rules: ComparisonRules = ComparisonRules()
    ) {
        self.session = session
        self.options = options
        self.target = target
        self.loop = loop
        self.outputs = outputs
        self.rules = rules
        live = LiveSession(
            name: "live", contract: options.contract, profile: options.profile,
            keepsRows: options.keepsRows, defers: true)
    }

    /// Plays it; `completion` runs exactly once, unless `stop` comes before.
    package func start(_ completion: @escaping (Ending) -> Void) {
        self.completion = completion
        // In a turn of its own: to read the session took a while that is not the play's.
        loop.schedule(at: loop.now) { [weak self] in
            guard let self, self.completion != nil else { return }
            begin()
        }
    }

    private func begin() {
        startedAt = loop.now
        target.onDeath = { [weak self] error in self?.lost(error) }
        switch target.options.reach {
        case .dial(let url):
            target.start { [weak self] result in
                switch result {
                case .failure(let error): self?.end(.lost(error, nil))
                case .success(let endpoint): self?.playApp(endpoint, basePath: url.path)
                }
            }
        case .listen(let endpoint): playBoard(endpoint)
        }
    }

    /// Ends at once; what was written is closed in good order.
    package func stop() {
        completion = nil
        appRun?.stop()
        boardRun?.stop()
        _ = recording?.stop()
        recording = nil
    }

    // MARK: Playing

    private func record(_ played: Side, at place: String) throws(OutputError) -> Recorder {
        let original = session.recorded.info
        let info = SessionInfo(
            id: Self.id(loop), startedAt: Timestamp(wall: loop.wallClock).nanosecondText,
            tool: options.tool, contract: options.contract.version, source: "replay",
            listen: played == .board ? place : nil, upstream: played == .app ? place : nil,
            redacted: original?.redacted,
            labels: [
                FieldLine("replayed", original?.id ?? session.name),
                FieldLine("as", played.rawValue),
            ])
        live.receive(Event(time: 0, kind: .session(info)))
        var files = Recording.Options(session: info, outputs: outputs)
        files.tellsOutcomes = played == .app
        var besides: [any SessionOutput] = [live]
        if options.keepsSession {
            let spool = SpooledOutput(name: "live")
            besides.append(
                try SessionWriter(session: info) { (_) throws(OutputError) in spool })
            kept = spool
        }
        let recording = try Recording(files, loop: loop, besides: besides) { _ in }
        self.recording = recording
        return recording.recorder
    }

    /// Sixteen hexadecimal digits by chance.
    private static func id(_ loop: any EventLoop) -> String {
        var digits = Bytes()
        appendHex(loop.randomBytes(8).span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// What is put behind ids where the target may still know those of another run.
    private var suffix: String {
        if target.options.launch != .byOthers { return "" }
        return "-" + Self.id(loop).prefix(6)
    }

    /// How the players go about it, once the target is known.
    private var playing: PlayerOptions {
        var playing = PlayerOptions()
        playing.speed = options.speed
        playing.timeScale = options.profile.timeScale
        playing.patience = options.patience
        playing.isStrict = options.isStrict
        playing.suffix = suffix
        playing.canStimulate = target.canStimulate
        playing.canSetState = target.canSetState
        playing.contract = options.contract
        playing.rules = rules
        return playing
    }

    private func playApp(_ endpoint: Endpoint, basePath: String) {
        let recorder: Recorder
        do throws(OutputError) {
            recorder = try record(.app, at: endpoint.description)
        } catch {
            return end(.cannotRecord(error))
        }
        let script = ReplayScript.app(
            session.recorded, canStimulate: target.canStimulate, contract: options.contract)
        let run = AppRun(
            script, to: endpoint, basePath: basePath == "/" ? nil : basePath,
            on: TappedLoop(loop, recorder: recorder), driver: target, options: playing)
        run.onNote = onNote
        run.onOutcome = { id, response in recorder.outcome(of: id, response) }
        run.onEnd = { [weak self] in self?.finished() }
        appRun = run
        run.start()
    }

    private func playBoard(_ endpoint: Endpoint) {
        loop.resolve(endpoint.host, port: endpoint.port) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): end(.lost(.unreachable(endpoint, error), nil))
            case .success(let addresses):
                guard let address = addresses.first else {
                    let error = NetworkError(
                        errno: 0, call: "getaddrinfo", kind: .nameNotFound)
                    return end(.lost(.unreachable(endpoint, error), nil))
                }
                listen(on: address)
            }
        }
    }

    private func listen(on address: SocketAddress) {
        let recorder: Recorder
        do throws(OutputError) {
            recorder = try record(.board, at: address.description)
        } catch {
            return end(.cannotRecord(error))
        }
        let level: EffectGate.Level =
            switch target.options.effects(isReferencePeer: false) {
            case .none: .none
            case .own: .own
            case .all: .all
            }
        let script = ReplayScript.board(
            session.recorded, states: rules.states, contract: options.contract)
        let run = BoardRun(
            script,
            on: TappedLoop(loop, recorder: recorder), driver: target, options: playing,
            gate: EffectGate(level: level))
        run.onNote = onNote
        run.onEnd = { [weak self] in self?.finished() }
        boardRun = run
        let bound: SocketAddress
        do throws(NetworkError) {
            bound = try run.listen(on: address)
        } catch {
            return end(.cannotListen(address, error))
        }
        onNote?("waiting for the app on \(bound)")
        let platform = script.phone(options.contract)?.platform ?? .ios
        target.start(listeningOn: bound.port, platform: platform) { [weak self] result in
            switch result {
            case .failure(let error): self?.end(.lost(error, nil))
            case .success: self?.boardRun?.start()
            }
        }
    }

    // MARK: The end

    private var result: ReplayResult? {
        let duration = loop.now - startedAt
        var result: ReplayResult?
        if let appRun {
            result = ReplayResult(appRun.player, live: live, duration: duration)
        } else if let boardRun {
            result = ReplayResult(boardRun.player, live: live, duration: duration)
        }
        result?.isRecordComplete = isRecordComplete
        result?.session = kept
        return result
    }

    private func finished() {
        closeRecording()
        remaining = boardRun?.player.gate.remaining ?? []
        guard let result else { return }
        end(.played(result))
    }

    private func lost(_ error: TargetError) {
        // A turn later, so that what it said before its end is on record.
        loop.schedule(after: 50 * nanosecondsPerMillisecond) { [weak self] in
            guard let self, completion != nil else { return }
            appRun?.stop()
            boardRun?.stop()
            closeRecording()
            end(.lost(error, result))
        }
    }

    private func closeRecording() {
        guard let recording else { return }
        isRecordComplete = recording.stop().isComplete
        self.recording = nil
    }

    private func end(_ ending: Ending) {
        guard let completion else { return }
        self.completion = nil
        appRun?.stop()
        boardRun?.stop()
        closeRecording()
        target.onDeath = nil
        target.stop { [weak self] stopped in
            if case .failure(let error) = stopped { self?.onNote?("\(error)") }
            completion(ending)
        }
    }
}
