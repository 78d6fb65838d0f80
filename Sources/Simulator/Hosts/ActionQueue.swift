/// Carries actions out one after the other, also those that carrying out an action brings.
///
/// A peer can send thousands of requests in one packet: done by recursion, each answer would
/// stand on the stack of the one before.
struct ActionQueue<Action> {
    private var actions: [Action] = []
    private var next = 0
    private var isBusy = false

    /// Adds actions; true when the caller has to carry out what waits.
    mutating func add(_ more: [Action]) -> Bool {
        actions += more
        guard !isBusy, next < actions.count else { return false }
        isBusy = true
        return true
    }

    /// The next action; nil when all are done.
    mutating func take() -> Action? {
        guard next < actions.count else {
            actions.removeAll(keepingCapacity: true)
            next = 0
            isBusy = false
            return nil
        }
        defer { next += 1 }
        return actions[next]
    }
}
