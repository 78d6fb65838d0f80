package import Capture
import Wire

/// Holds a session against all rules of the contract: what `check`, `record --check`, `replay`
/// and `fuzz` use.
///
/// One checker takes the events of one session in order. It reports a breach when that is
/// certain: a hole in the recording, a beginning in the middle, a command still on its way at the
/// end are never one. Memory is bounded by what is open, and 64 bytes for each distinct command.
package struct RuleChecker: Sendable {
    /// The groups, in the order in which reports list their rules.
    package static let groupTypes: [any RuleGroup.Type] = [
        // Commands, answers and events.
        MessageRules.self,
        CommandRules.self,
        ResultRules.self,
        AnswerRules.self,
        ThingRules.self,
        OutcomeRules.self,
        EventRules.self,
        HeartbeatEchoRules.self,
        EffectRules.self,
        // The link, the queue, and the protocols below.
        HeartbeatRules.self,
        ConnectingRules.self,
        AppStateRules.self,
        StatusRules.self,
        PollRules.self,
        PollingRules.self,
        DeliveryRules.self,
        BoardAnswerRules.self,
        HandshakeRules.self,
        FrameRules.self,
        ConversationRules.self,
        HTTPRules.self,
    ]

    /// All rules, in a stable order.
    package static let rules: [Rule] = groupTypes.flatMap { $0.rules }

    /// The rule with this id; nil for an unknown one.
    package static func rule(_ id: String) -> Rule? { rules.first { $0.id == id } }

    private static let audience = RuleAudience(groupTypes)

    private var groups: [any RuleGroup]
    private let audience: RuleAudience
    private var reader: LinkReader
    private var context: RuleContext
    private var advanced: Int64 = .min
    private var isNumbered = false

    /// Makes a checker for one session.
    ///
    /// - Parameters:
    ///   - contract: the tables that it is held against.
    ///   - profile: the target's numbers, deviations and waivers.
    ///   - groups: all that there are, unless a test wants others, of which it takes 64.
    ///   - counts: whether `exercised` is wanted.
    ///   - today: the day, as `2026-12-31`, on which waivers are looked at; without it those with
    ///     an end hold too.
    package init(
        contract: Contract = .current, profile: Profile = .contract, today: String? = nil,
        counts: Bool = true, groups types: [any RuleGroup.Type]? = nil
    ) {
        let chosen = (types ?? Self.groupTypes).prefix(RuleAudience.maximumGroups)
        groups = chosen.map { $0.init(contract: contract, profile: profile) }
        audience = types.map(RuleAudience.init) ?? Self.audience
        reader = LinkReader(contract: contract)
        context = RuleContext(
            contract: contract, profile: profile, excuses: profile.excuses(today: today),
            counts: counts)
    }

    /// How often each rule was put to the test, by id; rules that never were are not in it.
    package var exercised: [String: Int] { context.exercised }

    /// Distinct ids of commands that were seen.
    package var commandCount: Int { context.commands.count }

    /// Bytes that are kept for commands that nobody waits for.
    package var commandBytes: Int { context.commands.byteCount }

    /// Takes the next event of the session; `bridge` need not be there.
    package mutating func receive(_ event: Event) -> [Breach] {
        let isHole = LinkReader.isHole(event)
        if isHole {
            context.now = max(context.now, event.time)
            reader.read(event, &context)
        }
        // What was due before is certain now, and not a moment earlier.
        context.now = max(context.now, LinkReader.firstTime(event))
        advanceGroups(to: LinkReader.firstTime(event))
        context.now = max(context.now, event.time)
        if context.began == nil { context.began = event.time }
        if !isNumbered, event.seq > 0 {
            isNumbered = true
            // The session began before its first line here.
            if event.seq > 1 { context.lastHole = event.time }
        }
        if !isHole { reader.read(event, &context) }
        tell(event, reader.facts)
        reader.settle(&context)
        return takeBreaches()
    }

    private mutating func tell(_ event: Event, _ facts: [LinkFact]) {
        let heard = event.kind.interest
        var concerned = audience.groups(of: heard)
        for fact in facts { concerned |= audience.groups(of: fact.kind.interest) }
        while concerned != 0 {
            let index = concerned.trailingZeroBitCount
            concerned &= concerned - 1
            if audience.wants(index, heard) { groups[index].receive(event, &context) }
            for fact in facts where audience.wants(index, fact.kind.interest) {
                groups[index].receive(fact, &context)
            }
        }
    }

    /// Nothing came until `time`, in nanoseconds of the session.
    ///
    /// For a session that is being recorded: silence passes too.
    package mutating func advance(to time: Int64) -> [Breach] {
        context.now = max(context.now, time)
        advanceGroups(to: time)
        return takeBreaches()
    }

    /// Events are missing here, as when a file is torn: what was not seen may have been there.
    package mutating func lost() -> [Breach] {
        receive(
            Event(
                time: context.now, kind: .note(Event.Note(code: "recording_gap", text: "")))
        )
    }

    /// The session is over; what is still on its way is not broken.
    package mutating func finish() -> [Breach] {
        advanceGroups(to: context.now)
        for index in groups.indices { groups[index].finish(at: context.now, &context) }
        return takeBreaches()
    }

    private mutating func advanceGroups(to time: Int64) {
        guard time > advanced else { return }
        advanced = time
        var concerned = audience.groups(of: .time)
        while concerned != 0 {
            groups[concerned.trailingZeroBitCount].advance(to: time, &context)
            concerned &= concerned - 1
        }
    }

    private mutating func takeBreaches() -> [Breach] {
        guard !context.breaches.isEmpty else { return [] }
        defer { context.breaches = [] }
        return context.breaches
    }
}
