import Glibc
import Network
import Wire

/// The target as a child of this process.
///
///     running ──ends by itself──> ending ──nothing of its group is left──> gone
///        └──────── end ───────────^
final class TargetProcess {
    private enum State {
        case running
        /// Told to end at that time.
        case ending(since: Int64)
        case gone
    }

    /// How long it may take to end in good order before it is killed.
    private static let patience = 2 * nanosecondsPerSecond
    /// How long a killed group is waited for: one that hangs in the kernel may never go.
    private static let killPatience = nanosecondsPerSecond

    /// The last lines of its output.
    private(set) var output = TargetOutput()
    /// Told each line of its output.
    var onLine: ((TargetOutput.Line) -> Void)?
    /// Told once when it ends by itself.
    var onDeath: ((ChildExit) -> Void)?

    private let loop: UVLoop
    private var child: ChildProcess?
    private var state = State.running
    private var isKilled = false
    private var exit: ChildExit?
    private var waiters: [() -> Void] = []
    private var poll: ScheduledAction?

    init(
        _ line: String, environment: [String: String], on loop: UVLoop
    ) throws(TargetError) {
        self.loop = loop
        var command = ChildCommand.shell(line)
        command.addedEnvironment = environment
        do throws(NetworkError) {
            child = try loop.start(command) { [weak self] in
                self?.take($0, $1)
            } onExit: { [weak self] in
                self?.exited($0)
            }
        } catch {
            throw .cannotStart(.spawn, error)
        }
    }

    /// Its process id.
    var pid: Int32? { child?.pid }

    private func take(_ stream: ChildOutput, _ line: Bytes) {
        output.append(stream, line)
        if let last = output.lines.last { onLine?(last) }
    }

    private func exited(_ exit: ChildExit) {
        self.exit = exit
        guard case .running = state else { return look() }
        // What it started may outlive it: a helper of a crashed board holds its port.
        beginToEnd()
        onDeath?(exit)
    }

    /// Ends it with all that it started: asked first, killed after two seconds.
    /// - Parameter completion: runs once nothing is left.
    func end(_ completion: @escaping () -> Void) {
        waiters.append(completion)
        switch state {
        case .running: beginToEnd()
        case .ending: break
        case .gone: loop.schedule(at: loop.now) { [self] in tellWaiters() }
        }
    }

    private func beginToEnd() {
        state = .ending(since: loop.now)
        child?.send(signal: SIGTERM)
        waitToLook(20 * nanosecondsPerMillisecond)
    }

    private func waitToLook(_ delay: Int64) {
        poll?.cancel()
        poll = loop.schedule(after: delay) { [self] in
            look()
            if case .ending = state { waitToLook(min(delay * 2, 200 * nanosecondsPerMillisecond)) }
        }
    }

    private func look() {
        guard case .ending(let since) = state, let child else { return }
        let time = loop.now - since
        if exit == nil || child.isGroupAlive {
            if time >= Self.patience, !isKilled {
                isKilled = true
                child.send(signal: SIGKILL)
            }
            guard time >= Self.patience + Self.killPatience else { return }
        }
        state = .gone
        poll?.cancel()
        poll = nil
        tellWaiters()
    }

    private func tellWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter() }
    }
}
