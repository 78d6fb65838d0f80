import Capture
import Wire

/// Things that answers give an id, and that later commands name by it (contract, "Command
/// Types").
struct ThingRules: RuleGroup {
    private static let detail = Rule(
        "missing-thing-code", .sure, .app,
        section: #"contract, "6. calendar_delete" and "9. contacts_update""#,
        "If the event or contact is not there, the error invalid_arguments has the native code in "
            + "details.native_code")
    private static let gone = Rule(
        "deleted-thing-gone", .likely, .app, section: #"contract, "6. calendar_delete""#,
        "What was deleted is not there, and cannot be deleted or updated with success")
    private static let newID = Rule(
        "created-id-new", .likely, .app, section: #"contract, "4. calendar_create""#,
        "The id of what was created is unique")

    static let rules = [detail, gone, newID]

    /// A command on its way that names a thing.
    private struct Use: Sendable {
        var thing: UInt64
        var type: Int
        /// Whether the command is as it should be, so that only the thing can be missing.
        var isValid: Bool
    }

    private let types: [Contract.CommandType]
    private let payloads: [FieldTable]
    private let missing: Contract.MissingThing
    private var uses: [String: Use] = [:]
    private var deleted: Set<UInt64> = []
    private var created: Set<UInt64> = []

    private static let maximumUses = 4_096
    /// Things beyond this number are forgotten all at once: eight bytes each.
    private static let maximumThings = 65_536

    static let interests: RuleInterests = [.command, .result]

    init(contract: Contract, profile: Profile) {
        types = contract.commands
        payloads = contract.commands.map { FieldTable($0.payload) }
        missing = contract.missingThing
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .command(let command): sent(command, context.connections[fact.conn]?.phoneID)
        case .result(let result): answered(result, fact, &context)
        default: break
        }
    }

    private mutating func sent(_ command: CommandFact, _ phone: String?) {
        guard let index = command.typeIndex, types.indices.contains(index),
            let field = types[index].usedID, let id = command.id,
            let payload = command.view["payload"],
            let thing = payload.member(field)?.string, !thing.isEmpty
        else { return }
        let document = command.document
        var check = FieldCheck()
        payloads[index].check(
            payload.index, of: document.tape, in: document.source.span,
            path: "payload", into: &check)
        if uses.count >= Self.maximumUses { uses.removeAll() }
        uses[id] = Use(
            thing: Self.key(thing, field, phone), type: index, isValid: check.faults.isEmpty)
    }

    private mutating func answered(
        _ result: ResultFact, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        // Only the first answer to the first sending tells of what was done: a retry is answered
        // again and does nothing.
        guard let id = result.id, let before = result.before, before.results == 0,
            let index = before.typeIndex, types.indices.contains(index)
        else { return }
        let error = result.view["error"]
        let events = [before.sent?.seq ?? 0, fact.seq]
        if let use = uses.removeValue(forKey: id), use.type == index {
            if let error {
                failed(use, error, result, events, fact, &context)
            } else {
                succeeded(use, result, events, fact, &context)
            }
        }
        guard error == nil, let field = types[index].bornID,
            let thing = result.view["data"]?.member(field)?.string, !thing.isEmpty
        else { return }
        let key = Self.key(thing, field, result.phoneID)
        context.exercise(Self.newID)
        if created.contains(key), !deleted.contains(key) {
            context.report(
                Self.newID, by: .app, conn: fact.conn, events: events, command: result.name,
                "\(field) \(thing.quoted) was given before")
        }
        deleted.remove(key)
        if created.count >= Self.maximumThings { created.removeAll() }
        created.insert(key)
    }

    private func failed(
        _ use: Use, _ error: JSONView, _ result: ResultFact, _ events: [Int], _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        guard let code = error["code"]?.string, code.hasSameScalars(as: missing.code), use.isValid
        else { return }
        context.exercise(Self.detail)
        let native = error["details"]?.member(missing.detail)
        guard native == nil || native?.kind == .null else { return }
        // It may be another argument that is invalid, unless the thing is known to be gone.
        context.report(
            Self.detail, rating: deleted.contains(use.thing) ? nil : .likely, by: .app,
            conn: fact.conn, events: events, command: result.name,
            "\(types[use.type].name) failed with \(missing.code) and without "
                + "details.\(missing.detail)")
    }

    private mutating func succeeded(
        _ use: Use, _ result: ResultFact, _ events: [Int], _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        context.exercise(Self.gone)
        if deleted.contains(use.thing) {
            context.report(
                Self.gone, by: .app, conn: fact.conn, events: events, command: result.name,
                "\(types[use.type].name) succeeded for what was deleted before")
        }
        guard types[use.type].effect == .deletes else { return }
        if deleted.count >= Self.maximumThings { deleted.removeAll() }
        deleted.insert(use.thing)
    }

    /// A thing of a phone, by the name of its id.
    private static func key(_ id: String, _ field: String, _ phone: String?) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(Bytes(id.utf8))
        hasher.combine(field)
        hasher.combine(phone)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
