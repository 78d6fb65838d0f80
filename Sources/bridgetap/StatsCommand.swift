import Arguments
import Capture
import PhoneBridge
import Report
import Wire

/// What `bridgetap stats` was asked for.
struct StatsOptions: Sendable {
    var files: [String] = []
    var isJSON = false
    var filter: String?

    static let command = Command<Job>(
        "stats", summary: "the figures of a session",
        details: """
            Commands by type and route with their latencies, what came late, twice or never, \
            errors by code, heartbeats, connections and reconnections, waits in the queue, HTTP \
            requests, messages and bytes. A command is unanswered when its time ran out without a \
            result, and open when the session ended before that. Quantiles are at most 1 % from \
            the true ones; maxima are exact. Parts of one session are counted together, other \
            sessions by themselves.

            \(Filter.help)
            """,
        options: StatsOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "session files, packed or not, in parts or whole, or pcap, pcapng or HAR "
                    + "files; - is standard input"),
            .flag("json", \.isJSON, help: "one JSON object a session; times are in milliseconds"),
            .option(
                "filter", \.filter, .filter, help: "count only events that it chooses; see below"),
        ],
        examples: [
            Example("bridgetap stats lab.ndjson", "how a session went"),
            Example(
                "bridgetap stats --json monday.ndjson tuesday.ndjson | jq .all_commands.latency.p99_ms",
                "two sessions, for other programs"),
            Example(
                "bridgetap stats --filter 'type=contacts_query' lab-*.ndjson",
                "one type of command, in all parts of a session"),
        ],
        action: { options in { try options.run() } })

    /// Prints the figures; 5 where a session has none.
    private func run() throws -> ExitCode {
        let filter = try filter.map { try Filter(parsing: $0) }
        let text = StatisticsText(isColoured: ProcessStreams.isColoured(1))
        let inputs = files.map { SessionFileInput(path: $0) }
        let progress = Progress(inputs)
        Interruption.listen()
        var isFirst = true
        var hasEmpty = false
        for group in SessionGroups.group(inputs.map { progress.watched($0) }) {
            guard !Interruption.isRequested else { break }
            let statistics = try count(group, filter)
            progress.clear()
            let name = SessionGroups.name(of: group)
            if isJSON {
                var line = Bytes()
                statistics.json(name: name).encode(into: &line)
                line.append(UInt8(ascii: "\n"))
                try ProcessStreams.output(line)
            } else {
                try ProcessStreams.output((isFirst ? "" : "\n") + text.text(name: name, statistics))
            }
            isFirst = false
            if statistics.isEmpty { hasEmpty = true }
        }
        if Interruption.isRequested { return .interrupted }
        return hasEmpty ? .nothingExercised : .done
    }

    private func count(
        _ group: [any SessionInput], _ filter: Filter?
    ) throws -> SessionStatistics {
        var meaning = MeaningReader()
        var statistics = StatisticsReader()
        do throws(SessionError) {
            var reader = try SessionReader(group)
            while let item = try reader.next() {
                switch item {
                case .remark(let remark):
                    // A file that was left in the middle is not torn.
                    guard !Interruption.isRequested else { break }
                    SessionInputs.warn(remark, name: reader.name)
                case .event(var event):
                    let stored = event.bridge
                    meaning.annotate(&event)
                    // What the recorder understood stands: it may have known what is not here.
                    if !stored.isEmpty { event.bridge = stored }
                    statistics.receive(event, isCounted: filter?.matches(event) ?? true)
                }
            }
        } catch {
            throw SessionInputs.failure(error)
        }
        statistics.finish()
        return statistics.statistics
    }
}
