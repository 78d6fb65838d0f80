import Network
package import PhoneBridge

/// How a script is run.
package struct ScriptOptions: Sendable {
    /// Every duration of the script is divided by it.
    package var timeScale = 1.0
    /// How long a handshake or a response may take, in nanoseconds of the protocol's time.
    package var patience = 10 * nanosecondsPerSecond
    /// How long it takes at most until what has to be there at once is there, in nanoseconds of
    /// the machine's time: an echo, a new connection.
    package var slack = 5 * nanosecondsPerSecond
    /// The path of the board's interface.
    package var basePath: String
    package var contract: Contract

    package init(contract: Contract = .current) {
        self.contract = contract
        basePath = contract.paths.base
    }

    /// Nanoseconds of the protocol's time as the machine's.
    func scaled(_ time: Int64) -> Int64 {
        guard timeScale != 1 else { return time }
        return Int64(max(0, min(Double(time) / max(timeScale, 1e-6), 9e18)))
    }
}

/// Something that no rule over events sees, and that the runner found out.
package struct ScriptRemark: Sendable, Hashable {
    /// What was put to the test.
    package enum Check: String, Sendable, Hashable, CaseIterable {
        /// A new connection is served, and a heartbeat echoed (U1).
        case alive
        /// An exchange of others ends well (U3).
        case bystander
        /// An app that polled goes on polling (H11).
        case polls
        /// Each stimulus ends by its time-out (U9).
        case stimulusEnds = "stimulus-ends"
        /// What comes back is no more than a bound (U7).
        case amplification
    }

    package var check: Check
    /// What was seen and what was due, as one sentence without a full stop.
    package var text: String
    package var type: String?
}
