import Arguments
import BridgeProxy
import Capture
import Network
import PhoneBridge
import Wire

/// What recordings of every source have in common: files, signals, keys, and the last words.
final class RecordingJob {
    let loop: UVLoop
    let screen: StatusScreen
    private let flags: RecordingFlags

    init(_ flags: RecordingFlags) throws {
        self.flags = flags
        do {
            loop = try UVLoop()
        } catch {
            throw Failure(.internalFault, "cannot start the event loop: \(error)")
        }
        screen = StatusScreen(isQuiet: flags.quiet)
    }

    /// The first line of the session, which begins at `time` (nanoseconds since 1970).
    func session(
        source: String, at time: Int64, _ fill: (inout SessionInfo) -> Void
    ) -> SessionInfo {
        var id: Bytes = []
        appendHex(loop.randomBytes(8).span, to: &id)
        var session = SessionInfo(
            id: String(decoding: id, as: UTF8.self),
            startedAt: Timestamp(wall: time).nanosecondText, tool: Version.tool, source: source)
        fill(&session)
        return session
    }

    /// Makes the files; `check` and `clock` are those of `Recorder`, `besides` that of `Recording`.
    ///
    /// - Parameter profile: by which the check of a ring's bundle judges.
    func open(
        _ session: SessionInfo, check: LiveCheck? = nil, profile: Profile = .contract,
        clock: (() -> Int64)? = nil, besides: [any SessionOutput] = []
    ) throws -> Recording {
        var options = Recording.Options(session: session, outputs: flags.outputs)
        options.synchronises = flags.sync
        options.markText = flags.mark
        options.check = check
        var makeRedactor: (@Sendable () -> Redactor)?
        if flags.redacts {
            let key = try RedactionInput.key(flags.key)
            let policy = try RedactionInput.policy(flags.policy)
            makeRedactor = { Redactor(key: key, policy: policy) }
            options.makeRedactor = makeRedactor
        }
        switch flags.rotate {
        case .size(let size)?:
            options.rotation = Rotation(maximumSize: UInt64(clamping: size.bytes))
        case .time(let time)?:
            options.rotation = Rotation(maximumDuration: time.wholeNanoseconds)
        case nil:
            break
        }
        if flags.ring != nil { options.outputs = [] }
        let writers = try (flags.ring == nil ? [] : flags.outputs).map {
            try RingOutputs.writer(for: $0, flags, makeRedactor: makeRedactor, profile: profile)
        }
        do throws(OutputError) {
            options.ring = try ring(writers)
            return try Recording(options, loop: loop, clock: clock, besides: besides) {
                [screen] in screen.show($0)
            }
        } catch {
            throw Failure(
                .badInput, "cannot write \(error.path): \(error)",
                hint: error.name == "EEXIST"
                    ? "a recording is never written over; choose another name, or remove that file"
                    : nil)
        }
    }

    /// What `--ring` asks for; nil without it.
    private func ring(_ writers: [RingFile.Writer]) throws(OutputError) -> RingKeeper.Options? {
        guard let duration = flags.ring else { return nil }
        var files: [RingFile] = []
        for (path, writer) in zip(flags.outputs, writers) {
            files.append(
                RingFile(path, from: try RingOutputs.firstNumber(path), write: writer))
        }
        return RingKeeper.Options(duration: duration.wholeNanoseconds, files: files)
    }

    /// Writes the file that a script waits for, if there is to be one.
    func tellReady(_ text: String) throws {
        if let path = flags.readyFile { try ReadyFile.write(text, to: path) }
    }

    /// Records until a signal comes, and ends in good order.
    ///
    /// `begin` starts the source, and may say so: signals are heeded by then. `grace` nanoseconds pass after the signal, in which what is under way still arrives; a
    /// second signal cuts them short.
    func run(
        _ recording: Recording, grace: @escaping () -> Int64 = { 0 }, begin: () throws -> Void
    ) throws
        -> Recording.Summary
    {
        let logs = flags.logs.map { command in
            SideLog(command, loop: loop, recorder: recording.recorder) { [screen] in
                screen.show(.remark($0))
            }
        }
        var isEnding = false
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) { [loop] in
                    guard !isEnding else {
                        for log in logs { log.kill() }
                        return loop.stop()
                    }
                    isEnding = true
                    loop.schedule(after: grace()) { Self.stop(logs) { loop.stop() } }
                }
            }
            _ = try loop.onSignal(.user2) { recording.mark() }
            if flags.ring != nil {
                _ = try loop.onSignal(.user1) { recording.writeRing(.signal) }
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
        let keyboard =
            flags.quiet
            ? nil
            : loop.onKey { key in
                if key == UInt8(ascii: "m") { recording.mark() }
                if key == UInt8(ascii: "b") { recording.writeRing(.key) }
            }
        defer { keyboard?.cancel() }
        do {
            try begin()
            for log in logs { log.start() }
        } catch {
            _ = recording.stop(writesRing: false)
            throw error
        }
        loop.run()
        let summary = recording.stop()
        screen.clear()
        return summary
    }

    /// Ends all logs, and then does what comes next.
    private static func stop(_ logs: [SideLog], then next: @escaping () -> Void) {
        guard let log = logs.first else { return next() }
        // One after the other: each is given its time, and few have more than one.
        log.stop { stop(Array(logs.dropFirst()), then: next) }
    }

    /// Says what is in the files, and gives how the job ends.
    func tell(_ summary: Recording.Summary) -> ExitCode {
        for output in summary.outputs where !output.path.isEmpty {
            let size = StatusLine.bytesText(Double(output.size))
            screen.note("\(output.path): \(output.written) events, \(size)")
            let lost = output.dropped - summary.statistics.droppedPackets
            if lost > 0 || output.pausedBy != nil {
                screen.warn(
                    "\(output.path) is incomplete: \(lost) events could not be written"
                        + (output.pausedBy.map { ", the last ones because of \($0)" } ?? ""))
            }
        }
        if summary.statistics.droppedPackets > 0 {
            screen.warn(
                "\(summary.statistics.droppedPackets) packets were dropped before they could be "
                    + "read; what they carried is missing")
        }
        return summary.isComplete ? .done : .incomplete
    }
}

extension Duration {
    /// The whole duration in nanoseconds; values of the command line always fit.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product + attoseconds / 1_000_000_000
    }
}
