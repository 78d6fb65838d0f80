/// Follows the deadline of a machine, which moves with almost every byte, at little cost.
///
/// A deadline that moves away leaves the timer as it is: when it fires too early it is set again.
package final class DeadlineTimer {
    private let loop: any EventLoop
    private let action: () -> Void
    private var scheduled: ScheduledAction?
    private var deadline: Int64?

    /// Makes a timer that calls `action` whenever the deadline has passed.
    package init(on loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets the deadline; nil for none.
    package func set(_ deadline: Int64?) {
        self.deadline = deadline
        guard let deadline else { return }
        if let scheduled, scheduled.isPending, scheduled.deadline <= deadline { return }
        scheduled?.cancel()
        scheduled = loop.schedule(at: deadline) { [weak self] in self?.fire() }
    }

    private func fire() {
        guard let deadline else { return }
        if deadline <= loop.now { action() } else { set(deadline) }
    }

    /// Ends the timer.
    package func cancel() {
        deadline = nil
        scheduled?.cancel()
        scheduled = nil
    }
}
