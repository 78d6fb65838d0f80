import Report
package import Wire

/// Writes verdicts as NDJSON, for `replay --json`.
///
/// A line for each thing compared, and one for each session behind them. Values stand as they are:
/// nothing is masked.
package struct ReplayLines: Sendable {
    package init() {}

    /// The lines of a session.
    package func lines(_ verdict: ReplayVerdict) -> Bytes {
        var bytes = Bytes()
        for item in verdict.items { append(line(item, verdict.name), to: &bytes) }
        var sum: [JSON.Member] = [
            .init("kind", "session"), .init("session", .string(verdict.name)),
            .init("different", .bool(verdict.isDifferent)),
            .init("commands", .integer(verdict.commandCount)),
            .init("exercised", .integer(verdict.exercised)),
            .init("duration_ms", .integer(verdict.duration / 1_000_000)),
        ]
        for outcome in SessionDiff.Outcome.allCases {
            sum.append(.init(outcome.rawValue, .integer(verdict.counts[outcome, default: 0])))
        }
        if let loss = verdict.loss { sum.append(.init("target", .string("\(loss)"))) }
        append(.object(sum), to: &bytes)
        return bytes
    }

    private func line(_ item: ReplayVerdict.Item, _ session: String) -> JSON {
        var members: [JSON.Member] = [
            .init("kind", .string(item.kind.rawValue)), .init("session", .string(session)),
            .init("outcome", .string(item.outcome.rawValue)), .init("type", .string(item.group)),
            .init("name", .string(item.name)),
        ]
        if let seq = item.recordedSeq { members.append(.init("recorded", .integer(seq))) }
        if let seq = item.liveSeq { members.append(.init("live", .integer(seq))) }
        if !item.differences.isEmpty {
            members.append(
                .init(
                    "differences",
                    .array(
                        item.differences.map { difference in
                            var members: [JSON.Member] = [
                                .init("path", .string(difference.path)),
                                .init("kind", .string(difference.kind.rawValue)),
                            ]
                            if let value = difference.first {
                                members.append(.init("recorded", value))
                            }
                            if let value = difference.second {
                                members.append(.init("live", value))
                            }
                            members.append(.init("counts", .bool(difference.counts)))
                            return .object(members)
                        })))
        } else if !item.details.isEmpty {
            members.append(.init("remarks", .array(item.details.map { .string($0) })))
        }
        return .object(members)
    }

    private func append(_ line: JSON, to bytes: inout Bytes) {
        line.encode(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }
}
