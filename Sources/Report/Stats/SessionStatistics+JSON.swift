import Capture
package import Wire

extension SessionStatistics {
    /// The figures as one JSON object; times are in milliseconds, with `_ms` in their names.
    ///
    /// Quantiles are within 1 % (`Distribution`). Names without any figure are there with 0.
    package func json(name: String) -> JSON {
        var members: [JSON.Member] = [.init("name", .string(name))]
        if let info {
            members.append(.init("session", .string(info.id)))
            members.append(.init("source", .string(info.source)))
            members.append(.init("started_at", .string(info.startedAt)))
        }
        members += [
            .init("duration_ms", Self.milliseconds(duration)),
            .init("events", .integer(events)), .init("dropped", .integer(dropped)),
            .init("gaps", .integer(gaps)),
            .init("traffic", ["app": app.json, "board": board.json]),
            .init("connections", connections.json),
            .init("heartbeats", heartbeats.json),
            .init(
                "commands",
                .array(
                    commands.sorted { $0.key < $1.key }.map { key, figures in
                        .object(
                            [
                                .init("type", .string(key.type)),
                                .init("route", .string(key.route)),
                            ] + figures.members)
                    })),
            .init("all_commands", .object(allCommands.members)),
            .init("unpaired_results", .integer(unpaired)),
            .init("errors", Self.json(errors)),
            .init("queue", queue.json),
            .init(
                "http",
                .object(
                    exchanges.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })),
            .init("notes", Self.json(notes)),
        ]
        return .object(members)
    }

    fileprivate static func milliseconds(_ nanoseconds: Int64) -> JSON {
        .number(milliseconds: nanoseconds)
    }

    fileprivate static func json(_ counts: [String: Int]) -> JSON {
        .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })
    }
}

extension JSON {
    /// Nanoseconds as milliseconds with three decimals.
    fileprivate static func number(milliseconds nanoseconds: Int64) -> JSON {
        .number(decimal(Double(nanoseconds) / 1e6, decimals: 3).filter { $0 != "," })
    }
}

extension Distribution {
    /// Count and quantiles; the latter absent without values.
    fileprivate var json: JSON {
        var members: [JSON.Member] = [.init("count", .integer(count))]
        for (name, share) in [("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99), ("max_ms", 1)] {
            if let value = quantile(share) {
                members.append(.init(name, .number(milliseconds: value)))
            }
        }
        return .object(members)
    }
}

extension SessionStatistics.Traffic {
    fileprivate var json: JSON {
        [
            "messages": .integer(messages), "frames": .integer(frames), "pings": .integer(pings),
            "pongs": .integer(pongs), "http": .integer(exchanges), "bytes": .integer(bytes),
            "missing_bytes": .integer(missing),
        ]
    }
}

extension SessionStatistics.Commands {
    fileprivate var members: [JSON.Member] {
        [
            .init("commands", .integer(commands)), .init("again", .integer(again)),
            .init("ok", .integer(succeeded)), .init("failed", .integer(failed)),
            .init("timed_out", .integer(timedOut)), .init("late", .integer(late)),
            .init("unanswered", .integer(unanswered)), .init("open", .integer(open)),
            .init("duplicate", .integer(duplicate)), .init("latency", latency.json),
        ]
    }
}

extension SessionStatistics.Queue {
    fileprivate var json: JSON {
        [
            "enqueued": .integer(enqueued), "handed_out": .integer(handedOut),
            "polls": .integer(polls), "empty_polls": .integer(emptyPolls),
            "wait": wait.json, "until_result": untilResult.json,
        ]
    }
}

extension SessionStatistics.Heartbeats {
    fileprivate var json: JSON {
        let edges = Self.gapEdges
        let histogram = gapCounts.enumerated().map { index, count in
            var members: [JSON.Member] = []
            if index < edges.count {
                members.append(.init("below_ms", .integer(edges[index] / 1_000_000)))
            }
            return JSON.object(members + [.init("count", .integer(count))])
        }
        return [
            "app": .integer(app), "board": .integer(board), "gap": gaps.json,
            "gap_histogram": .array(histogram), "echo": echo.json,
        ]
    }
}

extension SessionStatistics.Connections {
    fileprivate var json: JSON {
        [
            "count": .integer(count), "websocket": .integer(webSockets),
            "joined": .integer(joined), "open": .integer(open),
            "websocket_duration": webSocketDurations.json,
            "other_duration": otherDurations.json, "reconnection": reconnections.json,
            "overlapping": .integer(overlapping), "endings": SessionStatistics.json(endings),
        ]
    }
}

extension SessionStatistics.Exchanges {
    fileprivate var json: JSON {
        [
            "requests": .integer(requests),
            "statuses": .object(
                statuses.sorted { $0.key < $1.key }.map {
                    .init("\($0.key)", .integer($0.value))
                }), "duration": duration.json,
        ]
    }
}
