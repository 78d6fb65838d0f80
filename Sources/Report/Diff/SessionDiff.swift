package import Capture
package import PhoneBridge
import Wire

/// Two sessions, compared command by command (expectations of a protocol-aware difference: what
/// the contract lets differ is told and does not count).
///
/// Commands belong together by id and type; those whose ids do not agree by type, route and
/// order, and what is left of them by type and order. Events of the app belong together by name
/// and order.
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

        /// As people read it.
        package var word: String { self == .routeChanged ? "route changed" : rawValue }
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

        package var type: String { first?.type ?? second?.type ?? "" }
        package var ordinal: Int { first?.ordinal ?? second?.ordinal ?? 0 }
    }

    /// An event of the app, in either session or in both.
    package struct EventPair: Sendable {
        package var first: DiffSession.AppEvent?
        package var second: DiffSession.AppEvent?
        package var outcome: Outcome
        package var differences: [FieldDifference] = []
        package var left = 0

        package var name: String { first?.name ?? second?.name ?? "" }
        package var ordinal: Int { first?.ordinal ?? second?.ordinal ?? 0 }
    }

    /// A fact of the whole session that differs.
    package struct FactDifference: Sendable, Equatable {
        package var name: String
        package var first: String
        package var second: String
        /// Whether it makes the two different, or is only told.
        package var counts: Bool
    }

    package let first: DiffSession
    package let second: DiffSession
    private let contract: Contract
    private var pairs: [(first: Int?, second: Int?)] = []
    private var events: [(first: Int?, second: Int?)] = []
    private var givenPairs = 0
    private var givenEvents = 0
    /// How many commands came out so, as far as they were given.
    package private(set) var counts: [Outcome: Int] = [:]
    /// Events that differ, as far as they were given.
    package private(set) var changedEvents = 0

    package init(_ first: DiffSession, _ second: DiffSession, contract: Contract = .current) {
        self.first = first
        self.second = second
        self.contract = contract
        pairs = Self.align(
            first.commands.map { ($0.id, $0.type, $0.route.rawValue) },
            second.commands.map { ($0.id, $0.type, $0.route.rawValue) })
        events = Self.align(
            first.events.map { ("", $0.name, "") }, second.events.map { ("", $0.name, "") })
    }

    /// Whether there is anything to compare: a command or an event in either session.
    package var isEmpty: Bool { pairs.isEmpty && events.isEmpty }

    /// Whether anything that counts differs, once all was given.
    package var isDifferent: Bool {
        counts.contains { $0.key != .same && $0.value > 0 } || changedEvents > 0
            || facts.contains { $0.counts }
    }

    // MARK: Alignment

    /// Pairs of indexes in the order of the first list, and behind them what the second has more.
    private static func align(
        _ first: [(id: String, type: String, route: String)],
        _ second: [(id: String, type: String, route: String)]
    ) -> [(first: Int?, second: Int?)] {
        var partner = [Int?](repeating: nil, count: first.count)
        var isTaken = [Bool](repeating: false, count: second.count)
        /// Pairs those that have one key, in their order.
        func pair(by key: ((id: String, type: String, route: String)) -> String?) {
            var waiting: [String: [Int]] = [:]
            for index in second.indices.reversed() where !isTaken[index] {
                if let key = key(second[index]) { waiting[key, default: []].append(index) }
            }
            for index in first.indices where partner[index] == nil {
                guard let key = key(first[index]), let match = waiting[key]?.popLast() else {
                    continue
                }
                partner[index] = match
                isTaken[match] = true
            }
        }
        pair { $0.id.isEmpty ? nil : "\($0.id)\n\($0.type)" }
        pair { "\($0.type)\n\($0.route)" }
        pair { $0.type }
        return first.indices.map { ($0, partner[$0]) }
            + second.indices.filter { !isTaken[$0] }.map { (nil, $0) }
    }

    // MARK: Commands

    /// The next command of either session; nil behind the last.
    package mutating func nextCommand() throws(OutputError) -> CommandPair? {
        guard givenPairs < pairs.count else { return nil }
        let (left, right) = pairs[givenPairs]
        givenPairs += 1
        let pair = try compare(
            left.map { first.commands[$0] }, right.map { second.commands[$0] })
        counts[pair.outcome, default: 0] += 1
        return pair
    }

    private func compare(
        _ left: DiffSession.Command?, _ right: DiffSession.Command?
    ) throws(OutputError) -> CommandPair {
        guard let left, let right else {
            return CommandPair(
                first: left, second: right, outcome: left == nil ? .extra : .missing)
        }
        var pair = CommandPair(first: left, second: right, outcome: .same)
        var fields = FieldComparison()
        let type = contract.command(named: left.type)
        try compare(
            left.content, right.content, "command", Self.command(type), into: &fields)
        try compare(
            left.answer?.content, right.answer?.content, "result", result(type), into: &fields)
        pair.differences = fields.differences
        pair.left = fields.left
        judge(&pair, left, right, hasChanges: fields.counted > 0)
        return pair
    }

    /// Finds what became of a command: the gravest that is new in the second session.
    private func judge(
        _ pair: inout CommandPair, _ left: DiffSession.Command, _ right: DiffSession.Command,
        hasChanges: Bool
    ) {
        var isChanged = hasChanges
        if left.route != right.route {
            pair.outcome = .routeChanged
            pair.remarks.append(
                "sent by \(Self.name(left.route)), now by \(Self.name(right.route))")
        } else if let first = left.answer?.route, let second = right.answer?.route,
            first != second
        {
            pair.outcome = .routeChanged
            pair.remarks.append("answered by \(Self.name(first)), now by \(Self.name(second))")
        }
        if left.sendings != right.sendings {
            pair.remarks.append("sent \(left.sendings)×, now \(right.sendings)×")
        }
        var graver: Outcome?
        switch (left.answer, right.answer) {
        case (nil, .some):
            pair.remarks.append("was unanswered, is answered now")
            isChanged = true
        case (.some, nil):
            pair.remarks.append("was answered, is unanswered now")
            graver = .unanswered
        case (let first?, let second?) where first.isLate != second.isLate:
            let spans = [first, second].map { $0.latency.map { timeSpan($0) } ?? "?" }
            pair.remarks.append(
                second.isLate
                    ? "answered in \(spans[0]), now late, in \(spans[1])"
                    : "answered late, in \(spans[0]), now in \(spans[1])")
            if second.isLate { graver = .late } else { isChanged = true }
        default: break
        }
        if left.duplicates != right.duplicates {
            pair.remarks.append(
                "had \(counted(left.duplicates, "duplicate answer")), now \(right.duplicates)")
            if right.duplicates > left.duplicates {
                graver = graver ?? .duplicate
            } else {
                isChanged = true
            }
        }
        if let graver { pair.outcome = graver } else if isChanged { pair.outcome = .changed }
    }

    private static func name(_ route: Route) -> String {
        route == .websocket ? "WebSocket" : "the queue"
    }

    // MARK: Events

    /// The next event of the app in either session; nil behind the last.
    package mutating func nextEvent() throws(OutputError) -> EventPair? {
        guard givenEvents < events.count else { return nil }
        let (left, right) = events[givenEvents]
        givenEvents += 1
        var pair = EventPair(
            first: left.map { first.events[$0] }, second: right.map { second.events[$0] },
            outcome: left == nil ? .extra : right == nil ? .missing : .same)
        if left != nil, right != nil {
            var fields = FieldComparison()
            try compare(
                pair.first?.content, pair.second?.content, "event",
                Self.event(contract.event(named: pair.name)), into: &fields)
            pair.differences = fields.differences
            pair.left = fields.left
            if fields.counted > 0 { pair.outcome = .changed }
        }
        if pair.outcome != .same { changedEvents += 1 }
        return pair
    }

    // MARK: The whole

    /// What differs of connections and counts.
    package var facts: [FactDifference] {
        var facts: [FactDifference] = []
        func compare(_ name: String, _ left: String, _ right: String, counts: Bool) {
            guard left != right else { return }
            facts.append(FactDifference(name: name, first: left, second: right, counts: counts))
        }
        compare(
            "WebSocket connections", "\(first.links.count)", "\(second.links.count)", counts: true)
        if first.links.count == second.links.count {
            for (index, (left, right)) in zip(first.links, second.links).enumerated() {
                compare(
                    "end of WebSocket connection \(index + 1)", left.end, right.end, counts: true)
            }
        }
        compare(
            "results to unknown commands", "\(first.strayResults)", "\(second.strayResults)",
            counts: true)
        compare("platform", first.platform ?? "none", second.platform ?? "none", counts: false)
        compare(
            "heartbeats of the app", "\(first.appHeartbeats)", "\(second.appHeartbeats)",
            counts: false)
        compare(
            "heartbeats of the board", "\(first.boardHeartbeats)", "\(second.boardHeartbeats)",
            counts: false)
        compare("polls", "\(first.polls)", "\(second.polls)", counts: false)
        compare(
            "places where something is missing", "\(first.holes)", "\(second.holes)",
            counts: false)
        return facts
    }

    // MARK: Contents

    private typealias Knowledge = FieldComparison.Knowledge

    private static func command(_ type: Contract.CommandType?) -> Knowledge {
        Knowledge(
            type: .object(
                [
                    .init("type", .string),
                    .init("timeout_ms", .integer, default: 5000),
                    .init("payload", .object(type?.payload ?? [])),
                    .init("phone_id", .string, personal: .id),
                ] + (type?.fields ?? [])), personal: Contract.Personal.none)
    }

    private func result(_ type: Contract.CommandType?) -> Knowledge {
        Knowledge(
            type: .object([
                .init("method", .string),
                .init(
                    "error",
                    .object([
                        .init("category", .string), .init("code", .string),
                        .init("message", .string, personal: .note),
                        .init("details", .anyObject, personal: .note),
                    ])),
                .init("data", .object(type?.data ?? [])),
            ]), personal: Contract.Personal.none)
    }

    private static func event(_ type: Contract.EventType?) -> Knowledge {
        Knowledge(
            type: .object([
                .init("method", .string), .init("data", .object(type?.data ?? [])),
            ]), personal: Contract.Personal.none)
    }

    private func compare(
        _ left: DiffSession.Content?, _ right: DiffSession.Content?, _ name: String,
        _ known: Knowledge, into fields: inout FieldComparison
    ) throws(OutputError) {
        guard let left, let right else { return }
        var bytes: [Bytes] = [[], []]
        try first.spool.read(at: left.offset, count: left.count, into: &bytes[0])
        try second.spool.read(at: right.offset, count: right.count, into: &bytes[1])
        // What is the same to the byte has no differences; that is most of it.
        guard bytes[0] != bytes[1] else { return }
        guard let one = Self.parse(bytes[0]), let other = Self.parse(bytes[1]) else {
            fields.add(
                FieldDifference(path: name, kind: .changed, first: nil, second: nil))
            return
        }
        var comparison = FieldComparison()
        comparison.compare(one, other, at: name, known)
        for difference in comparison.differences {
            fields.add(settled(difference, one, other))
        }
        let kept = comparison.differences.count { $0.counts }
        fields.addUnkept(comparison.left, counted: comparison.counted - kept)
    }

    /// A value without the id, which tells one command from another and says nothing more.
    private static func parse(_ bytes: Bytes) -> JSON? {
        guard let value = try? JSON(parsing: bytes) else { return nil }
        guard case .object(let members) = value else { return value }
        return .object(members.filter { $0.name != "id" })
    }

    /// A difference as the contract judges it, for what is not told by its type alone.
    private func settled(
        _ difference: FieldDifference, _ one: JSON, _ other: JSON
    ) -> FieldDifference {
        var difference = difference
        guard difference.kind == .changed else { return difference }
        switch difference.path {
        case "result.method":
            let known = Set(contract.commands.flatMap(\.methods))
            if first.platform != second.platform,
                let left = difference.first?.stringValue, known.contains(left),
                let right = difference.second?.stringValue, known.contains(right)
            {
                difference.kind = .method
            }
        case "result.error.message":
            if one["error"]?["code"] == other["error"]?["code"],
                one["error"]?["category"] == other["error"]?["category"]
            {
                difference.kind = .wording
            }
        case "event.data.captured_at", "event.data.reported_at":
            difference.kind = .moment
        default: break
        }
        return difference
    }
}
