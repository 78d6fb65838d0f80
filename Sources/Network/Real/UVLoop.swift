import CUV
import Synchronization
package import Wire

/// The real driver of the loop: the system's sockets, clock and files, on libuv.
///
/// Making one raises the process's descriptor limit to what is allowed and ignores SIGPIPE.
@safe
package final class UVLoop: EventLoop {
    /// The most that one turn reads, over all connections.
    static let readLimit = 256 << 10

    let uv: UnsafeMutablePointer<uv_loop_t>
    private var isClosed = false
    private var isRunning = false
    private var isStopping = false

    private var timers = TimerQueue()
    private let timer = UVHandle()
    private var armedDeadline: Int64?
    private let beforeSleep = UVHandle()
    private let afterSleep = UVHandle()
    private let waker = UVWaker()
    private var mailboxes: [() -> Bool] = []

    private var endOfTurn: [() -> Void] = []
    private var isEndingTurn = false
    /// Streams that had something to read when the turn had read its fill.
    private var deferredReads: [UVStream] = []
    private var isRunningTimers = false
    /// Whether something was due again when the timers had run.
    private var isDueAgain = false
    /// The number of this turn.
    private(set) var turn: UInt64 = 1
    /// How many bytes this turn may still read.
    var readAllowance = UVLoop.readLimit
    var slabs = SlabPool()

    private var turnTime: Int64?
    private var turnWallTime: Int64?
    private var entropy: Bytes = []

    /// Makes a loop; `close` ends it.
    package init() throws(NetworkError) {
        cuv_raise_descriptor_limit()
        cuv_ignore_broken_pipes()
        unsafe uv = .allocate(capacity: 1)
        let result = unsafe uv_loop_init(uv)
        guard result == 0 else {
            unsafe uv.deallocate()
            isClosed = true
            throw NetworkError(errno: -result, call: "uv_loop_init")
        }
        unsafe uv.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        try openHandles()
    }

    deinit {
        close()
    }

    private func openHandles() throws(NetworkError) {
        let uv = unsafe uv
        try unsafe timer.open(UV_TIMER, call: "uv_timer_init") { memory in
            unsafe uv_timer_init(uv, memory.assumingMemoryBound(to: uv_timer_t.self))
        }
        try unsafe beforeSleep.open(UV_PREPARE, call: "uv_prepare_init") { memory in
            let handle = unsafe memory.assumingMemoryBound(to: uv_prepare_t.self)
            _ = unsafe uv_prepare_init(uv, handle)
            unsafe uv_prepare_start(handle) { handle in
                unsafe UVLoop.of(handle?.pointee.loop)?.willSleep()
            }
            return 0
        }
        try unsafe afterSleep.open(UV_CHECK, call: "uv_check_init") { memory in
            let handle = unsafe memory.assumingMemoryBound(to: uv_check_t.self)
            _ = unsafe uv_check_init(uv, handle)
            unsafe uv_check_start(handle) { handle in
                unsafe UVLoop.of(handle?.pointee.loop)?.didPoll()
            }
            return 0
        }
        try unsafe waker.handle.open(UV_ASYNC, call: "uv_async_init") { memory in
            unsafe uv_async_init(uv, memory.assumingMemoryBound(to: uv_async_t.self)) { handle in
                unsafe UVLoop.of(handle?.pointee.loop)?.emptyMailboxes()
            }
        }
        waker.begin()
        // None of these is a reason to go on.
        for handle in unsafe [beforeSleep, afterSleep, waker.handle] {
            if let memory = unsafe handle.memory {
                unsafe uv_unref(memory.assumingMemoryBound(to: uv_handle_t.self))
            }
        }
    }

    private static func of(_ uv: UnsafeMutablePointer<uv_loop_t>?) -> UVLoop? {
        guard let data = unsafe uv?.pointee.data else { return nil }
        return unsafe Unmanaged<UVLoop>.fromOpaque(data).takeUnretainedValue()
    }

    // MARK: Turns

    package func run() {
        guard !isClosed, !isRunning else { return }
        isRunning = true
        isStopping = false
        forgetTime()
        repeat {
            _ = unsafe uv_run(uv, UV_RUN_DEFAULT)
            // What the last turn's timers left when nothing else was there to wait for.
            runEndOfTurn()
        } while unsafe !isStopping && uv_loop_alive(uv) != 0
        isRunning = false
    }

    package func stop() {
        guard isRunning, !isStopping else { return }
        isStopping = true
        unsafe uv_stop(uv)
    }

    /// Timers have run; the loop is about to wait for sockets.
    private func willSleep() {
        runEndOfTurn()
        beginTurn()
        guard isDueAgain else { return }
        isDueAgain = false
        armedDeadline = nil
        if let next = timers.nextDeadline { wakeTimer(at: next) }
    }

    /// Sockets, signals and mailboxes had their say.
    private func didPoll() {
        runEndOfTurn()
        if !deferredReads.isEmpty {
            // The system names ready sockets in the same order each time: those at its end would
            // starve if they were not served first now.
            beginTurn()
            let streams = deferredReads
            deferredReads = []
            for stream in streams { stream.readDeferred() }
            runEndOfTurn()
        }
        forgetTime()
    }

    private func beginTurn() {
        turn += 1
        readAllowance = Self.readLimit
        forgetTime()
    }

    private func runEndOfTurn() {
        guard !endOfTurn.isEmpty, !isEndingTurn else { return }
        isEndingTurn = true
        var index = 0
        while index < endOfTurn.count {
            let action = endOfTurn[index]
            index += 1
            action()
        }
        endOfTurn.removeAll(keepingCapacity: true)
        isEndingTurn = false
    }

    package func atEndOfTurn(_ action: @escaping () -> Void) {
        endOfTurn.append(action)
        if !isRunning { wakeTimer(at: now) }
    }

    /// Lets `stream` read in the next turn, before others.
    func readNextTurn(_ stream: UVStream) {
        deferredReads.append(stream)
    }

    // MARK: Time

    private func forgetTime() {
        turnTime = nil
        turnWallTime = nil
    }

    package var now: Int64 {
        if isRunning, let turnTime { return turnTime }
        let time = cuv_monotonic_time()
        turnTime = time
        return time
    }

    package var wallClock: Int64 {
        if isRunning, let turnWallTime { return turnWallTime }
        let time = cuv_wall_time()
        turnWallTime = time
        return time
    }

    @discardableResult
    package func schedule(
        at deadline: Int64, _ action: @escaping () -> Void
    ) -> ScheduledAction {
        let scheduled = timers.schedule(at: deadline, action)
        wakeTimer(at: deadline)
        return scheduled
    }

    /// Makes sure that the timer fires at `deadline` or before.
    private func wakeTimer(at deadline: Int64) {
        if isRunningTimers { return }
        if let armedDeadline, armedDeadline <= deadline { return }
        guard let memory = unsafe timer.memory else { return }
        armedDeadline = deadline
        // Whole milliseconds, rounded up: never early. What is due now does not wait for one.
        let milliseconds =
            deadline <= now
            ? 0 : UInt64((deadline - 1) / nanosecondsPerMillisecond + 1)
        let uvNow = unsafe uv_now(uv)
        let least: UInt64 = isDueAgain ? 1 : 0
        unsafe uv_timer_start(
            memory.assumingMemoryBound(to: uv_timer_t.self),
            { handle in unsafe UVLoop.of(handle?.pointee.loop)?.runTimers() },
            max(least, milliseconds > uvNow ? milliseconds - uvNow : 0), 0)
    }

    /// Runs what is due.
    ///
    /// What it makes due at once has its turn behind the sockets': libuv calls a timer that is armed
    /// with 0 by its own callback again and again, and looks at nothing else.
    private func runTimers() {
        armedDeadline = nil
        isRunningTimers = true
        let horizon = timers.horizon
        let time = now
        while let action = timers.takeDue(now: time, before: horizon) { action() }
        isRunningTimers = false
        guard let next = timers.nextDeadline else { return }
        isDueAgain = next <= now
        wakeTimer(at: next)
    }

    // MARK: Chance

    package func randomBytes(_ count: Int) -> Bytes {
        if entropy.count < count {
            // One call to the system for many small requests, such as masking keys.
            var generator = SystemRandomNumberGenerator()
            let words = (max(count, 256) + 7) / 8
            entropy.reserveCapacity(words * 8)
            for _ in 0..<words {
                let word = generator.next()
                for shift in stride(from: UInt64(0), to: 64, by: 8) {
                    entropy.append(UInt8(truncatingIfNeeded: word >> shift))
                }
            }
        }
        let bytes = Bytes(entropy.suffix(max(0, count)))
        entropy.removeLast(bytes.count)
        return bytes
    }

    // MARK: Network

    @discardableResult
    package func resolve(
        _ name: String, port: UInt16,
        _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) -> any Cancellable {
        if let ip = IPAddress(parsing: name) {
            return schedule(at: now) { completion(.success([SocketAddress(ip, port: port)])) }
        }
        do throws(NetworkError) {
            return try unsafe UVResolve.start(name, port: port, on: uv, completion)
        } catch {
            return schedule(at: now) { completion(.failure(error)) }
        }
    }

    package func listen(
        on address: SocketAddress, options: ListenOptions,
        _ accept: @escaping (any TCPStream) -> Void
    ) throws(NetworkError) -> any TCPListener {
        try UVListener(on: address, options: options, loop: self, accept: accept)
    }

    @discardableResult
    package func connect(
        to address: SocketAddress, options: ConnectOptions,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) -> any Cancellable {
        do throws(NetworkError) {
            return try UVConnect(to: address, options: options, loop: self, completion)
        } catch {
            return schedule(at: now) { completion(.failure(error)) }
        }
    }

    package func interfaceExists(_ name: String) -> Bool {
        unsafe cuv_interface_exists(name) != 0
    }

    // MARK: The process

    package func onSignal(
        _ signal: ProcessSignal, _ action: @escaping () -> Void
    ) throws(NetworkError) -> any Cancellable {
        try unsafe UVSignal(signal, on: uv, action)
    }

    package func openAppend(
        _ path: String, _ disposition: AppendDisposition
    ) throws(FileError) -> any AppendFile {
        try unsafe UVFile(path, disposition, loop: uv)
    }

    package func mailbox<Message: Sendable>(
        limit: Int, _ receive: @escaping (Message) -> Void
    ) -> Mailbox<Message> {
        let waker = waker
        let mailbox = Mailbox<Message>(limit: limit) { waker.wake() }
        mailboxes.append { [weak mailbox] in
            guard let mailbox else { return false }
            for message in mailbox.takeAll() { receive(message) }
            return true
        }
        return mailbox
    }

    private func emptyMailboxes() {
        let current = mailboxes
        mailboxes = []
        let living = current.filter { $0() }
        mailboxes = living + mailboxes
    }

    // MARK: The end

    /// Closes everything that is open on the loop; no callback runs from now on.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        waker.end()
        endOfTurn = []
        deferredReads = []
        mailboxes = []
        unsafe uv_walk(
            uv,
            { handle, _ in
                unsafe UVHandle.object(of: handle, as: UVHandle.self)?.loopIsClosing()
            }, nil)
        timers = TimerQueue()
        // Close callbacks run in the next turns; nothing is left that could block them.
        for _ in 0..<4 where unsafe uv_run(uv, UV_RUN_NOWAIT) != 0 {}
        unsafe uv.pointee.data = nil
        // A look-up or a sync on a helper thread may take seconds more. It keeps the loop's
        // memory, which is then left to the end of the process.
        if unsafe uv_loop_close(uv) == 0 { unsafe uv.deallocate() }
    }
}

/// Wakes a loop from other threads.
final class UVWaker: Sendable {
    /// Touched by the loop's thread only, and by `wake` only as the address below.
    nonisolated(unsafe) let handle = UVHandle()
    /// The address of the handle while it is open.
    ///
    /// uv_async_send may be called from any thread as long as the handle lives; the lock makes
    /// sure of that.
    private let address = Guarded<UInt>(0)

    func begin() {
        let bits = unsafe UInt(bitPattern: handle.memory)
        address.withLock { $0 = bits }
    }

    func end() {
        address.withLock { $0 = 0 }
    }

    func wake() {
        address.withLock { bits in
            guard let memory = unsafe UnsafeMutablePointer<uv_async_t>(bitPattern: bits) else {
                return
            }
            _ = unsafe uv_async_send(memory)
        }
    }
}
