import PhoneBridge
import Report

/// What makes two observations the same kind of thing: the check, and what was seen without ids,
/// times, numbers and types of commands.
package struct Signal: Sendable, Hashable {
    package var check: String
    /// The normalised text.
    package var text: String

    /// Types of commands, and fields that give their things ids.
    private static let names: [String] =
        Contract.current.commands.map(\.name)
        + Set(Contract.current.commands.flatMap { [$0.bornID, $0.usedID] }.compactMap(\.self))
        .sorted()

    /// Checks of HTTP answers: another status code is another cause.
    private static let ofStatusCodes: Set<String> = [
        "board-status-codes", "board-refuses-bad-body", "status-document",
    ]

    /// The numbers of three digits in a text.
    private static func statusCodes(in text: String) -> [String] {
        text.split { !$0.isASCII || !$0.isNumber }.filter { $0.count == 3 }.map(String.init)
    }

    package init(check: String, text: String) {
        self.check = check
        self.text = text
    }

    package init(_ observation: Observation) {
        check = observation.check
        var words = Fingerprint.normalised(observation.text, id: nil)
        // Minimising tries simpler commands, and what they show is the same.
        for name in Self.names where words.contains(name) {
            words = words.replacing(name, with: "*")
        }
        if Self.ofStatusCodes.contains(check) {
            words += " (\(Self.statusCodes(in: observation.text).joined(separator: ", ")))"
        }
        text = words
    }
}
