import Capture

extension SessionDiff {
    /// A fact of the whole session that differs.
    package struct FactDifference: Sendable, Equatable {
        package var name: String
        package var first: String
        package var second: String
        /// Whether it makes the two different, or is only told.
        package var counts: Bool
    }

    /// What differs of connections and counts.
    package var facts: [FactDifference] {
        var facts = linkFacts
        func compare(_ name: String, _ left: String, _ right: String, counts: Bool) {
            guard left != right else { return }
            facts.append(FactDifference(name: name, first: left, second: right, counts: counts))
        }
        compare(
            "results to unknown commands", "\(first.strayResults)", "\(second.strayResults)",
            counts: judgesApp)
        compare(
            "polls that were refused", Self.text(first.refusedPolls),
            Self.text(second.refusedPolls),
            // How often a player polls is its own affair.
            counts: judgesBoard
                && (pairing == nil || Set(first.refusedPolls.keys) != Set(second.refusedPolls.keys))
        )
        compare(
            "outcomes of commands that were never sent", Self.text(first.strayOutcomes),
            Self.text(second.strayOutcomes), counts: judgesBoard)
        compare("platform", first.platform ?? "none", second.platform ?? "none", counts: false)
        compare(
            "heartbeats without an echo", "\(first.heartbeatsWithoutEcho)",
            "\(second.heartbeatsWithoutEcho)",
            counts: judgesBoard && second.heartbeatsWithoutEcho > first.heartbeatsWithoutEcho)
        compare(
            "heartbeats of the app", "\(first.appHeartbeats)", "\(second.appHeartbeats)",
            counts: false)
        compare(
            "heartbeats of the board", "\(first.boardHeartbeats)", "\(second.boardHeartbeats)",
            counts: false)
        compare("polls", "\(first.polls)", "\(second.polls)", counts: false)
        for (kind, name) in [
            (DiffSession.Exchange.Kind.query, "queries"), (.status, "status requests"),
        ] {
            compare(
                name, "\(first.exchanges.count { $0.kind == kind })",
                "\(second.exchanges.count { $0.kind == kind })", counts: false)
        }
        compare(
            "places where something is missing", "\(first.holes)", "\(second.holes)",
            counts: false)
        for failure in looseFailures {
            compare("event \(failure.seq)", "there", failure.text, counts: true)
        }
        return facts
    }

    /// The app makes the connections, and either side may end one.
    private var linkFacts: [FactDifference] {
        let (left, right) = (first.links, second.links)
        var facts: [FactDifference] = []
        if left.count != right.count {
            // Of a played session, what comes behind its end is the app's own affair.
            let isShort = left.dropFirst(right.count)
                .contains { pairing?.unexercised[$0.seq] == nil }
            facts.append(
                FactDifference(
                    name: "WebSocket connections", first: "\(left.count)",
                    second: "\(right.count)",
                    counts: judgesApp && (pairing == nil || isShort)))
            // Without a player nobody knows which is which.
            guard pairing != nil else { return facts }
        }
        for (index, pair) in zip(left, right).enumerated() {
            guard
                pair.0.end != pair.1.end || pair.0.answer != pair.1.answer
                    || pairing != nil && pair.0.endedBy != pair.1.endedBy
            else { continue }
            let judged = pairing?.judged
            let isJudged =
                pairing?.unexercised[pair.0.seq] == nil
                && (judged == nil || pair.0.endedBy == judged || pair.1.endedBy == judged
                    || pair.0.answer != pair.1.answer)
            facts.append(
                FactDifference(
                    name: "end of WebSocket connection \(index + 1)", first: text(pair.0),
                    second: text(pair.1), counts: isJudged))
        }
        return facts
    }

    private func text(_ link: DiffSession.Link) -> String {
        let answer = link.answer.map { ", answered with \($0)" } ?? ""
        guard pairing != nil, let side = link.endedBy else { return link.end + answer }
        return "\(link.end) by the \(side.rawValue)" + answer
    }

    /// How often there is what, such as `404 ×2`.
    private static func text(_ counts: [some Comparable & Hashable: Int]) -> String {
        counts.isEmpty
            ? "none"
            : counts.sorted { $0.key < $1.key }
                .map { $0.value == 1 ? "\($0.key)" : "\($0.key) ×\($0.value)" }
                .joined(separator: ", ")
    }
}
