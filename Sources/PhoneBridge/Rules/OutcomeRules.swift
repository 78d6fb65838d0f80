import Capture
import Wire

/// What the board's own side got for a command, where a session tells it by `outcome` notes
/// (capture format).
struct OutcomeRules: RuleGroup {
    private static let first = Rule(
        "outcome-first-result", .sure, .board,
        section: #"contract, "BridgeCommandResponse (app → board)""#,
        "A command ends with the app's first answer to its id, and with nothing else that the app "
            + "says")
    private static let stops = Rule(
        "outcome-timeout", .sure, .board, section: #"contract, "Timeout and Reconnection""#,
        "The board stops waiting for an answer after timeout_ms")

    static let rules = [first, stops]

    /// A command, and what the app said to it first.
    private struct Story: Sendable {
        var sent: Int64
        var seq: Int
        var limit: Int64
        var route: Route
        var answer: (content: Int, seq: Int)?
        /// What the app had said to the id just before: answer and command may have crossed, or the
        /// outcome of the sending before is still to come.
        var crossing: Int?

        init(sent: Int64, seq: Int, limit: Int64, route: Route) {
            self.sent = sent
            self.seq = seq
            self.limit = limit
            self.route = route
        }
    }

    private let ownCodes: Set<String>
    private var stories: [String: Story] = [:]
    private var order: [String] = []
    /// The last answer to each id, and when it came.
    private var answers: [String: (content: Int, time: Int64)] = [:]
    /// What the board says of a command that it could not send (board facts, "Commands over
    /// WebSocket").
    private static let notConnected = "bridge_not_connected"
    /// An outcome comes soon after its command.
    private static let maximumStories = 1_024
    /// Answers to longer ids are not remembered.
    private static let maximumID = 256

    static let interests: RuleInterests = [.command, .result, .outcome]

    init(contract: Contract, profile: Profile) {
        ownCodes = Set(contract.boardCodes)
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .command(let command):
            guard let id = command.id, let sent = context.commands.entry(id)?.sent else { return }
            if order.count >= Self.maximumStories {
                for old in order.prefix(Self.maximumStories / 2) { stories[old] = nil }
                order.removeFirst(Self.maximumStories / 2)
            }
            let least = context.nanoseconds(context.profile.queueWaitMinimumMilliseconds)
            if stories[id] == nil { order.append(id) }
            stories[id] = Story(
                sent: sent.time, seq: sent.seq,
                limit: command.route == .queue ? max(least, sent.timeout) : sent.timeout,
                route: command.route)
            if let last = answers[id], fact.time.clampedSubtracting(last.time) <= context.slack {
                stories[id]?.crossing = last.content
            }
        case .result(let result):
            // One that comes before its command may be to an id that was never seen.
            guard let id = result.id, id.utf8.count <= Self.maximumID else { return }
            let content = Self.content(result.view)
            if answers.count >= Self.maximumStories { answers.removeAll() }
            answers[id] = (content, fact.time)
            guard stories[id] != nil, stories[id]?.answer == nil else { return }
            stories[id]?.answer = (content, fact.seq)
        case .outcome(let document): judge(document.root, fact, &context)
        default: break
        }
    }

    private mutating func judge(
        _ outcome: JSONView, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let id = outcome["id"]?.string, let story = stories[id] else { return }
        if let crossing = story.crossing, crossing == Self.content(outcome) {
            // Whose it is cannot be said; the next one is this story's end, if one comes.
            stories[id]?.crossing = nil
            context.exercise(Self.first)
            return
        }
        stories[id] = nil
        order.removeAll { $0 == id }
        guard context.isCertain(since: story.sent) else { return }
        // Without a WebSocket nothing was sent: this is no end of what the queue handed out.
        let code = outcome["error"]?["code"]?.string
        if story.route == .queue, code == Self.notConnected { return }
        let command = Breach.Command(id: id, type: context.commands.entry(id)?.type)
        context.exercise(Self.stops)
        let waited = fact.time.subtractingReportingOverflow(story.sent).partialValue
        if waited > story.limit.clampedAdding(context.slack) {
            context.report(
                Self.stops, by: .board, events: [story.seq, fact.seq], command: command,
                "the board waited \(Meaning.milliseconds(waited)) ms; the command allows "
                    + "\(story.limit / 1_000_000) ms")
        }
        // What the board says on its own account is no answer of the app.
        if let code, ownCodes.contains(code) { return }
        context.exercise(Self.first)
        guard let answer = story.answer else {
            context.report(
                Self.first, by: .board, events: [story.seq, fact.seq], command: command,
                "the command ended with an answer that the app never gave")
            return
        }
        guard answer.content != Self.content(outcome) else { return }
        context.report(
            Self.first, by: .board, events: [story.seq, answer.seq, fact.seq], command: command,
            "the command ended with something else than the app's first answer")
    }

    /// A hash of what an answer says: its error and data.
    private static func content(_ answer: JSONView) -> Int {
        var hasher = Hasher()
        for name: StaticString in ["error", "data"] {
            let value = answer[folding: name].flatMap { $0.kind == .null ? nil : $0 }
            hasher.combine(
                value.map { $0.document.tape.content($0.index, in: $0.document.source.span) })
        }
        return hasher.finalize()
    }
}
