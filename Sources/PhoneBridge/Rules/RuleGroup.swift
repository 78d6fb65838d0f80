package import Capture

/// A machine over the events of a session that holds them against a family of rules.
///
/// It gets, for each event and in this order: `advance` with the event's time, the event itself,
/// and the facts that follow from it, as far as it asks for them. It keeps what is open and no more, forgets a connection
/// with its `closed` fact, and concludes nothing from an absence unless the context says that
/// nothing can be missing.
package protocol RuleGroup: Sendable {
    /// The rules that it may report, in the order in which reports list them.
    static var rules: [Rule] { get }

    /// What it has to be told; all, unless it says so.
    static var interests: RuleInterests { get }

    init(contract: Contract, profile: Profile)

    /// Everything before `time` is known: deadlines that passed are due.
    mutating func advance(to time: Int64, _ context: inout RuleContext)

    /// Takes an event as it stands in the session.
    mutating func receive(_ event: Event, _ context: inout RuleContext)

    /// Takes what an event means: whole messages, commands, results, exchanges, connections.
    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext)

    /// The session ends at `time`; what is still under way is not broken.
    mutating func finish(at time: Int64, _ context: inout RuleContext)
}

extension RuleGroup {
    package static var interests: RuleInterests { .all }
    package mutating func advance(to time: Int64, _ context: inout RuleContext) {}
    package mutating func receive(_ event: Event, _ context: inout RuleContext) {}
    package mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {}
    package mutating func finish(at time: Int64, _ context: inout RuleContext) {}
}
