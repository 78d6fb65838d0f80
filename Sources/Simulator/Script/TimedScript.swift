/// Steps of somebody, each at its time; for demonstrations and example sessions.
package struct TimedScript<Step: Sendable>: Sendable {
    /// A step and the time of it.
    package struct Entry: Sendable {
        /// Seconds from the start of whoever runs it, before they are scaled.
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

    /// Entries for steps that come one after the other.
    package static func entries(
        _ steps: [Step], from second: Double, every interval: Double
    ) -> [Entry] {
        steps.enumerated().map { number, step in
            Entry(second: second + interval * Double(number), step: step)
        }
    }
}

/// What happens to an app.
package typealias AppScenario = TimedScript<AppStep>

/// What a board's own side does.
package typealias BoardScript = TimedScript<BoardStep>

/// What somebody asks the board by HTTP.
package typealias RequestScript = TimedScript<BoardRequest>

/// How a command leaves a board.
package enum BoardStep: Sendable {
    /// Over the WebSocket.
    case send(BridgeCommand)
    /// Through the queue, from inside of the board.
    case enqueue(BridgeCommand)
    /// The board closes the WebSocket in good order, as one that is started anew.
    case close(code: UInt16, reason: String)
    /// The next poll is never answered.
    case holdPoll

    /// Whether a board does so of itself, and not because it was told to.
    var isOrdinary: Bool {
        switch self {
        case .send, .enqueue: true
        case .close, .holdPoll: false
        }
    }
}
