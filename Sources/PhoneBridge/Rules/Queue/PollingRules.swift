import Capture
import Wire

/// The rule for an app that polls the queue: a poll that comes to nothing is not its last one.
///
/// Whether an app polls is its own affair. One that polled steadily, and whose state did not
/// change, has lost its poll where it never comes again behind one that was not answered.
struct PollingRules: RuleGroup {
    static let rules: [Rule] = [goesOn]

    static let goesOn = Rule(
        "poll-goes-on", .likely, .app, section: #"contract, "Connection""#,
        "An app that polls goes on after a poll that failed or was not answered")

    /// The polls of one phone in one state.
    private struct Poller {
        /// The first one and the last one.
        var began: Int64
        var last: (time: Int64, seq: Int)
        var count = 1
        /// Whether the last one was answered with 200.
        var isAnswered = false
        var isReported = false
    }

    /// By the phone's id.
    private var pollers: [String: Poller] = [:]

    /// Polls that make a habit.
    private static let habit = 3
    /// Milliseconds between two polls of a habit, at most.
    private static let interval: Int64 = 15_000
    /// Milliseconds without a poll that no wait for a reply explains: systems give one up after a
    /// minute.
    private static let patience: Int64 = 120_000
    /// Phones that are remembered; a capture may be of any number.
    private static let maximumPhones = 1_024

    static let interests: RuleInterests = [.request, .exchange, .message, .hole]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .request(let request) where request.route == .poll: polled(request, fact, &context)
        case .exchange(let exchange) where exchange.route == .poll:
            answered(exchange, context)
        case .message(let message) where message.from == .app:
            heard(message, fact, &context)
        case .hole: pollers = [:]
        default: break
        }
    }

    private mutating func polled(
        _ request: RequestFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let phone = request.poll(context.contract.poll).phoneID,
            phone.utf8.count <= 256
        else { return }
        let mark = (time: fact.time, seq: fact.seq)
        guard var poller = pollers[phone] else {
            if pollers.count >= Self.maximumPhones { pollers = [:] }
            pollers[phone] = Poller(began: fact.time, last: mark)
            return
        }
        let pause = fact.time.clampedSubtracting(poller.last.time)
        if !poller.isAnswered {
            context.exercise(Self.goesOn)
            // However long the wait for the reply was.
            poller.count += 1
        } else if pause <= context.nanoseconds(Self.interval) {
            poller.count += 1
        } else {
            poller = Poller(began: fact.time, last: mark)
        }
        poller.last = mark
        poller.isAnswered = false
        poller.isReported = false
        pollers[phone] = poller
    }

    private mutating func answered(_ exchange: ExchangeFact, _ context: RuleContext) {
        guard exchange.response.status == 200, let request = exchange.request,
            let phone = request.poll(context.contract.poll).phoneID,
            pollers[phone]?.last.seq == request.seq
        else { return }
        pollers[phone]?.isAnswered = true
    }

    /// The app is there, on the connection that it had when it began to poll.
    private mutating func heard(
        _ message: MessageFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let facts = context.connections[fact.conn], let phone = facts.phoneID,
            let poller = pollers[phone]
        else { return }
        guard case .heartbeat = message.sort else {
            // It tells of another state, in which it may not poll.
            if case .appEvent = message.sort { pollers[phone] = nil }
            return
        }
        let pause = fact.time.clampedSubtracting(poller.last.time)
        guard pause > context.nanoseconds(Self.patience).clampedAdding(context.slack),
            poller.count >= Self.habit, !poller.isAnswered, !poller.isReported,
            let upgraded = facts.upgraded, upgraded <= poller.began, !message.isBehindClose,
            context.isCertain(since: poller.began)
        else { return }
        pollers[phone]?.isReported = true
        context.exercise(Self.goesOn)
        context.report(
            Self.goesOn, by: .app, conn: fact.conn, events: [poller.last.seq, fact.seq],
            "no poll came within \(pause / 1_000_000_000) s of one that had no good answer, and the "
                + "app is there")
    }
}
