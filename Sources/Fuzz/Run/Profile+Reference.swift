package import PhoneBridge

extension Profile {
    /// The reference peers: the observed board's numbers, and every rule rated L that they obey.
    package static let reference: Profile = {
        var profile = Profile.board12
        profile.name = "reference"
        profile.deviations = [:]
        profile.countedRules = Set(
            RuleChecker.rules.lazy.filter { $0.rating == .likely }.map(\.id))
        return profile
    }()
}
