import Capture
import Wire

/// Which event of a session sent a command over the WebSocket last, for notes about it.
struct CommandPlaces: Sendable {
    /// Commands that are remembered: ten hours with one every eight seconds.
    private static let maximum = 4096

    /// The numbers of events, by the commands' ids in UTF-8.
    private var numbers: [Bytes: Int] = [:]

    /// Takes the next event of the session, with its meaning.
    mutating func receive(_ event: Event) {
        guard event.from == .board else { return }
        for meaning in event.bridge
        where meaning["kind"]?.stringValue == "command"
            && meaning["route"]?.stringValue == "websocket"
        {
            guard let id = meaning["id"]?.stringValue else { continue }
            if numbers.count >= Self.maximum {
                // The older half: an outcome comes soon after its command.
                let middle = numbers.values.sorted()[Self.maximum / 2]
                numbers = numbers.filter { $0.value >= middle }
            }
            numbers[Bytes(id.utf8)] = event.seq
        }
    }

    /// The number of the event; nil for a command that was not seen, or is forgotten.
    func place(of id: String) -> Int? { numbers[Bytes(id.utf8)] }
}
