import Capture
import Wire

/// What the app's events are made of (contract, "AppEvent"), by the tables.
struct EventRules: RuleGroup {
    private static let section = #"contract, "AppEvent (app → board)""#

    private static let known = Rule(
        "event-known", .weak, .app, section: section, "An event is one of the contract's version")
    private static let method = Rule(
        "event-id-method", .likely, .app, section: section,
        "An event has its name as its id and as its method")
    private static let required = Rule(
        "event-data", .likely, .app, section: section,
        "An event has a data object with the fields that it cannot do without")
    private static let types = Rule(
        "event-data-types", .likely, .app, section: section,
        "The fields of an event's data have the types that the contract gives them")
    private static let choice = Rule(
        "event-app-state", .likely, .app, section: section,
        "The state of the app is active, background or inactive")

    static let rules = [known, method, required, types, choice]

    private let names: [String]
    private let tables: [FieldTable]

    static let interests: RuleInterests = [.message]

    init(contract: Contract, profile: Profile) {
        names = contract.events.map(\.name)
        tables = contract.events.map { FieldTable($0.data) }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        guard case .message(let message) = fact.kind, case .appEvent(let name) = message.sort,
            !message.isBehindClose, let json = message.json
        else { return }
        let say: (Rule, String, inout RuleContext) -> Void = { rule, text, context in
            context.report(
                rule, by: .app, conn: fact.conn, events: [fact.seq], "\(name.quoted): \(text)")
        }
        context.exercise(Self.known)
        guard let index = names.firstIndex(where: { $0.hasSameScalars(as: name) }) else {
            say(Self.known, "the contract has no such event", &context)
            return
        }
        let root = json.root
        context.exercise(Self.method)
        for field in ["id", "method"] {
            let value = root.member(field)
            if value?.string.map({ $0.hasSameScalars(as: name) }) ?? false { continue }
            say(
                Self.method,
                "\(field) is \(value.map { $0.string?.quoted ?? $0.kind.words } ?? "missing")",
                &context)
            break
        }
        context.exercise(Self.required)
        guard let data = root["data"], data.kind == .object else {
            say(
                Self.required, "data is \(root["data"]?.kind.words ?? "missing")",
                &context)
            return
        }
        var check = FieldCheck()
        tables[index].check(
            data.index, of: json.tape, in: json.source.span, path: "data", into: &check)
        if let (text, _) = check.finding(\.isMissing) { say(Self.required, text, &context) }
        context.exercise(Self.types)
        if let (text, _) = check.finding(\.isType) { say(Self.types, text, &context) }
        if check.choices > 0 { context.exercise(Self.choice) }
        if let (text, _) = check.finding(\.isChoice) { say(Self.choice, text, &context) }
        check.reportTimes(by: .app, fact, nil, &context)
    }
}
