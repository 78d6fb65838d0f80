/// Why a ring is written to a file.
package enum RingTrigger: Sendable, Equatable {
    case signal
    case key
    /// These rules were broken, by their ids.
    case rules([String])
    /// The recording ends.
    case end

    /// The code of the note that stands in the session.
    package static let noteCode = "trigger"

    /// What it is called, without a full stop.
    package var text: String {
        switch self {
        case .signal: "SIGUSR1"
        case .key: "the key b"
        case .rules(let ids): (ids.count == 1 ? "rule " : "rules ") + ids.joined(separator: ", ")
        case .end: "the end of the recording"
        }
    }
}

/// Which broken rules are worth a file: a peer that breaks one with each message does not fill the
/// disk.
///
/// A rule has its first file within a second. Then it rests for the ring's time, the next time for twice as
/// long, and so on, for a day at most. Files of other rules are the ring's time apart: what comes
/// in between shares the next one, in whose window it still is.
package struct RingRests: Sendable {
    /// Nanoseconds.
    private let duration: Int64
    private var rests: [String: (until: Int64, length: Int64)] = [:]
    private var quietUntil = Int64.min
    private var waiting: Set<String> = []

    private static let longest: Int64 = 86_400_000_000_000

    /// - Parameter duration: the ring's, in nanoseconds.
    package init(duration: Int64) {
        self.duration = max(1, min(duration, Self.longest))
    }

    /// A rule is broken at `time`.
    package mutating func broken(_ rule: String, at time: Int64) {
        if let rest = rests[rule], time < rest.until { return }
        waiting.insert(rule)
    }

    /// The rules for which a file is to be written at `time`, in order; they rest from then on.
    package mutating func due(at time: Int64) -> [String] {
        guard !waiting.isEmpty, time >= quietUntil else { return [] }
        let rules = waiting.sorted()
        waiting = []
        for rule in rules {
            let length = rests[rule].map { min($0.length * 2, Self.longest) } ?? duration
            rests[rule] = (time &+ length, length)
        }
        quietUntil = time &+ duration
        return rules
    }
}
