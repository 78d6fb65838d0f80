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
    private let reservedTable: NameTable
    private let eventTable: NameTable
    private let commandTable: NameTable
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
        reservedTable = NameTable(reservedIDs)
        eventTable = NameTable(eventNames)
        commandTable = NameTable(commandTypes)
        let values =
            contract.heartbeatIDs.map { Meaning.heartbeat(id: $0) }
            + contract.events.map { Meaning.appEvent(id: $0.name) }
        reservedMeanings = values.map { Meanings([$0]) }
        reservedTexts = values.map { JSON.array([$0]).encoded }
    }

    /// What the message of a tape means, as values.
    func meanings(
        of meaning: MessageMeaning, on tape: JSONTape, in text: Span<UInt8>
    ) -> Meanings {
        switch meaning {
        case .nothing: []
        case .unknown: unknown
        case .reserved(let index): reservedMeanings[index]
        case .appEvent(let id): [Meaning.appEvent(id: tape.string(id, in: text))]
        case .command(let command):
            [Meaning.command(command, on: tape, in: text, route: .websocket)]
        case .result(let answer, let pairing):
            [Meaning.result(answer, pairing, on: tape, in: text, route: .websocket)]
        }
    }

    /// Appends the same as it stands in a line.
    func appendText(
        of meaning: MessageMeaning, on tape: JSONTape, in text: Span<UInt8>, to line: inout Bytes
    ) {
        switch meaning {
        case .nothing: break
        case .unknown: line += unknownText
        case .reserved(let index): line += reservedTexts[index]
        case .appEvent(let id): Meaning.appendAppEvent(id: id, on: tape, in: text, to: &line)
        case .command(let command): Meaning.append(command, on: tape, in: text, to: &line)
        case .result(let answer, let pairing):
            Meaning.append(answer, pairing, on: tape, in: text, to: &line)
        }
    }

    /// Which reserved id this is; nil for none.
    func reserved(_ id: String) -> Int? { reservedTable.position(of: id.utf8.span) }

    /// Which reserved id the value at `index` is; nil for none.
    func reserved(_ index: Int, on tape: JSONTape, in text: Span<UInt8>) -> Int? {
        reservedTable.position(of: index, on: tape, in: text)
    }

    /// Whether an event has this name.
    func isEvent(_ name: String) -> Bool { eventTable.position(of: name.utf8.span) != nil }

    /// Whether an event has the name at `index`.
    func isEvent(_ index: Int, on tape: JSONTape, in text: Span<UInt8>) -> Bool {
        eventTable.position(of: index, on: tape, in: text) != nil
    }

    /// The type of a command; the text of those that the contract knows is shared, not copied.
    func type(_ command: SentCommand, on tape: JSONTape, in text: Span<UInt8>) -> String {
        commandTable.position(of: command.type, on: tape, in: text).map { commandTypes[$0] }
            ?? tape.string(command.type, in: text)
    }
}
