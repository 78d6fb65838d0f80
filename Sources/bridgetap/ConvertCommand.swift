import Arguments
import Capture
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
            The ending of the output picks its format: .ndjson, .ndjson.gz, .ndjson.zst or \
            .pcap, which Wireshark reads. What a pcap file cannot hold is named in a warning. \
            What could not be read of a torn input is counted as dropped in the output.
            """,
        options: ConvertOptions(),
        arguments: [
            .operands(
                \.inputs, .file,
                help: "a session file, all parts of one session, or a pcap or pcapng file; - is "
                    + "standard input"),
            .option(
                "output", short: "o", \.output, .file, required: true,
                help: "the file to write; - is standard output, as plain NDJSON"),
            .options(
                "port", \.ports, .integer(in: 1...65535),
                help: "of packets only those of this TCP port"),
            .flag(
                "require-complete", \.requiresComplete,
                help: "end with 4 where the input is torn or cut"),
        ],
        examples: [
            Example("bridgetap convert lab.ndjson.zst -o lab.pcap", "for Wireshark"),
            Example("bridgetap convert --port 8080 board.pcap -o lab.ndjson", "what tcpdump saw"),
            Example("bridgetap convert lab-*.ndjson -o lab.ndjson.zst", "rotated parts as one"),
        ],
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        var reader = try SessionInputs.open(
            inputs, ports: Set(ports.map { UInt16(clamping: $0) }), showsProgress: true)
        let first: SessionReader.Item?
        do { first = try reader.next() } catch { throw SessionInputs.failure(error) }
        guard case .event(let event)? = first, case .session(let session) = event.kind else {
            throw Failure(.badInput, "\(reader.name) does not begin with a session line")
        }
        var conversion = try Conversion(session, to: output)
        do {
            try conversion.take(&reader)
        } catch {
            // Half an output would look like a whole one.
            SessionOutputs.remove(output)
            throw error
        }
        if let error = conversion.finish() { throw SessionOutputs.failure(error) }
        for warning in conversion.warnings { ProcessStreams.remark(.warning, warning) }
        return conversion.isComplete || !requiresComplete ? .done : .badInput
    }
}

/// A session on its way from one format into another.
private struct Conversion {
    private enum Target {
        case session(SessionWriter)
        case pcap(PcapSessionWriter)
    }

    private let target: Target
    private let path: String
    private var lastTime: Int64 = 0
    private var losses = 0
    private var hasEnd = false

    init(_ session: SessionInfo, to path: String) throws {
        self.path = path
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
                target = .pcap(try PcapSessionWriter(startedAt: startedAt, openPart: open))
            } else {
                var session = session
                session.part = nil
                target = .session(
                    try SessionWriter(
                        session: session, compression: SessionCompression(path: path),
                        lossReason: "unreadable", openPart: open))
            }
        } catch {
            throw SessionOutputs.failure(error)
        }
    }

    private var output: any SessionOutput {
        switch target {
        case .session(let writer): writer
        case .pcap(let writer): writer
        }
    }

    /// Whether the input was closed in good order and nothing of it was lost.
    var isComplete: Bool { hasEnd && losses == 0 }

    var warnings: [String] {
        guard case .pcap(let writer) = target else { return [] }
        return writer.losses.warnings
    }

    /// Takes all of the input.
    mutating func take(_ reader: inout SessionReader) throws {
        do {
            while let item = try reader.next() {
                switch item {
                case .event(let event): receive(event)
                case .remark(let remark):
                    SessionInputs.warn(remark, name: reader.name)
                    lost(remark)
                }
                if let error = output.status.pausedBy { throw SessionOutputs.failure(error) }
            }
        } catch let error as SessionError {
            throw SessionInputs.failure(error)
        }
    }

    private mutating func receive(_ event: Event) {
        lastTime = max(lastTime, event.time)
        if case .end(let end) = event.kind {
            hasEnd = true
            if end.dropped > 0 { admit(end.dropped) }
        } else {
            output.receive(event)
        }
    }

    /// What cannot be read any more must not look as if it had never been there.
    private mutating func lost(_ remark: SessionRemark) {
        losses += 1
        admit(1)
        note("\(remark.position.text): \(remark.text)")
    }

    private func admit(_ count: Int) {
        if case .session(let writer) = target { writer.admit(dropped: count) }
    }

    private func note(_ text: String) {
        output.receive(
            Event(time: lastTime, kind: .note(Event.Note(code: "convert", text: text))))
    }

    /// Ends the output; gives what went wrong in that.
    mutating func finish() -> OutputError? {
        if !hasEnd, losses == 0 { note("the input had no end line") }
        return output.close(now: lastTime).pausedBy
    }
}
