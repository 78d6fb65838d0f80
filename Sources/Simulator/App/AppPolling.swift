import Wire

/// The app's poll of the queue: one at a time, and never stuck on a reply that does not come
/// (contract, "Connection").
struct AppPolling: Sendable {
    private enum State {
        case off
        case waiting(until: Int64)
        case asking(RequestID, until: Int64)
        /// What defect A24 leaves behind: no poll ever again.
        case latched
    }

    private var state = State.off
    private let scale: TimeScale

    init(scale: TimeScale) {
        self.scale = scale
    }

    var nextDeadline: Int64? {
        switch state {
        case .off, .latched: nil
        case .waiting(let until), .asking(_, let until): until
        }
    }

    /// Polls now, and from then on; a poll that is under way goes on.
    mutating func start(at now: Int64) {
        switch state {
        case .asking, .latched: return
        case .off, .waiting: state = .waiting(until: now)
        }
    }

    /// Stops polling, and returns the request that is to be given up.
    mutating func stop() -> RequestID? {
        switch state {
        case .latched: return nil
        case .asking(let id, _):
            state = .off
            return id
        case .off, .waiting:
            state = .off
            return nil
        }
    }

    /// Never polls again; the request that is under way is to be given up.
    mutating func latch() { state = .latched }

    /// Notes a request that was made.
    mutating func asked(_ id: RequestID, at now: Int64) {
        state = .asking(id, until: now + scale.nanoseconds(seconds: AppTimes.requestLimit))
    }

    /// Whether `id` is the poll that is under way; the next one comes `seconds` later.
    mutating func answered(_ id: RequestID, nextAfter seconds: Double, at now: Int64) -> Bool {
        guard case .asking(id, _) = state else { return false }
        state = .waiting(until: now + scale.nanoseconds(seconds: seconds))
        return true
    }

    /// What time brings: a poll is due, or one took too long.
    enum Due: Equatable {
        case poll
        case hung(RequestID)
    }

    func due(at now: Int64) -> Due? {
        switch state {
        case .off, .latched: nil
        case .waiting(let until): until <= now ? .poll : nil
        case .asking(let id, let until): until <= now ? .hung(id) : nil
        }
    }
}

/// The results that wait for being posted to the queue, a few at a time.
struct AppOutbox: Sendable {
    private struct Posting {
        let body: Bytes
        var attemptCount = 0
        /// The request that carries it.
        var request: RequestID?
        /// When it is sent next, or given up on its way.
        var due: Int64
    }

    private var postings: [Posting] = []
    private let scale: TimeScale
    private let maximumCount: Int

    private static let maximumAttemptCount = 5
    private static let maximumUnderWayCount = 4

    init(scale: TimeScale, maximumCount: Int) {
        self.scale = scale
        self.maximumCount = maximumCount
    }

    var nextDeadline: Int64? {
        let isFull = underWayCount >= Self.maximumUnderWayCount
        return postings.lazy.filter { $0.request != nil || !isFull }.map(\.due).min()
    }

    /// Adds a result; the oldest that waits makes room where there is none.
    mutating func add(_ body: Bytes, at now: Int64) {
        if postings.count >= maximumCount,
            let index = postings.firstIndex(where: { $0.request == nil })
        {
            postings.remove(at: index)
        }
        postings.append(Posting(body: body, due: now))
    }

    /// The next result that is due, with the number its request gets.
    mutating func takeDue(as id: RequestID, at now: Int64) -> Bytes? {
        guard underWayCount < Self.maximumUnderWayCount,
            let index = postings.firstIndex(where: { $0.request == nil && $0.due <= now })
        else { return nil }
        postings[index].request = id
        postings[index].attemptCount += 1
        postings[index].due = now + scale.nanoseconds(seconds: AppTimes.requestLimit)
        return postings[index].body
    }

    /// The next request that took too long; its result waits for another attempt.
    mutating func takeHung(at now: Int64) -> RequestID? {
        guard let index = postings.firstIndex(where: { $0.request != nil && $0.due <= now })
        else { return nil }
        let id = postings[index].request
        failed(at: index, now)
        return id
    }

    /// A request ended; one that was `taken` is done, whatever the board thinks of it.
    mutating func ended(_ id: RequestID, taken: Bool, at now: Int64) {
        guard let index = postings.firstIndex(where: { $0.request == id }) else { return }
        if taken {
            postings.remove(at: index)
        } else {
            failed(at: index, now)
        }
    }

    private var underWayCount: Int { postings.count { $0.request != nil } }

    private mutating func failed(at index: Int, _ now: Int64) {
        postings[index].request = nil
        postings[index].due = now + scale.nanoseconds(seconds: AppTimes.postRetry)
        if postings[index].attemptCount == Self.maximumAttemptCount { postings.remove(at: index) }
    }
}
