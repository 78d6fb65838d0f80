import Capture
package import PhoneBridge

/// Holds a session against the rules while it is recorded (`record --check`).
///
/// Each breach becomes a `note` event with code `rule`, about the event that showed it.
package struct LiveCheck: Sendable {
    /// A breach, with what it means and how often its rule was broken so far.
    package struct Finding: Sendable {
        package var breach: Breach
        package var standing: Profile.Standing
        /// Counted from 1.
        package var ordinal: Int
    }

    /// What came of a recording.
    package struct Summary: Sendable, Equatable {
        /// Rules that were put to the test.
        package var exercised = 0
        /// How often each rule was broken in a way that counts, by id.
        package var broken: [String: Int] = [:]
        package var excused = 0
        package var remarks = 0
    }

    /// A peer that breaks a rule with each message does not fill the disk: of each rule so many
    /// breaches become notes, the others are counted.
    package static let maximumNotes = 1000

    private let profile: Profile
    private var checker: RuleChecker
    private var ordinals: [String: Int] = [:]
    private var tally = Summary()

    /// Makes a check of one session.
    ///
    /// - Parameter today: the day, as in `2026-12-31`, by which waivers end.
    package init(profile: Profile, today: String) {
        self.profile = profile
        checker = RuleChecker(profile: profile, today: today)
    }

    /// How it stands.
    package var summary: Summary {
        var summary = tally
        summary.exercised = checker.exercised.count
        return summary
    }

    /// Takes the next event of the session.
    mutating func receive(_ event: Event) -> [Finding] { judge(checker.receive(event)) }

    /// Nothing came until `time`: what was due has not come.
    mutating func advance(to time: Int64) -> [Finding] { judge(checker.advance(to: time)) }

    /// The recording ends.
    mutating func finish() -> [Finding] { judge(checker.finish()) }

    private mutating func judge(_ breaches: [Breach]) -> [Finding] {
        breaches.map { breach in
            let standing = profile.standing(of: breach)
            switch standing {
            case .counted: tally.broken[breach.rule.id, default: 0] += 1
            case .excused: tally.excused += 1
            case .remark: tally.remarks += 1
            }
            let ordinal = (ordinals[breach.rule.id] ?? 0) + 1
            ordinals[breach.rule.id] = ordinal
            return Finding(breach: breach, standing: standing, ordinal: ordinal)
        }
    }
}

extension LiveCheck.Finding {
    /// What the session says of it; nil where it is one of too many.
    func note(at time: Int64) -> Event? {
        guard ordinal <= LiveCheck.maximumNotes else { return nil }
        var text = "\(breach.rule.id): \(breach.text)"
        switch standing {
        case .counted: break
        case .remark: text += " (rated \(breach.rule.rating.rawValue), does not count)"
        case .excused(let words): text += " (does not count: \(words))"
        }
        if ordinal == LiveCheck.maximumNotes { text += "; further ones are counted only" }
        return Event(
            time: time, conn: breach.conn, from: breach.conn > 0 ? breach.side : nil,
            kind: .note(Event.Note(code: "rule", text: text, to: breach.events.last)))
    }
}
