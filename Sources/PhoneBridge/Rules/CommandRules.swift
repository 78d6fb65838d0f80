import Capture
import Wire

/// What a command is made of (contract, "BridgeCommand" and "Command Types"), by the tables.
struct CommandRules: RuleGroup {
    private static let message = #"contract, "BridgeCommand (board → app)""#
    private static let types = #"contract, "Command Types""#

    private static let id = Rule(
        "command-id", .sure, .board, section: message, "A command has an id, which is a string")
    private static let type = Rule(
        "command-type", .sure, .board, section: message, "A command has a type, which is a string")
    private static let knownType = Rule(
        "command-type-known", .likely, .board, section: #"contract, "Version Compatibility""#,
        "A command's type is one of the contract's version")
    private static let reservedID = Rule(
        "command-id-reserved", .likely, .board, section: #"contract, "AppEvent (app → board)""#,
        "No command has an id that stands for a heartbeat or an event")
    private static let timeoutNumber = Rule(
        "command-timeout-number", .sure, .board, section: message,
        "A command's timeout_ms, if it is there, is a number")
    private static let timeoutPositive = Rule(
        "command-timeout-positive", .likely, .board, section: message,
        "A command's timeout_ms is a positive integer")
    private static let fieldTypes = Rule(
        "command-field-types", .sure, .board, section: message,
        "A command's own fields have their types: app and url are strings, payload is an object")
    private static let oneTarget = Rule(
        "command-one-target", .sure, .board, section: #"contract, "1. open_app""#,
        "A command that opens something sets one target field, app or url")
    private static let scheme = Rule(
        "command-url-scheme", .sure, .board, section: #"contract, "1. open_app""#,
        "A url uses http, https, sms, mailto or tel")
    private static let payloadRequired = Rule(
        "payload-required", .sure, .board, section: types,
        "A payload has all fields that its command type requires")
    private static let payloadTypes = Rule(
        "payload-types", .sure, .board, section: types,
        "The fields of a payload have the types that the contract gives them")
    private static let unique = Rule(
        "command-id-unique", .sure, .board, section: #"contract, "Timeout and Reconnection""#,
        "An id is used again only for the same logical command")

    static let rules = [
        id, type, knownType, reservedID, timeoutNumber, timeoutPositive, fieldTypes, oneTarget,
        scheme, payloadRequired, payloadTypes, unique, FieldCheck.timeFormat,
    ]

    /// The tables of one command type.
    private struct Shape: Sendable {
        var name: String
        var section: String
        var fields: FieldTable
        var payload: FieldTable
        /// The names of which exactly one is given; none where that is not demanded.
        var targets: [String]
    }

    private let shapes: [Shape]
    private let contract: Contract

    static let interests: RuleInterests = [.command]

    init(contract: Contract, profile: Profile) {
        self.contract = contract
        shapes = contract.commands.map { type in
            Shape(
                name: type.name, section: type.section,
                fields: FieldTable(type.fields + [.init("payload", .anyObject)]),
                payload: FieldTable(type.payload),
                targets: type.needsOneField ? type.fields.map(\.name) : [])
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        guard case .command(let command) = fact.kind else { return }
        let report = Report(fact: fact, command: command)
        identity(report, &context)
        timeout(report, &context)
        guard command.document.tape.kind(command.index) == .object else { return }
        guard let index = command.typeIndex, shapes.indices.contains(index) else { return }
        fields(report, shapes[index], &context)
        payload(report, shapes[index], &context)
    }

    /// A command under the eyes of the rules.
    fileprivate struct Report {
        let fact: LinkFact
        let command: CommandFact

        func say(
            _ rule: Rule, rating: Rule.Rating? = nil, _ text: String,
            _ context: inout RuleContext
        ) {
            context.report(
                rule, rating: rating, by: .board, conn: fact.conn, events: [fact.seq],
                command: command.name, text)
        }

        func member(_ name: StaticString) -> Int? {
            let document = command.document
            return document.tape.member(name, of: command.index, in: document.source.span)
        }

        func kind(_ index: Int) -> JSONKind { command.document.tape.kind(index) }
    }

    // MARK: - Id and type

    private func identity(_ report: Report, _ context: inout RuleContext) {
        let command = report.command
        context.exercise(Self.id)
        context.exercise(Self.type)
        if let id = command.id {
            if id.isEmpty {
                report.say(Self.id, rating: .likely, "the command's id is empty", &context)
            }
            context.exercise(Self.reservedID)
            if contract.isReserved(id) {
                report.say(
                    Self.reservedID, "the command's id is \(id.quoted), which is reserved",
                    &context)
            }
        } else {
            report.say(Self.id, "the command has no \(report.lack("id"))", &context)
        }
        if let type = command.type {
            context.exercise(Self.knownType)
            if command.typeIndex == nil {
                report.say(
                    Self.knownType,
                    "version \(contract.version) has no command type \(type.quoted)", &context)
            }
        } else {
            report.say(Self.type, "the command has no \(report.lack("type"))", &context)
        }
        guard let before = command.before, before.content != 0, command.content != 0 else { return }
        context.exercise(Self.unique)
        guard before.content != command.content else { return }
        var events = [report.fact.seq]
        if let sent = before.sent { events.insert(sent.seq, at: 0) }
        context.report(
            Self.unique, by: .board, conn: report.fact.conn, events: events, command: command.name,
            "the id \((command.id ?? "").quoted) was used before for a command that asked for "
                + "something else")
    }

    private func timeout(_ report: Report, _ context: inout RuleContext) {
        guard let index = report.member("timeout_ms"), report.kind(index) != .null else { return }
        let document = report.command.document
        context.exercise(Self.timeoutNumber)
        guard report.kind(index) == .number else {
            report.say(
                Self.timeoutNumber, "timeout_ms is \(report.kind(index).words), not a number",
                &context)
            return
        }
        context.exercise(Self.timeoutPositive)
        let value = document.tape.integer(index, in: document.source.span)
        if value.map({ $0 <= 0 }) ?? true {
            report.say(
                Self.timeoutPositive,
                "timeout_ms is \(document.tape.string(index, in: document.source.span).prefix(40))",
                &context)
        }
    }

    // MARK: - Fields

    private func fields(_ report: Report, _ shape: Shape, _ context: inout RuleContext) {
        let document = report.command.document
        var check = FieldCheck()
        shape.fields.check(
            report.command.index, of: document.tape, in: document.source.span, path: "",
            into: &check)
        context.exercise(Self.fieldTypes)
        if let (text, _) = check.finding(\.isType) {
            report.say(Self.fieldTypes, text, &context)
        }
        if check.urls > 0 { context.exercise(Self.scheme, times: check.urls) }
        if let (text, _) = check.finding(\.isScheme) { report.say(Self.scheme, text, &context) }
        guard !shape.targets.isEmpty else { return }
        context.exercise(Self.oneTarget)
        let given = shape.targets.filter { name in
            let value = document.view(at: report.command.index).member(name)
            return value.map { $0.kind != .null } ?? false
        }
        if given.count != 1 {
            report.say(
                Self.oneTarget,
                given.isEmpty
                    ? "none of \(shape.targets.joined(separator: ", ")) is set"
                    : "\(given.joined(separator: " and ")) are set", &context)
        }
    }

    private func payload(_ report: Report, _ shape: Shape, _ context: inout RuleContext) {
        guard !shape.payload.isEmpty else { return }
        let document = report.command.document
        let payload = report.member("payload").flatMap { report.kind($0) == .null ? nil : $0 }
        var check = FieldCheck()
        if let payload {
            // What is no object was reported with the command's own fields.
            guard report.kind(payload) == .object else { return }
            shape.payload.check(
                payload, of: document.tape, in: document.source.span, path: "payload",
                into: &check)
        } else if shape.payload.hasRequired {
            check.faults.append(.init(.missing, "", "payload", isNested: false))
        }
        context.exercise(Self.payloadRequired)
        if let (text, rating) = check.finding(\.isMissing) {
            report.say(Self.payloadRequired, rating: rating, "\(shape.name): \(text)", &context)
        }
        context.exercise(Self.payloadTypes)
        if let (text, rating) = check.finding({ $0.isType || $0.isChoice }) {
            report.say(Self.payloadTypes, rating: rating, "\(shape.name): \(text)", &context)
        }
        check.reportTimes(by: .board, report.fact, report.command.name, &context)
    }
}

extension CommandRules.Report {
    /// What an absent or wrong member is called: `id`, or `id that is a string: it is a number`.
    fileprivate func lack(_ name: StaticString) -> String {
        guard command.document.tape.kind(command.index) == .object else {
            return "\(name): it is \(kind(command.index).words)"
        }
        guard let index = member(name) else { return "\(name)" }
        return "\(name) that is a string: it is \(kind(index).words)"
    }
}
