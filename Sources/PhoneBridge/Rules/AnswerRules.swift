import Capture
import Wire

/// Commands and answers belong together: one answer for each, in time, by its id (contract,
/// "BridgeCommandResponse", "Timeout and Reconnection").
///
/// The contract asks the app to answer in time "as much as possible", and foresees a prompt that
/// keeps a command waiting: what is late or missing is likely a fault, and no more.
struct AnswerRules: RuleGroup {
    private static let message = #"contract, "BridgeCommandResponse (app → board)""#

    private static let known = Rule(
        "result-id-known", .sure, .app, section: message,
        "An answer's id is that of a command which was sent")
    private static let once = Rule(
        "result-once", .likely, .app, section: message,
        "A command gets one answer for each time that it was sent")
    private static let inTime = Rule(
        "result-in-time", .likely, .app, section: #"contract, "Timeout and Reconnection""#,
        "The app answers within the command's timeout_ms, 5,000 without one")
    private static let answered = Rule(
        "command-answered", .likely, .app, section: #"contract, "Error Handling""#,
        "The app answers every command, with an error if it cannot execute it")
    private static let route = Rule(
        "result-route", .likely, .app, section: #"contract, "Connection""#,
        "An answer takes the route by which its command came")
    private static let phone = Rule(
        "result-phone", .likely, .app, section: #"contract, "Connection""#,
        "The phone that was given a command answers it")

    static let rules = [known, once, inTime, answered, route, phone]

    /// A command that waits; it is the same sending while the book says so.
    private struct Waiting: Sendable {
        var id: String
        var seq: Int
        /// Whether the app was heard before its time was up; nil before that.
        var wasAwake: Bool?
    }

    /// What an answer that was posted is waiting for.
    private struct Post: Hashable, Sendable {
        var conn: Int
        var exchange: Int
    }

    /// A poll; one that is made again at once when its connection broke began with the first.
    private struct Poll: Sendable {
        var phone: String
        var since: Int64
    }

    /// For so many milliseconds after its deadline a late answer is waited for before none is said
    /// to come; for a target whose time is scaled at least so many nanoseconds of the recorder's.
    private static let patience: (milliseconds: Int64, least: Int64) = (30_000, 5_000_000_000)
    /// The longest that the command of an answer may lie back, unseen, before the recording
    /// began: the life of a command in the board's queue (board facts, "Queue times and limits").
    private static let maximumAge: Int64 = 300_000_000_000
    /// A poll that waited for so long may be given up by the app at any moment.
    private static let patientPoll: Int64 = 1_000_000_000
    /// Answers that are remembered for telling a second one from a repeated post.
    private static let maximumRemembered = 4_096

    private let profile: Profile
    private var waiting = DeadlineHeap<Waiting>()
    /// Ids of answers posted and not acknowledged yet.
    private var posts: [Post: String] = [:]
    /// Ids whose last answer may not have arrived: it may be given again.
    private var doubtful: Set<String> = []
    /// The last answer to a poll that had waited for long, by connection: its event and its time.
    private var patientAnswers: [Int: (seq: Int, time: Int64)] = [:]
    /// Polls without an answer so far.
    private var polls: [Post: Poll] = [:]
    /// Polls that the end of a connection cut off after a long wait, by the phone: when they began,
    /// and when that was.
    private var cutPolls: [String: (since: Int64, time: Int64)] = [:]
    /// Events of answers to polls that the app may have given up, and never seen.
    private var unread: Set<Int> = []
    /// The connection of the last answer by WebSocket, by id.
    private var lastAnswer: [String: Int] = [:]
    /// When a phone last polled or posted, by its id, "" for none.
    private var lastHeard: [String: Int64] = [:]
    /// Whether the peers of the session begin with it.
    private var isStaged = false

    static let interests: RuleInterests = [
        .sessions, .command, .result, .request, .exchange, .ended, .gone, .time,
    ]

    init(contract: Contract, profile: Profile) {
        self.profile = profile
    }

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        guard case .session(let info) = event.kind else { return }
        isStaged = ["simulation", "replay", "fuzz"].contains(info.source)
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .command(let command): sent(command, fact, context)
        case .result(let result): received(result, fact, &context)
        case .request(let request):
            guard request.route == .poll || request.route == .result else { return }
            let phone = context.connections[fact.conn]?.phoneID ?? ""
            if lastHeard.count >= Self.maximumRemembered { lastHeard.removeAll() }
            lastHeard[phone] = fact.time
            if request.route == .poll { polled(request, phone, fact) }
            if request.route == .result, let id = request.json?.root[folding: "id"]?.string {
                if posts.count >= Self.maximumRemembered { posts.removeAll() }
                posts[Post(conn: fact.conn, exchange: request.request.exchange)] = id
            }
        case .exchange(let exchange):
            guard let request = exchange.request else { return }
            if exchange.route == .poll { handedOut(request, fact, context) }
            guard exchange.route == .result else { return }
            let post = Post(conn: fact.conn, exchange: request.request.exchange)
            guard let id = posts.removeValue(forKey: post) else { return }
            if !(200..<300).contains(exchange.response.status) { doubt(id) }
        case .ended(.app, _):
            guard let last = patientAnswers[fact.conn],
                fact.time <= last.time.clampedAdding(profile.slack)
            else { return }
            doubt(answer: last.seq)
        case .closed, .forgotten: closed(fact, &context)
        default: break
        }
    }

    /// The limit for a command's answer, in nanoseconds.
    private func limit(_ sent: CommandBook.Sending, _ context: RuleContext) -> Int64 {
        guard sent.route == .queue else { return sent.timeout }
        return max(
            sent.timeout, context.nanoseconds(context.profile.queueWaitMinimumMilliseconds))
    }

    private mutating func sent(
        _ command: CommandFact, _ fact: LinkFact, _ context: RuleContext
    ) {
        guard let id = command.id, let sent = context.commands.entry(id)?.sent,
            sent.seq == fact.seq
        else { return }
        lastAnswer[id] = nil
        let due = sent.time.clampedAdding(limit(sent, context)).clampedAdding(profile.slack)
        waiting.add(Waiting(id: id, seq: fact.seq), at: due)
    }

    // MARK: - Answers

    private mutating func received(
        _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let id = result.id, !id.isEmpty else { return }
        guard let before = result.before, before.sendings > 0 else {
            return unknown(result, fact, &context)
        }
        context.exercise(Self.known)
        context.exercise(Self.once)
        if before.isAnswered { second(result, before, fact, &context) }
        if result.route == .websocket {
            if lastAnswer.count >= Self.maximumRemembered { lastAnswer.removeAll() }
            lastAnswer[id] = fact.conn
        }
        guard let sent = before.sent else { return }
        context.exercise(Self.answered)
        let events = [sent.seq, fact.seq]
        let limit = limit(sent, context)
        let latency = fact.firstTime.subtractingReportingOverflow(sent.time).partialValue
        if context.isCertain(since: sent.time) {
            context.exercise(Self.inTime)
            if latency > limit.clampedAdding(profile.slack) {
                context.report(
                    Self.inTime, by: .app, conn: fact.conn, events: events, command: result.name,
                    "the answer came after \(Meaning.milliseconds(latency)) ms; the command allows "
                        + "\(limit / 1_000_000) ms")
            }
        }
        guard before.sendings == 1 else { return }
        context.exercise(Self.route)
        if sent.route != result.route {
            context.report(
                Self.route, by: .app, conn: fact.conn, events: events, command: result.name,
                "the command came by \(sent.route.words), its answer by \(result.route.words)")
        }
        guard let given = sent.phoneID, let answering = result.phoneID else { return }
        context.exercise(Self.phone)
        if given != answering {
            context.report(
                Self.phone, by: .app, conn: fact.conn, events: events, command: result.name,
                "the command went to phone \(given.quoted), its answer is from "
                    + answering.quoted)
        }
    }

    /// An answer to what was never seen to be sent.
    private func unknown(
        _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        let began = context.began ?? fact.time
        let oldest = isStaged ? began : max(began, fact.time - Self.maximumAge)
        guard context.lastHole.map({ $0 < oldest }) ?? true else { return }
        // A recording that began lately may have missed the command.
        let isSure = isStaged || fact.time.clampedAdding(-Self.maximumAge) >= began
        context.exercise(Self.known)
        context.report(
            Self.known, rating: isSure ? nil : .likely, by: .app, conn: fact.conn,
            events: [fact.seq], command: result.name,
            result.before == nil
                ? "no command had the id \((result.id ?? "").quoted)"
                : "the command \((result.id ?? "").quoted) was answered before it was handed out")
    }

    private mutating func second(
        _ result: ResultFact, _ before: CommandBook.Entry, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        guard let id = result.id, context.isCertain(since: context.began ?? 0) else { return }
        switch result.route {
        case .websocket:
            // Behind a new connection the app may not know whether the first one arrived.
            guard lastAnswer[id] == fact.conn else { return }
        case .queue:
            // This one is among those that are not acknowledged.
            if doubtful.contains(id) || posts.values.count(where: { $0 == id }) > 1 { return }
        }
        context.report(
            Self.once, by: .app, conn: fact.conn, events: [fact.seq], command: result.name,
            "answer number \(before.results + 1) to a command that was sent "
                + (before.sendings == 1 ? "once" : "\(before.sendings) times"))
    }

    private mutating func doubt(_ id: String) {
        if doubtful.count >= Self.maximumRemembered { doubtful.removeAll() }
        doubtful.insert(id)
    }

    // MARK: - Polls

    /// An app that ends the connection of a poll just as the board answers it, after a long wait,
    /// gave the poll up: answer and end crossed, and nobody can say that it saw a command.
    private mutating func handedOut(
        _ request: RequestFact, _ fact: LinkFact, _ context: RuleContext
    ) {
        let post = Post(conn: fact.conn, exchange: request.request.exchange)
        let since = polls.removeValue(forKey: post)?.since ?? request.time
        guard fact.time.clampedAdding(-since) >= Self.patientPoll else {
            patientAnswers[fact.conn] = nil
            return
        }
        if context.connections[fact.conn]?.app.ended != nil { return doubt(answer: fact.seq) }
        if patientAnswers.count >= Self.maximumRemembered { patientAnswers.removeAll() }
        patientAnswers[fact.conn] = (fact.seq, fact.time)
    }

    /// An app whose poll broke off may make it again without beginning to wait anew.
    private mutating func polled(_ request: RequestFact, _ phone: String, _ fact: LinkFact) {
        var since = fact.time
        if let cut = cutPolls.removeValue(forKey: phone),
            fact.time <= cut.time.clampedAdding(Self.patientPoll)
        {
            since = cut.since
        }
        if polls.count >= Self.maximumRemembered { polls.removeAll() }
        polls[Post(conn: fact.conn, exchange: request.request.exchange)] = Poll(
            phone: phone, since: since)
    }

    private mutating func doubt(answer seq: Int) {
        if unread.count >= Self.maximumRemembered { unread.removeAll() }
        unread.insert(seq)
    }

    // MARK: - Silence

    private func patience(_ context: RuleContext) -> Int64 {
        max(context.nanoseconds(Self.patience.milliseconds), Self.patience.least)
    }

    mutating func advance(to time: Int64, _ context: inout RuleContext) {
        while let next = waiting.take(before: time) {
            if next.wasAwake == nil { wait(next, context) } else { judge(next, &context) }
        }
    }

    mutating func finish(at time: Int64, _ context: inout RuleContext) {
        for next in waiting.takeAll().sorted(by: { $0.seq < $1.seq }) { judge(next, &context) }
    }

    private mutating func closed(_ fact: LinkFact, _ context: inout RuleContext) {
        patientAnswers[fact.conn] = nil
        for (post, poll) in polls where post.conn == fact.conn {
            polls[post] = nil
            guard fact.time.clampedAdding(-poll.since) >= Self.patientPoll else { continue }
            if cutPolls.count >= Self.maximumRemembered { cutPolls.removeAll() }
            cutPolls[poll.phone] = (poll.since, fact.time)
        }
        for (post, id) in posts where post.conn == fact.conn {
            posts[post] = nil
            doubt(id)
        }
    }

    /// The time of a command is up; a late answer is waited for.
    ///
    /// What an app had not read when its system put it to sleep is lost to it, so one that was
    /// not heard meanwhile owes nothing.
    private mutating func wait(_ waiting: Waiting, _ context: RuleContext) {
        guard let sent = context.commands.entry(waiting.id)?.sent, sent.seq == waiting.seq else {
            return
        }
        let due = sent.time.clampedAdding(limit(sent, context)).clampedAdding(profile.slack)
        var next = waiting
        next.wasAwake = heard(sent, context).map { $0 > sent.time } ?? false
        self.waiting.add(next, at: due.clampedAdding(patience(context)))
    }

    /// When the app that was given a command was last heard, while it can be.
    private func heard(_ sent: CommandBook.Sending, _ context: RuleContext) -> Int64? {
        guard sent.route == .websocket else { return lastHeard[sent.phoneID ?? ""] }
        guard let facts = context.connections[sent.conn], facts.isOpen else { return nil }
        return facts.app.lastHeard
    }

    /// A command has waited for its answer for long, or the session ends.
    private func judge(_ waiting: Waiting, _ context: inout RuleContext) {
        guard let entry = context.commands.entry(waiting.id), let sent = entry.sent,
            sent.seq == waiting.seq
        else { return }
        context.commands.giveUp(waiting.id)
        guard !unread.contains(waiting.seq) else { return }
        let limit = limit(sent, context)
        let due = sent.time.clampedAdding(limit).clampedAdding(profile.slack)
        guard context.now > due, context.isCertain(since: sent.time) else { return }
        // While the session ends, the answer may still be on its way, and late.
        let isOver = context.now > due.clampedAdding(patience(context))
        // A phone that sleeps answers nothing; one that was heard before and after could have.
        guard let heard = heard(sent, context), heard > due,
            !isOver || waiting.wasAwake != false
        else { return }
        let rule = isOver ? Self.answered : Self.inTime
        context.exercise(rule)
        context.report(
            rule, by: .app, conn: sent.conn, events: [sent.seq],
            command: .init(id: sent.id, type: entry.type),
            "no answer came" + (isOver ? "" : " before the session ended")
                + ", though the command allows \(limit / 1_000_000) ms and the app was heard later")
    }
}

extension Route {
    /// The route as people call it.
    fileprivate var words: String {
        switch self {
        case .websocket: "the WebSocket"
        case .queue: "the HTTP queue"
        }
    }
}
