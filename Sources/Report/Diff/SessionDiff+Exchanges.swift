import Capture
import PhoneBridge
import Wire

extension SessionDiff {
    /// Pairs exchanges by kind, command and order.
    ///
    /// Where nobody played one session from the other, tools may ask as often as they like: a
    /// query that says what the one before said is left out, and so is one that only one session
    /// has. A player asks what was asked; of what it did not ask it says why.
    static func exchanges(
        _ first: [DiffSession.Exchange], _ second: [DiffSession.Exchange], ids: [String: String],
        pairing: SessionPairing?
    ) -> [(first: Int?, second: Int?)] {
        let isPlayed = pairing != nil
        let left = isPlayed ? Array(first.indices) : newsworthy(first)
        let right = isPlayed ? Array(second.indices) : newsworthy(second)
        func key(_ side: Side, _ place: Int) -> String {
            let exchange = side == .app ? first[place] : second[place]
            let id = side == .app ? ids[exchange.id] ?? exchange.id : exchange.id
            return "\(exchange.kind.rawValue)\n\(id)"
        }
        return inOrder(left, right, by: key).compactMap { pair in
            let (one, other) = (pair.first.map { left[$0] }, pair.second.map { right[$0] })
            guard one == nil || other == nil else { return (one, other) }
            if let one, pairing?.says(of: first[one].seq) ?? false { return (one, other) }
            let kind = one.map { first[$0].kind } ?? other.map { second[$0].kind }
            switch kind {
            case .enqueue, .result: return isPlayed ? nil : (one, other)
            // How many connections there are is a fact of its own.
            case .connect, .query, .status, nil: return nil
            }
        }
    }

    /// The places of those that say something else than the one before.
    private static func newsworthy(_ exchanges: [DiffSession.Exchange]) -> [Int] {
        var last: [String: DiffSession.Exchange] = [:]
        return exchanges.indices.filter { place in
            let exchange = exchanges[place]
            guard exchange.kind == .query || exchange.kind == .status else { return true }
            let key = "\(exchange.kind.rawValue)\n\(exchange.id)"
            let before = last.updateValue(exchange, forKey: key)
            return before?.status != exchange.status
                || before?.content?.hash != exchange.content?.hash
        }
    }

    /// What ids of the first session are in the second.
    static func ids(
        _ pairing: SessionPairing?, _ pairs: [(first: Int?, second: Int?)],
        _ first: [DiffSession.Command], _ second: [DiffSession.Command]
    ) -> [String: String] {
        var ids: [String: String] = [:]
        for (left, right) in pairs {
            if let left, let right { ids[first[left].id] = second[right].id }
        }
        // Some are not known as commands: they were enqueued and never handed out.
        for (left, right) in pairing?.commands ?? [:] {
            ids[DiffReader.cut(left)] = DiffReader.cut(right)
        }
        return ids
    }

    mutating func compare(
        _ left: DiffSession.Exchange?, _ right: DiffSession.Exchange?
    ) throws(OutputError) -> ExchangePair {
        if let left, let why = pairing?.skipped[left.id] ?? pairing?.unexercised[left.seq] {
            return ExchangePair(first: left, second: right, outcome: .skipped, remarks: [why])
        }
        guard let left, let right else {
            return ExchangePair(
                first: left, second: right, outcome: left == nil ? .extra : .missing)
        }
        var pair = ExchangePair(first: left, second: right, outcome: .same)
        guard let status = right.status else {
            if left.status != nil {
                pair.outcome = .unanswered
                pair.remarks.append("was answered, is unanswered now")
            }
            return pair
        }
        guard let before = left.status else {
            pair.remarks.append("was unanswered, is answered now")
            // A recording may end before the response; what was played need not.
            if pairing == nil { pair.outcome = .changed }
            return pair
        }
        ledger.begin(left.kind.rawValue)
        var fields = FieldComparison()
        compare(
            .integer(before), .integer(status), "status",
            Knowledge(type: .integer, personal: Contract.Personal.none), into: &fields)
        try compareBodies(left, right, into: &fields)
        pair.differences = fields.differences
        pair.left = fields.left
        if fields.counted > 0 { pair.outcome = .changed }
        return pair
    }

    private mutating func compareBodies(
        _ left: DiffSession.Exchange, _ right: DiffSession.Exchange,
        into fields: inout FieldComparison
    ) throws(OutputError) {
        let one = try left.content.map { content throws(OutputError) in
            Self.body(try first.read(content), of: left)
        }
        let other = try right.content.map { content throws(OutputError) in
            Self.body(try second.read(content), of: right)
        }
        var comparison = FieldComparison()
        comparison.compare(one, other, at: "body", body(of: left), &ledger)
        // The words of a refusal are the board's own; of two refusals the code tells.
        let isRefused = left.status ?? 0 >= 400 && right.status ?? 0 >= 400
        fields.add(comparison) { difference in
            var difference = difference
            if difference.kind == .moment, isTakenFromApp(difference) {
                difference.kind = .changed
                difference.why = "it is a time that the app told"
            }
            let words = ["body", "body.error", "body.tool_error.message"]
            if isRefused, difference.kind == .changed, words.contains(difference.path),
                difference.first?.stringValue != nil, difference.second?.stringValue != nil
            {
                difference.kind = .wording
            }
            return difference
        }
    }

    /// Whether the board gives a time of the app's for its own, and did not before.
    ///
    /// Only of when it last heard a heartbeat: when the app's state changed it may well say as the
    /// app said it (board facts, "HTTP basics"), and a played app says recorded times.
    private func isTakenFromApp(_ difference: FieldDifference) -> Bool {
        guard difference.path == "body.last_heartbeat_at",
            let before = difference.first?.stringValue.flatMap({ Timestamp($0) }),
            let now = difference.second?.stringValue.flatMap({ Timestamp($0) })
        else { return false }
        // What is near may be like it by chance.
        return second.isFar(now) && second.isLikeTold(now) && !first.isFar(before)
    }

    /// A response's body without the id that was asked for.
    private static func body(_ bytes: Bytes, of exchange: DiffSession.Exchange) -> JSON {
        guard let value = try? JSON(parsing: bytes) else { return .null }
        guard case .object(let members) = value else { return value }
        func isOwn(_ member: JSON.Member) -> Bool {
            member.value.stringValue.map(DiffReader.cut) == exchange.id
        }
        return .object(
            members.compactMap { member in
                switch member.name {
                case "command_id": return isOwn(member) ? nil : member
                case "result":
                    guard case .object(let inner) = member.value else { return member }
                    return .init(
                        "result", .object(inner.filter { !($0.name == "id" && isOwn($0)) }))
                default: return member
                }
            })
    }

    private func body(of exchange: DiffSession.Exchange) -> Knowledge {
        let bodies = contract.bodies
        var fields: [Contract.Field] = [
            // Of refusals.
            .init("error", .string, personal: .note), Self.error(named: "tool_error"),
        ]
        switch exchange.kind {
        case .connect: break
        case .enqueue: fields += bodies.enqueue
        case .result: fields += bodies.result
        case .query:
            let type = types[exchange.id]
            fields += bodies.query
            fields.append(
                .init(
                    "result",
                    result(type.flatMap { contract.command(named: $0) }).type ?? .anyObject))
        case .status: fields += bodies.status
        }
        return Knowledge(type: .object(fields), personal: Contract.Personal.none)
    }
}

extension SessionPairing {
    /// Whether it says anything of what has this number in the first session.
    fileprivate func says(of seq: Int) -> Bool {
        unexercised[seq] != nil || failures[seq] != nil
    }
}
