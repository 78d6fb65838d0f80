import Capture
package import PhoneBridge
package import Wire

/// Writes results as NDJSON, a line a finding, a case and a suite (`--json`).
package struct ResultLines: Sendable {
    package init() {}

    /// A finding, as soon as it is known.
    package func line(_ finding: Results.Finding, of rule: Rule, in suite: String) -> Bytes {
        var members: [JSON.Member] = [
            .init("kind", "finding"),
            .init("file", .string(finding.places.first?.file ?? suite)),
        ]
        if let line = finding.places.first?.line { members.append(.init("line", .integer(line))) }
        members += [
            .init("rule", .string(rule.id)),
            .init("rating", .string(finding.rating.rawValue)),
            .init("section", .string(rule.section)),
            .init("standing", .string(finding.standing.word)),
        ]
        if case .excused(let words) = finding.standing {
            members.append(.init("excuse", .string(words)))
        }
        if let side = finding.side { members.append(.init("side", .string(side.rawValue))) }
        if finding.conn > 0 { members.append(.init("conn", .integer(finding.conn))) }
        members.append(.init("t", .integer(finding.time)))
        members.append(.init("events", .array(finding.events.map { .integer($0) })))
        if let command = finding.command {
            members.append(.init("command", .string(command.id)))
            if let type = command.type { members.append(.init("type", .string(type))) }
        }
        members.append(.init("text", .string(finding.text)))
        return encoded(members)
    }

    /// The cases of a suite and, behind them, the suite itself.
    package func lines(_ suite: Results.Suite) -> Bytes {
        var bytes: Bytes = []
        for item in suite.cases {
            var members: [JSON.Member] = [
                .init("kind", "case"), .init("file", .string(suite.name)),
                .init("name", .string(item.name)),
                .init("outcome", .string(item.outcome.rawValue)),
            ]
            if let rule = item.rule {
                members.append(.init("rating", .string(rule.rating.rawValue)))
                members.append(.init("exercised", .integer(item.exercised)))
                members.append(.init("counted", .integer(item.tally.counted)))
                members.append(.init("excused", .integer(item.tally.excused)))
                members.append(.init("remarks", .integer(item.tally.remarks)))
            }
            if let message = item.message { members.append(.init("message", .string(message))) }
            bytes += encoded(members)
        }
        var members: [JSON.Member] = [
            .init("kind", "suite"), .init("file", .string(suite.name)),
        ]
        if let session = suite.session { members.append(.init("session", .string(session))) }
        if let start = suite.startedAt { members.append(.init("started_at", .string(start))) }
        members.append(.init("duration", .integer(suite.duration)))
        members += suite.figures.map { .init($0.name, .integer($0.value)) }
        for outcome in [Results.Outcome.passed, .failed, .error, .skipped] {
            members.append(.init(outcome.rawValue, .integer(suite.count(outcome))))
        }
        return bytes + encoded(members)
    }

    private func encoded(_ members: [JSON.Member]) -> Bytes {
        var bytes: Bytes = []
        JSON.object(members).encode(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
