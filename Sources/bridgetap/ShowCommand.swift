import Arguments
import Capture
import PhoneBridge
import Report
import Synchronization
import Wire

/// What `bridgetap show` was asked for.
struct ShowOptions: Sendable {
    var files: [String] = []
    var follows = false
    var isJSON = false
    var isRaw = false
    var filter: String?
    var connection: Int?

    static let command = Command<Job>(
        "show", summary: "the timeline of a session",
        details: """
            A line is one thing that happened: time since the start, connection, direction, and \
            what it means. Commands carry a number that their results repeat, with the latency; \
            heartbeats, pings and empty polls are a count; a ! in front marks what broke.

            \(Filter.help)
            """,
        options: ShowOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "a session file, packed or not, or all parts of one session, or a pcap, "
                    + "pcapng or HAR file; - is standard input"),
            .flag("follow", short: "f", \.follows, help: "go on as the file grows"),
            .flag("json", \.isJSON, help: "the events as NDJSON, as a session file has them"),
            .flag(
                "raw", \.isRaw, help: "every event by itself, with its bytes as text or in hex"),
            .option("filter", \.filter, .filter, help: "only events that it chooses; see below"),
            .option(
                "conn", \.connection, .integer(in: 1 ... .max), help: "only this connection"),
        ],
        exclusive: [["--raw", "--json"]],
        examples: [
            Example("bridgetap show lab.ndjson", "what happened, from the start"),
            Example("bridgetap show --follow lab.ndjson", "watch a recording as it goes on"),
            Example(
                "bridgetap show --filter 'result ok=false' lab.ndjson.zst", "what went wrong"),
            Example(
                "bridgetap show --json --filter 'latency_ms>1000' lab.ndjson | jq .text",
                "slow answers, for other programs"),
            Example("ssh board cat lab.ndjson | bridgetap show -", "a file that is elsewhere"),
        ],
        check: { (options) throws(UsageError) in
            guard options.follows else { return }
            if options.files.count > 1 {
                throw .rule(
                    message: "--follow: only one file can grow",
                    hint: "give the last part of the session alone")
            }
        },
        action: { options in { try options.run() } })

    /// Prints the timeline.
    func run() throws -> ExitCode {
        var reader = try SessionInputs.open(
            files, follows: isFollowingFile, showsProgress: ProcessStreams.outputWidth == nil)
        var view = try SessionView(
            options: self, isFlushedAlways: follows || files.contains("-"))
        if isFollowingFile { Interruption.listen() }
        // Long enough that a burst is not told in halves.
        var isSettled = true
        while true {
            let item: SessionReader.Item?
            do {
                item = try reader.next()
            } catch {
                try view.flush()
                throw SessionInputs.failure(error)
            }
            switch item {
            case .event(let event)?:
                try view.receive(event)
                isSettled = false
                if isFollowingFile, case .end = event.kind { return try end(&view, .done) }
            case .remark(let remark)?:
                SessionInputs.warn(remark, name: reader.name)
                try view.remark("\(remark.position.text): \(remark.text)")
            case nil:
                guard isFollowingFile else { return try end(&view, .done) }
                if Interruption.isRequested { return try end(&view, .interrupted) }
                if !isSettled { try view.settle() }
                isSettled = true
                Interruption.wait(milliseconds: 200)
            }
        }
    }

    /// Standard input ends when its writer ends, so there is nothing to follow after that.
    private var isFollowingFile: Bool { follows && files != ["-"] }

    private func end(_ view: inout SessionView, _ code: ExitCode) throws -> ExitCode {
        try view.finish()
        return code
    }
}

/// The events of a session on their way to standard output.
private struct SessionView {
    private let options: ShowOptions
    private let filter: Filter?
    private let isFlushedAlways: Bool
    private let layout: TimelineText
    private var timeline: Timeline
    private var meaning = MeaningReader()
    private let encoder = EventEncoder()
    private var buffer: Bytes = []

    /// So much is written at once where nobody waits for it.
    private let maximumBuffer = 64 * 1024

    init(options: ShowOptions, isFlushedAlways: Bool) throws {
        self.options = options
        self.isFlushedAlways = isFlushedAlways
        // It was parsed before, so that a wrong one is wrong usage.
        filter = try options.filter.map { try Filter(parsing: $0) }
        layout = TimelineText(
            isColoured: ProcessStreams.isColoured(1), width: ProcessStreams.outputWidth)
        // Who watches wants to see a minute of heartbeats as a line.
        timeline = Timeline(maximumFold: options.follows ? 60_000_000_000 : .max)
    }

    mutating func receive(_ event: Event) throws {
        var event = event
        let stored = event.bridge
        meaning.annotate(&event)
        // What the recorder understood stands: it may have known what is not in this file.
        if !stored.isEmpty { event.bridge = stored }
        let isShown =
            (options.connection == nil || event.conn == options.connection)
            && (filter?.matches(event) ?? true)
        if options.isJSON {
            guard isShown else { return }
            encoder.encode(event, into: &buffer)
        } else if options.isRaw {
            guard isShown else { return }
            append([RawTimeline().line(event)])
        } else {
            append(timeline.receive(event, isShown: isShown))
        }
        if isFlushedAlways || buffer.count >= maximumBuffer { try flush() }
    }

    mutating func remark(_ text: String) throws {
        guard !options.isJSON, !options.isRaw else { return }
        append(timeline.remark(text))
    }

    mutating func settle() throws {
        append(timeline.settle())
        try flush()
    }

    mutating func finish() throws {
        if !options.isJSON, !options.isRaw { append(timeline.finish()) }
        try flush()
    }

    mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        try ProcessStreams.output(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ lines: [TimelineLine]) {
        for line in lines { buffer += Bytes(layout.text(line).utf8) }
    }
}
