package import Network

/// Runs scripts against a target, one at a time: a process that it starts, or a device.
package protocol CaseRunner: AnyObject {
    /// Whether a target that knows nothing of the runs before can be had.
    var canBeFresh: Bool { get }

    /// Runs a script.
    /// - Parameters:
    ///   - isFresh: whether the target has to know nothing of the runs before; where that cannot be
    ///     had, it is run all the same.
    ///   - keepsSession: whether the outcome is to hold the session that took place.
    ///   - completion: runs exactly once, unless the run is cancelled; never within the call.
    @discardableResult
    func run(
        _ script: FuzzScript, isFresh: Bool, keepsSession: Bool,
        _ completion: @escaping (CaseOutcome) -> Void
    ) -> any Cancellable

    /// Ends the target; nothing is run afterwards.
    /// - Parameter completion: runs exactly once, when nothing is left of it.
    func end(_ completion: @escaping () -> Void)
}
