import Capture
import Wire

/// The rules for the heartbeat's time: the app's interval, and the board's limit (contract,
/// "Heartbeat").
struct HeartbeatRules: RuleGroup {
    static let rules: [Rule] = [interval, notEarly, notLate, notShown]

    static let interval = Rule(
        "heartbeat-interval", .likely, .app, section: #"contract, "Heartbeat""#,
        "The app sends a heartbeat every 5 seconds while it is in the foreground")
    static let notEarly = Rule(
        "heartbeat-limit-not-early", .sure, .board, section: #"contract, "Heartbeat""#,
        "The board gives a connection up only after more than 60 seconds without a heartbeat")
    static let notLate = Rule(
        "heartbeat-limit-not-late", .likely, .board, section: #"contract, "Heartbeat""#,
        "The board does not use a connection that had no heartbeat for more than 60 seconds")

    static let notShown = Rule(
        "heartbeat-limit-status", .likely, .board, section: #"contract, "Heartbeat""#,
        "The status document does not say connected after more than 60 seconds without a heartbeat")

    private struct Beat {
        var time: Int64
        var seq: Int
    }

    private struct Link {
        /// The last heartbeat, or the connection's beginning; nil where that is not known.
        var beat: Beat?
        /// From when the next heartbeat is counted: the last one, or when its timer began anew.
        var timer: Beat?
        /// The last message of the app, of any kind.
        var lastWord: Beat?
        /// The last state that the phone reported lets its timers run.
        var isForeground = true
        /// The app spoke again behind a long pause of its heartbeats.
        var pause: (from: Beat, to: Beat)?
        var isPauseReported = false
        var isLateReported = false
        var isShownReported = false
    }

    private var links = ConnectionTable<Link>()

    /// Missed beats in a row that are no chance: timers of busy apps skip one now and then.
    private static let missedBeats: Int64 = 3
    /// Beats that come closer together were held up on their way, in milliseconds.
    private static let burst: Int64 = 1_000

    static let interests: RuleInterests = [
        .frames, .upgraded, .message, .request, .exchange, .hole, .gone,
    ]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        guard case .frame(let frame) = event.kind, event.from == .board,
            frame.header.opcode == .close, case .whole(let payload) = frame.content
        else { return }
        closed(ClosePayload(payload), event, &context)
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .upgraded:
            let isWhole = context.connections[fact.conn]?.startsWhole ?? false
            let start = isWhole ? Beat(time: fact.time, seq: fact.seq) : nil
            links[fact.conn] = Link(beat: start, timer: start)
        case .message(let message):
            if message.from == .app {
                heard(message, fact, &context)
            } else if message.sort == .command {
                used(fact.conn, fact, &context)
            }
        case .request(let request) where request.route == .poll:
            let state = request.target[context.contract.poll.appState]?.lowercased()
            guard let state, state != "active" else { return }
            // It is not said whose it is: no heartbeat is missed until a phone is active again.
            for conn in links.keys { links[conn]?.isForeground = false }
        case .exchange(let exchange) where exchange.route == .status:
            shown(exchange, fact, &context)
        case .hole(let side) where side != .board:
            // Beats may have been in it, and a change of state.
            for conn in links.keys where fact.conn == 0 || conn == fact.conn {
                links[conn]?.beat = nil
                links[conn]?.timer = nil
                links[conn]?.lastWord = nil
                links[conn]?.pause = nil
            }
        case .closed, .forgotten: links[fact.conn] = nil
        default: break
        }
    }

    // MARK: - The app's interval

    private mutating func heard(
        _ message: MessageFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard var link = links[fact.conn], !message.isBehindClose else { return }
        defer { links[fact.conn] = link }
        let now = Beat(time: fact.time, seq: fact.seq)
        link.lastWord = now
        if let pause = link.pause {
            link.pause = nil
            if fact.time.clampedSubtracting(pause.to.time) >= context.nanoseconds(Self.burst) {
                link.isPauseReported = true
                context.report(
                    Self.interval, by: .app, conn: fact.conn,
                    events: [pause.from.seq, pause.to.seq],
                    "\(seconds(pause.to.time.clampedSubtracting(pause.from.time))) s went by without a heartbeat"
                )
            }
        }
        let allowed = context.nanoseconds(
            Self.missedBeats * context.contract.timing.heartbeatIntervalMilliseconds)
        if let timer = link.timer, link.isForeground, !link.isPauseReported,
            fact.time.clampedSubtracting(timer.time) > allowed.clampedAdding(context.slack)
        {
            link.pause = (timer, now)
        }
        switch message.sort {
        case .heartbeat:
            if link.timer != nil { context.exercise(Self.interval) }
            link.beat = now
            link.timer = now
            link.isPauseReported = false
            link.isLateReported = false
            link.isShownReported = false
        case .appEvent:
            if let state = message.json?.root[folding: "data"]?[folding: "app_state"]?.string {
                link.isForeground = state.lowercased() == "active"
                if link.isForeground { link.timer = now } else { link.pause = nil }
            }
        case .command, .result, .other: break
        }
    }

    // MARK: - The board's limit

    private func closed(_ payload: ClosePayload, _ event: Event, _ context: inout RuleContext) {
        guard !payload.reason.isEmpty, payload.reason.lowercased().contains("heartbeat"),
            context.connections[event.conn]?.app.closeFrame == nil,
            let beat = links[event.conn]?.beat
        else { return }
        context.exercise(Self.notEarly)
        // It left the app before it was seen here: for the board it was no longer ago.
        let age = event.time.clampedSubtracting(beat.time)
        let limit = context.nanoseconds(context.contract.timing.heartbeatLimitMilliseconds)
        guard age.clampedAdding(context.slack) < limit else { return }
        context.report(
            Self.notEarly, by: .board, conn: event.conn, events: [beat.seq, event.seq],
            "the board closed with \"\(payload.reason)\" \(seconds(age)) s after a heartbeat")
    }

    private mutating func used(_ conn: Int, _ fact: LinkFact, _ context: inout RuleContext) {
        guard let link = links[conn], let beat = link.lastWord ?? link.beat,
            context.connections[conn]?.isCertain(.app, since: beat.time) ?? false
        else { return }
        context.exercise(Self.notLate)
        guard fact.time.clampedSubtracting(beat.time) > mostSilence(context), !link.isLateReported
        else { return }
        links[conn]?.isLateReported = true
        context.report(
            Self.notLate, by: .board, conn: conn, events: [beat.seq, fact.seq],
            "the board sent a command \(seconds(fact.time.clampedSubtracting(beat.time))) s after the last message"
        )
    }

    /// How long a connection may be silent before the board must have seen it.
    private func mostSilence(_ context: RuleContext) -> Int64 {
        let sweep = context.profile.heartbeatSweepMilliseconds
        let limit = context.contract.timing.heartbeatLimitMilliseconds
        // Without a number for how often the board looks, it may be once in the limit.
        return context.nanoseconds(limit)
            .clampedAdding(context.nanoseconds(sweep > 0 ? sweep : limit))
            .clampedAdding(context.slack)
    }

    /// The board says whether a phone is connected; it can only mean the connection that is there.
    private mutating func shown(
        _ exchange: ExchangeFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard exchange.response.status == 200, let asked = exchange.request?.firstTime,
            exchange.json?.root["connected"]?.bool == true, links.count == 1,
            let conn = links.keys.first, let link = links[conn],
            let word = link.lastWord ?? link.beat,
            context.isCertain(since: word.time)
        else { return }
        context.exercise(Self.notShown)
        let silence = asked.clampedSubtracting(word.time)
        guard silence > mostSilence(context), !link.isShownReported else { return }
        links[conn]?.isShownReported = true
        context.report(
            Self.notShown, by: .board, conn: conn, events: [word.seq, fact.seq],
            "the status document says connected \(seconds(silence)) s after the last message")
    }

    private func seconds(_ nanoseconds: Int64) -> String {
        "\(nanoseconds / 1_000_000_000).\(nanoseconds / 100_000_000 % 10)"
    }
}
