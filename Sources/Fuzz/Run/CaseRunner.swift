package import Network

/// Runs scripts against a target, one at a time: the simulated reference peer, a process that it
/// starts, or a device.
package protocol CaseRunner: AnyObject {
    /// Whether each run has a target that knows nothing of the runs before.
    var isFresh: Bool { get }

    /// Runs a script.
    /// - Parameters:
    ///   - keepsSession: whether the outcome is to hold the session that took place.
    ///   - completion: runs exactly once, unless the run is cancelled; never within the call.
    func run(
        _ script: FuzzScript, keepsSession: Bool,
        _ completion: @escaping (CaseOutcome) -> Void
    ) -> any Cancellable
}
