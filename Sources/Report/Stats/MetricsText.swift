package import PhoneBridge
package import Wire

/// The figures of a recording for Prometheus, in its text format 0.0.4.
///
/// No name comes from the link: types of commands that the contract does not know are `other`, so
/// that nothing about people is in it, and a hostile peer cannot make series without end.
package struct MetricsText {
    /// How the recording itself stands.
    package struct Recording: Sendable {
        /// Events that could not be recorded.
        package var dropped = 0
        /// Whether an output cannot be written at the moment.
        package var isPaused = false
        /// Broken rules, by id: those that count, and the others.
        package var breaches: [String: (counted: Int, other: Int)] = [:]

        package init() {}
    }

    private let statistics: SessionStatistics
    private let recording: Recording
    private let tool: String
    private let types: Set<String>
    private var text = ""

    private init(
        _ statistics: SessionStatistics, _ recording: Recording, tool: String, contract: Contract
    ) {
        self.statistics = statistics
        self.recording = recording
        self.tool = tool
        types = Set(contract.commands.map(\.name))
    }

    /// The text, as it is served.
    ///
    /// - Parameter statistics: those so far, as `StatisticsReader.soFar` gives them.
    package static func bytes(
        _ statistics: SessionStatistics, _ recording: Recording, tool: String,
        contract: Contract = .current
    ) -> Bytes {
        var metrics = MetricsText(statistics, recording, tool: tool, contract: contract)
        metrics.addAll()
        return Bytes(metrics.text.utf8)
    }

    // MARK: Lines

    private typealias Labels = [(name: String, value: String)]

    private mutating func begin(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP bridgetap_\(name) \(help)\n# TYPE bridgetap_\(name) \(kind)\n"
    }

    private mutating func add(_ name: String, _ labels: Labels = [], _ value: String) {
        let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
        text +=
            "bridgetap_\(name)" + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}")
            + " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }

    private mutating func single(
        _ name: String, _ kind: String, _ help: String, _ value: some BinaryInteger
    ) {
        begin(name, kind, help)
        add(name, [], "\(value)")
    }

    /// Seconds, with the nanoseconds that they were counted in.
    private static func seconds(_ nanoseconds: Int64) -> String {
        let whole = nanoseconds / 1_000_000_000
        var digits = String(nanoseconds % 1_000_000_000)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return digits.isEmpty ? "\(whole)" : "\(whole).\(digits)"
    }

    // MARK: What is told

    private mutating func addAll() {
        begin("build_info", "gauge", "The program, as a label.")
        add("build_info", [("version", tool)], "1")
        single(
            "session_seconds", "gauge", "Seconds since the recording began.",
            statistics.duration / 1_000_000_000)
        single("events_total", "counter", "Events that were recorded.", statistics.events)
        single(
            "events_dropped_total", "counter", "Events that could not be recorded.",
            recording.dropped)
        single(
            "recording_paused", "gauge", "Whether an output cannot be written at the moment.",
            recording.isPaused ? 1 : 0)
        single("gaps_total", "counter", "Places where bytes are missing.", statistics.gaps)
        addTraffic()
        addConnections()
        addCommands()
        addHeartbeats()
        addQueue()
        begin(
            "rule_breaches_total", "counter",
            "Broken rules of the contract, and whether the profile counts them.")
        for (rule, count) in recording.breaches.sorted(by: { $0.key < $1.key }) {
            for (word, number) in [("true", count.counted), ("false", count.other)] where number > 0
            {
                add("rule_breaches_total", [("rule", rule), ("counts", word)], "\(number)")
            }
        }
    }

    private mutating func addTraffic() {
        let sides = [("app", statistics.app), ("board", statistics.board)]
        begin("bytes_total", "counter", "Bytes that a side sent.")
        for (name, side) in sides { add("bytes_total", [("from", name)], "\(side.bytes)") }
        begin("messages_total", "counter", "WebSocket messages that a side sent.")
        for (name, side) in sides { add("messages_total", [("from", name)], "\(side.messages)") }
        begin("frames_total", "counter", "WebSocket frames that a side sent.")
        for (name, side) in sides { add("frames_total", [("from", name)], "\(side.frames)") }
    }

    private mutating func addConnections() {
        let connections = statistics.connections
        single("connections_total", "counter", "TCP connections.", connections.count)
        single("connections_open", "gauge", "TCP connections that are open.", connections.open)
        single("websockets_total", "counter", "WebSocket connections.", connections.webSockets)
        single(
            "connections_overlapping_total", "counter",
            "WebSocket connections of a phone that still had another one.",
            connections.overlapping)
        begin(
            "reconnection_seconds", "summary",
            "From the end of a phone's WebSocket to the beginning of its next one.")
        addSummary("reconnection_seconds", [], connections.reconnections)
        begin("http_responses_total", "counter", "HTTP responses, by what was asked for.")
        for (name, row) in statistics.exchanges.sorted(by: { $0.key < $1.key }) {
            for (status, count) in row.statuses.sorted(by: { $0.key < $1.key }) {
                add(
                    "http_responses_total", [("request", name), ("status", "\(status)")], "\(count)"
                )
            }
        }
    }

    /// Figures of commands by type and route, unknown types together.
    private var commands: [(labels: Labels, row: SessionStatistics.Commands)] {
        var rows: [SessionStatistics.CommandKey: SessionStatistics.Commands] = [:]
        for (key, row) in statistics.commands {
            let type = types.contains(key.type) ? key.type : "other"
            rows[.init(type: type, route: key.route), default: .init()].add(row)
        }
        return rows.sorted { $0.key < $1.key }.map {
            ([("type", $0.key.type), ("route", $0.key.route)], $0.value)
        }
    }

    private mutating func addCommands() {
        let rows = commands
        begin("commands_total", "counter", "Commands that the board sent.")
        for (labels, row) in rows { add("commands_total", labels, "\(row.commands)") }
        begin("command_results_total", "counter", "First results of commands.")
        for (labels, row) in rows {
            for (word, count) in [("ok", row.succeeded), ("error", row.failed)] {
                add("command_results_total", labels + [("outcome", word)], "\(count)")
            }
        }
        begin("commands_late_total", "counter", "Commands with a result behind their time-out.")
        for (labels, row) in rows { add("commands_late_total", labels, "\(row.late)") }
        begin("commands_duplicate_total", "counter", "Commands with more than one result.")
        for (labels, row) in rows { add("commands_duplicate_total", labels, "\(row.duplicate)") }
        begin(
            "commands_unanswered", "gauge", "Commands whose time ran out without a result so far.")
        for (labels, row) in rows { add("commands_unanswered", labels, "\(row.unanswered)") }
        begin("commands_open", "gauge", "Commands that still have time for their result.")
        for (labels, row) in rows { add("commands_open", labels, "\(row.open)") }
        begin(
            "command_latency_seconds", "summary",
            "From a command to its first result, within 1 %.")
        for (labels, row) in rows { addSummary("command_latency_seconds", labels, row.latency) }
    }

    private mutating func addSummary(_ name: String, _ labels: Labels, _ values: Distribution) {
        for (word, share) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)] {
            let value = values.quantile(share).map(Self.seconds) ?? "NaN"
            add(name, labels + [("quantile", word)], value)
        }
        add(name + "_sum", labels, Self.seconds(values.sum))
        add(name + "_count", labels, "\(values.count)")
    }

    private mutating func addHeartbeats() {
        let heartbeats = statistics.heartbeats
        begin("heartbeats_total", "counter", "Heartbeats that a side sent.")
        add("heartbeats_total", [("from", "app")], "\(heartbeats.app)")
        add("heartbeats_total", [("from", "board")], "\(heartbeats.board)")
        begin("heartbeat_gap_seconds", "histogram", "Between two heartbeats of an app.")
        var count = 0
        for (edge, number) in zip(SessionStatistics.Heartbeats.gapEdges, heartbeats.gapCounts) {
            count += number
            add("heartbeat_gap_seconds_bucket", [("le", Self.seconds(edge))], "\(count)")
        }
        add("heartbeat_gap_seconds_bucket", [("le", "+Inf")], "\(heartbeats.gaps.count)")
        add("heartbeat_gap_seconds_sum", [], Self.seconds(heartbeats.gaps.sum))
        add("heartbeat_gap_seconds_count", [], "\(heartbeats.gaps.count)")
    }

    private mutating func addQueue() {
        let queue = statistics.queue
        single(
            "queue_enqueued_total", "counter", "Commands that were put into the queue.",
            queue.enqueued)
        single("queue_polls_total", "counter", "Polls of apps.", queue.polls)
        single(
            "queue_empty_polls_total", "counter", "Polls that got no command.",
            queue.emptyPolls)
        single("queue_handed_out_total", "counter", "Commands that polls got.", queue.handedOut)
        begin("queue_wait_seconds", "summary", "From enqueuing a command to its delivery.")
        addSummary("queue_wait_seconds", [], queue.wait)
    }
}
