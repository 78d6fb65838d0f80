import Capture
import Wire

/// What an answer is made of (contract, "BridgeCommandResponse", "Command Types" and "Error
/// Handling"), by the tables.
struct ResultRules: RuleGroup {
    private static let message = #"contract, "BridgeCommandResponse (app → board)""#
    private static let errors = #"contract, "Error Handling""#
    private static let types = #"contract, "Command Types""#

    private static let id = Rule(
        "result-id", .sure, .app, section: message, "An answer has an id, which is a string")
    private static let fieldTypes = Rule(
        "result-field-types", .sure, .app, section: message,
        "An answer's method, if it is there, is a string, and its data an object")
    private static let errorShape = Rule(
        "result-error-structure", .sure, .app, section: message,
        "An error is an object with the strings category, code and message; details are an object")
    private static let noOK = Rule(
        "result-no-ok", .likely, .app, section: message,
        "An answer has no ok field: success is an absent error field")
    private static let code = Rule(
        "result-error-code-known", .weak, .app, section: errors,
        "An error's code is one that is known")
    private static let category = Rule(
        "result-error-category", .likely, .app, section: errors,
        "An error's category is the one that its code belongs to")
    private static let data = Rule(
        "result-data", .sure, .app, section: types,
        "The answer of a success has the data that its command type gives")
    private static let dataTypes = Rule(
        "result-data-types", .sure, .app, section: types,
        "The fields of an answer's data have the types that the contract gives them")
    private static let limit = Rule(
        "result-list-limit", .sure, .app, section: #"contract, "7. contacts_query""#,
        "A list has at most as many elements as the command's limit, 20 without one")
    private static let method = Rule(
        "result-method-known", .weak, .app, section: types,
        "An answer's method is one that the contract names for its command type")

    static let rules = [
        id, fieldTypes, errorShape, noOK, code, category, data, dataTypes, limit, method,
    ]

    private struct Shape: Sendable {
        var name: String
        var data: FieldTable
        var methods: [String]
        var listLimit: Contract.ListLimit?
        var defaultLimit: Int64?
    }

    private let shapes: [Shape]
    private let contract: Contract
    private let own = FieldTable([.init("method", .string), .init("data", .anyObject)])
    private let error = FieldTable([
        .init("category", .string, required: true), .init("code", .string, required: true),
        .init("message", .string, required: true), .init("details", .anyObject),
    ])
    /// The limits of commands that wait for their list, by id.
    private var limits: [String: Int64] = [:]
    /// More are not remembered: their lists are not held against a limit.
    private static let maximumLimits = 4_096

    static let interests: RuleInterests = [.command, .result]

    init(contract: Contract, profile: Profile) {
        self.contract = contract
        shapes = contract.commands.map { type in
            Shape(
                name: type.name, data: FieldTable(type.data), methods: type.methods,
                listLimit: type.listLimit,
                defaultLimit: type.listLimit.flatMap { limit in
                    type.payload.first { $0.name == limit.field }?.defaultValue?.integerValue
                })
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .command(let command): remember(command)
        case .result(let result): judge(result, fact, &context)
        default: break
        }
    }

    /// Keeps what bounds the list that a command asks for.
    private mutating func remember(_ command: CommandFact) {
        guard let id = command.id, let index = command.typeIndex, shapes.indices.contains(index),
            let rule = shapes[index].listLimit
        else { return }
        let given = command.view["payload"]?.member(rule.field)
        guard
            let limit = given.map({ $0.kind == .null ? shapes[index].defaultLimit : $0.integer })
                ?? shapes[index].defaultLimit, limit > 0
        else {
            // What such a limit means is open.
            limits[id] = nil
            return
        }
        if limits.count >= Self.maximumLimits { limits.removeAll() }
        limits[id] = limit
    }

    private mutating func judge(
        _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        let view = result.view
        let say: (Rule, Rule.Rating?, String, inout RuleContext) -> Void = {
            rule, rating, text, context in
            context.report(
                rule, rating: rating, by: .app, conn: fact.conn,
                events: [result.before?.sent?.seq ?? 0, fact.seq], command: result.name, text)
        }
        context.exercise(Self.id)
        if result.id == nil {
            let found = view[folding: "id"]
            say(
                Self.id, nil,
                "the answer has no id" + (found.map { ": it is \($0.kind.words)" } ?? ""), &context)
        } else if result.id?.isEmpty ?? false {
            say(Self.id, .likely, "the answer's id is empty", &context)
        }
        context.exercise(Self.fieldTypes)
        var check = FieldCheck()
        let document = result.document
        own.check(0, of: document.tape, in: document.source.span, path: "", into: &check)
        if let (text, _) = check.finding(\.isType) { say(Self.fieldTypes, nil, text, &context) }
        context.exercise(Self.noOK)
        if view["ok"] != nil { say(Self.noOK, nil, "the answer has an ok field", &context) }
        if let error = view["error"] {
            judge(error, say, &context)
        } else {
            success(result, fact, say, &context)
        }
        if let id = result.id { limits[id] = nil }
    }

    private typealias Say = (Rule, Rule.Rating?, String, inout RuleContext) -> Void

    // MARK: - Errors

    private func judge(_ value: JSONView, _ say: Say, _ context: inout RuleContext) {
        context.exercise(Self.errorShape)
        guard value.kind == .object else {
            // Success is an absent field; null may be meant for that.
            say(
                Self.errorShape, value.kind == .null ? .likely : nil,
                "error is \(value.kind.words), not an object", &context)
            return
        }
        var check = FieldCheck()
        error.check(
            value.index, of: value.document.tape, in: value.document.source.span, path: "error",
            into: &check)
        if let (text, _) = check.finding({ _ in true }) {
            say(Self.errorShape, nil, text, &context)
        }
        guard let code = value["code"]?.string else { return }
        context.exercise(Self.code)
        guard let due = contract.category(ofCode: code) else {
            say(Self.code, nil, "the code \(code.quoted) is not known", &context)
            return
        }
        guard let category = value["category"]?.string else { return }
        context.exercise(Self.category)
        if !category.hasSameScalars(as: due) {
            say(
                Self.category, nil,
                "the code \(code) has the category \(category.quoted), not \(due)", &context)
        }
    }

    // MARK: - Success

    private func success(
        _ result: ResultFact, _ fact: LinkFact, _ say: Say, _ context: inout RuleContext
    ) {
        guard let index = result.before?.typeIndex, shapes.indices.contains(index) else { return }
        let shape = shapes[index]
        if let method = result.view["method"]?.string, !shape.methods.isEmpty {
            context.exercise(Self.method)
            if !shape.methods.contains(where: { $0.hasSameScalars(as: method) }) {
                say(
                    Self.method, nil,
                    "the contract does not name the method \(method.quoted) for \(shape.name)",
                    &context)
            }
        }
        guard !shape.data.isEmpty else { return }
        let document = result.document
        let data = result.view["data"].flatMap { $0.kind == .null ? nil : $0 }
        var check = FieldCheck()
        if let data {
            // What is no object was reported with the answer's own fields.
            guard data.kind == .object else { return }
            shape.data.check(
                data.index, of: document.tape, in: document.source.span, path: "data",
                into: &check)
        } else if shape.data.hasRequired {
            check.faults.append(.init(.missing, "", "data", isNested: false))
        }
        context.exercise(Self.data)
        if let (text, rating) = check.finding(\.isMissing) {
            say(Self.data, rating, "\(shape.name): \(text)", &context)
        }
        context.exercise(Self.dataTypes)
        if let (text, rating) = check.finding({ $0.isType || $0.isChoice || $0.isScheme }) {
            say(Self.dataTypes, rating, "\(shape.name): \(text)", &context)
        }
        check.reportTimes(by: .app, fact, result.name, &context)
        guard let list = shape.listLimit, let id = result.id, let limit = limits[id],
            let elements = data?.member(list.list), elements.kind == .array
        else { return }
        context.exercise(Self.limit)
        let count = document.tape.childCount(elements.index)
        if count > limit {
            say(
                Self.limit, nil, "\(list.list) has \(count) elements; the limit is \(limit)",
                &context)
        }
    }
}
