package import Capture
import Wire

/// One demand of the contract, or of an RFC that it stands on, that a session can be held against.
package struct Rule: Sendable, Hashable {
    /// A stable name in kebab case, such as `result-within-timeout`: reports, profiles and
    /// waivers use it.
    package let id: String
    /// How sure it is that a breach is a fault.
    package let rating: Rating
    /// Who has to comply; nil where either end may break it.
    package let obliged: Side?
    /// Where the demand stands: `contract, "Heartbeat"`, `RFC 6455 §5.1`.
    package let section: String
    /// What is demanded, as one sentence for a person, without a full stop.
    package let demand: String
    /// Made of the id, to find the rule by in a table; two rules may have the same.
    let number: Int

    package init(
        _ id: String, _ rating: Rating, _ obliged: Side?, section: String, _ demand: String
    ) {
        self.id = id
        self.rating = rating
        self.obliged = obliged
        self.section = section
        self.demand = demand
        var hash = FNVHash()
        hash.combine(id)
        number = hash.number
    }

    /// The same rule with another rating, for evidence that is weaker.
    package func rated(_ rating: Rating) -> Rule {
        Rule(id, rating, obliged, section: section, demand)
    }

    /// How sure it is that a breach is a fault.
    package enum Rating: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Sure: an explicit sentence of the contract, or a MUST of an RFC.
        case sure = "S"
        /// Likely: implied; counts where the target's profile says so.
        case likely = "L"
        /// Weak: the contract is silent; shown, never counted.
        case weak = "W"

        /// The surest is the least.
        package static func < (left: Rating, right: Rating) -> Bool {
            left.order < right.order
        }

        private var order: Int {
            switch self {
            case .sure: 0
            case .likely: 1
            case .weak: 2
            }
        }
    }
}
