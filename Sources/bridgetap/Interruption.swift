import Glibc
import Synchronization

/// A wish to end, made by SIGINT or SIGTERM.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// Whether a signal has come since `listen`.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Makes both signals a wish, so that what is under way ends in good order.
    ///
    /// A second one ends the program at once, wherever it hangs.
    static func listen() {
        // Touched here, so that the handler never is the first to make it.
        flag.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.flag.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// Waits, or less where a signal comes.
    static func wait(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        _ = unsafe nanosleep(&time, nil)
    }
}
