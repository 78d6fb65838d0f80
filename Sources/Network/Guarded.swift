import Glibc

/// State that several threads share, each alone with it while it looks.
///
/// The lock is a mutex of POSIX: `Mutex` of the Synchronization library does the same in a library
/// that the thread sanitizer does not see into, so that it takes all that is guarded for unguarded.
@safe
package final class Guarded<State>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) var state: State

    /// Takes the state over.
    package init(_ state: sending State) {
        unsafe self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    /// Calls `body` with the state while no other thread has it.
    ///
    /// It must not be called from within `body`.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return try unsafe body(&state)
    }
}
