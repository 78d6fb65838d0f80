import Network

/// The course of a play on a loop: it is called again at its deadlines, looked at for a while
/// behind its last step, and ended once.
final class PlayCourse {
    private enum Phase { case playing, lingering, ended }

    private let loop: any EventLoop
    private let linger: Int64
    private let onFinish: () -> Void
    private let timer: DeadlineTimer
    private var phase = Phase.playing

    /// - Parameters:
    ///   - linger: how long to look for what comes too much, in nanoseconds.
    ///   - onDeadline: called when a deadline has passed.
    ///   - onFinish: called once, when the play is over and nothing came for that long.
    init(
        on loop: any EventLoop, linger: Int64, onDeadline: @escaping () -> Void,
        onFinish: @escaping () -> Void
    ) {
        self.loop = loop
        self.linger = linger
        self.onFinish = onFinish
        timer = DeadlineTimer(on: loop, onDeadline)
    }

    /// Whether the player is still to be told what happens.
    var isOpen: Bool { phase != .ended }

    /// Takes what a player says after each thing that it was told.
    func update(deadline: Int64?, isFinished: Bool) {
        guard phase == .playing else { return }
        guard isFinished else { return timer.set(deadline) }
        phase = .lingering
        timer.cancel()
        loop.schedule(after: linger) { [weak self] in
            guard let self, phase == .lingering else { return }
            phase = .ended
            onFinish()
        }
    }

    /// Ends it at once; nothing is called any more.
    func end() {
        phase = .ended
        timer.cancel()
    }
}
