import Capture
import PhoneBridge

/// Collects what was compared as results, for a JUnit report.
///
/// A case is a command, by its type, id and ordinal, an event of the app, or a fact of the link
/// that counts. Values that tell about a person are masked.
package struct DiffResults {
    private var suite: Results.Suite
    private let layout = DiffText(isColoured: false)

    /// Begins the suite of two sessions.
    package init(_ diff: borrowing SessionDiff) {
        suite = Results.Suite(name: "\(diff.first.name) \(diff.second.name)")
        suite.session = diff.second.info?.id
        suite.startedAt = diff.second.info?.startedAt
    }

    /// Takes a command.
    package mutating func add(_ pair: SessionDiff.CommandPair) {
        let id = pair.first?.id ?? pair.second?.id ?? ""
        add(
            pair.outcome, "\(id) \(pair.ordinal)", in: pair.type, layout.details(pair))
    }

    /// Takes an event of the app.
    package mutating func add(_ pair: SessionDiff.EventPair) {
        add(
            pair.outcome, "\(pair.name) \(pair.ordinal)", in: pair.name, layout.details(pair))
    }

    /// Takes an HTTP exchange.
    package mutating func add(_ pair: SessionDiff.ExchangePair) {
        let id = pair.id.isEmpty ? "" : " \(pair.id)"
        add(
            pair.outcome, "\(pair.kind.rawValue)\(id) \(pair.ordinal)", in: "http",
            layout.details(pair))
    }

    private mutating func add(
        _ outcome: SessionDiff.Outcome, _ name: String, in group: String, _ details: [String]
    ) {
        let result: Results.Outcome =
            switch outcome {
            case .same: .passed
            case .skipped: .skipped
            default: .failed
            }
        var item = Results.Case(
            name: name, outcome: result,
            message: outcome == .same
                ? nil : outcome == .skipped ? details.first ?? outcome.word : outcome.word)
        item.group = group
        item.details = details
        suite.cases.append(item)
    }

    /// The suite, once all was given.
    package mutating func finish(_ diff: borrowing SessionDiff) -> Results.Suite {
        for fact in diff.facts where fact.counts {
            var item = Results.Case(name: fact.name, outcome: .failed, message: "changed")
            item.group = "link"
            item.details = ["\(visible(fact.first)) → \(visible(fact.second))"]
            suite.cases.append(item)
        }
        if diff.isEmpty {
            suite.cases.append(
                Results.Case(
                    name: "sessions-have-commands", outcome: .error,
                    message: "neither session has a command or an event"))
        }
        suite.figures = SessionDiff.Outcome.allCases.map {
            Results.Figure($0.rawValue, diff.counts[$0, default: 0])
        }
        return suite
    }
}
