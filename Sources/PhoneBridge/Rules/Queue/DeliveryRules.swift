import Capture
import Wire

/// The rules for a command's way through the board's queue: each is handed out, to one poll at a
/// time, again when it timed out, and not after it ended (contract, "Connection" and "Timeout and
/// Reconnection").
struct DeliveryRules: RuleGroup {
    static let rules: [Rule] = [
        once, window, oneRoute, handsOut, retries, notAfterResult, distinctIDs, exactID, incomplete,
        firstResult, duplicate, beforeHandOut, resultOnce, resultTaken,
    ]

    private static let idempotence = #"contract, "Timeout and Reconnection""#
    private static let connection = #"contract, "Connection""#
    private static let codes = #"board facts, "Status codes""#

    static let once = Rule(
        "queue-retry-timed-out", .sure, .board, section: idempotence,
        "A command in flight is handed out again only after it timed out")
    static let window = Rule(
        "queue-in-flight-window", .likely, .board,
        section: #"board facts, "Queue times and limits""#,
        "A command in flight is handed out again only after the board's own window")
    static let oneRoute = Rule(
        "queue-not-while-sent", .likely, .board, section: idempotence,
        "A command that was sent over the WebSocket is handed out by the queue only after it timed "
            + "out")
    static let handsOut = Rule(
        "queue-hands-out", .sure, .board, section: connection,
        "A poll with room for it gets each queued command that it may have")
    static let retries = Rule(
        "queue-retries", .sure, .board, section: idempotence,
        "The queue hands a command out again when it timed out in flight")
    static let notAfterResult = Rule(
        "queue-not-after-result", .sure, .board, section: idempotence,
        "A command whose result was accepted is not handed out again")
    static let distinctIDs = Rule(
        "queue-distinct-ids", .sure, .board, section: idempotence,
        "Two ids that differ at all are two commands")
    static let exactID = Rule(
        "queue-result-exact-id", .sure, .board,
        section: #"contract, "BridgeCommandResponse (app → board)""#,
        "A result is accepted for the command with exactly its id")
    static let incomplete = Rule(
        "queue-incomplete-request", .sure, .board, section: "RFC 9112 §8",
        "A request that was cut short is not acted on")
    static let firstResult = Rule(
        "queue-first-result", .sure, .board, section: idempotence,
        "A command has the result that was accepted first since it was enqueued")
    static let duplicate = Rule(
        "queue-refuses-duplicate", .likely, .board, section: codes,
        "An id that is queued or in flight is not accepted again")
    static let beforeHandOut = Rule(
        "queue-result-handed-out", .likely, .board, section: connection,
        "A result is accepted only for a command that was handed out")
    static let resultOnce = Rule(
        "queue-result-once", .likely, .board, section: codes,
        "One result is accepted for a command")
    static let resultTaken = Rule(
        "queue-result-taken", .likely, .board, section: codes,
        "The result of a command in flight is accepted")

    private var book = QueueBook()
    /// Polls and results whose answer is still to come, by connection and `seq` of the request.
    private var polls: [Int: [Int: Int64]] = [:]
    private var results: [Int: [Int: String]] = [:]
    /// Commands that only a request which was cut short has named.
    private var cut: [String: QueueBook.Mark] = [:]
    /// All phones that were seen, as long as they are few.
    private var phones: Set<String> = []

    /// Ids of cut requests that are remembered.
    private static let maximumCut = 64
    private static let maximumPhones = 8
    /// The life of a queued command where the profile does not know: the observed board's.
    private static let assumedLife: Int64 = 300_000

    static let interests: RuleInterests = [
        .requests, .gaps, .notes, .request, .exchange, .command, .upgraded, .gone, .hole,
    ]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        switch event.kind {
        case .request(let request): noteCut(request, event, context)
        // The whole request may be in it.
        case .gap: cut = [:]
        case .note where LinkReader.isHole(event): cut = [:]
        default: break
        }
    }

    private mutating func noteCut(
        _ request: Event.Request, _ event: Event, _ context: RuleContext
    ) {
        guard request.body.incomplete,
            request.method == "POST",
            RequestTarget(request.target).path == context.contract.paths.commands,
            case .whole(let body) = request.body.content, cut.count < Self.maximumCut,
            // What does not parse as far as it came cannot be acted on.
            let json = try? JSONDocument(body),
            let id = json.root[folding: "command"]?[folding: "id"]?.string, book[id] == nil,
            id.utf8.count <= QueueBook.maximumID, context.commands.entry(id) == nil
        else { return }
        cut[id] = QueueBook.Mark(time: event.time, seq: event.seq)
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .request(let request): requested(request, fact, context)
        case .exchange(let exchange): answered(exchange, fact, &context)
        case .command(let command) where command.route == .queue:
            judgeRoute(command, fact, &context)
        case .upgraded: notePhone(context.connections[fact.conn]?.phoneID)
        case .closed, .forgotten:
            unanswered(on: fact.conn)
        case .hole:
            // Enqueues, polls and results may be in it.
            book.forgetAll()
            polls = [:]
            results = [:]
        default: break
        }
    }

    // MARK: - Requests

    private mutating func requested(
        _ request: RequestFact, _ fact: LinkFact, _ context: RuleContext
    ) {
        switch request.route {
        case .poll:
            polls[fact.conn, default: [:]][request.seq] = request.firstTime
            notePhone(request.poll(context.contract.poll).phoneID)
        case .result:
            guard let id = request.json?.root[folding: "id"]?.string, book[id] != nil else {
                return
            }
            results[fact.conn, default: [:]][request.seq] = id
            book.update(id, at: fact.time) { $0.hasResult = true }
        case nil where request.request.method == "DELETE":
            // Another revision of the board cancels so.
            book.forgetAll()
        default: break
        }
    }

    private mutating func notePhone(_ id: String?) {
        guard let id, phones.count < Self.maximumPhones else { return }
        phones.insert(id)
    }

    /// The answers that a connection still owed will not come.
    private mutating func unanswered(on conn: Int) {
        results[conn] = nil
        if polls.removeValue(forKey: conn)?.isEmpty == false { book.doubt() }
    }

    private mutating func answered(
        _ exchange: ExchangeFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let request = exchange.request else {
            // Whatever was asked, it may have been a poll.
            if exchange.commands != nil { book.doubt() }
            return
        }
        let span = QueueBook.Exchange(
            asked: request.firstTime, answered: fact.time, request: request.seq,
            response: fact.seq)
        switch request.route {
        case .enqueue: enqueued(request, exchange, span, fact.conn, &context)
        case .poll:
            polls[fact.conn]?[request.seq] = nil
            if let commands = exchange.commands {
                polled(commands, request, span, fact.conn, &context)
            } else if exchange.response.status == 200 {
                book.doubt()
            }
        case .result:
            results[fact.conn]?[request.seq] = nil
            posted(request, exchange, span, fact.conn, &context)
        case .query(let id): queried(id, exchange, span, fact.conn, &context)
        default: break
        }
    }

    // MARK: - Enqueue

    private mutating func enqueued(
        _ request: RequestFact, _ exchange: ExchangeFact, _ span: QueueBook.Exchange,
        _ conn: Int, _ context: inout RuleContext
    ) {
        guard let command = request.json?.root[folding: "command"],
            let id = command[folding: "id"]?.string, !id.isEmpty
        else { return }
        let events = [span.request, span.response]
        let name = Breach.Command(id: id, type: command[folding: "type"]?.string)
        if exchange.response.status == 409, book[id] == nil, isFamiliar(context),
            let other = book.nearlyEqual(id)
        {
            context.exercise(Self.distinctIDs)
            context.report(
                Self.distinctIDs, by: .board, conn: conn, events: events, command: name,
                "\"\(id)\" is refused, and only \"\(other)\" is in the queue")
        }
        guard exchange.response.status == 202 else { return }
        if book.nearlyEqual(id) != nil { context.exercise(Self.distinctIDs) }
        cut[id] = nil
        let former = book[id]
        if former != nil { context.exercise(Self.duplicate) }
        if let former, former.isOpen, !former.isUncertain, !former.hasResult,
            isAlive(former, at: span.answered, context)
        {
            context.report(
                Self.duplicate, by: .board, conn: conn,
                events: [former.accepted?.response ?? 0] + events, command: name,
                "\"\(id)\" is accepted again while it is queued or in flight")
            return
        }
        let phoneID = command[folding: "phone_id"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let implied = phones.count == 1 ? phones.first : nil
        let timeout = command[folding: "timeout_ms"]?.integer
        let least = context.contract.timing.defaultTimeoutMilliseconds
        book.update(id, at: span.answered) { entry in
            entry.beginAgain(span)
            entry.type = name.type
            entry.phoneID = phoneID
            entry.impliedPhoneID = phoneID == nil ? implied : nil
            // Nobody says which of the two the queue goes by.
            entry.timeout = min(max(0, timeout ?? least), least)
        }
    }

    /// Whether no hole is so near that commands which it swallowed may be in the queue still.
    private func isFamiliar(_ context: RuleContext) -> Bool {
        let life = context.profile.queueLifeMilliseconds ?? Self.assumedLife
        let since = context.now.clampedSubtracting(context.nanoseconds(life))
            .clampedSubtracting(context.nanoseconds(life))
        return context.lastHole.map { $0 < since } ?? true
    }

    /// Whether a command that was enqueued is in the queue still, for sure.
    private func isAlive(
        _ entry: QueueBook.Entry, at time: Int64, _ context: RuleContext
    ) -> Bool {
        guard let accepted = entry.accepted else { return false }
        let life = context.profile.queueLifeMilliseconds ?? entry.timeout
        return time < accepted.asked.clampedAdding(context.nanoseconds(life))
    }

    // MARK: - Poll

    private mutating func polled(
        _ commands: [JSONView], _ request: RequestFact, _ span: QueueBook.Exchange, _ conn: Int,
        _ context: inout RuleContext
    ) {
        let poll = request.poll(context.contract.poll)
        var handedOut: Set<String> = []
        for command in commands {
            guard let id = command["id"]?.string, !id.isEmpty else { continue }
            let name = Breach.Command(id: id, type: command["type"]?.string)
            let isFirst = handedOut.insert(id).inserted
            judge(name, isFirst: isFirst, span, conn, &context)
            let least = context.contract.timing.defaultTimeoutMilliseconds
            let timeout = min(max(0, command["timeout_ms"]?.integer ?? least), least)
            book.update(id, at: span.answered, timeout: timeout) { entry in
                entry.type = name.type
                entry.handOuts += 1
                entry.lastHandOut = span
                entry.hasResult = false
                entry.isUncertain = false
            }
        }
        judgeAbsent(handedOut, commands.count, poll, span, conn, &context)
    }

    private mutating func judge(
        _ name: Breach.Command, isFirst: Bool, _ span: QueueBook.Exchange, _ conn: Int,
        _ context: inout RuleContext
    ) {
        let events = [span.request, span.response]
        guard isFirst else {
            context.exercise(Self.once)
            context.report(
                Self.once, by: .board, conn: conn, events: events, command: name,
                "\"\(name.id)\" stands twice in one answer")
            return
        }
        if let mark = cut.removeValue(forKey: name.id) {
            context.exercise(Self.incomplete)
            context.report(
                Self.incomplete, by: .board, conn: conn, events: [mark.seq] + events,
                command: name, "\"\(name.id)\" is handed out, and its request was cut short")
        }
        guard let entry = book[name.id] else { return }
        if let completed = entry.completed {
            guard completed.answered < span.asked else { return }
            context.report(
                Self.notAfterResult, by: .board, conn: conn,
                events: [completed.request, completed.response] + events, command: name,
                "\"\(name.id)\" is handed out again after its result was accepted")
            return
        }
        guard let last = entry.lastHandOut, !entry.isUncertain else { return }
        // The board acted within both exchanges: that much time it let pass at the most.
        let passed = span.answered.clampedSubtracting(last.asked).clampedAdding(context.slack)
        context.exercise(Self.once)
        if passed < context.nanoseconds(entry.timeout) {
            context.report(
                Self.once, by: .board, conn: conn, events: [last.response] + events,
                command: name,
                "\"\(name.id)\" is handed out again after \(span.answered.clampedSubtracting(last.asked) / 1_000_000) ms"
            )
        } else if let window = context.profile.inFlightMilliseconds {
            context.exercise(Self.window)
            guard passed < context.nanoseconds(window) else { return }
            context.report(
                Self.window, by: .board, conn: conn, events: [last.response] + events,
                command: name,
                "\"\(name.id)\" is handed out again after \(span.answered.clampedSubtracting(last.asked) / 1_000_000) ms"
            )
        }
    }

    /// A command is on two ways at once, and nobody is seen to have put it on the second.
    private func judgeRoute(
        _ command: CommandFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let id = command.id, let sent = command.before?.sent, sent.route == .websocket,
            book[id]?.accepted == nil, context.isCertain(since: sent.time)
        else { return }
        context.exercise(Self.oneRoute)
        let passed = fact.time.clampedSubtracting(sent.time)
        guard passed.clampedAdding(context.slack) < sent.timeout else { return }
        context.report(
            Self.oneRoute, by: .board, conn: fact.conn, events: [sent.seq, fact.seq],
            command: command.name,
            "\"\(id)\" is handed out \(passed / 1_000_000) ms after it was sent over the WebSocket, "
                + "which allows \(sent.timeout / 1_000_000) ms")
    }

    /// Looks for commands that should have been in an answer with room for them.
    private mutating func judgeAbsent(
        _ handedOut: Set<String>, _ count: Int, _ poll: PollFacts, _ span: QueueBook.Exchange,
        _ conn: Int, _ context: inout RuleContext
    ) {
        let limit: Int64
        switch poll.limit {
        case .valid(let number): limit = number
        case .absent: limit = context.profile.defaultPollLimit ?? 1
        case .odd: limit = 1
        }
        guard Int64(count) < limit, let phoneID = poll.phoneID,
            poll.takesEverything || poll.route != nil,
            // Another poll that is under way may have got it.
            !polls.values.contains(where: { !$0.isEmpty })
        else { return }
        for (id, entry) in book.entries.sorted(by: { $0.key < $1.key })
        where !handedOut.contains(id) && entry.isOpen && !entry.isUncertain && !entry.hasResult {
            guard (entry.phoneID ?? entry.impliedPhoneID) == phoneID,
                isAllowed(entry.type, poll, context), isAlive(entry, at: span.answered, context),
                let accepted = entry.accepted, accepted.answered < span.asked
            else { continue }
            let name = Breach.Command(id: id, type: entry.type)
            let rule: Rule
            let seen: QueueBook.Exchange
            if let last = entry.lastHandOut {
                guard isDue(entry, last, span, context) else { continue }
                rule = Self.retries
                seen = last
            } else {
                rule = Self.handsOut
                seen = accepted
            }
            context.exercise(rule)
            context.report(
                rule, by: .board, conn: conn,
                events: [seen.request, seen.response, span.request, span.response], command: name,
                "\"\(id)\" is missing in an answer that had room for it")
            book.update(id, at: span.answered) { $0.isUncertain = true }
        }
        for id in handedOut {
            guard let entry = book[id], entry.accepted != nil else { continue }
            context.exercise(entry.handOuts > 1 ? Self.retries : Self.handsOut)
        }
    }

    private func isAllowed(
        _ type: String?, _ poll: PollFacts, _ context: RuleContext
    ) -> Bool {
        if poll.takesEverything { return true }
        guard let route = poll.route, let type,
            let known = context.contract.command(named: type)
        else { return false }
        return known.backgroundRoutes.contains(route)
    }

    /// Whether a command in flight must be back in the queue, by the profile's numbers.
    private func isDue(
        _ entry: QueueBook.Entry, _ last: QueueBook.Exchange, _ span: QueueBook.Exchange,
        _ context: RuleContext
    ) -> Bool {
        guard let window = context.profile.inFlightMilliseconds,
            let most = context.profile.maximumRedeliveries, entry.handOuts <= most
        else { return false }
        let due = context.nanoseconds(window)
            .clampedAdding(context.nanoseconds(context.profile.queueSweepMilliseconds))
        return span.asked > last.answered.clampedAdding(due).clampedAdding(context.slack)
    }

    // MARK: - Results

    /// A hash of what a result says, however it is spelt; the board writes it anew.
    private static func hash(_ result: JSONView) -> Int {
        var hasher = Hasher()
        for name: StaticString in ["method", "error", "data"] {
            guard let value = result[folding: name], value.kind != .null else {
                hasher.combine(0)
                continue
            }
            let document = value.document
            hasher.combine(document.tape.content(value.index, in: document.source.span))
        }
        return hasher.finalize()
    }

    private mutating func posted(
        _ request: RequestFact, _ exchange: ExchangeFact, _ span: QueueBook.Exchange,
        _ conn: Int, _ context: inout RuleContext
    ) {
        guard let result = request.json?.root, let id = result[folding: "id"]?.string else {
            return
        }
        let events = [span.request, span.response]
        let isAccepted = exchange.response.status == 200
        let name = Breach.Command(id: id, type: book[id]?.type)
        guard let entry = book[id] else {
            guard isAccepted, isFamiliar(context), let other = book.nearlyEqual(id) else { return }
            context.exercise(Self.exactID)
            context.report(
                Self.exactID, by: .board, conn: conn, events: events, command: name,
                "the result of \"\(id)\" is accepted, and only \"\(other)\" is in the queue")
            return
        }
        let hash = Self.hash(result)
        if isAccepted {
            context.exercise(Self.exactID)
            context.exercise(Self.beforeHandOut)
            context.exercise(Self.resultOnce)
            context.exercise(Self.resultTaken)
            context.exercise(Self.notAfterResult)
            if entry.completed != nil {
                context.report(
                    Self.resultOnce, by: .board, conn: conn, events: events, command: name,
                    "a second result of \"\(id)\" is accepted")
            } else if entry.accepted != nil, entry.handOuts == 0, !entry.isUncertain,
                !polls.values.contains(where: { !$0.isEmpty })
            {
                context.report(
                    Self.beforeHandOut, by: .board, conn: conn, events: events, command: name,
                    "the result of \"\(id)\" is accepted, and it was never handed out")
            }
        } else if exchange.response.status == 404 {
            judgeRefusal(entry, name, events, span, conn, &context)
        }
        book.update(id, at: span.answered) { entry in
            entry.note(result: hash, isAccepted: isAccepted)
            if isAccepted, entry.completed == nil { entry.completed = span }
        }
    }

    private func judgeRefusal(
        _ entry: QueueBook.Entry, _ name: Breach.Command, _ events: [Int],
        _ span: QueueBook.Exchange, _ conn: Int, _ context: inout RuleContext
    ) {
        guard let last = entry.lastHandOut, entry.accepted != nil, entry.completed == nil,
            !entry.isUncertain, entry.laterResults.isEmpty,
            span.answered.clampedSubtracting(last.asked).clampedAdding(context.slack)
                < context.nanoseconds(entry.timeout)
        else { return }
        context.exercise(Self.resultTaken)
        context.report(
            Self.resultTaken, by: .board, conn: conn, events: [last.response] + events,
            command: name, "the result of \"\(name.id)\" is refused, which was just handed out")
    }

    // MARK: - Query

    private mutating func queried(
        _ id: String, _ exchange: ExchangeFact, _ span: QueueBook.Exchange, _ conn: Int,
        _ context: inout RuleContext
    ) {
        guard exchange.response.status == 200, let answer = exchange.json?.root else { return }
        let events = [span.request, span.response]
        let name = Breach.Command(id: id, type: book[id]?.type)
        let status = answer["status"]?.string
        if let mark = cut[id], status == "queued" || status == "in_flight" {
            cut[id] = nil
            context.exercise(Self.incomplete)
            context.report(
                Self.incomplete, by: .board, conn: conn, events: [mark.seq] + events,
                command: name, "\"\(id)\" is in the queue, and its request was cut short")
        } else if cut[id] != nil {
            context.exercise(Self.incomplete)
        }
        guard status == "completed", let result = answer["result"], let entry = book[id],
            let first = entry.firstResult
        else { return }
        context.exercise(Self.firstResult)
        let shown = Self.hash(result)
        // Only what another result says is surely not this one.
        guard shown != first,
            entry.laterResults.contains(shown) || entry.formerResults.contains(shown)
        else { return }
        let words =
            entry.laterResults.contains(shown)
            ? "one that was posted later" : "one from before it was enqueued again"
        context.report(
            Self.firstResult, by: .board, conn: conn,
            events: [entry.completed?.request ?? 0] + events, command: name,
            "the result of \"\(id)\" is \(words)")
    }
}
