import Wire

/// Reads outgoing commands in the one way in which every reader takes them, or not at all; for
/// `EffectGate`.
struct CommandReader: Sendable {
    private let contract: Contract
    /// Every name of the contract's commands, by what careless readers make of it.
    private let names: [String: String]
    /// Types that do something to the phone, by what careless readers make of their names.
    private let doingTypes: [String: String]

    private typealias Refusal = EffectGate.Refusal

    init(_ contract: Contract) {
        self.contract = contract
        var known = ["id", "type", "timeout_ms", "phone_id", "name", "payload", "commands"]
        for type in contract.commands {
            known += type.fields.map(\.name) + type.payload.map(\.name)
        }
        names = Dictionary(known.map { (Self.folded($0), $0) }, uniquingKeysWith: { $1 })
        doingTypes = Dictionary(
            contract.commands.filter { $0.effect != .reads }
                .map { (Self.folded($0.name), $0.name) }, uniquingKeysWith: { $1 })
    }

    // MARK: - One reading

    /// Throws where two readers could take a value for two different ones, at any depth.
    func demandOneReading(of value: JSONView) throws(EffectGate.Refusal) {
        // The scanner held the depth to a few hundred.
        switch value.kind {
        case .string:
            try demandExact(value)
        case .array:
            for element in value.elements { try demandOneReading(of: element) }
        case .object:
            var seen: Set<String> = []
            for (nameView, member) in value.members {
                try demandExact(nameView)
                let name = nameView.string ?? ""
                let folded = Self.folded(name)
                guard seen.insert(folded).inserted else {
                    throw Refusal("the name \(name.quoted) stands there twice, or nearly so")
                }
                if let known = names[folded], !known.hasSameScalars(as: name) {
                    throw Refusal("the name \(name.quoted) could be taken for \(known)")
                }
                try demandOneReading(of: member)
            }
        case .null, .bool, .number:
            break
        }
    }

    private func demandExact(_ text: JSONView) throws(EffectGate.Refusal) {
        guard text.isExact else { throw Refusal("a text in it holds half of a surrogate pair") }
    }

    // MARK: - Messages

    /// Whether a message is no command by any reading, but the echo of a heartbeat or the like.
    func isOtherMessage(_ message: JSONView) throws(EffectGate.Refusal) -> Bool {
        guard message.kind == .object else { throw Refusal("it is no JSON object") }
        guard message["type"] == nil else { return false }
        let known = ["id", "method", "error", "data"]
        for (name, _) in message.members where !known.contains(name.string ?? "") {
            throw Refusal("it has no type, but \((name.string ?? "").quoted)")
        }
        if let method = message["method"]?.string, doingTypes[Self.folded(method)] != nil {
            throw Refusal(
                "its method is \(method.quoted), the name of a command that does something")
        }
        try demandNoOther(in: message)
        return true
    }

    /// The commands of a poll's answer.
    func commands(ofAnswer answer: JSONView) throws(EffectGate.Refusal) -> [JSONView] {
        switch answer.kind {
        case .array: return answer.elements
        case .object: break
        case .null, .bool, .number, .string: throw Refusal("it is no answer to a poll")
        }
        for (name, value) in answer.members where name.string != "commands" {
            guard value.kind != .object, value.kind != .array else {
                throw Refusal("\((name.string ?? "").quoted) holds more than the commands")
            }
        }
        guard let list = answer["commands"], list.kind != .null else { return [] }
        guard list.kind == .array else { throw Refusal("its commands are no array") }
        return list.elements
    }

    /// A command of a known type; throws where it is none, or more than one.
    func command(_ view: JSONView) throws(EffectGate.Refusal) -> ReadCommand {
        guard view.kind == .object else { throw Refusal("a command is no JSON object") }
        guard let name = view["type"]?.string else { throw Refusal("its type is no text") }
        guard let type = contract.command(named: name) else {
            throw Refusal("the contract has no command type \(name.quoted)")
        }
        if let id = view["id"]?.string, contract.isReserved(id) {
            throw Refusal("the id \(id.quoted) is reserved")
        }
        let id = view["id"]?.string ?? ""
        // What reads does nothing, whatever it is called; the rest must be found in the answers.
        guard type.effect == .reads || !id.isEmpty else {
            throw Refusal("\(name) without an id could not be kept account of")
        }
        for other in contract.commands where other.effect != .reads && other.name != type.name {
            for field in other.fields where view.member(field.name) != nil {
                throw Refusal("\(name) has \(field.name), which is for \(other.name)")
            }
        }
        for (_, value) in view.members { try demandNoOther(in: value) }
        return ReadCommand(id: id, type: type, view: view)
    }

    /// Throws where an object names a type that does something.
    private func demandNoOther(in value: JSONView) throws(EffectGate.Refusal) {
        for element in value.elements { try demandNoOther(in: element) }
        for (name, member) in value.members {
            if Self.folded(name.string ?? "") == "type", let text = member.string,
                let type = doingTypes[Self.folded(text)]
            {
                throw Refusal("there is another command in it, \(type)")
            }
            try demandNoOther(in: member)
        }
    }

    // MARK: - Careless reading

    /// What the most careless of readers makes of a name: without case, accents, and whatever is
    /// neither letter nor digit, so that `eventId` is `event_id`.
    private static func folded(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            let properties = scalar.properties
            guard !properties.isDefaultIgnorableCodePoint,
                properties.generalCategory != .nonspacingMark
            else { continue }
            guard scalar.isASCII else {
                // By way of upper case: "ſ" and "ı" have no other lower one than themselves.
                let folded = properties.uppercaseMapping.lowercased()
                result.unicodeScalars.append(
                    contentsOf: folded.unicodeScalars.filter {
                        $0.properties.generalCategory != .nonspacingMark
                    })
                continue
            }
            switch scalar {
            case "a"..."z", "0"..."9": result.unicodeScalars.append(scalar)
            case "A"..."Z": result += properties.lowercaseMapping
            default: break
            }
        }
        return result.isEmpty ? name : result
    }
}

/// A command that every reader takes for the same.
struct ReadCommand {
    /// Empty where it has none.
    let id: String
    let type: Contract.CommandType
    let view: JSONView

    /// The payload, where it is an object.
    var payload: JSONView? {
        guard let payload = view["payload"], payload.kind == .object else { return nil }
        return payload
    }

    /// Where the text stands by which a person will know the thing: its title or name.
    ///
    /// `end` is the offset of the closing quote; nil where the command has no such text.
    func markPlace() throws(EffectGate.Refusal) -> (end: Int, isMarked: Bool)? {
        let field = type.payload.first { $0.personal == .title || $0.personal == .name }
        guard let field, let value = payload?.member(field.name) else { return nil }
        guard let text = value.string else {
            throw EffectGate.Refusal("\(type.name) has a \(field.name) that is no text")
        }
        guard !text.isEmpty else { return nil }
        return (value.range.upperBound - 1, text.hasSuffix(EffectGate.mark))
    }
}
