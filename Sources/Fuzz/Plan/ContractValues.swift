import PhoneBridge
import Wire

/// Commands, answers and events that are right by the contract's tables, and as plain as can be:
/// all that a peer may stumble over is left to the mutations.
///
/// Everything follows from the tables. A type of command that they get is made too.
struct ContractValues: Sendable {
    let contract: Contract

    // MARK: Messages

    /// A command.
    /// - Parameters:
    ///   - number: makes its texts differ from those of other commands.
    ///   - used: what names the thing that it is for; a text that may hold a place such as
    ///     `$(c1.event_id)`.
    ///   - richness: how many of its optional fields it has: each with this number out of 4.
    func command(
        _ type: Contract.CommandType, id: String, number: Int, used: String? = nil,
        timeout: Int? = 8000, richness: Int = 2, _ choices: inout Choices
    ) -> JSON {
        var members = [JSON.Member("id", .string(id)), JSON.Member("type", .string(type.name))]
        if type.needsOneField {
            if let field = choices.pick(type.fields) {
                members.append(
                    .init(field.name, value(field, of: type, number: number, place: 0, &choices)))
            }
        } else {
            members += fields(type.fields, of: type, number, richness, used, &choices)
        }
        if !type.payload.isEmpty {
            members.append(
                .init(
                    "payload",
                    .object(fields(type.payload, of: type, number, richness, used, &choices))))
        }
        if let timeout { members.append(.init("timeout_ms", .integer(timeout))) }
        return .object(members)
    }

    /// A phone's answer to a command of that type: a success.
    func answer(
        to type: Contract.CommandType, id: String, number: Int, _ choices: inout Choices
    ) -> JSON {
        var members = [JSON.Member("id", .string(id))]
        if let method = type.methods.first { members.append(.init("method", .string(method))) }
        if !type.data.isEmpty {
            members.append(
                .init("data", .object(fields(type.data, of: type, number, 2, nil, &choices))))
        }
        return .object(members)
    }

    /// An event with the fields that it cannot do without and some others.
    ///
    /// Moments are left out: a phone's clock is a matter of mutations.
    func event(
        _ type: Contract.EventType, number: Int, richness: Int = 2, _ choices: inout Choices
    ) -> JSON {
        let data = type.data.filter { !$0.isMoment }
        return .object([
            .init("id", .string(type.name)), .init("method", .string(type.name)),
            .init("data", .object(fields(data, of: nil, number, richness, nil, &choices))),
        ])
    }

    /// The event that tells the phone's environment: the richest one.
    var environment: Contract.EventType? {
        contract.events.max { $0.data.count < $1.data.count }
    }

    /// The event that tells the app's state: the one with the states of polls in it.
    var appState: Contract.EventType? {
        contract.events.first { event in
            event.data.contains { $0.name == contract.poll.appState }
        }
    }

    // MARK: Values

    private func fields(
        _ fields: [Contract.Field], of type: Contract.CommandType?, _ number: Int,
        _ richness: Int, _ used: String?, _ choices: inout Choices
    ) -> [JSON.Member] {
        var place = -1
        return fields.compactMap { field in
            place += 1
            guard field.isRequired || choices.below(4) < richness else { return nil }
            // What would happen after the case is left out.
            if let type, type.postponedBy == field.name { return nil }
            if let type, type.usedID == field.name, let used {
                return .init(field.name, .string(used))
            }
            return .init(field.name, value(field, of: type, number: number, place: place, &choices))
        }
    }

    /// A right value of a field.
    func value(
        _ field: Contract.Field, of type: Contract.CommandType?, number: Int, place: Int,
        _ choices: inout Choices
    ) -> JSON {
        if let type, type.listLimit?.field == field.name { return 20 }
        return value(
            field.type, field, of: type, number: number, place: place, &choices)
    }

    private func value(
        _ kind: Contract.FieldType, _ field: Contract.Field, of type: Contract.CommandType?,
        number: Int, place: Int, _ choices: inout Choices
    ) -> JSON {
        switch kind {
        case .string: .string(text(field, of: type, number))
        case .integer: .integer(choices.number(in: 1...9) + number)
        case .number: .number("\(choices.number(in: 1...9)).5")
        case .boolean: .bool(choices.oneIn(2))
        case .instant: .string(instant(of: type, number: number, place: place))
        case .url(let schemes):
            .string("\(choices.pick(schemes) ?? "https")://example.com/\(number)")
        case .choice(let words): .string(choices.pick(words) ?? "")
        case .array(let element):
            .array([value(element, field, of: type, number: number, place: place, &choices)])
        case .object(let fields):
            .object(self.fields(fields, of: type, number, 3, nil, &choices))
        case .anyObject: .object([])
        }
    }

    private func text(
        _ field: Contract.Field, of type: Contract.CommandType?, _ number: Int
    ) -> String {
        if type?.effect == .opens { return "Camera" }
        if field.name == contract.poll.platform { return contract.poll.platforms.first ?? "" }
        return switch field.personal {
        case .name: "Wei Test \(number)"
        case .phone: "+1 202 555 01\(number % 90 + 10)"
        case .email: "wei\(number)@example.com"
        case .id: "thing-\(number)"
        case .clipboard, .note: "text \(number)"
        case .place: "Room \(number)"
        case .title: "Meeting \(number)"
        case .url: "https://example.com/\(number)"
        case .none, .instant, .device: "\(field.name) \(number)"
        }
    }

    /// Times go up from field to field; what reads looks at the whole month.
    private func instant(of type: Contract.CommandType?, number: Int, place: Int) -> String {
        if type?.effect == .reads, type?.payload.contains(where: \.isInstant) == true {
            return place == 0 ? "2026-06-01T00:00:00Z" : "2026-07-01T00:00:00Z"
        }
        return "2026-06-\(Self.twoDigits(2 + number % 26))T\(Self.twoDigits(8 + place % 12)):00:00Z"
    }

    static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Contract.Field {
    var isInstant: Bool { if case .instant = type { true } else { false } }
}

extension Contract {
    /// The type that gives things the id that a command of `type` names; nil for none.
    func creator(for type: CommandType) -> CommandType? {
        guard let used = type.usedID else { return nil }
        return commands.first { $0.bornID == used }
    }

    /// The type that lists things of which another type is told the id.
    func reader(of born: String) -> CommandType? {
        commands.first { type in
            type.effect == .reads
                && type.data.contains { field in
                    guard case .array(.object(let inner)) = field.type else { return false }
                    return inner.contains { $0.name == born }
                }
        }
    }
}
