package import Capture
package import Network
package import PhoneBridge
import Wire

/// A whole recording: where its events come from, its outputs, and what happens once a second.
///
/// Belongs to the thread of its loop. Whoever runs it prints what `report` is told.
package final class Recording {
    /// What to record, and where to.
    package struct Options {
        /// The first line of each output.
        package var session: SessionInfo
        /// The files, one for each `-o`; their endings pick the format.
        package var outputs: [String]
        package var rotation: Rotation?
        /// Put the files on the disk each second (`--sync`).
        package var synchronises = false
        /// The text of a mark.
        package var markText = "mark"
        /// Hold the session against the rules while it goes on (`--check`).
        package var check: LiveCheck?
        /// Makes what redacts the session on its way into a file, once for each (`--redact`); nil
        /// where files have all that crossed.
        package var makeRedactor: (() -> Redactor)?
        /// Keep the latest events only, and write them to files at a trigger; `outputs` are none
        /// then, and nothing is rotated.
        package var ring: RingKeeper.Options?
        /// Whether somebody tells how commands ended for the board's own side.
        package var tellsOutcomes = false

        package init(session: SessionInfo, outputs: [String]) {
            self.session = session
            self.outputs = outputs
        }
    }

    /// Something to tell the person at the terminal.
    package enum Report: Sendable {
        case remark(RecordingRemark)
        case status(StatusLine)
        case paused(OutputError)
        case resumed(path: String, dropped: Int)
        case notSynchronised(FileError)
        case marked(number: Int)
        /// A rule is broken.
        case found(LiveCheck.Finding)
        /// The ring was written, or could not be.
        case ring(RingOutcome)
    }

    /// How a recording ended.
    package struct Summary: Sendable {
        package var statistics: RecordingStatistics
        package var outputs: [OutputStatus]
        /// Nanoseconds.
        package var duration: Int64
        /// What came of the check; nil where there was none.
        package var check: LiveCheck.Summary?
        /// What came of the ring; nil where there was none.
        package var ring: RingKeeper.Summary?

        /// Whether every output holds everything.
        package var isComplete: Bool {
            outputs.allSatisfy(\.isComplete) && ring?.failures ?? 0 == 0
        }
    }

    package let recorder: Recorder
    private var source: (any RecordingSource)?
    private let loop: any EventLoop
    private let options: Options
    private let report: (Report) -> Void
    private let files: OpenFiles
    private let ring: RingKeeper?
    private var timer: (any Cancellable)?
    private var previous = RecordingStatistics()
    /// Outputs, by their places, whose pause was told and not its end.
    private var paused: Set<Int> = []
    /// Pauses of each output that are known.
    private var pauses: [Int: Int] = [:]
    private var marks = 0

    /// Opens the outputs; `clock` is that of `Recorder`.
    ///
    /// - Parameter besides: takes the same events as the files.
    /// - Throws: the error of the first that cannot be opened; those before it stay, empty.
    package init(
        _ options: Options, loop: any EventLoop, clock: (() -> Int64)? = nil,
        besides: [any SessionOutput] = [], report: @escaping (Report) -> Void
    ) throws(OutputError) {
        self.options = options
        self.loop = loop
        self.report = report
        files = OpenFiles()
        ring = options.ring.map { RingKeeper($0, info: options.session, loop: loop) }
        var outputs: [any SessionOutput] = ring.map { [$0] } ?? []
        for path in options.outputs {
            outputs.append(
                try Self.open(path, options, loop: loop, files: files))
        }
        recorder = Recorder(
            outputs: outputs + besides, loop: loop, contract: .current, check: options.check,
            tellsOutcomes: options.tellsOutcomes, clock: clock)
        ring?.onOutcome = { report(.ring($0)) }
        recorder.found = { [weak self] in self?.found($0) }
    }

    /// Begins to do what is due each second, for a source that has begun.
    package func start(_ source: any RecordingSource) {
        self.source = source
        scheduleTick()
    }

    /// Ends the recording in good order.
    ///
    /// - Parameter writesRing: off where nothing was recorded.
    package func stop(writesRing: Bool = true) -> Summary {
        timer?.cancel()
        source?.stop()
        if writesRing, ring != nil { note(.end) }
        let statuses = recorder.finish()
        if writesRing { ring?.finish(.end) }
        return Summary(
            statistics: recorder.statistics, outputs: statuses, duration: recorder.time,
            check: recorder.check?.summary, ring: ring?.summary)
    }

    /// Puts a mark of the user's into the session.
    package func mark() {
        marks += 1
        recorder.note(code: "mark", text: "\(options.markText) \(marks)")
        report(.marked(number: marks))
    }

    // MARK: The ring

    /// Writes what is in the ring to files, beside the recording; nothing where there is no ring.
    package func writeRing(_ trigger: RingTrigger) {
        guard let ring else { return }
        note(trigger)
        recorder.commit()
        ring.write(trigger)
    }

    private func note(_ trigger: RingTrigger) {
        recorder.note(code: RingTrigger.noteCode, text: trigger.text)
    }

    private func found(_ finding: LiveCheck.Finding) {
        report(.found(finding))
        guard let ring, finding.breach.rule.rating != .weak else { return }
        if case .excused = finding.standing { return }
        // Written with the next second: what else is broken, and what comes of it, is in the file.
        ring.broken(finding.breach.rule.id, at: recorder.time)
    }

    private func writeDueRing() {
        let rules = ring?.due(at: recorder.time) ?? []
        if !rules.isEmpty { writeRing(.rules(rules)) }
    }

    // MARK: Once a second

    private func scheduleTick() {
        timer = loop.schedule(after: nanosecondsPerSecond) { [weak self] in self?.tick() }
    }

    private func tick() {
        scheduleTick()
        source?.tick()
        // Before the next attempt: one that succeeds at once would hide the pause.
        reportTrouble()
        recorder.tick()
        reportTrouble()
        writeDueRing()
        if options.synchronises {
            files.sync { [weak self] error in self?.report(.notSynchronised(error)) }
        }
        let statistics = recorder.statistics
        report(
            .status(
                StatusLine(
                    elapsed: recorder.time, openConnections: statistics.openConnections,
                    messagesPerSecond: Double(statistics.messages - previous.messages),
                    bytesPerSecond: Double(statistics.bytes &- previous.bytes),
                    packets: statistics.packets, events: statistics.events,
                    dropped: recorder.dropped,
                    trouble: recorder.trouble?.description)))
        previous = statistics
    }

    private func reportTrouble() {
        for (index, status) in recorder.statuses.enumerated() {
            let isNew = status.pauses > pauses[index, default: 0]
            pauses[index] = status.pauses
            if isNew, let error = status.pausedBy ?? status.lastPause {
                if paused.insert(index).inserted { report(.paused(error)) }
            }
            if status.pausedBy == nil, paused.remove(index) != nil {
                report(.resumed(path: status.path, dropped: status.dropped))
            }
        }
    }

    // MARK: Outputs

    /// The endings of a file's name that pick a format; `-` is NDJSON on standard output.
    package static let endings = [".ndjson", ".ndjson.gz", ".ndjson.zst", ".pcap"]

    private static func open(
        _ path: String, _ options: Options, loop: any EventLoop, files: OpenFiles
    ) throws(OutputError) -> any SessionOutput {
        guard let redactor = options.makeRedactor?() else {
            return try open(
                path, session: options.session, rotation: options.rotation, loop: loop,
                files: files)
        }
        let output = try open(
            path, session: redactor.redacted(options.session), rotation: options.rotation,
            loop: loop, files: files)
        return RedactedOutput(output, redactor: redactor)
    }

    private static func open(
        _ path: String, session: SessionInfo, rotation: Rotation?, loop: any EventLoop,
        files: OpenFiles
    ) throws(OutputError) -> any SessionOutput {
        let openPart = { (part: Int) throws(OutputError) -> any ByteOutput in
            guard path != "-" else {
                return SessionFile(descriptor: 1, name: "standard output")
            }
            let path = rotation == nil ? path : Rotation.path(path, part: part)
            let file = try LoopFile(path: path, on: loop)
            files.add(file)
            return file
        }
        return try output(path, session: session, rotation: rotation, openPart: openPart)
    }

    /// An output in the format that the ending of its name picks.
    static func output(
        _ path: String, session: SessionInfo, rotation: Rotation? = nil,
        openPart: @escaping (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) -> any SessionOutput {
        if path.hasSuffix(".pcap") {
            let start = Timestamp(session.startedAt) ?? Timestamp(wall: 0)
            return try PcapSessionWriter(
                startedAt: start.seconds * nanosecondsPerSecond + start.nanoseconds,
                rotation: rotation, openPart: openPart)
        }
        return try SessionWriter(
            session: session, compression: SessionCompression(path: path), rotation: rotation,
            openPart: openPart)
    }
}

/// The files being written, for `--sync`.
private final class OpenFiles {
    private struct Entry {
        weak var file: LoopFile?
    }

    private var entries: [Entry] = []
    /// One at a time: a slow disk must not pile them up.
    private var underWay = 0

    func add(_ file: LoopFile) {
        entries.removeAll { $0.file == nil }
        entries.append(Entry(file: file))
    }

    func sync(_ failed: @escaping (FileError) -> Void) {
        guard underWay == 0 else { return }
        for file in entries.compactMap(\.file) {
            underWay += 1
            file.sync { [weak self] error in
                self?.underWay -= 1
                if let error { failed(error) }
            }
        }
    }
}
