import Arguments
import BridgeProxy
import Capture
import PhoneBridge
import Wire

/// What `bridgetap convert` was asked for.
struct ConvertOptions: Sendable {
    var inputs: [String] = []
    var output = ""
    var requiresComplete = false
    var ports: [Int] = []

    static let command = Command<Job>(
        "convert", summary: "a session in another format",
        details: """
            The ending of the output picks its format: .ndjson, .ndjson.gz, .ndjson.zst, .pcap, \
            which Wireshark reads, or .har, which browsers read. What those cannot hold is named \
            in a warning. Several sessions are merged by their times. What could not be read of \
            a torn input is counted as dropped in the output.
            """,
        options: ConvertOptions(),
        arguments: [
            .operands(
                \.inputs, .file,
                help: "session files, parts of one or several sessions, pcap, pcapng or HAR files; "
                    + "- is standard input"),
            .option(
                "output", short: "o", \.output, .file, required: true,
                help: "the file to write; - is standard output, as plain NDJSON"),
            .options(
                "port", \.ports, .integer(in: 1...65535),
                help: "of packets and of a HAR only those of this TCP port"),
            .flag(
                "require-complete", \.requiresComplete,
                help: "end with 4 where the input is torn, cut or admits drops"),
        ],
        examples: [
            Example("bridgetap convert lab.ndjson.zst -o lab.pcap", "for Wireshark"),
            Example("bridgetap convert --port 8080 board.pcap -o lab.ndjson", "what tcpdump saw"),
            Example("bridgetap convert lab-*.ndjson -o lab.ndjson.zst", "rotated parts as one"),
            Example(
                "bridgetap convert board.pcap browser.har -o both.ndjson",
                "what was recorded at two places, in the order of time"),
        ],
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        var source = try ConvertSource(inputs, ports: Set(ports.map { UInt16(clamping: $0) }))
        let session = try source.session()
        var conversion = try Conversion(
            session, to: output, isImported: source.isImported(session), isLive: inputs == ["-"])
        try conversion.run(&source, to: output)
        return conversion.isComplete || !requiresComplete ? .done : .badInput
    }
}

/// What is converted: one session, or several merged into one.
struct ConvertSource {
    private var reader: SessionReader?
    /// Instead of `reader`, where there are several sessions.
    private var merger: SessionMerger?
    /// What comes behind the events of the batch before.
    private var remark: (SessionRemark, name: String)?

    init(_ inputs: [String], ports: Set<UInt16>) throws {
        guard inputs.count > 1 else {
            reader = try SessionInputs.open(inputs, ports: ports, showsProgress: true)
            return
        }
        var sessions = try SessionInputs.sessions(inputs, ports: ports, showsProgress: true)
        do throws(SessionError) {
            if sessions.groups.count == 1 {
                reader = try sessions.groups[0].reader(ports: ports)
            } else {
                merger = try SessionMerger(sessions, ports: ports)
            }
        } catch {
            throw SessionInputs.failure(error)
        }
    }

    var name: String { reader?.name ?? "the merged session" }

    /// Whether events may come without what they mean in the contract, which a recorder adds.
    func isImported(_ session: SessionInfo) -> Bool {
        merger != nil || session.source == "pcap" || session.source == "har"
    }

    /// The first line, which is taken.
    mutating func session() throws -> SessionInfo {
        guard case .event(let event)? = try next(), case .session(let session) = event.kind else {
            throw Failure(.badInput, "\(name) does not begin with a session line")
        }
        return session
    }

    mutating func next() throws -> SessionMerger.Item? {
        do throws(SessionError) {
            guard reader != nil else { return try merger?.next() }
            switch try reader?.next() {
            case .event(let event)?: return .event(event)
            case .remark(let remark)?: return .remark(remark, name: name)
            case nil: return nil
            }
        } catch {
            throw SessionInputs.failure(error)
        }
    }

    /// What comes next: events in `batch`, or a remark.
    enum Portion {
        case events
        case remark(SessionRemark, name: String)
    }

    /// Puts the next events into `batch`, which is emptied before, or gives a remark; nil at the
    /// end.
    mutating func next(into batch: inout EventBatch) throws -> Portion? {
        do throws(SessionError) {
            guard reader != nil else { return try merged(into: &batch) }
            switch try reader?.next(into: &batch) {
            case .events?: return .events
            case .remark(let remark)?: return .remark(remark, name: name)
            case nil: return nil
            }
        } catch {
            throw SessionInputs.failure(error)
        }
    }

    /// The same for several sessions.
    private mutating func merged(
        into batch: inout EventBatch
    ) throws(SessionError) -> Portion? {
        batch.removeAll()
        if let (remark, name) = remark.take() { return .remark(remark, name: name) }
        while !batch.isFull {
            switch try merger?.next() {
            case .event(let event)?: batch.adopt(event)
            case .remark(let remark, let name)?:
                guard !batch.isEmpty else { return .remark(remark, name: name) }
                self.remark = (remark, name)
                return .events
            case nil: return batch.isEmpty ? nil : .events
            }
        }
        return .events
    }
}

/// A session on its way from one format into another.
struct Conversion {
    /// Where the events go.
    private enum Way {
        case straight(any SessionOutput)
        /// Written while more is read, with what it means.
        case background(BackgroundOutput)
    }

    private var way: Way
    /// What writes the file behind what redacts; nil where nothing does.
    private var writer: (any SessionOutput)?
    private let gathersFrames: Bool
    /// Where events may lack what they mean in the contract and go straight.
    private var meaning: MeaningReader?
    /// The input may still go on for hours: each event is written when it comes.
    private let isLive: Bool
    private var lastTime: Int64 = 0
    private var losses = 0
    private var hasEnd = false
    /// Whether the input itself says that it lacks something.
    private var admitsDrops = false

    /// - Parameter redactor: takes personal data out on the way, and tells what events mean.
    init(
        _ session: SessionInfo, to path: String, isImported: Bool, isLive: Bool,
        redactor: Redactor? = nil
    ) throws {
        let session = redactor?.redacted(session) ?? session
        let output = try Self.open(session, path)
        if let redactor {
            self.init(into: RedactedOutput(output, redactor: redactor), isLive: isLive)
            writer = output
            workBeside()
            return
        }
        self.init(into: output, isLive: isLive)
        if isImported, !path.hasSuffix(".pcap"), !path.hasSuffix(".har") {
            meaning = MeaningReader()
        }
        workBeside()
    }

    /// Writes, and redacts before that, on a thread of its own while more is read.
    private mutating func workBeside() {
        guard !isLive, case .straight(let output) = way,
            let background = BackgroundOutput(
                output, gathersFrames: gathersFrames, meaning: meaning)
        else { return }
        way = .background(background)
    }

    /// Goes into an output that is open, which tells what events mean itself.
    init(into output: any SessionOutput, isLive: Bool) {
        self.isLive = isLive
        // Lines are written from frames as they lie in a batch; what redacts makes events of them
        // on its own thread.
        gathersFrames = output is SessionWriter || output is RedactedOutput
        way = .straight(output)
    }

    private static func open(_ session: SessionInfo, _ path: String) throws -> any SessionOutput {
        let open: (Int) throws(OutputError) -> any ByteOutput = { (_) throws(OutputError) in
            path == "-"
                ? SessionFile(descriptor: 1, name: "standard output")
                : try SessionFile(path: path)
        }
        guard let startedAt = SessionTime.nanoseconds(parsing: session.startedAt) else {
            throw Failure(
                .badInput, "the session's started_at is no time: \(quoted(session.startedAt))")
        }
        do throws(OutputError) {
            if path.hasSuffix(".pcap") {
                return try PcapSessionWriter(startedAt: startedAt, openPart: open)
            }
            if path.hasSuffix(".har") {
                return try HARSessionWriter(
                    session: session, startedAt: startedAt, creator: Version.tool, openPart: open)
            }
            var session = session
            session.part = nil
            return try SessionWriter(
                session: session, compression: SessionCompression(path: path),
                lossReason: "unreadable", openPart: open)
        } catch {
            throw SessionOutputs.failure(error)
        }
    }

    /// Whether the input was closed in good order and nothing of it was lost.
    var isComplete: Bool { hasEnd && losses == 0 && !admitsDrops }

    /// What the output's format could not hold; known once it has ended.
    private(set) var warnings: [String] = []

    /// Why the output cannot be written.
    private var trouble: OutputError? {
        switch way {
        case .straight(let output): output.status.pausedBy
        case .background(let output): output.trouble
        }
    }

    /// Takes all of the input into a file, ends that, and tells what it could not hold.
    mutating func run(_ source: inout ConvertSource, to output: String) throws {
        do {
            try take(&source)
        } catch {
            // Half an output would look like a whole one.
            abandon()
            SessionOutputs.remove(output)
            throw error
        }
        if let error = finish() { throw SessionOutputs.failure(error) }
        for warning in warnings { ProcessStreams.remark(.warning, warning) }
    }

    /// Takes all of the input.
    mutating func take(_ source: inout ConvertSource) throws {
        var batch = EventBatch(gathersFrames: gathersFrames)
        while let portion = try source.next(into: &batch) {
            switch portion {
            case .events: receive(&batch)
            case .remark(let remark, let name):
                SessionInputs.warn(remark, name: name)
                lost(remark)
            }
            if let trouble { throw SessionOutputs.failure(trouble) }
        }
    }

    private mutating func receive(_ batch: inout EventBatch) {
        // The writers make their own end.
        var end: Event.End?
        batch.forEach(
            event: { note($0, &end) },
            frame: { frame, _, _ in lastTime = max(lastTime, frame.time) })
        switch way {
        case .straight(let output):
            meaning?.annotate(&batch)
            output.receive(batch)
        case .background(let output): output.receive(&batch)
        }
        if let end {
            hasEnd = true
            if end.dropped > 0 {
                admitsDrops = true
                admit(end.dropped)
            }
        }
        if isLive, case .straight(let output) = way { output.flush(now: lastTime) }
    }

    private mutating func note(_ event: borrowing Event, _ end: inout Event.End?) {
        lastTime = max(lastTime, event.time)
        if case .end(let last) = event.kind { end = last }
    }

    /// What cannot be read any more must not look as if it had never been there.
    private mutating func lost(_ remark: SessionRemark) {
        losses += 1
        admit(1)
        note("\(remark.position.text): \(remark.text)")
    }

    private func admit(_ count: Int) {
        switch way {
        case .straight(let output): output.admit(dropped: count)
        case .background(let output): output.admit(dropped: count)
        }
    }

    private func note(_ text: String) {
        let event = Event(time: lastTime, kind: .note(Event.Note(code: "convert", text: text)))
        switch way {
        case .straight(let output): output.receive(event)
        case .background(let output): output.receive(event)
        }
    }

    /// Ends the output; gives what went wrong in that.
    mutating func finish() -> OutputError? {
        if !hasEnd, losses == 0 { note("the input had no end line") }
        let output: any SessionOutput =
            switch way {
            case .straight(let output): output
            case .background(let background): background.finish()
            }
        way = .straight(output)
        let error = output.close(now: lastTime).pausedBy
        switch writer ?? output {
        case let writer as PcapSessionWriter: warnings = writer.losses.warnings
        case let writer as HARSessionWriter: warnings = writer.losses.warnings
        default: break
        }
        return error
    }

    /// Ends an output that is not to be; nothing more is written to it.
    mutating func abandon() {
        if case .background(let background) = way { way = .straight(background.finish()) }
    }
}
