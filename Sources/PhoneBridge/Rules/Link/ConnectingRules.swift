import Capture
import Wire

/// The rules for connecting: what an app says first, when it comes back, and one connection at a
/// time.
struct ConnectingRules: RuleGroup {
    static let rules: [Rule] = [
        environment, environmentFirst, interval, storm, oneConnection, oldClosed, oldNotHeard,
    ]

    static let environment = Rule(
        "environment-on-connect", .sure, .app, section: #"contract, "AppEvent (app → board)""#,
        "The app reports the phone's environment upon connecting")
    static let environmentFirst = Rule(
        "environment-first", .likely, .app, section: #"contract, "AppEvent (app → board)""#,
        "The phone's environment is the first message of a connection")
    static let interval = Rule(
        "reconnect-interval", .likely, .app, section: #"contract, "Timeout and Reconnection""#,
        "The app reconnects 3 to 5 seconds after the connection ended")
    static let storm = Rule(
        "reconnect-storm", .sure, .app, section: #"contract, "Timeout and Reconnection""#,
        "The app does not reconnect again and again without a pause of 3 seconds")
    static let oneConnection = Rule(
        "one-connection", .likely, .app, section: #"contract, "Connection""#,
        "The app uses one connection at a time")
    static let oldClosed = Rule(
        "old-connection-closed", .likely, .board, section: #"board facts, "Handshake""#,
        "The board closes a connection when a new one replaces it")
    static let oldNotHeard = Rule(
        "old-connection-not-heard", .likely, .board, section: #"board facts, "Handshake""#,
        "The board neither hears nor uses a connection that was replaced")
    private struct Mark {
        var time: Int64
        var seq: Int
    }

    private struct Link {
        var phone: String
        var isWhole: Bool
        var upgraded: Mark
        var hasSpoken = false
        var hasEnvironment = false
        /// When a newer connection was accepted.
        var replaced: Mark?
        /// Heartbeats before that whose echo is still to come; it may wait for an app that does not read.
        var earlyBeats = 0
        /// Heartbeats that came long after that.
        var lateBeats = 0
        var isReported = false
        /// The first sign of its end, and whose it was.
        var end: (mark: Mark, by: Side)?
    }

    /// A handshake without a response so far.
    private struct Attempt {
        var phone: String
        var mark: Mark
        /// The first sign that it is over.
        var end: Mark?
    }

    /// How a phone's last connection ended.
    private struct End {
        var mark: Mark
        var by: Side
        /// When it was over on both sides.
        var closed: Int64
        /// Connections in a row that came too early.
        var early = 0
        var isLateReported = false
        /// When the app last tried to reconnect; the board may have refused.
        var lastTry = Int64.min
        /// Since when the app has polled in the foreground without a pause, and its last poll.
        var active: (since: Int64, last: Int64)?
    }

    private var links = ConnectionTable<Link>()
    /// The app's address of each connection.
    private var hosts = ConnectionTable<String>()
    /// Handshakes on their way.
    private var attempts: [Int: Attempt] = [:]
    private var ends: [String: End] = [:]
    /// The newest connection that was accepted.
    private var newest: Int?
    /// No replaced connection is due for its end before this.
    private var nextDeadline: Int64 = .max

    /// What crosses while a connection is replaced, in milliseconds.
    private static let crossing: Int64 = 2_000
    /// Milliseconds within which a replaced connection is closed.
    private static let closeLimit: Int64 = 5_000
    /// Milliseconds between polls beyond which the app may have been suspended.
    private static let pollPause: Int64 = 6_000
    /// So many early connections in a row are no chance.
    private static let stormLength = 3
    /// Phones that are remembered; a capture may be of any number.
    private static let maximumPhones = 1_024

    static let interests: RuleInterests = [
        .opens, .frames, .request, .upgraded, .message, .exchange, .ended, .gone, .hole, .time,
    ]

    init(contract: Contract, profile: Profile) {}

    mutating func advance(to time: Int64, _ context: inout RuleContext) {
        guard time > nextDeadline else { return }
        nextDeadline = .max
        for conn in links.keys {
            guard let link = links[conn], let replaced = link.replaced, !link.isReported
            else { continue }
            let due = replaced.time.clampedAdding(context.nanoseconds(Self.closeLimit))
                .clampedAdding(context.slack)
            guard time > due else {
                nextDeadline = min(nextDeadline, due)
                continue
            }
            links[conn]?.isReported = true
            guard let facts = context.connections[conn], facts.isOpen,
                facts.isCertain(.board, since: replaced.time),
                context.isCertain(since: replaced.time)
            else { continue }
            context.report(
                Self.oldClosed, by: .board, conn: conn, events: [link.upgraded.seq, replaced.seq],
                "the connection is still open \(Self.closeLimit / 1000) s after it was replaced")
        }
    }

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        switch event.kind {
        case .open(let open):
            // The address without the port.
            hosts[event.conn] = open.app.lastIndex(of: ":").map { String(open.app[..<$0]) }
        case .frame(let frame) where frame.header.opcode == .close:
            guard let side = event.from else { return }
            ending(event.conn, by: side, Mark(time: event.time, seq: event.seq))
        default: break
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        let mark = Mark(time: fact.time, seq: fact.seq)
        switch fact.kind {
        case .request(let request) where request.route == .connect:
            attempted(request, fact, &context)
        case .request(let request) where request.route == .poll: polled(request, fact, &context)
        case .upgraded: upgraded(fact.conn, mark, &context)
        case .message(let message): heard(message, fact.conn, mark, &context)
        case .exchange(let exchange):
            // A refusal tells the app what is wrong; trying again at once may be the remedy.
            if exchange.response.status != 101 { attempts[fact.conn] = nil }
        case .ended(let side, _): ending(fact.conn, by: side, mark)
        case .closed: closed(fact.conn, mark)
        case .hole:
            // Connections may have come and gone, and nobody knows who ended this one first.
            if fact.conn == 0 { ends = [:] }
            for conn in fact.conn == 0 ? links.keys : [fact.conn] {
                links[conn]?.isWhole = false
                attempts[conn] = nil
            }
        case .forgotten:
            hosts[fact.conn] = nil
            links[fact.conn] = nil
            attempts[fact.conn] = nil
        default: break
        }
    }

    // MARK: - A connection begins

    /// Platform, id and address: two phones, or a phone and a laptop, are not one that storms.
    private static func phone(_ request: RequestFact, _ open: String) -> String {
        let target = request.target
        let text = "\(target["platform"] ?? "")|\(target["phone_id"] ?? "")|\(open)"
        // It is remembered: of what is longer nobody's phone is made.
        return text.utf8.count <= 512 ? text : ""
    }

    private mutating func attempted(
        _ request: RequestFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard request.request.headers.has(token: "websocket", in: "Upgrade"),
            let facts = context.connections[fact.conn]
        else { return }
        let phone = Self.phone(request, hosts[fact.conn] ?? "")
        guard !phone.isEmpty else { return }
        attempts[fact.conn] = Attempt(phone: phone, mark: Mark(time: fact.time, seq: fact.seq))
        ends[phone]?.lastTry = fact.time
        guard var end = ends[phone], end.by == .board, context.isCertain(since: end.mark.time)
        else { return }
        context.exercise(Self.interval)
        context.exercise(Self.storm)
        let pause = facts.opened.clampedSubtracting(end.mark.time)
        let least = context.nanoseconds(
            context.contract.timing.reconnectMilliseconds.lowerBound)
        let events = [end.mark.seq, fact.seq]
        if pause.clampedAdding(context.slack) < least {
            end.early += 1
            if end.early == Self.stormLength {
                context.report(
                    Self.storm, by: .app, conn: fact.conn, events: events,
                    "the app reconnected \(end.early) times without a pause of 3 s")
            } else if end.early < Self.stormLength {
                context.report(
                    Self.interval, by: .app, conn: fact.conn, events: events,
                    "the app reconnected after \(max(0, pause) / 1_000_000) ms")
            }
        } else {
            end.early = 0
        }
        ends[phone] = end
    }

    /// An app that polls in the foreground is there to reconnect.
    private mutating func polled(
        _ request: RequestFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        let phone = Self.phone(request, hosts[fact.conn] ?? "")
        guard let end = ends[phone], end.by == .board, !end.isLateReported else { return }
        guard request.poll(context.contract.poll).appState == "active" else {
            ends[phone]?.active = nil
            return
        }
        // An app that was suspended polls as soon as it is back.
        let isBack =
            end.active.map {
                fact.time.clampedSubtracting($0.last) > context.nanoseconds(Self.pollPause)
            } ?? true
        let since = isBack ? fact.time : end.active?.since ?? fact.time
        ends[phone]?.active = (since, fact.time)
        guard
            context.isCertain(since: end.mark.time),
            !attempts.values.contains(where: { $0.phone == phone }),
            !links.values.contains(where: { $0.phone == phone })
        else { return }
        let waited = fact.time.clampedSubtracting(max(end.closed, end.lastTry, since))
        // A short suspension between two polls is not seen, and begins the wait anew.
        let most = context.nanoseconds(
            3 * context.contract.timing.reconnectMilliseconds.upperBound
        ).clampedAdding(context.slack)
        guard waited > most else { return }
        ends[phone]?.isLateReported = true
        context.exercise(Self.interval)
        context.report(
            Self.interval, by: .app, conn: fact.conn, events: [end.mark.seq, fact.seq],
            "the app polls in the foreground, and has not reconnected for \(waited / 1_000_000_000) s"
        )
    }

    private mutating func upgraded(_ conn: Int, _ mark: Mark, _ context: inout RuleContext) {
        guard links[conn] == nil else { return }
        let attempt = attempts.removeValue(forKey: conn)
        let isWhole = (context.connections[conn]?.isWhole ?? false) && attempt != nil
        links[conn] = Link(phone: attempt?.phone ?? "", isWhole: isWhole, upgraded: mark)
        // One that was met within tells nothing of the order.
        guard isWhole else { return }
        if let old = newest, links[old]?.replaced == nil, links[old] != nil {
            links[old]?.replaced = mark
            context.exercise(Self.oldClosed)
            context.exercise(Self.oldNotHeard)
            if links[old]?.phone == attempt?.phone { context.exercise(Self.oneConnection) }
            nextDeadline = min(
                nextDeadline,
                mark.time.clampedAdding(context.nanoseconds(Self.closeLimit))
                    .clampedAdding(context.slack))
        }
        newest = conn
    }

    // MARK: - What is said on it

    private mutating func heard(
        _ message: MessageFact, _ conn: Int, _ mark: Mark, _ context: inout RuleContext
    ) {
        guard var link = links[conn] else { return }
        defer { links[conn] = link }
        if message.from == .app { opening(message, conn, mark, &link, &context) }
        let isLate =
            link.replaced.map {
                mark.time
                    > $0.time.clampedAdding(context.nanoseconds(Self.crossing))
                    .clampedAdding(context.slack)
            } ?? false
        if case .heartbeat = message.sort {
            switch message.from {
            case .app where !isLate: link.earlyBeats += 1
            case .board where link.earlyBeats > 0:
                link.earlyBeats -= 1
                return
            case .app, .board: break
            }
        }
        guard let replaced = link.replaced, isLate,
            !message.isBehindClose, context.connections[conn]?.board.closeFrame == nil
        else { return }
        switch (message.from, message.sort) {
        case (.app, let sort):
            if case .heartbeat = sort { link.lateBeats += 1 }
            guard let newer = newest, link.phone == links[newer]?.phone,
                links[newer]?.end == nil, !link.isReported
            else { return }
            link.isReported = true
            context.report(
                Self.oneConnection, by: .app, conn: conn, events: [replaced.seq, mark.seq],
                "the app still speaks on this connection, \(ageText(mark, replaced)) s after it opened another"
            )
        case (.board, .heartbeat) where link.lateBeats > 0:
            link.lateBeats = 0
            context.report(
                Self.oldNotHeard, by: .board, conn: conn, events: [replaced.seq, mark.seq],
                "a heartbeat on a replaced connection is echoed, \(ageText(mark, replaced)) s after the new one"
            )
        case (.board, .command):
            context.report(
                Self.oldNotHeard, by: .board, conn: conn, events: [replaced.seq, mark.seq],
                "a command goes over a replaced connection, \(ageText(mark, replaced)) s after the new one"
            )
        default: break
        }
    }

    private func ageText(_ now: Mark, _ then: Mark) -> String {
        "\(now.time.clampedSubtracting(then.time) / 1_000_000_000)"
    }

    private func opening(
        _ message: MessageFact, _ conn: Int, _ mark: Mark, _ link: inout Link,
        _ context: inout RuleContext
    ) {
        guard link.isWhole, !link.hasEnvironment, let facts = context.connections[conn],
            facts.isWhole
        else { return }
        if message.sort == .appEvent(name: "phone_environment") {
            link.hasEnvironment = true
            context.exercise(Self.environment)
            if !link.hasSpoken { context.exercise(Self.environmentFirst) }
            return
        }
        if !link.hasSpoken {
            link.hasSpoken = true
            context.exercise(Self.environmentFirst)
            context.report(
                Self.environmentFirst, by: .app, conn: conn, events: [link.upgraded.seq, mark.seq],
                "another message came before phone_environment")
        }
        // Who has been there for a whole interval of heartbeats has had the time.
        let allowed = context.nanoseconds(context.contract.timing.heartbeatIntervalMilliseconds)
            .clampedAdding(context.slack)
        let waited = mark.time.clampedSubtracting(link.upgraded.time)
        guard waited > allowed else { return }
        link.hasEnvironment = true
        context.exercise(Self.environment)
        context.report(
            Self.environment, by: .app, conn: conn, events: [link.upgraded.seq, mark.seq],
            "no phone_environment came within \(waited / 1_000_000_000) s of connecting"
        )
    }

    // MARK: - A connection ends

    private mutating func ending(_ conn: Int, by side: Side, _ mark: Mark) {
        if let attempt = attempts[conn], attempt.end == nil { attempts[conn]?.end = mark }
        guard links[conn]?.end == nil else { return }
        links[conn]?.end = (mark, side)
    }

    private mutating func closed(_ conn: Int, _ mark: Mark) {
        hosts[conn] = nil
        let attempt = attempts.removeValue(forKey: conn)
        let link = links.removeValue(forKey: conn)
        if newest == conn { newest = nil }
        guard let phone = link?.phone ?? attempt?.phone, !phone.isEmpty else { return }
        if ends[phone] == nil, ends.count >= Self.maximumPhones { ends = [:] }
        // A connection that was replaced ends behind the one that came in its place.
        guard link?.replaced == nil else { return }
        guard link?.isWhole ?? true else {
            // How this one ended nobody knows, and the end before it is no longer the last.
            ends[phone] = nil
            return
        }
        let early = ends[phone]?.early ?? 0
        // An attempt without an answer was cut off, or the app gave it up before.
        let end = link?.end ?? (attempt?.end ?? mark, .board)
        if let last = ends[phone], last.mark.time > end.mark.time { return }
        ends[phone] = End(mark: end.mark, by: end.by, closed: mark.time, early: early)
    }
}
