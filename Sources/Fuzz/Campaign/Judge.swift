package import PhoneBridge

/// Decides which observations count.
///
/// An observation counts if it is rated sure, or likely and the profile has its check among those
/// that count. A script with a mutation that the contract is silent about is judged by the universal
/// checks only (fuzzing plan, decision 1).
package struct Judge: Sendable {
    package let profile: Profile
    /// Why observations of a check are listed and do not count, by its id.
    package let excuses: [String: String]

    /// - Parameter today: the day as in `2026-12-31`; waivers that ended before hold no more.
    package init(profile: Profile, today: String?) {
        self.profile = profile
        excuses = profile.excuses(today: today)
    }

    /// What an observation means that a run of the script has shown.
    package func standing(
        of observation: Observation, in script: FuzzScript
    ) -> Profile.Standing {
        let counts =
            observation.rating == .sure
            || observation.rating == .likely && profile.countedRules.contains(observation.check)
        guard counts, observation.isUniversal || script.rating != .weak else { return .remark }
        return excuses[observation.check].map { .excused($0) } ?? .counted
    }

    /// Whether an observation counts.
    package func counts(_ observation: Observation, in script: FuzzScript) -> Bool {
        standing(of: observation, in: script) == .counted
    }

    /// The checks whose breach is something that took place, not something that did not: seen once
    /// in a transcript, it is a fault (fuzzing plan, decision 7).
    package static let safety: Set<String> = [
        "at-most-once", "process", "one-effect", "event-times-kept", "outcome-first-result",
        "heartbeat-echo-id", "deleted-thing-gone", "environment-cleared", "queue-distinct-ids",
        "queue-filter-fgs", "queue-filter-pip", "queue-filter-ble-wake", "queue-first-result",
        "queue-incomplete-request", "queue-limit", "queue-not-after-result",
        "queue-phone-isolation", "queue-result-exact-id", "ws-refuses-broken-handshake",
    ]

    /// Whether one observation is enough to be kept.
    package static func isSafetyBreach(_ observation: Observation) -> Bool {
        observation.rating == .sure && safety.contains(observation.check)
    }
}
