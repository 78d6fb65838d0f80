extension Campaign {
    /// A script to be run.
    package struct Job: Sendable {
        package var id: Int
        package var script: FuzzScript
        package var reason: Reason
        /// Whether its session may be wanted.
        package var keepsSession: Bool
        /// Whether the target has to know nothing of the runs before.
        package var isFresh: Bool {
            if case .explore = reason { false } else { true }
        }
    }

    /// Why a script is run.
    package enum Reason: Sendable, Hashable {
        /// Case of the plan.
        case explore(Int)
        /// A finding of an earlier campaign, by name.
        case known(String)
        /// Something that a case has shown is looked into.
        case investigate(Investigation.Reason)
    }

    /// What is to be done now.
    package enum Step: Sendable {
        case run(Job)
        /// What is under way has to come to its end first.
        case wait
        case over(CampaignEnd)
    }

    /// What has come of it.
    package enum Event: Sendable {
        /// A case is over, and nothing of it is left to be looked into.
        case explored(CaseRecord)
        /// A new bucket.
        case found(FuzzFinding)
        /// A bucket was seen again, or a shorter script for it was found.
        case seenAgain(FuzzFinding)
        /// Something was seen that is no finding.
        case apart(ApartSignal)
        /// What became of a finding of an earlier campaign.
        case known(String, KnownFinding.Fate)
        /// The script of a finding of an earlier campaign, by name, is shorter now.
        case shortened(String, FuzzFinding)
        case died(String)
        case lost(String)
        case trouble(String)
    }
}
