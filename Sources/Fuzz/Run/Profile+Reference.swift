package import PhoneBridge

extension Profile {
    /// The reference peers: the observed board's numbers, and every rule rated L that they obey.
    package static let reference: Profile = {
        var profile = Profile.board12
        profile.name = "reference"
        // Like the observed board, it takes a result that somebody posts before the poll.
        profile.deviations = profile.deviations.filter { $0.key == "queue-result-handed-out" }
        profile.countedRules = Set(
            RuleChecker.rules.lazy.filter { $0.rating == .likely }.map(\.id))
        profile.countedRules.insert(ScriptRemark.Check.polls.rawValue)
        return profile
    }()
}
