import Capture
import Wire

/// The rules for what one poll may be given: the types that its route carries, the phone's own
/// commands, and no more than it asked for (contract, "Connection").
struct PollRules: RuleGroup {
    static let rules: [Rule] = [fgs, pip, bleWake, isolation, limit, defaultLimit]

    private static let section = #"contract, "Connection""#

    static let fgs = Rule(
        "queue-filter-fgs", .sure, .board, section: section,
        "A poll of the Android foreground service gets background-safe data commands only")
    static let pip = Rule(
        "queue-filter-pip", .sure, .board, section: section,
        "A poll of PiP Bridge gets background-safe data commands only")
    static let bleWake = Rule(
        "queue-filter-ble-wake", .likely, .board, section: section,
        "A poll of a woken iOS app gets the six types that BLE Wake carries only")
    static let isolation = Rule(
        "queue-phone-isolation", .likely, .board, section: section,
        "A command for one phone is not handed out to another")
    static let limit = Rule(
        "queue-limit", .sure, .board, section: section,
        "A poll gets at most as many commands as its limit says")
    static let defaultLimit = Rule(
        "queue-default-limit", .likely, .board, section: #"board facts, "Poll parameters""#,
        "A poll without a limit gets at most the default number of commands")

    static let interests: RuleInterests = [.exchange]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        guard case .exchange(let exchange) = fact.kind, exchange.route == .poll,
            let request = exchange.request, let commands = exchange.commands
        else { return }
        let poll = request.poll(context.contract.poll)
        let events = [request.seq, fact.seq]
        judgeCount(commands.count, poll, events, fact.conn, &context)
        for command in commands {
            guard let id = command["id"]?.string else { continue }
            let name = Breach.Command(id: id, type: command["type"]?.string)
            judgeType(name, poll, events, fact.conn, &context)
            judgePhone(command, name, poll, events, fact.conn, &context)
        }
    }

    private func judgeCount(
        _ count: Int, _ poll: PollFacts, _ events: [Int], _ conn: Int,
        _ context: inout RuleContext
    ) {
        switch poll.limit {
        case .valid(let number):
            context.exercise(Self.limit)
            guard Int64(count) > number else { return }
            context.report(
                Self.limit, by: .board, conn: conn, events: events,
                "a poll with limit=\(number) got \(count) commands")
        case .absent:
            guard let number = context.profile.defaultPollLimit else { return }
            context.exercise(Self.defaultLimit)
            guard Int64(count) > number else { return }
            context.report(
                Self.defaultLimit, by: .board, conn: conn, events: events,
                "a poll without a limit got \(count) commands, over \(number)")
        case .odd: break
        }
    }

    private func judgeType(
        _ name: Breach.Command, _ poll: PollFacts, _ events: [Int], _ conn: Int,
        _ context: inout RuleContext
    ) {
        guard let route = poll.route, let type = name.type,
            // Of other types nobody can say whether they are safe in the background.
            let known = context.contract.command(named: type)
        else { return }
        let rule =
            switch route {
            case .fgs: Self.fgs
            case .pip: Self.pip
            case .bleWake: Self.bleWake
            }
        context.exercise(rule)
        guard !known.backgroundRoutes.contains(route) else { return }
        context.report(
            rule, by: .board, conn: conn, events: events, command: name,
            "\(type) was handed out to a phone in the background (\(route.rawValue))")
    }

    private func judgePhone(
        _ command: JSONView, _ name: Breach.Command, _ poll: PollFacts, _ events: [Int],
        _ conn: Int, _ context: inout RuleContext
    ) {
        guard let asking = poll.phoneID, let phone = command["phone_id"]?.string, !phone.isEmpty
        else { return }
        context.exercise(Self.isolation)
        guard phone != asking else { return }
        context.report(
            Self.isolation, by: .board, conn: conn, events: events, command: name,
            "a command for the phone \"\(phone)\" was handed out to \"\(asking)\"")
    }
}
