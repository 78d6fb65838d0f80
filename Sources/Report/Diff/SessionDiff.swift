package import Capture
package import PhoneBridge
import Wire

/// Two sessions, compared command by command (expectations of a protocol-aware difference: what
/// the contract lets differ is told and does not count).
///
/// Where a player made the second session out of the first, its pairing says what belongs
/// together, and only the judged side's doing is compared. Else commands belong together by id
/// and type; those whose ids do not agree by type and route, so that as many as possible say the
/// same; and what is left of them by type and order. Events of the app belong together by name
/// and order, HTTP exchanges by kind, command and order.
package struct SessionDiff {
    /// What became of a command in the second session.
    package enum Outcome: String, Sendable, CaseIterable {
        case same
        case changed
        case late
        case unanswered
        case duplicate
        case extra
        case missing
        case routeChanged = "route_changed"
        /// It could not be put to the test.
        case skipped

        /// As people read it.
        package var word: String { self == .routeChanged ? "route changed" : rawValue }

        /// Whether it makes two sessions different.
        package var counts: Bool { self != .same && self != .skipped }
    }

    /// A command of either session, or of both.
    package struct CommandPair: Sendable {
        package var first: DiffSession.Command?
        package var second: DiffSession.Command?
        package var outcome: Outcome
        package var differences: [FieldDifference] = []
        /// Differences that were left out.
        package var left = 0
        /// What else is to be said, such as how late it was; a sentence each.
        package var remarks: [String] = []
        /// Of one that only one session has: what on the other side comes closest to it.
        package var candidate: Candidate?

        package var type: String { first?.type ?? second?.type ?? "" }
        package var ordinal: Int { first?.ordinal ?? second?.ordinal ?? 0 }
    }

    /// A command of the other session that belongs to none, and in what it differs.
    package struct Candidate: Sendable {
        package var command: DiffSession.Command
        package var differences: [FieldDifference]
        /// Differences that were left out.
        package var left: Int
    }

    /// An event of the app, in either session or in both.
    package struct EventPair: Sendable {
        package var first: DiffSession.AppEvent?
        package var second: DiffSession.AppEvent?
        package var outcome: Outcome
        package var differences: [FieldDifference] = []
        package var left = 0
        package var remarks: [String] = []

        package var name: String { first?.name ?? second?.name ?? "" }
        package var ordinal: Int { first?.ordinal ?? second?.ordinal ?? 0 }
    }

    /// An HTTP exchange, in either session or in both.
    package struct ExchangePair: Sendable {
        package var first: DiffSession.Exchange?
        package var second: DiffSession.Exchange?
        package var outcome: Outcome
        package var differences: [FieldDifference] = []
        package var left = 0
        package var remarks: [String] = []

        package var kind: DiffSession.Exchange.Kind { first?.kind ?? second?.kind ?? .status }
        package var id: String { first?.id ?? second?.id ?? "" }
        package var ordinal: Int { first?.ordinal ?? second?.ordinal ?? 0 }
    }

    package let first: DiffSession
    package let second: DiffSession
    let contract: Contract
    let pairing: SessionPairing?
    private let pairs: [(first: Int?, second: Int?)]
    private let events: [(first: Int?, second: Int?)]
    private let exchanges: [(first: Int?, second: Int?)]
    private var givenPairs = 0
    private var givenEvents = 0
    private var givenExchanges = 0
    /// The types of the first session's commands by id, for what is told of them elsewhere.
    let types: [String: String]
    var ledger: ComparisonLedger
    /// How many commands came out so, as far as they were given.
    package private(set) var counts: [Outcome: Int] = [:]
    /// Events that differ, as far as they were given.
    package private(set) var changedEvents = 0
    /// HTTP exchanges that differ, as far as they were given.
    package private(set) var changedExchanges = 0
    var searches = CandidateSearch()

    /// - Parameters:
    ///   - rules: what may vary from one session to the next, beyond what the contract lets vary.
    ///   - pairing: how the sessions belong together, where that is known.
    package init(
        _ first: DiffSession, _ second: DiffSession, contract: Contract = .current,
        rules: ComparisonRules = ComparisonRules(), pairing: SessionPairing? = nil
    ) {
        self.first = first
        self.second = second
        self.contract = contract
        self.pairing = pairing
        types = Dictionary(
            first.commands.map { ($0.id, $0.type) }, uniquingKeysWith: { first, _ in first })
        ledger = ComparisonLedger(
            mapsValues: pairing != nil, values: ValueTable(pairing?.values ?? [:]), rules: rules)
        pairs =
            pairing.map { Self.pairs(first.commands, second.commands, by: $0) }
            ?? CommandAlignment(first.commands, second.commands).pairs
        events =
            pairing?.judged == .board
            ? [] : Self.pairs(first.events, second.events)
        exchanges =
            pairing?.judged == .app
            ? []
            : Self.exchanges(
                first.exchanges, second.exchanges,
                ids: Self.ids(pairing, pairs, first.commands, second.commands),
                pairing: pairing)
    }

    /// Whether what the board does is compared.
    var judgesBoard: Bool { pairing?.judged != .app }
    /// Whether what the app does is compared.
    var judgesApp: Bool { pairing?.judged != .board }

    /// Whether there is nothing to compare: no command, no event, and no exchange about one.
    package var isEmpty: Bool {
        pairs.isEmpty && events.isEmpty
            && exchanges.allSatisfy { pair in
                let kind = pair.first.map { first.exchanges[$0].kind }
                return kind == .connect || kind == .status
            }
    }

    /// Whether anything that counts differs, once all was given.
    package var isDifferent: Bool {
        counts.contains { $0.key.counts && $0.value > 0 } || changedEvents > 0
            || changedExchanges > 0 || facts.contains { $0.counts }
    }

    /// What is to be said of the rules, once all was given: those that were of no use, and those
    /// that let too much pass.
    package var ruleRemarks: [ComparisonRules.Remark] {
        ledger.remarks(
            subjects: contract.commands.map(\.name) + contract.events.map(\.name)
                + DiffSession.Exchange.Kind.allCases.map(\.rawValue))
    }

    // MARK: Alignment

    /// Pairs of indexes by ids that are known to belong together.
    private static func pairs(
        _ first: [DiffSession.Command], _ second: [DiffSession.Command],
        by pairing: SessionPairing
    ) -> [(first: Int?, second: Int?)] {
        var places: [Bytes: Int] = [:]
        for (index, command) in second.enumerated() { places[Bytes(command.id.utf8)] = index }
        let partners = first.map { command in
            pairing.commands[command.id].flatMap { places[Bytes(DiffReader.cut($0).utf8)] }
        }
        let taken = Set(partners.compactMap { $0 })
        return first.indices.map { ($0, partners[$0]) }
            + second.indices.filter { !taken.contains($0) }.map { (nil, $0) }
    }

    /// Pairs events of one name in order, so that as many as possible say the same.
    private static func pairs(
        _ first: [DiffSession.AppEvent], _ second: [DiffSession.AppEvent]
    ) -> [(first: Int?, second: Int?)] {
        var partners: [Int: Int] = [:]
        for name in Set(first.map(\.name)) {
            func elements(_ events: [DiffSession.AppEvent]) -> [SequenceAlignment.Element] {
                events.indices.filter { events[$0].name == name }
                    .map { .init(place: $0, key: events[$0].content?.hash ?? 0) }
            }
            let pairs = SequenceAlignment.pairs(elements(first), elements(second))
            for (one, other) in pairs { partners[one] = other }
        }
        let taken = Set(partners.values)
        return first.indices.map { ($0, partners[$0]) }
            + second.indices.filter { !taken.contains($0) }.map { (nil, $0) }
    }

    /// Pairs those that have one key, in their order; behind them what the second has more.
    static func inOrder<Element>(
        _ first: [Element], _ second: [Element], by key: (Side, Element) -> String
    ) -> [(first: Int?, second: Int?)] {
        var waiting: [Bytes: [Int]] = [:]
        for index in second.indices.reversed() {
            waiting[Bytes(key(.board, second[index]).utf8), default: []].append(index)
        }
        let partners = first.map { waiting[Bytes(key(.app, $0).utf8)]?.popLast() }
        let taken = Set(partners.compactMap { $0 })
        return first.indices.map { ($0, partners[$0]) }
            + second.indices.filter { !taken.contains($0) }.map { (nil, $0) }
    }

    // MARK: Steps

    /// The next command of either session; nil behind the last.
    package mutating func nextCommand() throws(OutputError) -> CommandPair? {
        guard givenPairs < pairs.count else { return nil }
        let (left, right) = pairs[givenPairs]
        givenPairs += 1
        var pair = try compare(
            left.map { first.commands[$0] }, right.map { second.commands[$0] })
        if pair.outcome == .missing || pair.outcome == .extra {
            pair.candidate = try candidate(for: pair, among: pairs)
        }
        addFailures(of: pair.first?.allSeqs ?? [], &pair.outcome, &pair.remarks)
        counts[pair.outcome, default: 0] += 1
        return pair
    }

    /// The next event of the app in either session; nil behind the last.
    package mutating func nextEvent() throws(OutputError) -> EventPair? {
        guard givenEvents < events.count else { return nil }
        let (left, right) = events[givenEvents]
        givenEvents += 1
        var pair = try compare(left.map { first.events[$0] }, right.map { second.events[$0] })
        addFailures(of: pair.first.map { [$0.seq] } ?? [], &pair.outcome, &pair.remarks)
        if pair.outcome.counts { changedEvents += 1 }
        return pair
    }

    /// The next HTTP exchange of either session; nil behind the last.
    package mutating func nextExchange() throws(OutputError) -> ExchangePair? {
        guard givenExchanges < exchanges.count else { return nil }
        let (left, right) = exchanges[givenExchanges]
        givenExchanges += 1
        var pair = try compare(
            left.map { first.exchanges[$0] }, right.map { second.exchanges[$0] })
        addFailures(of: pair.first.map { [$0.seq] } ?? [], &pair.outcome, &pair.remarks)
        if pair.outcome.counts { changedExchanges += 1 }
        return pair
    }

    // MARK: What did not happen

    /// Tells what a player says did not happen; it makes a thing different that is not already.
    private func addFailures(of seqs: [Int], _ outcome: inout Outcome, _ remarks: inout [String]) {
        let failures = seqs.compactMap { pairing?.failures[$0] }
        guard !failures.isEmpty else { return }
        remarks += failures
        if !outcome.counts { outcome = .changed }
    }

    /// What did not happen of things that are no command, event or exchange, in order.
    var looseFailures: [(seq: Int, text: String)] {
        guard let pairing, !pairing.failures.isEmpty else { return [] }
        var seqs = Set(pairs.flatMap { $0.first.map { first.commands[$0].allSeqs } ?? [] })
        seqs.formUnion(events.compactMap { $0.first.map { first.events[$0].seq } })
        seqs.formUnion(exchanges.compactMap { $0.first.map { first.exchanges[$0].seq } })
        return pairing.failures.filter { !seqs.contains($0.key) }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension DiffSession.Command {
    /// The numbers of the events that it is known by.
    fileprivate var allSeqs: [Int] {
        [seq] + [answer?.seq, outcome?.seq].compactMap { $0 }
    }
}
