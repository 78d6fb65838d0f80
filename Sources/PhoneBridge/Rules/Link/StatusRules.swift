import Capture
import Wire

/// The rules for the status document: what it must have, and that it says what the phone said
/// (contract, "AppEvent").
struct StatusRules: RuleGroup {
    static let rules: [Rule] = [
        document, connectedField, connected, cleared, environment, appState, lastHeartbeat,
    ]

    private static let section = #"contract, "AppEvent (app → board)""#

    static let document = Rule(
        "status-document", .sure, .board, section: section,
        "The status is answered with a document that is one JSON object")
    static let connectedField = Rule(
        "status-connected-field", .likely, .board, section: #"board facts, "Status document""#,
        "The status document says whether a phone is connected")
    static let connected = Rule(
        "status-connected", .likely, .board, section: #"board facts, "Status document""#,
        "The status document says connected while the board serves a connection")
    static let cleared = Rule(
        "environment-cleared", .sure, .board, section: section,
        "The environment is cleared when the phone disconnects")
    static let environment = Rule(
        "status-environment", .sure, .board, section: section,
        "The status document has the latest environment that the connected phone reported")
    static let appState = Rule(
        "status-app-state", .likely, .board, section: section,
        "The status document has the last app state that the phone reported")
    static let lastHeartbeat = Rule(
        "status-last-heartbeat", .likely, .board, section: #"contract, "Heartbeat""#,
        "The field last_heartbeat_at has the board's time of the last heartbeat")

    private struct Mark {
        var time: Int64
        var seq: Int
    }

    /// The newest connection; nil while nothing is sure of it.
    private var phone: ReportedPhone?
    /// When its last heartbeat came.
    private var lastBeat: Mark?
    /// When the link was last other than it is now.
    private var changed: Int64 = .min

    static let interests: RuleInterests = [.upgraded, .message, .hole, .ended, .gone, .exchange]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .upgraded:
            changed = fact.time
            lastBeat = nil
            let isWhole = context.connections[fact.conn]?.isWhole ?? false
            phone = isWhole ? ReportedPhone(conn: fact.conn) : nil
        case .message(let message) where fact.conn == phone?.conn:
            if message.isBehindClose { return }
            if message.from == .app {
                said(message, fact, context)
            } else if case .heartbeat = message.sort {
                phone?.echo(at: fact.time)
            }
        case .hole:
            // Handshakes, words and polls may be in it.
            if fact.conn == 0 || fact.conn == phone?.conn { phone = nil }
            phone?.forgetAppState()
            changed = fact.time
        case .ended, .closed, .forgotten:
            guard fact.conn == phone?.conn else { return }
            phone = nil
            changed = fact.time
        case .exchange(let exchange): answered(exchange, fact, &context)
        default: break
        }
    }

    // MARK: - What the phone says

    private mutating func said(
        _ message: MessageFact, _ fact: LinkFact, _ context: RuleContext
    ) {
        switch message.sort {
        case .heartbeat:
            // Only one that is nothing else is sure to be echoed.
            guard let members = message.json?.root.members, members.count == 1 else {
                phone = nil
                return
            }
            phone?.beat()
            lastBeat = Mark(time: fact.time, seq: fact.seq)
        case .appEvent(let name):
            guard let json = message.json else { return }
            if name == "phone_environment" {
                if Self.isPlain(json, name, context.contract) {
                    phone?.report(environment: json, seq: fact.seq)
                } else {
                    phone?.doubt()
                }
            } else if name == "phone_app_state" {
                let state = json.root["data"]?["app_state"]?.string
                if let state, Self.isPlain(json, name, context.contract) {
                    phone?.report(appState: state)
                } else {
                    phone?.forgetAppState()
                }
            }
        case .command, .result, .other: break
        }
    }

    /// Whether every board takes an event: no name twice, no `error`, every field of its type.
    private static func isPlain(
        _ json: JSONDocument, _ name: String, _ contract: Contract
    ) -> Bool {
        guard json.root["id"]?.string == name, json.root["method"]?.string ?? name == name,
            json.root[folding: "error"] == nil, let data = json.root["data"],
            let event = contract.event(named: name), hasDistinctNames(json.root)
        else { return false }
        return has(data, event.data)
    }

    private static func has(_ object: JSONView, _ fields: [Contract.Field]) -> Bool {
        guard object.kind == .object else { return false }
        let members = object.members
        let names = members.map { $0.name.string ?? "" }
        guard areDistinct(names) else { return false }
        for (name, member) in zip(names, members) {
            // By their places: a field is large, and most are only looked at by their names.
            let place = fields.indices.first { fields[$0].name.hasSameScalars(as: name) }
            guard let place else {
                // Spelt in another case it may be taken for the field.
                let lower = name.lowercased()
                if fields.indices.contains(where: { fields[$0].name == lower }) { return false }
                continue
            }
            guard isOfType(member.value, fields[place].type) else { return false }
        }
        return fields.indices.allSatisfy { index in
            guard fields[index].isRequired else { return true }
            let place = names.firstIndex { $0.hasSameScalars(as: fields[index].name) }
            return place.map { members[$0].value.kind == .string } ?? false
        }
    }

    private static func hasDistinctNames(_ object: JSONView) -> Bool {
        areDistinct(object.members.map { $0.name.string ?? "" })
    }

    /// Whether no name comes twice, in any case.
    private static func areDistinct(_ names: [String]) -> Bool {
        let names = names.map { $0.lowercased() }
        guard names.count < 20 else { return Set(names).count == names.count }
        return !names.indices.contains { place in names[..<place].contains(names[place]) }
    }

    private static func isOfType(_ value: JSONView, _ type: Contract.FieldType) -> Bool {
        switch type {
        case .string, .url: value.kind == .string && value.isExact
        case .instant: value.string.flatMap { Timestamp($0) } != nil
        case .choice(let choices): value.string.map(choices.contains) ?? false
        case .integer: value.kind == .number && value.integer != nil
        case .number: value.kind == .number && (value.numberText.flatMap(Double.init) != nil)
        case .boolean: value.kind == .bool
        case .array(let element):
            value.kind == .array && value.elements.allSatisfy { isOfType($0, element) }
        case .object(let fields): has(value, fields)
        case .anyObject: value.kind == .object
        }
    }

    // MARK: - What the board shows

    private mutating func answered(
        _ exchange: ExchangeFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let request = exchange.request else { return }
        switch request.route {
        case .status where request.request.method == "GET":
            judge(exchange, request, fact, &context)
        case .poll: polled(request, exchange, context)
        default: break
        }
    }

    private mutating func polled(
        _ request: RequestFact, _ exchange: ExchangeFact, _ context: RuleContext
    ) {
        let names = context.contract.poll
        let target = request.target
        guard exchange.response.status == 200, let phone,
            let own = context.connections[phone.conn]?.phoneID, own == target[names.phoneID],
            target.query.count(where: { $0.name == names.appState }) < 2
        else {
            phone?.forgetAppState()
            return
        }
        guard let state = target[names.appState]?.lowercased() else { return }
        if names.appStates.contains(state) { self.phone?.set(appState: state) }
    }

    private func judge(
        _ exchange: ExchangeFact, _ request: RequestFact, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        guard case .whole = exchange.response.body.content else { return }
        let events = [request.seq, fact.seq]
        context.exercise(Self.document)
        guard exchange.response.status == 200 else {
            context.report(
                Self.document, rating: .likely, by: .board, conn: fact.conn, events: events,
                "the status is answered with \(exchange.response.status)")
            return
        }
        guard let status = exchange.json?.root, status.kind == .object else {
            guard exchange.jsonFault?.isLimit != true else { return }
            context.report(
                Self.document, by: .board, conn: fact.conn, events: events,
                "the status document is not a JSON object")
            return
        }
        context.exercise(Self.connectedField)
        guard let isConnected = status["connected"]?.bool else {
            context.report(
                Self.connectedField, by: .board, conn: fact.conn, events: events,
                "the status document has no boolean connected")
            return
        }
        if isConnected {
            judgeLink(status, request, fact, &context)
        } else {
            judgeEnd(status, request, fact, &context)
        }
        judgeHeartbeat(status, exchange, request, fact, &context)
    }

    private func judgeEnd(
        _ status: JSONView, _ request: RequestFact, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        context.exercise(Self.cleared)
        if let environment = status["environment"], environment.kind != .null {
            context.report(
                Self.cleared, by: .board, conn: fact.conn, events: [request.seq, fact.seq],
                "no phone is connected, and the status document has an environment")
        }
        guard let phone, phone.isHeard, isSteady(phone, since: request.firstTime, context) else {
            return
        }
        context.exercise(Self.connected)
        context.report(
            Self.connected, by: .board, conn: fact.conn, events: [request.seq, fact.seq],
            "the status document says not connected, and a connection is being served")
    }

    /// Whether the newest connection was there, and known to the board, since before `time`.
    private func isSteady(
        _ phone: ReportedPhone, since time: Int64, _ context: RuleContext
    ) -> Bool {
        guard let facts = context.connections[phone.conn], facts.isOpen, facts.isWhole
        else { return false }
        return changed < time && phone.lastProof < time
    }

    private func judgeLink(
        _ status: JSONView, _ request: RequestFact, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        guard let phone, isSteady(phone, since: request.firstTime, context) else { return }
        context.exercise(Self.connected)
        let events = [phone.environment?.seq ?? 0, request.seq, fact.seq]
        if phone.isEnvironmentKnown {
            judgeEnvironment(status["environment"], phone, events, fact, &context)
        }
        if let states = phone.appStates, let shown = status["app_state"]?.string {
            context.exercise(Self.appState)
            if !states.contains(shown.lowercased()) {
                context.report(
                    Self.appState, by: .board, conn: fact.conn, events: [request.seq, fact.seq],
                    "app_state is \"\(shown)\", and the phone reported \"\(states.last ?? "")\"")
            }
        }
    }

    private func judgeEnvironment(
        _ shown: JSONView?, _ phone: ReportedPhone, _ events: [Int], _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        let shown = shown?.kind == .null ? nil : shown
        guard let shown else {
            guard phone.environment != nil else { return }
            context.exercise(Self.environment)
            context.report(
                Self.environment, by: .board, conn: fact.conn, events: events,
                "the connected phone's environment is missing")
            return
        }
        let candidates = phone.environments
        guard !candidates.isEmpty else {
            context.exercise(Self.cleared)
            context.report(
                Self.cleared, by: .board, conn: fact.conn, events: events,
                "an environment is shown, and the phone has reported none since it connected")
            return
        }
        context.exercise(Self.environment)
        let event = context.contract.event(named: "phone_environment")
        let differences = candidates.map { candidate -> String? in
            guard let said = candidate.document.root["data"] else { return "data" }
            return Self.difference(said, shown, event?.data ?? [])
        }
        guard differences.allSatisfy({ $0 != nil }) else { return }
        context.report(
            Self.environment, by: .board, conn: fact.conn, events: events,
            "environment.\((differences.first ?? nil) ?? "") is not what the phone reported last")
    }

    /// The first field that both have and whose values differ.
    private static func difference(
        _ said: JSONView, _ shown: JSONView, _ fields: [Contract.Field]
    ) -> String? {
        // A board may give the platform its own spelling.
        for field in fields where field.name != "platform" {
            guard let left = said.member(field.name), let right = shown.member(field.name) else {
                continue
            }
            switch field.type {
            case .object(let fields):
                if let inner = difference(left, right, fields) { return "\(field.name).\(inner)" }
            case .number, .integer:
                if left.numberText.flatMap(Double.init) != right.numberText.flatMap(Double.init) {
                    return field.name
                }
            case .boolean:
                if left.bool != right.bool { return field.name }
            case .string, .instant, .choice, .url:
                let (a, b) = (left.string ?? "", right.string ?? "")
                if !a.hasSameScalars(as: b) { return field.name }
            // A board may shorten a list.
            case .array, .anyObject: break
            }
        }
        return nil
    }

    /// By the board's own clock, which `Date` tells in whole seconds, rounded down.
    private func judgeHeartbeat(
        _ status: JSONView, _ exchange: ExchangeFact, _ request: RequestFact, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        guard let lastBeat, let phone, isSteady(phone, since: request.firstTime, context),
            phone.lastProof >= lastBeat.time,
            let shown = status["last_heartbeat_at"]?.string.flatMap({ Timestamp($0) }),
            let date = exchange.response.headers.first("Date").flatMap(HTTPDate.parse)
        else { return }
        context.exercise(Self.lastHeartbeat)
        let age = date - shown.seconds
        let seen = fact.time.clampedSubtracting(lastBeat.time) / 1_000_000_000
        guard age > seen + 2 || age < -2 else { return }
        context.report(
            Self.lastHeartbeat, by: .board, conn: fact.conn,
            events: [lastBeat.seq, request.seq, fact.seq],
            "last_heartbeat_at is \(age) s old by the board's clock, and the last heartbeat \(seen) s"
        )
    }
}

extension JSONView {
    /// The last member with this name; nil for none and for other values.
    func member(_ name: String) -> JSONView? {
        members.last { $0.name.string?.hasSameScalars(as: name) ?? false }?.value
    }
}
