import Capture
import PhoneBridge
import Wire

extension SessionDiff {
    mutating func compare(
        _ left: DiffSession.Command?, _ right: DiffSession.Command?
    ) throws(OutputError) -> CommandPair {
        if let left, let why = pairing?.skipped[left.id] {
            return CommandPair(first: left, second: right, outcome: .skipped, remarks: [why])
        }
        guard let left, let right else {
            return CommandPair(
                first: left, second: right, outcome: left == nil ? .extra : .missing)
        }
        var pair = CommandPair(first: left, second: right, outcome: .same)
        var fields = FieldComparison()
        let type = contract.command(named: left.type)
        ledger.begin(left.type)
        if judgesBoard {
            try compare(left.content, right.content, "command", command(type), into: &fields)
            compare(left.poll, right.poll, into: &fields)
        }
        if judgesApp {
            let birth = type?.bornID.map { "result.data.\($0)" }
            try compare(
                left.answer?.content, right.answer?.content, "result", result(type),
                birth: birth, into: &fields)
        }
        if judgesBoard {
            try compareOutcomes(left, right, result(type), &pair, into: &fields)
        }
        pair.differences = fields.differences
        pair.left = fields.left
        judge(&pair, left, right, hasChanges: fields.counted > 0)
        return pair
    }

    /// Compares what the polls said by which a command was handed out: what a phone in another
    /// state gets, a filter let through.
    private mutating func compare(
        _ left: PollState?, _ right: PollState?, into fields: inout FieldComparison
    ) {
        guard let left, let right else { return }
        let isOnePlatform = left.platform.lowercased() == right.platform.lowercased()
        let names = contract.poll
        func value(_ state: PollState) -> JSON {
            .object(
                [
                    state.appState.map { .init(names.appState, .string($0)) },
                    state.pipEnabled.map { .init(names.pipEnabled, .bool($0)) },
                    state.fgsEnabled.map { .init(names.fgsEnabled, .bool($0)) },
                ].compactMap { $0 })
        }
        let known = Knowledge(
            type: .object([
                .init(names.appState, .string), .init(names.pipEnabled, .boolean),
                .init(names.fgsEnabled, .boolean),
            ]), personal: Contract.Personal.none)
        var comparison = FieldComparison()
        comparison.compare(value(left), value(right), at: "poll", known, &ledger)
        fields.add(comparison) { difference in
            // A platform has one of the two bridges.
            guard !isOnePlatform, difference.counts,
                difference.path != "poll.\(names.appState)"
            else { return difference }
            var difference = difference
            difference.kind = .method
            return difference
        }
    }

    /// Finds what became of a command: the gravest that is new in the second session.
    private func judge(
        _ pair: inout CommandPair, _ left: DiffSession.Command, _ right: DiffSession.Command,
        hasChanges: Bool
    ) {
        var isChanged = hasChanges
        if judgesBoard, left.route != right.route {
            pair.outcome = .routeChanged
            pair.remarks.append(
                "sent by \(Self.name(left.route)), now by \(Self.name(right.route))")
        } else if judgesApp, let first = left.answer?.route, let second = right.answer?.route,
            first != second
        {
            pair.outcome = .routeChanged
            pair.remarks.append("answered by \(Self.name(first)), now by \(Self.name(second))")
        }
        var graver: Outcome?
        if judgesApp {
            graver = judgeAnswers(&pair, left, right, &isChanged)
        } else if left.answer != nil, right.answer == nil {
            pair.remarks.append("was answered, is unanswered now")
        }
        if left.sendings != right.sendings {
            pair.remarks.append("sent \(left.sendings)×, now \(right.sendings)×")
            // Where the app is played as it was, only the board can have changed its mind.
            if pairing?.judged == .board {
                if right.sendings > left.sendings { graver = .duplicate } else { isChanged = true }
            }
        }
        if let graver { pair.outcome = graver } else if isChanged { pair.outcome = .changed }
    }

    private func judgeAnswers(
        _ pair: inout CommandPair, _ left: DiffSession.Command, _ right: DiffSession.Command,
        _ isChanged: inout Bool
    ) -> Outcome? {
        var graver: Outcome?
        switch (left.answer, right.answer) {
        case (nil, .some):
            pair.remarks.append("was unanswered, is answered now")
            isChanged = true
        case (.some, nil):
            pair.remarks.append("was answered, is unanswered now")
            graver = .unanswered
        case (let first?, let second?) where first.isLate != second.isLate:
            let spans = [first, second].map { $0.latency.map { timeSpan($0) } ?? "?" }
            pair.remarks.append(
                second.isLate
                    ? "answered in \(spans[0]), now late, in \(spans[1])"
                    : "answered late, in \(spans[0]), now in \(spans[1])")
            if second.isLate { graver = .late } else { isChanged = true }
        default: break
        }
        if left.duplicates != right.duplicates {
            pair.remarks.append(
                "had \(counted(left.duplicates, "duplicate answer")), now \(right.duplicates)")
            if right.duplicates > left.duplicates {
                graver = graver ?? .duplicate
            } else {
                isChanged = true
            }
        }
        return graver
    }

    private static func name(_ route: Route) -> String {
        route == .websocket ? "WebSocket" : "the queue"
    }
}
