package import Glibc

/// Starts a thread that runs `body`, and takes no signals: they stay with the threads that were
/// there before.
///
/// It is to be joined or detached. The corresponding C function is `pthread_create`.
///
/// - Throws: EAGAIN where the system has no thread to give.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(NetworkError) -> pthread_t {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let me = unsafe Unmanaged.passRetained(ThreadBody(body))
    let number = unsafe pthread_create(
        &thread, nil,
        { pointer in
            guard let pointer = unsafe pointer else { return nil }
            unsafe Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
            return nil
        }, me.toOpaque())
    guard number == 0 else {
        unsafe me.release()
        throw NetworkError(errno: number, call: "pthread_create")
    }
    return thread
}

/// What a thread runs.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
