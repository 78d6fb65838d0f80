import Glibc

/// A thread that works values off in the order in which they are given.
///
/// For work that goes on beside other work, such as writing what was read while more is read. A
/// bounded number of values waits for it; who gives one more waits until there is room. Signals
/// stay with the other threads.
package final class Worker<Item: Sendable>: Sendable {
    /// What both threads know.
    private final class Line: Sendable {
        private struct State {
            var waiting: [Item] = []
            /// What was worked off, to be used again.
            var done: [Item] = []
        }

        private let state = Guarded(State())
        /// What was given and not taken, the end included.
        private let given = Semaphore(0)
        private let room: Semaphore

        init(capacity: Int) {
            room = Semaphore(capacity)
        }

        func give(_ item: consuming Item) -> Item? {
            room.wait()
            // Moved, not copied: who takes it is its only owner.
            var item: Item? = item
            let done = state.withLock { state in
                if let item = item.take() { state.waiting.append(item) }
                return state.done.popLast()
            }
            given.signal()
            return done
        }

        func end() {
            given.signal()
        }

        /// Works values off until the end.
        func workOff(_ body: (inout Item) -> Void) {
            while true {
                given.wait()
                var item = state.withLock { state in
                    state.waiting.isEmpty ? nil : state.waiting.removeFirst()
                }
                guard var taken = item.take() else { return }
                body(&taken)
                item = consume taken
                state.withLock { state in
                    if let done = item.take() { state.done.append(done) }
                }
                room.signal()
            }
        }
    }

    private let line: Line
    private let thread: Guarded<pthread_t?>

    /// Starts a thread that calls `body` with each value; what it leaves there may come back from
    /// `give`.
    ///
    /// At most `capacity` values wait or are worked off at a time, at least 1. Nil where the system
    /// has no thread to give.
    package static func start(
        capacity: Int, _ body: @escaping @Sendable (inout Item) -> Void
    ) -> Worker? {
        let line = Line(capacity: max(1, capacity))
        guard let thread = try? startThread({ line.workOff(body) }) else { return nil }
        return Worker(line, thread)
    }

    private init(_ line: Line, _ thread: pthread_t) {
        self.line = line
        self.thread = Guarded(thread)
    }

    deinit { finish() }

    /// Gives a value, once there is room for it; not after `finish`.
    ///
    /// - Returns: a value that was worked off, for its storage; nil for none.
    package func give(_ item: consuming Item) -> Item? {
        line.give(item)
    }

    /// Waits until all values were worked off and the thread has ended.
    package func finish() {
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let ending else { return }
        line.end()
        pthread_join(ending, nil)
    }
}

/// A count that threads wait for; the corresponding C type is `sem_t`.
///
/// `sem_t` may be used from any thread, and is not moved for as long as it lives.
@safe
private final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init(_ count: Int) {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, UInt32(clamping: count))
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// The corresponding C function is `sem_wait`.
    func wait() {
        // A signal that comes meanwhile ends it early.
        while unsafe sem_wait(semaphore) != 0 {}
    }

    /// The corresponding C function is `sem_post`.
    func signal() {
        unsafe sem_post(semaphore)
    }
}
