import Capture
import Wire

/// What commands do to the phone, as far as answers show it: once for each id, and with the times
/// that were given (contract, "Idempotence" and "Time Format").
struct EffectRules: RuleGroup {
    private static let once = Rule(
        "one-effect", .sure, .app, section: #"contract, "Timeout and Reconnection""#,
        "A command that is sent again is not executed again: its answer names the same thing")
    private static let timesKept = Rule(
        "event-times-kept", .sure, .app, section: #"contract, "Time Format""#,
        "An event is at the instants for which it was created")

    static let rules = [once, timesKept]

    private let types: [Contract.CommandType]
    /// The things that answers named first, by command.
    private var born: [String: Born] = [:]
    /// The times for which events were created, by the event's id.
    private var events: [String: [String: String]] = [:]
    /// Commands on their way that create events.
    private var times: [String: [String: String]] = [:]

    private struct Born: Sendable {
        var thing: String
        var content: UInt32
        var seq: Int
    }

    /// What is remembered of either; a retry, or a look at the calendar, comes soon.
    private static let maximumCount = 1_024
    /// Bytes of an id; longer ones are not remembered.
    private static let maximumText = 256
    private static let timeFields = ["start_at", "end_at"]

    static let interests: RuleInterests = [.command, .result]

    init(contract: Contract, profile: Profile) {
        types = contract.commands
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .command(let command): sent(command)
        case .result(let result): answered(result, fact, &context)
        default: break
        }
    }

    private mutating func sent(_ command: CommandFact) {
        guard let id = command.id, id.utf8.count <= Self.maximumText,
            let index = command.typeIndex, types.indices.contains(index)
        else { return }
        // Another command under the same id is a fault of the board's.
        if let before = born[id], before.content != command.content { born[id] = nil }
        guard types[index].bornID == "event_id", let payload = command.view["payload"] else {
            return
        }
        var given: [String: String] = [:]
        for field in Self.timeFields {
            guard let text = payload.member(field)?.string, text.utf8.count <= Self.maximumText,
                Timestamp(text) != nil
            else { return }
            given[field] = text
        }
        // All-day events are laid on the phone's own days.
        if payload.member("all_day")?.bool == true { return }
        if times.count >= Self.maximumCount { times = [:] }
        times[id] = given
    }

    private mutating func answered(
        _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let id = result.id, let before = result.before, let index = before.typeIndex,
            types.indices.contains(index), result.view[folding: "error"] == nil,
            let data = result.view[folding: "data"]
        else { return }
        if let listed = data.member("events")?.elements, types[index].effect == .reads {
            for event in listed { judge(event, result, fact, &context) }
        }
        guard id.utf8.count <= Self.maximumText, let field = types[index].bornID,
            let thing = data.member(field)?.string, thing.utf8.count <= Self.maximumText
        else { return }
        if let first = born[id] {
            context.exercise(Self.once)
            guard first.content == before.content, !first.thing.hasSameScalars(as: thing) else {
                return
            }
            context.report(
                Self.once, by: .app, conn: fact.conn, events: [first.seq, fact.seq],
                command: result.name,
                "\(field) is \"\(thing)\" now, and was \"\(first.thing)\" in the first answer")
            return
        }
        if born.count >= Self.maximumCount { born = [:] }
        born[id] = Born(thing: thing, content: before.content, seq: fact.seq)
        guard let given = times.removeValue(forKey: id) else { return }
        if events.count >= Self.maximumCount { events = [:] }
        events[thing] = given
    }

    private func judge(
        _ event: JSONView, _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let id = event.member("event_id")?.string, let given = events[id] else { return }
        for field in Self.timeFields {
            guard let shown = event.member(field)?.string, let asked = given[field],
                let there = Timestamp(shown), let due = Timestamp(asked)
            else { continue }
            context.exercise(Self.timesKept)
            // The phone's user may have moved the event; nobody moves it so that its local time
            // stays and the offset alone is another.
            guard there != due, shown.utf8.prefix(19).elementsEqual(asked.utf8.prefix(19)) else {
                continue
            }
            context.report(
                Self.timesKept, by: .app, conn: fact.conn, events: [fact.seq],
                command: result.name,
                "\(field) of \"\(id)\" is \(shown), and it was created for \(asked)")
        }
    }
}
