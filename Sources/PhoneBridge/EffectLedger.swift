import Wire

/// What a run created on the phone, as its answers tell; for `EffectGate`.
struct EffectLedger: Sendable {
    /// A thing, by the name of its id and the id.
    private struct Thing: Hashable {
        var field: String
        /// In UTF-8: equal spellings of a text are two ids.
        var bytes: Bytes

        init(_ id: String, _ field: String) {
            self.field = field
            bytes = Bytes(id.utf8)
        }
    }

    /// A command that was sent, for as long as answers to it may come.
    private struct Sent {
        /// Its type, where that creates; the first where one id was used for several.
        var creating: Contract.CommandType?
        /// What it deletes; several where one id was used again.
        var deleting: [Thing] = []
        var isAnswered = false
    }

    /// What is on the phone, or may be.
    private struct Entry {
        var type: String
        var command: Bytes
        /// nil until an answer tells.
        var thing: Thing?
    }

    private let types: [String: Contract.CommandType]
    private let maximum: Int
    /// By their ids, in UTF-8.
    private var sent: [Bytes: Sent] = [:]
    private var born: Set<Thing> = []
    /// In the order of creation; an entry is nil once it is gone.
    private var entries: [Entry?] = []

    init(_ contract: Contract, maximum: Int) {
        types = Dictionary(
            contract.commands.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.maximum = maximum
    }

    var remaining: [EffectGate.Remainder] {
        entries.compactMap { entry in
            entry.map { entry in
                .init(
                    type: entry.type,
                    id: entry.thing.map { String(decoding: $0.bytes, as: UTF8.self) },
                    command: String(decoding: entry.command, as: UTF8.self))
            }
        }
    }

    /// Whether a thing was created in this run.
    func isBorn(_ id: String, _ field: String) -> Bool {
        born.contains(Thing(id, field))
    }

    /// Notes a command that may go out.
    ///
    /// - Parameter isBound: whether it is refused where there is no room for it; otherwise it is
    ///   forgotten.
    mutating func sent(
        _ command: ReadCommand, isBound: Bool
    ) throws(EffectGate.Refusal) {
        let type = command.type
        guard type.effect == .creates || type.effect == .deletes else { return }
        let id = Bytes(command.id.utf8)
        guard sent.count < maximum, entries.count < maximum else {
            guard isBound else { return }
            throw EffectGate.Refusal("no more than \(maximum) things are kept account of")
        }
        if type.effect == .creates {
            if sent[id]?.creating == nil {
                sent[id, default: Sent()].creating = type
                entries.append(Entry(type: type.name, command: id))
            }
        } else if let field = type.usedID, let thing = command.payload?.member(field)?.string {
            sent[id, default: Sent()].deleting.append(Thing(thing, field))
        }
    }

    /// Notes what can be read of something that goes out unjudged.
    mutating func sent(_ message: JSONView, _ reader: CommandReader) {
        let list = message.member("commands")?.elements ?? message.elements
        for view in list.isEmpty ? [message] : list {
            guard let id = view.member("id")?.string, !id.isEmpty,
                let name = view.member("type")?.string, let type = types[name]
            else { continue }
            // Bound or not: what finds no room is forgotten.
            try? sent(ReadCommand(id: id, type: type, view: view), isBound: false)
        }
    }

    /// Takes an answer; anything else says nothing here.
    mutating func heard(_ message: Bytes) {
        guard let document = try? JSONDocument(message),
            let id = document.root[folding: "id"]?.string.map({ Bytes($0.utf8) }),
            let command = sent[id]
        else { return }
        sent[id]?.isAnswered = true
        let index = entries.firstIndex {
            $0.map { $0.command == id && $0.thing == nil } ?? false
        }
        if document.root[folding: "error"] != nil {
            // Nothing was done; another answer may still tell otherwise.
            if let index, !command.isAnswered { entries[index] = nil }
            return
        }
        guard let type = command.creating, let field = type.bornID,
            let given = document.root[folding: "data"]?.member(field)?.string, !given.isEmpty
        else {
            for thing in command.deleting {
                entries.removeAll { $0.map { $0.thing == thing } ?? true }
            }
            return
        }
        let thing = Thing(given, field)
        guard born.insert(thing).inserted else { return }
        if let index {
            entries[index]?.thing = thing
        } else if entries.count < maximum {
            // The second answer to one id: the phone did it twice.
            entries.append(Entry(type: type.name, command: id, thing: thing))
        }
    }
}
