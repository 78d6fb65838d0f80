import PhoneBridge
import Report

/// What makes two observations the same kind of thing: the check, and what was seen without ids,
/// times, numbers and types of commands.
package struct Signal: Sendable, Hashable {
    package var check: String
    /// The normalised text.
    package var text: String

    package init(check: String, text: String) {
        self.check = check
        self.text = text
    }

    package init(_ observation: Observation) {
        check = observation.check
        var words = Fingerprint.normalised(observation.text, id: nil)
        // Minimising tries simpler commands, and what they show is the same.
        for type in Contract.current.commands where words.contains(type.name) {
            words = words.replacing(type.name, with: "*")
        }
        text = words
    }
}
