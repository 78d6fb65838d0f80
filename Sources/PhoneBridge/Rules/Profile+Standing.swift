extension Profile {
    /// What a breach means for the outcome of a check.
    package enum Standing: Sendable, Hashable {
        /// It is a fault: the check fails.
        case counted
        /// Its rule is rated too low to count for this target; it is only shown.
        case remark
        /// The profile knows of it, or waives it, with these words; listed, and not counted.
        case excused(String)
    }

    /// What a breach means for a target with this profile.
    package func standing(of breach: Breach) -> Standing {
        if let words = breach.knownDeviation { return .excused(words) }
        return counts(breach) ? .counted : .remark
    }

    /// The waivers that hold no more.
    ///
    /// - Parameter today: the day, as in `2026-12-31`.
    package func endedWaivers(today: String) -> [Waiver] {
        // Dates of this form stand in the order of their texts.
        waivers.filter { waiver in waiver.until.map { $0 < today } ?? false }
    }
}
