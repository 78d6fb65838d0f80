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
    /// The meaning of a message of the app with each of `reservedIDs`.
    let reservedMeanings: [[JSON]]

    init(_ contract: Contract) {
        reservedIDs = contract.reservedIDs
        heartbeatCount = contract.heartbeatIDs.count
        eventNames = contract.events.map(\.name)
        commandTypes = contract.commands.map(\.name)
        reservedMeanings =
            contract.heartbeatIDs.map { [Meaning.heartbeat(id: $0)] }
            + contract.events.map { [Meaning.appEvent(id: $0.name)] }
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
