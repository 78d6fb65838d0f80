import Capture
import PhoneBridge
package import Wire

/// Writes what was compared as NDJSON (`--json`).
///
/// A line is a command, an event or a fact that differs, the last one the sum. Values stand as
/// they are: nothing is masked.
package struct DiffLines: Sendable {
    package init() {}

    /// A command, whether it differs or not.
    package func line(_ pair: SessionDiff.CommandPair) -> Bytes {
        var members: [JSON.Member] = [
            .init("kind", "command"), .init("outcome", .string(pair.outcome.rawValue)),
            .init("type", .string(pair.type)), .init("ordinal", .integer(pair.ordinal)),
        ]
        members += side("a", pair.first?.id, pair.first?.seq)
        members += side("b", pair.second?.id, pair.second?.seq)
        members += remarks(pair.remarks) + differences(pair.differences, pair.left)
        if let candidate = pair.candidate {
            let command = candidate.command
            members.append(
                .init(
                    "closest",
                    .object(
                        [
                            .init("id", .string(command.id)), .init("type", .string(command.type)),
                            .init("seq", .integer(command.seq)),
                        ] + differences(candidate.differences, candidate.left))))
        }
        return encoded(members)
    }

    /// An HTTP exchange.
    package func line(_ pair: SessionDiff.ExchangePair) -> Bytes {
        var members: [JSON.Member] = [
            .init("kind", "exchange"), .init("outcome", .string(pair.outcome.rawValue)),
            .init("request", .string(pair.kind.rawValue)), .init("ordinal", .integer(pair.ordinal)),
        ]
        members += side("a", pair.first.map(\.id), pair.first?.seq)
        members += side("b", pair.second.map(\.id), pair.second?.seq)
        return encoded(members + remarks(pair.remarks) + differences(pair.differences, pair.left))
    }

    /// An event of the app.
    package func line(_ pair: SessionDiff.EventPair) -> Bytes {
        let members: [JSON.Member] =
            [
                .init("kind", "event"), .init("outcome", .string(pair.outcome.rawValue)),
                .init("name", .string(pair.name)), .init("ordinal", .integer(pair.ordinal)),
            ] + side("a", nil, pair.first?.seq) + side("b", nil, pair.second?.seq)
            + remarks(pair.remarks)
        return encoded(members + differences(pair.differences, pair.left))
    }

    /// What differs of the whole, and the sum.
    package func end(_ diff: borrowing SessionDiff) -> Bytes {
        var bytes = Bytes()
        for fact in diff.facts {
            bytes += encoded([
                .init("kind", "fact"), .init("name", .string(fact.name)),
                .init("a", .string(fact.first)), .init("b", .string(fact.second)),
                .init("counts", .bool(fact.counts)),
            ])
        }
        for remark in diff.ruleRemarks {
            bytes += encoded([
                .init("kind", "rule"), .init("rule", .string(remark.rule.name)),
                .init("line", .integer(remark.rule.place.line)),
                .init("remark", .string(remark.kind.rawValue)),
                .init("text", .string(remark.text)),
            ])
        }
        var members: [JSON.Member] = [
            .init("kind", "summary"), .init("a", .string(diff.first.name)),
            .init("b", .string(diff.second.name)),
            .init("different", .bool(diff.isDifferent)),
        ]
        for outcome in SessionDiff.Outcome.allCases {
            members.append(
                .init(outcome.rawValue, .integer(diff.counts[outcome, default: 0])))
        }
        members.append(.init("events", .integer(diff.changedEvents)))
        members.append(.init("exchanges", .integer(diff.changedExchanges)))
        return bytes + encoded(members)
    }

    private func side(_ name: String, _ id: String?, _ seq: Int?) -> [JSON.Member] {
        guard let seq else { return [] }
        var members: [JSON.Member] = []
        if let id, !id.isEmpty { members.append(.init("id", .string(id))) }
        members.append(.init("seq", .integer(seq)))
        return [.init(name, .object(members))]
    }

    private func remarks(_ remarks: [String]) -> [JSON.Member] {
        remarks.isEmpty ? [] : [.init("remarks", .array(remarks.map { .string($0) }))]
    }

    private func differences(_ differences: [FieldDifference], _ left: Int) -> [JSON.Member] {
        var members: [JSON.Member] = []
        if !differences.isEmpty {
            members.append(
                .init(
                    "differences",
                    .array(
                        differences.map { difference in
                            var members: [JSON.Member] = [
                                .init("path", .string(difference.path)),
                                .init("kind", .string(difference.kind.rawValue)),
                            ]
                            if let value = difference.first { members.append(.init("a", value)) }
                            if let value = difference.second { members.append(.init("b", value)) }
                            members.append(.init("counts", .bool(difference.counts)))
                            if let why = difference.why {
                                members.append(.init("why", .string(why)))
                            }
                            return .object(members)
                        })))
        }
        if left > 0 { members.append(.init("left", .integer(left))) }
        return members
    }

    private func encoded(_ members: [JSON.Member]) -> Bytes {
        var bytes = Bytes()
        JSON.object(members).encode(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
