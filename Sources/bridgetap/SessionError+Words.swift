import Capture

extension SessionError {
    /// What is wrong, with the system's own words where it said no.
    var sentence: String {
        guard case .unreadable(let error) = self else { return text }
        return "cannot read \(error.name): \(SystemError(error.errno, call: error.call))"
    }

    /// What to try.
    var hint: String? {
        switch self {
        case .notASession: "a session file is what bridgetap record writes"
        case .newerVersion: "a newer bridgetap reads it"
        case .otherSession: "give the parts of one session only"
        case .empty, .badFirstLine, .unreadable, .partTwice: nil
        }
    }
}
