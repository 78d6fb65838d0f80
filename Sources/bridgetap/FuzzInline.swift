import Arguments
import BridgeProxy
import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Report
import Simulator
import Wire

/// `fuzz --inline`: the traffic of an app and a board that are both there is mutated on its way.
final class FuzzInline {
    private let options: FuzzCommandOptions
    private let store: FindingsStore
    private let profile: Profile
    private let baseline: Baseline
    private let reports: FuzzReports
    private let seed: UInt64
    private let today = FuzzCommandOptions.today
    private let begin = FuzzDesk.now()
    private var records: [String: FindingRecord] = [:]
    private var fault: (any Error)?
    private var screen: FuzzScreen
    private var end: CampaignEnd?
    /// Buckets that count.
    private var told = 0

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        store = FindingsStore(options.findings)
        profile = try options.loadProfile()
        ProfileInput.warnOfEndedWaivers(profile, today: FuzzCommandOptions.today)
        reports = try FuzzReports(options)
        baseline =
            try options.baseline.map { try FindingsStore.baseline($0, isNeeded: true) }
            ?? FindingsStore.baseline(store.baselinePath, isNeeded: false)
        seed = options.seed ?? .random(in: 0..<1_000_000_000)
        if options.seed == nil { ProcessStreams.remark(.note, "seed \(seed)") }
        screen = FuzzScreen(isJSON: options.isJSON)
        try store.make()
        for record in try store.load() { records[record.finding.name] = record }
    }

    func run() throws -> ExitCode {
        options.isSimulated ? try runSimulated() : try runLive()
    }

    private var sessionOptions: InlineSession.Options {
        var session = InlineSession.Options()
        session.seed = seed
        session.profile = profile
        session.levels = options.levels
        session.budget.cases = options.runs
        if !options.isSimulated {
            session.mark = String(UInt64.random(in: 46_656..<1_679_616), radix: 36)
        }
        session.effects = options.target.effects ?? (options.isSimulated ? .all : .none)
        session.today = today
        session.tool = Version.tool
        session.allowFrom = options.allowFrom
        return session
    }

    // MARK: The reference peers

    private func runSimulated() throws -> ExitCode {
        Interruption.listen()
        var simulated = SimulatedInline(sessionOptions)
        simulated.defects = Set(options.defects)
        simulated.onEvent = { [self] in take($0) }
        simulated.onTrouble = { ProcessStreams.remark(.warning, $0) }
        simulated.shouldStop = { [self] in
            if Interruption.isRequested { end = .interrupted }
            return Interruption.isRequested || fault != nil || hasEnough
        }
        let outcome = try simulated.run(for: options.timeLimit ?? Self.day)
        if let fault { throw fault }
        try FindingsStore.replace(sessionPath, with: outcome.session)
        return try finish(
            outcome.campaign, duration: outcome.duration, isComplete: true,
            activity: outcome.activity)
    }

    private static let day = 86_400 * nanosecondsPerSecond

    /// A name that no earlier session has.
    private lazy var sessionPath: String = {
        let time = Timestamp(seconds: Int64(Glibc.time(nil))).wholeSecondsText
            .filter { $0.isNumber || $0 == "T" }
        return "\(store.folder)/session-\(time)-\(seed).ndjson"
    }()

    // MARK: Peers over the network

    private func runLive() throws -> ExitCode {
        let loop = try FuzzTargets.makeLoop()
        let target = Target(try options.boardOptions(), on: loop)
        var code: ExitCode?
        defer { if code == nil { stop(target, loop) } }
        let board = try start(target, loop)
        let upstream = try loop.addresses(of: board.host, port: board.port, for: "--upstream")
        guard let listen = options.target.listen,
            let address = try loop.addresses(
                of: listen.host, port: listen.port, for: "--listen"
            ).first
        else { throw Failure(.usage, "--listen HOST:PORT is missing") }
        let path = sessionPath
        let info = SessionInfo(
            id: "inline-\(seed)", startedAt: Timestamp(wall: loop.wallClock).nanosecondText,
            tool: Version.tool, source: "fuzz", listen: "\(listen)", upstream: "\(board)",
            labels: [FieldLine("seed", "\(seed)")])
        let output: SessionWriter
        do throws(OutputError) {
            output = try SessionWriter(session: info) { (_) throws(OutputError) in
                try SessionFile(path: path)
            }
        } catch {
            throw Failure(.badInput, "cannot write \(error.path): \(error)")
        }
        let session = InlineSession(sessionOptions, on: loop, outputs: [output])
        session.onEvent = { [self] in take($0) }
        session.onTrouble = { ProcessStreams.remark(.warning, visible($0)) }
        session.onRemark = { remark in
            if case .upstreamFailed(let place, let error) = remark {
                ProcessStreams.remark(.warning, "the board at \(place) does not answer: \(error)")
            } else if case .peerRefused(let peer) = remark {
                ProcessStreams.remark(.warning, "\(peer) may not connect (--allow-from)")
            }
        }
        do throws(NetworkError) {
            try session.start(
                on: address, upstream: upstream, basePath: options.basePath, driver: target)
        } catch {
            throw Failure(.unreachable, "cannot listen on \(address): \(error)")
        }
        if let place = session.localAddress {
            ProcessStreams.remark(.note, "inline \(place) -> \(board), session in \(path)")
        }
        target.onDeath = { [self] error in
            session.died("\(error)", of: .board)
            end = .targetLost("\(error)")
            // What it said before its end is seen first.
            loop.schedule(after: nanosecondsPerSecond) { loop.stop() }
        }
        try watch(session, loop)
        loop.run()
        session.stop()
        ProcessStreams.showStatus(nil)
        stop(target, loop)
        code = .done
        if let fault { throw fault }
        return try finish(
            session.campaign, duration: session.elapsed,
            isComplete: session.outputs.allSatisfy(\.isComplete), activity: session.activity)
    }

    private func watch(_ session: InlineSession, _ loop: UVLoop) throws {
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) { [self] in
                    end = .interrupted
                    loop.stop()
                }
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
        if let limit = options.timeLimit {
            loop.schedule(after: limit) { [self] in
                end = end ?? .time
                loop.stop()
            }
        }
        tick(session, loop)
    }

    private func tick(_ session: InlineSession, _ loop: UVLoop) {
        if fault != nil || session.campaign.isDone || hasEnough { return loop.stop() }
        loop.schedule(after: 250 * nanosecondsPerMillisecond) { [self] in tick(session, loop) }
        let status = status(session.campaign, Side.allCases, session.elapsed, session.activity)
        guard screen.isDue(status.elapsed) else { return }
        do {
            try screen.show(status)
        } catch {
            fault = error
        }
    }

    private func start(_ target: Target, _ loop: UVLoop) throws -> Endpoint {
        var result: Result<Endpoint, TargetError>?
        target.start {
            result = $0
            loop.stop()
        }
        loop.run()
        switch result {
        case .success(let place)?: return place
        case .failure(let error)?: throw Failure(.unreachable, "\(error)")
        case nil: throw Failure(.internalFault, "the start of the board came to no end")
        }
    }

    private func stop(_ target: Target, _ loop: UVLoop) {
        var isOver = false
        target.stop { result in
            if case .failure(let error) = result {
                ProcessStreams.remark(.warning, "\(error)")
            }
            isOver = true
            loop.stop()
        }
        if !isOver { loop.run() }
    }

    // MARK: What is found

    /// Whether as many buckets were found as are wanted.
    private var hasEnough: Bool {
        if case .findings? = end { true } else { false }
    }

    private func take(_ event: InlineCampaign.Event) {
        guard fault == nil else { return }
        do {
            switch event {
            case .found(let finding): try tell(finding)
            case .apart(let signal, _):
                if options.isJSON { try ProcessStreams.output(CampaignLines.line(signal)) }
            }
        } catch {
            fault = error
        }
    }

    private func tell(_ finding: FuzzFinding) throws {
        var about = FindingRecord.Circumstances()
        about.tool = Version.tool
        about.profile = profile.name
        about.seeds = [seed]
        about.flags = options.flags(for: finding.bucket.side)
        about.firstSeen = today
        about.lastSeen = today
        if let earlier = records[finding.name] {
            about.firstSeen = earlier.circumstances.firstSeen
            about.seeds = earlier.circumstances.seeds.filter { $0 != seed } + [seed]
        }
        let record = FindingRecord(finding, about)
        records[finding.name] = record
        try store.write(record)
        let excuse = baseline.excuse(finding.name, today: today)
        if excuse == nil {
            told += 1
            if let wanted = options.wantedFindings, told >= wanted {
                end = end ?? .findings(wanted)
            }
        }
        if options.isJSON {
            try ProcessStreams.output(CampaignLines.line(finding, excuse: excuse, in: store.folder))
        } else if isText {
            try ProcessStreams.output(
                CampaignText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO))
                    .text(finding, excuse: excuse, in: store.folder))
        }
    }

    private var isText: Bool {
        !options.isJSON && options.junit != "-" && options.sarif != "-"
    }

    // MARK: The end

    private func finish(
        _ campaign: InlineCampaign, duration: Int64, isComplete: Bool,
        activity: InlineActivity
    ) throws -> ExitCode {
        let summaries = [Side.board, .app].map { side -> CampaignSummary in
            var summary = CampaignSummary(
                command: "fuzz", tool: Version.tool, played: side.peer, judge: campaign.judge,
                folder: store.folder)
            summary.findings = campaign.findings.filter { $0.bucket.side == side }.map { finding in
                CampaignSummary.Entry(
                    record: records[finding.name]
                        ?? FindingRecord(finding, FindingRecord.Circumstances()),
                    excuse: baseline.excuse(finding.name, today: today))
            }
            summary.apart = campaign.apart[side] ?? []
            summary.status = status(campaign, [side], duration, activity)
            summary.end = side == .board ? end : nil
            summary.showsValues = options.isSimulated
            return summary
        }
        try reports.finish(
            summaries, status: status(campaign, Side.allCases, duration, activity))
        if campaign.refused > 0 {
            ProcessStreams.remark(
                .note,
                "\(counted(campaign.refused, "mutation")) of what goes to the phone "
                    + "\(campaign.refused == 1 ? "was" : "were") left out, see --effects")
        }
        if !isComplete { ProcessStreams.remark(.warning, "\(sessionPath) is incomplete") }
        switch end {
        case .interrupted?: return .interrupted
        case .targetLost?, .neverUsable?, .broken?, .cases?, .time?, .findings?, .plateau?, nil:
            break
        }
        if summaries.contains(where: \.isRed) { return .found }
        if case .targetLost(let words)? = end { throw Failure(.unreachable, words) }
        if campaign.cases == 0 { return .nothingExercised }
        return isComplete ? .done : .incomplete
    }

    private func status(
        _ campaign: InlineCampaign, _ sides: [Side], _ duration: Int64,
        _ activity: InlineActivity
    ) -> CampaignStatus {
        var status = CampaignStatus()
        for side in sides {
            let figures = campaign.figures[side] ?? CampaignFigures()
            status.figures.cases += figures.cases
            status.figures.runs += figures.runs
            status.figures.mutations.merge(figures.mutations) { $0 + $1 }
            status.figures.edges += activity.shapes[side] ?? 0
            for word in activity.reached[side] ?? [] { status.figures.reached[word] = 1 }
            for signal in campaign.apart[side] ?? [] {
                switch signal.verdict {
                case .flaky: status.flaky += 1
                case .withoutMutation: status.withoutMutation += 1
                case .unconfirmed, .undecided, .confirmed, .keptAsSeen: status.unconfirmed += 1
                }
            }
            status.figures.lastFinding = [status.figures.lastFinding, figures.lastFinding]
                .compactMap(\.self).max()
        }
        let findings = campaign.findings.filter { sides.contains($0.bucket.side) }
        status.excused = findings.count { baseline.excuse($0.name, today: today) != nil }
        status.findings = findings.count - status.excused
        status.elapsed = options.isSimulated ? FuzzDesk.now() - begin : duration
        let scale = max(profile.timeScale, 1e-6)
        status.figures.protocolTime = Int64(min(Double(duration) * scale, 9e18))
        status.limit = options.timeLimit
        status.cases = options.runs
        status.current = "\(campaign.messages) messages"
        return status
    }
}
