import Capture
import PhoneBridge
import Wire

/// What the board's own side may have got for a command, by what the session shows (contract,
/// "Timeout and Reconnection"; board facts, "Commands over WebSocket").
struct DueOutcome: Equatable {
    /// An answer that comes this close to the end of its time, in nanoseconds, may have been in
    /// time for the board or not.
    static let slack: Int64 = 250_000_000

    /// Whether the app's first answer may be it.
    var allowsAnswer: Bool
    /// Codes of the board's own errors that may be it.
    var codes: [String]

    init(_ command: DiffSession.Command, links: [DiffSession.Link]) {
        let timedOut = "bridge_timeout"
        let closed = "bridge_connection_closed"
        guard command.route == .websocket else {
            // When the tool began to wait, nobody saw.
            self.init(allowsAnswer: command.answer != nil, codes: [timedOut])
            return
        }
        let deadline = command.lastSent.addingReportingOverflow(command.timeout)
        let end = deadline.overflow ? .max : deadline.partialValue
        let link = command.link.flatMap { links.indices.contains($0) ? links[$0] : nil }
        let answer = command.answer?.time
        let first = min(answer ?? .max, end, link?.endTime ?? .max)
        /// Whether something may have come first, for the board.
        func mayBeFirst(_ time: Int64?) -> Bool {
            time.map { span(from: first, to: $0) <= Self.slack } ?? false
        }
        var codes = mayBeFirst(end) ? [timedOut] : []
        // What the app says before it ends the connection is read before its end.
        let isAnsweredBefore = link?.endedBy == .app && answer ?? .max <= link?.endTime ?? .max
        if mayBeFirst(link?.endTime), !isAnsweredBefore { codes.append(closed) }
        self.init(allowsAnswer: mayBeFirst(answer), codes: codes)
    }

    private init(allowsAnswer: Bool, codes: [String]) {
        self.allowsAnswer = allowsAnswer
        self.codes = codes
    }
}

extension SessionDiff {
    /// Compares what the board's own side got for a command: with what it got in the first
    /// session, or else with what it should have got by what the app said.
    mutating func compareOutcomes(
        _ left: DiffSession.Command, _ right: DiffSession.Command, _ known: Knowledge,
        _ pair: inout CommandPair, into fields: inout FieldComparison
    ) throws(OutputError) {
        guard let now = right.outcome else {
            if left.outcome != nil {
                pair.remarks.append("what the board's own side got for it is not told now")
            }
            return
        }
        guard let before = left.outcome else {
            return try judgeOutcome(now, right, known, &pair, into: &fields)
        }
        try compare(before.content, now.content, "outcome", known, into: &fields)
    }

    private mutating func judgeOutcome(
        _ outcome: DiffSession.Outcome, _ command: DiffSession.Command, _ known: Knowledge,
        _ pair: inout CommandPair, into fields: inout FieldComparison
    ) throws(OutputError) {
        guard let content = outcome.content, let value = Self.parse(try second.read(content))
        else { return }
        let due = DueOutcome(command, links: second.links)
        var answer: JSON?
        // What was too large to be read is not judged.
        if due.allowsAnswer, command.answer?.content == nil { return }
        if due.allowsAnswer, let content = command.answer?.content {
            answer = Self.parse(try second.read(content)).map(Self.passedOn)
        }
        // Both are of one session: what an id has become plays no part.
        var ledger = ComparisonLedger()
        var comparison = FieldComparison()
        if let answer {
            comparison.compare(answer, Self.passedOn(value), at: "outcome", known, &ledger)
            if comparison.counted == 0 { return }
        }
        let code = value["error"]?["code"]?.stringValue
        if let code, due.codes.contains(code) { return }
        if answer != nil {
            pair.remarks.append("the board's own side got something else than the app's answer")
            fields.add(comparison)
        } else if let wanted = due.codes.first {
            pair.remarks.append(
                "no answer came in time, and the board's own side got something else than "
                    + due.codes.joined(separator: " or "))
            fields.add(
                FieldDifference(
                    path: "outcome.error.code", kind: .changed, first: .string(wanted),
                    second: code.map { .string($0) }, personal: Contract.Personal.none))
        }
    }

    /// What the board passes on of an answer: the fields that it knows, `null` as if absent.
    private static func passedOn(_ answer: JSON) -> JSON {
        guard let members = answer.members else { return answer }
        var passed: [JSON.Member] = []
        for name in ["method", "error", "data"] {
            // Names are matched without regard to case (board facts, "JSON").
            let member = members.last { $0.name.lowercased() == name }
            if let value = member?.value, value != .null { passed.append(.init(name, value)) }
        }
        return .object(passed)
    }
}
