import Capture
import Wire

/// Each heartbeat of the app comes back from the board (contract, "Heartbeat").
struct HeartbeatEchoRules: RuleGroup {
    private static let echoed = Rule(
        "heartbeat-echoed", .sure, .board, section: #"contract, "Heartbeat""#,
        "The board echoes each heartbeat of the app")
    private static let echoID = Rule(
        "heartbeat-echo-id", .sure, .board, section: #"contract, "Heartbeat""#,
        "An echo carries the id that the app's heartbeat had")

    static let rules = [echoed, echoID]

    /// Heartbeats without an echo yet, oldest first.
    private struct Waiting {
        var id: String
        var time: Int64
        var seq: Int
        /// It is more than a heartbeat: one board echoes it, and another does not know it.
        var isOdd: Bool
    }

    private var waiting: [Int: [Waiting]] = [:]
    /// No heartbeat is due for an echo before this.
    private var nextDeadline: Int64 = .max
    private let limit: Int64

    /// Beyond this the oldest are forgotten: a peer that never echoes has long been reported.
    private static let maximumWaiting = 64

    static let interests: RuleInterests = [.message, .gone, .hole, .time]

    init(contract: Contract, profile: Profile) {
        limit = profile.nanoseconds(profile.heartbeatEchoMilliseconds)
            .clampedAdding(profile.slack)
    }

    mutating func advance(to time: Int64, _ context: inout RuleContext) {
        guard time > nextDeadline else { return }
        nextDeadline = .max
        for (conn, list) in waiting.sorted(by: { $0.key < $1.key }) {
            var rest = list[...]
            while let first = rest.first, first.time.clampedAdding(limit) < time {
                rest.removeFirst()
                guard !first.isOdd, let facts = context.connections[conn], facts.isOpen,
                    facts.isCertain(.board, since: first.time)
                else { continue }
                context.exercise(Self.echoed)
                context.report(
                    Self.echoed, by: .board, conn: conn, events: [first.seq],
                    "the heartbeat \"\(first.id)\" got no echo within "
                        + "\(context.profile.heartbeatEchoMilliseconds) ms")
            }
            waiting[conn] = rest.isEmpty ? nil : Array(rest)
            if let first = rest.first {
                nextDeadline = min(nextDeadline, first.time.clampedAdding(limit))
            }
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .message(let message):
            guard case .heartbeat(let id) = message.sort, !message.isBehindClose else { return }
            switch message.from {
            case .app: sent(id, isOdd: Self.isOdd(message), fact)
            case .board: echoed(id, fact, &context)
            }
        case .closed, .forgotten: waiting[fact.conn] = nil
        case .hole(.app), .hole(nil):
            // Heartbeats that nobody saw may be echoed.
            if fact.conn > 0 { waiting[fact.conn] = nil } else { waiting = [:] }
        default: break
        }
    }

    /// Whether a heartbeat has other fields than its method, or is no text.
    private static func isOdd(_ message: MessageFact) -> Bool {
        guard message.opcode == .text, let members = message.json?.root.members else { return true }
        return members.count > 2
            || !members.allSatisfy { member in
                switch member.name.string {
                case "id", "method": member.value.kind == .string
                default: false
                }
            }
    }

    private mutating func sent(_ id: String, isOdd: Bool, _ fact: LinkFact) {
        var list = waiting[fact.conn] ?? []
        if list.count >= Self.maximumWaiting { list.removeFirst() }
        list.append(Waiting(id: id, time: fact.time, seq: fact.seq, isOdd: isOdd))
        waiting[fact.conn] = list
        nextDeadline = min(nextDeadline, fact.time.clampedAdding(limit))
    }

    private mutating func echoed(
        _ id: String, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        let list = waiting[fact.conn] ?? []
        let index =
            list.firstIndex { $0.id == id && !$0.isOdd } ?? list.firstIndex { $0.id == id }
        if let index {
            context.exercise(Self.echoed)
            context.exercise(Self.echoID)
            waiting[fact.conn]?.remove(at: index)
            return
        }
        // What an odd one is echoed as, if it is, nobody can say.
        guard let other = list.first, !list.contains(where: \.isOdd),
            context.connections[fact.conn]?.isCertain(.app, since: other.time) ?? false,
            context.connections[fact.conn]?.isWhole ?? false
        else { return }
        context.exercise(Self.echoID)
        waiting[fact.conn]?.removeFirst()
        context.report(
            Self.echoID, by: .board, conn: fact.conn, events: [other.seq, fact.seq],
            "the heartbeat \"\(other.id)\" came back as \"\(id)\"")
    }
}
