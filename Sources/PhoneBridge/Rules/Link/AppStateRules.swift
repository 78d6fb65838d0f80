import Capture
import Wire

/// The app reports its lifecycle state whenever it changes (contract, "AppEvent").
///
/// A poll tells the state too. An app that goes on over its WebSocket and does not report there
/// what its polls say has kept a change to itself.
struct AppStateRules: RuleGroup {
    static let rules: [Rule] = [reported]

    private static let reported = Rule(
        "app-state-reported", .likely, .app, section: #"contract, "AppEvent (app → board)""#,
        "The app reports its lifecycle state when it changes")

    private struct Link {
        /// What it reported last on this connection; nil for nothing yet.
        var state: String?
        /// What a poll of the same phone said since, and when.
        var contradiction: Contradiction?
    }

    private struct Contradiction {
        var state: String
        var time: Int64
        var seq: Int
    }

    private var links = ConnectionTable<Link>()

    /// Milliseconds within which a report follows.
    private static let patience: Int64 = 2_000

    static let interests: RuleInterests = [.upgraded, .message, .request, .hole, .gone]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .upgraded: links[fact.conn] = Link()
        case .message(let message) where message.from == .app:
            heard(message, fact, &context)
        case .request(let request) where request.route == .poll:
            polled(request, context)
        case .hole(let side) where side != .board:
            for conn in links.keys where fact.conn == 0 || conn == fact.conn {
                links[conn] = Link()
            }
        case .closed, .forgotten: links[fact.conn] = nil
        default: break
        }
    }

    private mutating func heard(
        _ message: MessageFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        if message.sort == .appEvent(name: "phone_app_state") {
            let state = message.json?.root[folding: "data"]?[folding: "app_state"]?.string
            links[fact.conn] = Link(state: state?.lowercased())
            context.exercise(Self.reported)
            return
        }
        guard let link = links[fact.conn], let contradiction = link.contradiction,
            fact.time.clampedSubtracting(contradiction.time)
                > context.nanoseconds(Self.patience).clampedAdding(context.slack)
        else { return }
        links[fact.conn]?.contradiction = nil
        context.report(
            Self.reported, by: .app, conn: fact.conn, events: [contradiction.seq, fact.seq],
            "the app polls as \(contradiction.state), and reported \(link.state ?? "nothing")")
    }

    private mutating func polled(_ request: RequestFact, _ context: RuleContext) {
        let poll = request.poll(context.contract.poll)
        guard let phone = poll.phoneID, let state = poll.appState else { return }
        for conn in links.keys {
            guard let link = links[conn], let reported = link.state,
                context.connections[conn]?.phoneID == phone
            else { continue }
            if reported == state {
                links[conn]?.contradiction = nil
            } else if link.contradiction == nil {
                links[conn]?.contradiction = Contradiction(
                    state: state, time: request.time, seq: request.seq)
            }
        }
    }
}
