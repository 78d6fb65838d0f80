/// A bounded box through which other threads hand messages to a loop.
///
/// The only part of the face that is safe to use from any thread.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isOpen = true
        var refused = 0
    }

    private let state = Guarded(State())
    private let limit: Int
    private let wake: @Sendable () -> Void

    init(limit: Int, wake: @escaping @Sendable () -> Void) {
        self.limit = max(1, limit)
        self.wake = wake
    }

    /// Puts a message in; false when the box is full or its loop is gone.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        let (taken, wasEmpty) = state.withLock { state in
            guard state.isOpen, state.messages.count < limit else {
                state.refused += 1
                return (false, false)
            }
            state.messages.append(message)
            return (true, state.messages.count == 1)
        }
        if wasEmpty { wake() }
        return taken
    }

    /// How many messages were refused so far.
    package var refused: Int { state.withLock { $0.refused } }

    /// Refuses everything from now on; what is inside is dropped.
    package func close() {
        state.withLock { state in
            state.isOpen = false
            state.messages = []
        }
    }

    /// Takes out what is inside; for the loop.
    func takeAll() -> [Message] {
        state.withLock { state in
            let messages = state.messages
            state.messages = []
            return messages
        }
    }
}
