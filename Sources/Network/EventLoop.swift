package import Wire

/// The one face of the two drivers: sockets, timers, files and signals on one thread.
///
/// A loop belongs to the thread that runs it. Nothing here may be called from another thread, but
/// for `Mailbox.post`. Callbacks never run inside the call that caused them: not within `write`,
/// `connect`, `schedule` or `pause`. A callback may call anything, `close` of its own object too.
///
/// A turn is one round of the loop: timers that are due, then what sockets have to say (at most
/// once for each connection, and at most 1 MiB in all), then the actions of `atEndOfTurn`.
package protocol EventLoop: AnyObject {
    /// The monotonic time of this turn in nanoseconds; it never falls.
    var now: Int64 { get }

    /// The wall clock's time of this turn in nanoseconds since 1970.
    var wallClock: Int64 { get }

    /// Random bytes: from the system on the real driver, from the seed on the simulated one.
    func randomBytes(_ count: Int) -> Bytes

    /// Calls `action` once `now` has reached `deadline`, and never before.
    ///
    /// Actions run in the order of their deadlines; equal ones in the order of scheduling. A
    /// deadline that has passed already runs in the next turn.
    @discardableResult
    func schedule(at deadline: Int64, _ action: @escaping () -> Void) -> ScheduledAction

    /// Calls `action` once, after everything that this turn read, and before the loop sleeps.
    ///
    /// Actions run in the order in which they were added. One that is added by such an action
    /// still runs in the same turn.
    func atEndOfTurn(_ action: @escaping () -> Void)

    /// Makes a box through which other threads reach this loop.
    ///
    /// `receive` runs on the loop's thread, once for each message, in the order of posting. An
    /// open mailbox alone does not keep `run` from returning.
    /// - Parameter limit: how many messages may wait; more are refused and counted.
    func mailbox<Message: Sendable>(
        limit: Int, _ receive: @escaping (Message) -> Void
    ) -> Mailbox<Message>

    /// Looks up a name; the addresses come in the system's order of preference.
    ///
    /// Numeric addresses need no look-up and are answered as well.
    @discardableResult
    func resolve(
        _ name: String, port: UInt16,
        _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) -> any Cancellable

    /// Listens for connections; port 0 takes any free one (see `TCPListener.localAddress`).
    ///
    /// The stream handed to `accept` is paused: set its callbacks, then `resume` it.
    /// - Throws: `addressInUse`, `permission`, `addressNotAvailable` and the like.
    func listen(
        on address: SocketAddress, options: ListenOptions,
        _ accept: @escaping (any TCPStream) -> Void
    ) throws(NetworkError) -> any TCPListener

    /// Connects; `completion` runs exactly once, unless the attempt is cancelled before.
    ///
    /// The stream handed over is paused: set its callbacks, then `resume` it.
    @discardableResult
    func connect(
        to address: SocketAddress, options: ConnectOptions,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) -> any Cancellable

    /// Calls `action` each time the process gets the signal, until it is cancelled.
    func onSignal(
        _ signal: ProcessSignal, _ action: @escaping () -> Void
    ) throws(NetworkError) -> any Cancellable

    /// Opens a file for appending; it is made with mode 0600 if there is none.
    func openAppend(_ path: String, _ disposition: AppendDisposition) throws(FileError)
        -> any AppendFile

    /// Whether the machine has a network interface of that name now.
    func interfaceExists(_ name: String) -> Bool

    /// Runs turns until `stop` is called or nothing is left to wait for.
    func run()

    /// Ends `run` after the current turn.
    func stop()
}

/// Something under way that can be called off.
package protocol Cancellable: AnyObject {
    /// Calls it off: its callback will not run any more. Calling it late or twice does nothing.
    func cancel()
}

/// The signals that a program of this kind answers.
package enum ProcessSignal: CaseIterable, Sendable {
    case interrupt
    case terminate
    case hangUp
    case user1
    case user2
    /// The terminal changed its size.
    case windowChange
}

/// Nanoseconds in a millisecond.
package let nanosecondsPerMillisecond: Int64 = 1_000_000

/// Nanoseconds in a second.
package let nanosecondsPerSecond: Int64 = 1_000_000_000

extension EventLoop {
    /// Calls `action` once `delay` nanoseconds have passed; see `schedule(at:_:)`.
    @discardableResult
    package func schedule(
        after delay: Int64, _ action: @escaping () -> Void
    ) -> ScheduledAction {
        let (deadline, overflow) = now.addingReportingOverflow(max(0, delay))
        return schedule(at: overflow ? .max : deadline, action)
    }
}
