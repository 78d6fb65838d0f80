import Glibc
import Network
import Testing

@Suite struct ThreadStartTests {
    @Test func `a thread does its work, with all signals left to the others`() throws {
        let mask = Guarded<[Bool]>([])
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &before)
        let thread = try startThread {
            var mine = sigset_t()
            unsafe pthread_sigmask(SIG_SETMASK, nil, &mine)
            let blocked = [SIGINT, SIGTERM, SIGHUP].map { unsafe sigismember(&mine, $0) == 1 }
            mask.withLock { $0 = blocked }
        }
        pthread_join(thread, nil)
        #expect(mask.withLock { $0 } == [true, true, true])
        // Whoever starts it keeps its own.
        var after = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &after)
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            #expect(unsafe sigismember(&after, signal) == sigismember(&before, signal))
        }
    }
}
