import Capture

/// Finds the polls that a recorded board did not answer.
enum UnansweredPolls {
    /// A poll, and how it ended.
    struct Poll: Equatable {
        /// The side that ended its connection.
        var endedBy: Side
        /// Nanoseconds from the request to that.
        var duration: Int64
    }

    /// An app that goes away sooner had a reason of its own, and the board was not slow, in
    /// nanoseconds.
    private static let patience: Int64 = 1_000_000_000

    /// The polls, by the events of their requests; those that were under way at the end of the
    /// recording are not among them.
    static func find(
        in items: [RecordedSession.Item], isPoll: (Event.Request) -> Bool
    ) -> [Int: Poll] {
        var waiting: [Int: (exchange: Int, seq: Int, time: Int64)] = [:]
        var found: [Int: Poll] = [:]
        for item in items {
            switch item.kind {
            case .request(let request) where isPoll(request):
                waiting[item.conn] = (request.exchange, item.seq, item.time)
            case .response(let response):
                if waiting[item.conn]?.exchange == response.exchange { waiting[item.conn] = nil }
            case .ended(let side, _):
                guard let poll = waiting.removeValue(forKey: item.conn) else { continue }
                let duration = item.time - poll.time
                if side == .board || duration >= patience {
                    found[poll.seq] = Poll(endedBy: side, duration: duration)
                }
            default: break
            }
        }
        return found
    }
}
