/// What happens to an app, step by step; for demonstrations and example sessions.
package struct AppScenario: Sendable {
    /// A step and the time of it.
    package struct Entry: Sendable {
        /// Seconds from the start of the app, before they are scaled.
        package var second: Double
        package var step: AppStep

        package init(second: Double, step: AppStep) {
            self.second = second
            self.step = step
        }
    }

    /// In the order of their times.
    package let entries: [Entry]

    /// Makes a scenario; entries may come in any order.
    package init(_ entries: [Entry]) {
        self.entries = entries.enumerated()
            .sorted { ($0.element.second, $0.offset) < ($1.element.second, $1.offset) }
            .map(\.element)
    }
}

/// What a board's own side does, step by step.
package struct BoardScript: Sendable {
    /// How a command leaves.
    package enum Step: Sendable {
        /// Over the WebSocket.
        case send(BridgeCommand)
        /// Through the queue.
        case enqueue(BridgeCommand)
    }

    /// A step and the time of it.
    package struct Entry: Sendable {
        /// Seconds from the start of the board, before they are scaled.
        package var second: Double
        package var step: Step

        package init(second: Double, step: Step) {
            self.second = second
            self.step = step
        }
    }

    /// In the order of their times.
    package let entries: [Entry]

    /// Makes a script; entries may come in any order.
    package init(_ entries: [Entry]) {
        self.entries = entries.enumerated()
            .sorted { ($0.element.second, $0.offset) < ($1.element.second, $1.offset) }
            .map(\.element)
    }
}
