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
        case .otherSession:
            "give the parts of one session only; bridgetap convert makes one of several"
        case .unknownLinkType: "Ethernet, Linux cooked, raw IP and BSD loopback are read"
        case .cannotFollow(let name): "tail -c +1 -f \(name) | bridgetap show -"
        case .cannotSpool: "TMPDIR says where there is more room"
        case .badPackets(_, let fault): fault.hint
        case .empty, .badHAR, .badFirstLine, .unreadable, .partTwice, .badStart: nil
        }
    }
}
