import Capture
package import Report

extension ReplayVerdict {
    /// The verdict as a suite of results, for JUnit: a case for each command, exchange and event,
    /// and for what differs of connections and rules.
    package func suite(minimumExercised: Int) -> Results.Suite {
        var suite = Results.Suite(name: name)
        suite.session = info?.id
        suite.startedAt = info?.startedAt
        suite.duration = duration
        for item in items {
            var entry = Results.Case(
                name: item.name, outcome: Self.outcome(item.outcome),
                message: item.outcome == .same ? nil : item.outcome.word)
            entry.group = item.group
            entry.details = item.details
            suite.cases.append(entry)
        }
        if let loss {
            var entry = Results.Case(name: "target", outcome: .error, message: "\(loss)")
            entry.group = "target"
            entry.details = loss.output.lines.map(\.text)
            suite.cases.append(entry)
        }
        if !isExercised(percent: minimumExercised) {
            suite.cases.append(
                Results.Case(
                    name: "commands-are-exercised", outcome: .error,
                    message: "\(exercised) of \(commandCount) commands were exercised"))
        }
        suite.figures = SessionDiff.Outcome.allCases.map {
            Results.Figure($0.rawValue, counts[$0, default: 0])
        }
        return suite
    }

    private static func outcome(_ outcome: SessionDiff.Outcome) -> Results.Outcome {
        if outcome.counts { return .failed }
        return outcome == .skipped ? .skipped : .passed
    }
}
