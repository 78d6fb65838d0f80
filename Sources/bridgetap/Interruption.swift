import Glibc
import Synchronization

/// A wish to end, made by SIGINT or SIGTERM.
enum Interruption {
    private static let count = Atomic<Int>(0)

    /// Whether a signal has come since `listen`.
    static var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

    /// Whether a second one has come, after `listen(isPatient: true)`.
    static var isUrgent: Bool { count.load(ordering: .relaxed) > 1 }

    /// Makes both signals a wish, so that what is under way ends in good order.
    ///
    /// A second one ends the program at once, wherever it hangs; or a third one, if `isPatient`.
    static func listen(isPatient: Bool = false) {
        // Touched here, so that the handler never is the first to make it.
        count.store(0, ordering: .relaxed)
        limit.store(isPatient ? 2 : 1, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                let count = Interruption.count.add(1, ordering: .relaxed).newValue
                if count >= Interruption.limit.load(ordering: .relaxed) { signal(number, SIG_DFL) }
            }
        }
    }

    private static let limit = Atomic<Int>(1)

    /// Waits, or less where a signal comes.
    static func wait(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        _ = unsafe nanosleep(&time, nil)
    }
}
