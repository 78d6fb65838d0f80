import Capture

/// Lays the figures of a session out for a person.
///
///     lab.ndjson: proxy 127.0.0.1:8080 → 192.168.42.1:8080, 1 min 12 s, 118 events
///
/// Only what there was is shown. Titles stand out where colours are wanted, and what is wrong.
package struct StatisticsText: Sendable {
    private let isColoured: Bool

    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// The block of one session, with a line feed behind each line.
    package func text(name: String, _ statistics: SessionStatistics) -> String {
        var lines = [title(name: name, statistics)]
        let sections: [(String, [String])] = [
            ("lacks", losses(statistics)),
            ("traffic", traffic(statistics)),
            ("connections", connections(statistics.connections)),
            ("heartbeats", heartbeats(statistics.heartbeats)),
            ("commands", commands(statistics)),
            ("errors", counts(statistics.errors)),
            ("queue", queue(statistics.queue)),
            ("http", exchanges(statistics.exchanges)),
            ("notes", counts(statistics.notes)),
        ]
        for (title, rows) in sections where !rows.isEmpty {
            lines.append("")
            lines.append("  " + painted(title, title == "lacks" ? 31 : 1))
            lines += rows
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func painted(_ text: String, _ colour: Int) -> String {
        isColoured ? "\u{1b}[\(colour)m\(text)\u{1b}[0m" : text
    }

    private func title(name: String, _ statistics: SessionStatistics) -> String {
        var parts: [String] = []
        if let info = statistics.info {
            let way = [info.listen, info.upstream].compactMap(\.self).joined(separator: " → ")
            parts.append(
                ([info.source, info.interface, way.isEmpty ? nil : way] as [String?])
                    .compactMap(\.self).map { visible($0) }.joined(separator: " "))
            parts.append(visible(info.startedAt))
        }
        parts.append(timeSpan(statistics.duration))
        parts.append(counted(statistics.events, "event"))
        return painted(visible(name), 1) + ": " + parts.joined(separator: ", ")
    }

    private func losses(_ statistics: SessionStatistics) -> [String] {
        var lines: [String] = []
        if statistics.dropped > 0 {
            lines.append("    \(counted(statistics.dropped, "event")) that could not be recorded")
        }
        if statistics.gaps > 0 {
            let missing = statistics.app.missing &+ statistics.board.missing
            lines.append(
                "    \(counted(statistics.gaps, "gap"))"
                    + (missing > 0 ? ", \(byteCount(missing)) known to be missing" : ""))
        }
        return lines
    }

    private func traffic(_ statistics: SessionStatistics) -> [String] {
        guard !statistics.isEmpty else { return ["    nothing crossed the link"] }
        var table = TextTable(indent: 4)
        table.add(["from", "messages", "frames", "pings", "pongs", "http", "bytes"])
        for (name, side) in [("app", statistics.app), ("board", statistics.board)] {
            table.add(
                [name]
                    + [side.messages, side.frames, side.pings, side.pongs, side.exchanges].map(cell)
                    + [byteCount(side.bytes)])
        }
        return table.lines
    }

    private func connections(_ figures: SessionStatistics.Connections) -> [String] {
        guard figures.count > 0 else { return [] }
        var parts = [
            "\(grouped(figures.count)) in all", "\(grouped(figures.webSockets)) WebSocket",
        ]
        if figures.joined > 0 { parts.append("\(grouped(figures.joined)) met on the way") }
        if figures.open > 0 { parts.append("\(grouped(figures.open)) open at the end") }
        var lines = ["    " + parts.joined(separator: ", ")]
        var table = TextTable(indent: 4)
        table.add(["", "n", "p50", "p90", "p99", "max"])
        for (name, distribution) in [
            ("WebSocket open for", figures.webSocketDurations),
            ("other open for", figures.otherDurations),
            ("phone away for", figures.reconnections),
        ] where distribution.count > 0 {
            table.add([name, grouped(distribution.count)] + quantiles(distribution))
        }
        lines += table.lines
        if figures.overlapping > 0 {
            lines.append(
                "    \(grouped(figures.overlapping)) times a phone came while its last connection was open"
            )
        }
        if !figures.endings.isEmpty {
            lines.append("    WebSockets ended by")
            lines += counts(figures.endings, indent: 6)
        }
        return lines
    }

    private func heartbeats(_ figures: SessionStatistics.Heartbeats) -> [String] {
        guard figures.app > 0 || figures.board > 0 else { return [] }
        var lines = [
            "    \(grouped(figures.app)) from the app, \(grouped(figures.board)) from the board"
        ]
        var table = TextTable(indent: 4)
        table.add(["", "n", "p50", "p90", "p99", "max"])
        for (name, distribution) in [("gap", figures.gaps), ("echo after", figures.echo)]
        where distribution.count > 0 {
            table.add([name, grouped(distribution.count)] + quantiles(distribution))
        }
        lines += table.lines
        guard figures.gaps.count > 0 else { return lines }
        let edges = SessionStatistics.Heartbeats.gapEdges.map { "\($0 / 1_000_000_000)" }
        let names =
            ["gaps under \(edges[0]) s"]
            + zip(edges, edges.dropFirst()).map { "\($0) to \($1) s" }
            + ["\(edges[edges.count - 1]) s and more"]
        let most = figures.gapCounts.max() ?? 0
        var bars = TextTable(indent: 4, leftColumns: [2])
        let last = figures.gapCounts.lastIndex { $0 > 0 } ?? 0
        for (name, count) in zip(names, figures.gapCounts).prefix(last + 1) {
            let length = most > 0 ? (count * 40 + most - 1) / most : 0
            bars.add([name, cell(count), String(repeating: "█", count: length)])
        }
        return lines + bars.lines
    }

    private func commands(_ statistics: SessionStatistics) -> [String] {
        var lines: [String] = []
        if !statistics.commands.isEmpty {
            let all = statistics.allCommands
            // What did not happen needs no column.
            let shown = Self.commandColumns.filter { $0.isAlwaysShown || $0.count(all) > 0 }
            var table = TextTable(indent: 4, leftColumns: [1])
            table.add(["type", "route"] + shown.map(\.title) + ["p50", "p90", "p99", "max"])
            func add(_ type: String, _ route: String, _ row: SessionStatistics.Commands) {
                table.add(
                    [type, route] + shown.map { cell($0.count(row)) } + quantiles(row.latency))
            }
            for (key, figures) in statistics.commands.sorted(by: { $0.key < $1.key }) {
                add(visible(key.type), key.route, figures)
            }
            if statistics.commands.count > 1 { add("all", "", all) }
            lines = table.lines
        }
        if statistics.unpaired > 0 {
            lines.append(
                "    \(counted(statistics.unpaired, "result")) to commands that are not in the session"
            )
        }
        return lines
    }

    private struct CommandColumn {
        var title: String
        var isAlwaysShown = false
        var count: @Sendable (SessionStatistics.Commands) -> Int
    }

    private static let commandColumns = [
        CommandColumn(title: "n", isAlwaysShown: true) { $0.commands },
        CommandColumn(title: "again") { $0.again },
        CommandColumn(title: "ok", isAlwaysShown: true) { $0.succeeded },
        CommandColumn(title: "failed", isAlwaysShown: true) { $0.failed },
        CommandColumn(title: "late") { $0.late },
        CommandColumn(title: "unanswered") { $0.unanswered },
        CommandColumn(title: "open") { $0.open },
        CommandColumn(title: "duplicate") { $0.duplicate },
    ]

    private func queue(_ figures: SessionStatistics.Queue) -> [String] {
        guard figures.enqueued > 0 || figures.polls > 0 || figures.handedOut > 0 else { return [] }
        // A board's own commands are enqueued within it, which nobody on the link sees.
        let enqueued = figures.enqueued > 0 ? "\(grouped(figures.enqueued)) enqueued, " : ""
        var lines = [
            "    \(enqueued)\(grouped(figures.handedOut)) handed out; "
                + "\(counted(figures.polls, "poll")), \(grouped(figures.emptyPolls)) in vain"
        ]
        var table = TextTable(indent: 4)
        table.add(["from being enqueued", "n", "p50", "p90", "p99", "max"])
        for (name, distribution) in [
            ("to being handed out", figures.wait), ("to the result", figures.untilResult),
        ] where distribution.count > 0 {
            table.add([name, grouped(distribution.count)] + quantiles(distribution))
        }
        if figures.wait.count > 0 || figures.untilResult.count > 0 { lines += table.lines }
        return lines
    }

    private func exchanges(_ rows: [String: SessionStatistics.Exchanges]) -> [String] {
        guard !rows.isEmpty else { return [] }
        var table = TextTable(indent: 4, leftColumns: [6])
        table.add(["request", "n", "p50", "p90", "p99", "max", "statuses"])
        for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
            let statuses = row.statuses.sorted { $0.key < $1.key }
                .map { "\($0.key) ×\(grouped($0.value))" }.joined(separator: ", ")
            table.add([name, grouped(row.requests)] + quantiles(row.duration) + [statuses])
        }
        return table.lines
    }

    // MARK: Cells

    private func counts(_ names: [String: Int], indent: Int = 4) -> [String] {
        var table = TextTable(indent: indent)
        for (name, count) in names.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.add([visible(name), grouped(count)])
        }
        return table.lines
    }

    private func cell(_ count: Int) -> String { count == 0 ? "-" : grouped(count) }

    private func quantiles(_ distribution: Distribution) -> [String] {
        [0.5, 0.9, 0.99, 1].map { distribution.quantile($0).map { timeSpan($0) } ?? "-" }
    }
}
