import Capture
import PhoneBridge
import Wire

/// A request that waits for its response.
struct PendingRequest {
    struct Key: Hashable {
        var conn: Int
        var exchange: Int
    }

    /// The place of its exchange in the session; nil for a poll.
    var place: Int?
    /// What a poll told of the phone.
    var poll: PollState?

    /// Beyond this number, those of a connection that came first are forgotten: a peer that
    /// pipelines and never gets an answer must not grow this for ever.
    static let maximumCount = 4_096
}

extension DiffReader {
    /// What the poll told of the phone whose answer this event is; nil for other events.
    func pollState(_ event: Event) -> PollState? {
        guard case .response(let response) = event.kind else { return nil }
        return pending[.init(conn: event.conn, exchange: response.exchange)]?.poll
    }

    /// Reads a request or a response.
    mutating func exchange(_ event: Event) throws(OutputError) {
        switch event.kind {
        case .request(let request): asked(request, event)
        case .response(let response) where response.status >= 200 || response.status == 101:
            try answered(response, event)
        default: break
        }
    }

    private mutating func asked(_ request: Event.Request, _ event: Event) {
        guard
            let route = HTTPRoute(
                method: request.method, target: request.target, paths: contract.paths)
        else { return }
        if pending.count >= PendingRequest.maximumCount {
            let oldest = pending.keys.min { ($0.conn, $0.exchange) < ($1.conn, $1.exchange) }
            if let oldest { pending[oldest] = nil }
        }
        let key = PendingRequest.Key(conn: event.conn, exchange: request.exchange)
        let id = event.bridge.first?["id"]?.stringValue ?? ""
        switch route {
        case .poll:
            pending[key] = PendingRequest(
                poll: contract.pollState(PhoneBridge.RequestTarget(request.target)))
        case .connect: begin(.connect, "", key, event)
        case .status: begin(.status, "", key, event)
        case .enqueue: begin(.enqueue, id, key, event)
        case .result: begin(.result, id, key, event)
        case .query(let id): begin(.query, id, key, event)
        }
    }

    private mutating func begin(
        _ kind: DiffSession.Exchange.Kind, _ id: String, _ key: PendingRequest.Key,
        _ event: Event
    ) {
        let id = Self.cut(id)
        pending[key] = PendingRequest(place: session.exchanges.count)
        session.exchanges.append(
            DiffSession.Exchange(
                kind: kind, id: id, ordinal: ordinal("\(kind.rawValue) \(id)"), seq: event.seq))
    }

    private mutating func answered(
        _ response: Event.Response, _ event: Event
    ) throws(OutputError) {
        let key = PendingRequest.Key(conn: event.conn, exchange: response.exchange)
        guard let request = pending.removeValue(forKey: key) else { return }
        guard let place = request.place else {
            if response.status != 200 {
                session.refusedPolls[response.status, default: 0] += 1
            }
            return
        }
        session.exchanges[place].status = response.status
        guard response.status != 101, !response.body.incomplete,
            let body = content(of: event), !body.isEmpty
        else { return }
        session.exchanges[place].content = try put(
            body, hashedWithout: ["command_id"] + contract.bodies.momentNames)
    }
}

extension Contract.ResponseBodies {
    /// The names of all fields that tell when something took place.
    fileprivate var momentNames: [String] {
        (enqueue + result + query + status).filter(\.isMoment).map(\.name)
    }
}
