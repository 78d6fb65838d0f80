import Capture
import Wire

/// The names of a contract in the form in which messages are compared with them.
///
/// Most messages of a session are heartbeats and known types: they are found by their bytes,
/// and their meaning is made once.
struct ContractNames: Sendable {
    /// Heartbeats first, then events.
    let reservedIDs: [String]
    let heartbeatCount: Int
    let eventNames: [String]
    let commandTypes: [String]
    /// The meaning of a message with each of `reservedIDs`.
    private let reservedMeanings: [Meanings]
    /// The same as it stands in a line.
    private let reservedTexts: [Bytes]
    private let unknown = Meanings([Meaning.unknown])
    private let unknownText = JSON.array([Meaning.unknown]).encoded

    init(_ contract: Contract) {
        reservedIDs = contract.reservedIDs
        heartbeatCount = contract.heartbeatIDs.count
        eventNames = contract.events.map(\.name)
        commandTypes = contract.commands.map(\.name)
        let values =
            contract.heartbeatIDs.map { Meaning.heartbeat(id: $0) }
            + contract.events.map { Meaning.appEvent(id: $0.name) }
        reservedMeanings = values.map { Meanings([$0]) }
        reservedTexts = values.map { JSON.array([$0]).encoded }
    }

    /// What a message means, as values.
    func meanings(of meaning: MessageMeaning) -> Meanings {
        switch meaning {
        case .nothing: []
        case .unknown: unknown
        case .reserved(let index): reservedMeanings[index]
        case .appEvent(let id): [Meaning.appEvent(id: id)]
        case .command(let command): [Meaning.command(command, route: .websocket)]
        case .result(let answer, let pairing):
            [Meaning.result(answer, pairing, route: .websocket)]
        }
    }

    /// Appends the same as it stands in a line.
    func appendText(of meaning: MessageMeaning, to text: inout Bytes) {
        switch meaning {
        case .nothing: break
        case .unknown: text += unknownText
        case .reserved(let index): text += reservedTexts[index]
        case .appEvent(let id): Meaning.appendAppEvent(id: id, to: &text)
        case .command(let command): Meaning.append(command, route: .websocket, to: &text)
        case .result(let answer, let pairing):
            Meaning.append(answer, pairing, route: .websocket, to: &text)
        }
    }

    /// Which reserved id this is; nil for none.
    func reserved(_ id: String) -> Int? {
        reservedIDs.firstIndex { $0.hasSameScalars(as: id) }
    }

    /// Whether an event has this name.
    func isEvent(_ name: String) -> Bool {
        eventNames.contains { $0.hasSameScalars(as: name) }
    }
}
