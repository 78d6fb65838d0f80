package import Capture
package import PhoneBridge
import Report
package import Wire

/// Makes what a page is told of a session from its events, as they come.
///
/// Lines, commands and folds are the timeline's, meanings and rules those of `check`; what is kept
/// here is bounded by what is open.
package struct SessionFeed {
    /// Where it goes.
    package let log: SessionLog

    private let name: String
    private let replay: String
    private let profile: Profile
    private var timeline: Timeline
    private var meaning: MeaningReader
    private var checker: RuleChecker
    /// Broken rules so far, by id: those that count, and the others.
    private(set) var breachCounts: [String: (counted: Int, other: Int)] = [:]
    /// What the apps last said about themselves, by phone.
    private var appStates: [String: String] = [:]
    /// Connections that are known to serve the queue.
    private var queueConnections: Set<Int> = []
    private var hasBegun = false

    /// More phones or connections than a lab has; beyond them something is told again.
    private static let maximumKept = 10_000

    /// Begins with nothing.
    ///
    /// - Parameters:
    ///   - name: what people call the session.
    ///   - replay: the beginning of the command that plays it, up to the file; the board that it
    ///     was recorded with stands behind it.
    ///   - today: the day, as in `2026-12-31`, by which waivers end.
    ///   - maximumFold: how long quiet things are counted together, in nanoseconds.
    package init(
        name: String, replay: String, profile: Profile = .contract, today: String? = nil,
        maximumFold: Int64 = .max, contract: Contract = .current
    ) {
        log = SessionLog()
        self.name = name
        self.replay = replay
        self.profile = profile
        timeline = Timeline(maximumFold: maximumFold)
        meaning = MeaningReader(contract: contract)
        checker = RuleChecker(contract: contract, profile: profile, today: today, counts: false)
    }

    /// Where the board of a session was; a word for it where that is not told.
    static func board(of session: SessionInfo?) -> String {
        let place = session?.upstream?.split(separator: " ").first.map(String.init)
        return "ws://\(place ?? "BOARD:8080")/api/phone-bridge"
    }

    /// What is still held back or counted, as it would be told now.
    package var pending: JSON {
        .array(
            timeline.pending.filter { $0.time != nil }
                .map { PageRecord.row($0, RowMark($0, of: nil)).json })
    }

    /// Takes the next event.
    package mutating func receive(_ original: Event) throws(OutputError) {
        var event = original
        meaning.annotate(&event)
        // What the recorder understood stands: it may have known what is not in this file.
        if !original.bridge.isEmpty { event.bridge = original.bridge }
        if !hasBegun {
            hasBegun = true
            var info: SessionInfo?
            if case .session(let session) = event.kind { info = session }
            try log.add(
                .about(info, name: name, replay: "\(replay) --as app --to \(Self.board(of: info))"))
        }
        try log.add(event)
        try link(event)
        try meanings(event)
        try rows(timeline.receive(event), of: event)
        try breaches(checker.receive(event))
        log.tellGrowth()
    }

    /// Tells of something that a reader noticed and went on after; `isLoss` where events may be
    /// missing.
    package mutating func remark(_ text: String, isLoss: Bool = true) throws(OutputError) {
        if isLoss { try breaches(checker.lost()) }
        try rows(timeline.remark(text), of: nil)
        log.tellGrowth()
    }

    /// Nothing came until `time`: what was due has not come.
    package mutating func advance(to time: Int64) throws(OutputError) {
        try breaches(checker.advance(to: time))
        try log.add(.time(time))
        log.tellGrowth()
    }

    /// The session is over.
    package mutating func finish() throws(OutputError) {
        guard !log.isFinished else { return }
        try breaches(checker.finish())
        let lines = timeline.finish()
        try rows(lines, of: nil)
        if let last = lines.last, last.time == nil {
            try log.add(.summary(last.text.map(\.text).joined()))
        }
        try log.finish()
    }

    // MARK: Rows

    private func rows(_ lines: [TimelineLine], of event: Event?) throws(OutputError) {
        for line in lines where line.time != nil {
            try log.add(.row(line, RowMark(line, of: event)))
        }
    }

    private mutating func breaches(_ breaches: [Breach]) throws(OutputError) {
        for breach in breaches {
            let standing = profile.standing(of: breach)
            let isCounted = standing == .counted
            breachCounts[breach.rule.id, default: (0, 0)].counted += isCounted ? 1 : 0
            breachCounts[breach.rule.id, default: (0, 0)].other += isCounted ? 0 : 1
            let line = TimelineLine(
                isBroken: isCounted, time: breach.time, conn: breach.conn,
                label: Styled("rule", isCounted ? .bad : .warning),
                text: [
                    Styled(breach.rule.id + " ", .strong), Styled(visible(breach.text)),
                    Styled(" (\(breach.rule.section))", .dim),
                ], seq: breach.events.last, id: breach.command?.id)
            let lines = timeline.insert(line)
            // What was held back stands before it.
            try rows(Array(lines.dropLast()), of: nil)
            try log.add(.breach(breach, standing))
            if let last = lines.last {
                try log.add(.row(last, isCounted ? .rule : .doubt))
            }
        }
    }

    // MARK: Lanes

    private mutating func link(_ event: Event) throws(OutputError) {
        switch event.kind {
        case .open(let open): try log.add(.opened(conn: event.conn, time: event.time, open))
        case .response(let response) where response.status == 101:
            try log.add(.upgraded(conn: event.conn, time: event.time))
        case .close(let close):
            queueConnections.remove(event.conn)
            try log.add(
                .closed(
                    conn: event.conn, time: event.time, close.how, side: event.from ?? .app))
        case .session, .request, .response, .frame, .message, .piece, .data, .gap, .note, .end:
            break
        }
    }

    private mutating func meanings(_ event: Event) throws(OutputError) {
        for object in event.bridge {
            switch object["kind"]?.stringValue {
            case "heartbeat" where event.from == .app:
                try log.add(.heartbeat(conn: event.conn, time: event.time))
            case "poll", "enqueue":
                try queued(event)
                try appState(
                    object["app_state"]?.stringValue, of: object["phone_id"]?.stringValue, event)
            case "result" where object["route"]?.stringValue == "queue":
                try queued(event)
            case "app_event":
                let data = event.content?["data"]
                try appState(
                    data?["app_state"]?.stringValue, of: data?["phone_id"]?.stringValue, event)
            default: break
            }
        }
    }

    private mutating func queued(_ event: Event) throws(OutputError) {
        if queueConnections.count >= Self.maximumKept { queueConnections = [] }
        guard queueConnections.insert(event.conn).inserted else { return }
        try log.add(.queued(conn: event.conn, time: event.time))
    }

    private mutating func appState(
        _ state: String?, of phone: String?, _ event: Event
    ) throws(OutputError) {
        guard let state, !state.isEmpty else { return }
        let phone = phone ?? ""
        if appStates.count >= Self.maximumKept { appStates = [:] }
        guard appStates.updateValue(state, forKey: phone) != state else { return }
        try log.add(.appState(state, phone: phone, time: event.time))
    }
}

extension Event {
    /// What a frame or message says, as JSON; nil where it is long, in pieces or something else.
    fileprivate var content: JSON? {
        let content: Event.Content
        switch kind {
        case .frame(let frame): content = frame.content
        case .message(let message): content = message.content
        default: return nil
        }
        // Twice the board's own limit on a message.
        guard case .whole(let bytes) = content, bytes.count <= 64 << 10 else { return nil }
        return try? JSON(parsing: bytes)
    }
}
