import Capture

/// What a connection's earlier requests tell about its responses, and about who sends them.
struct ConnectionMeaning: Sendable {
    /// A request whose last response is still to come.
    struct Exchange: Sendable {
        var route: HTTPRoute
        /// The id of the command that was enqueued.
        var id: String?
    }

    /// Requests without a response that are remembered: a peer that pipelines and never gets an
    /// answer must not grow this for ever.
    private static let maximumExchanges = 256

    private var exchanges: [Int: Exchange] = [:]
    private var usesToolRoutes = false
    private var usesAppRoutes = false
    private var endedSides: Set<Side> = []

    /// Whether all that this connection did so far is what board-side tools do.
    var isTool: Bool { usesToolRoutes && !usesAppRoutes }

    /// Takes a request; returns `isTool`.
    mutating func request(_ route: HTTPRoute, id: String?, exchange: Int) -> Bool {
        switch route {
        case .enqueue, .query: usesToolRoutes = true
        case .poll, .result, .connect: usesAppRoutes = true
        case .status: break
        }
        if exchanges.count >= Self.maximumExchanges, let oldest = exchanges.keys.min() {
            exchanges[oldest] = nil
        }
        exchanges[exchange] = Exchange(route: route, id: id)
        return isTool
    }

    /// The request that a response belongs to; it is forgotten with the last response.
    mutating func exchange(_ number: Int, isLast: Bool) -> Exchange? {
        isLast ? exchanges.removeValue(forKey: number) : exchanges[number]
    }

    /// One side stopped sending; whether both have now.
    mutating func sideEnded(_ side: Side?) -> Bool {
        guard let side else { return true }
        endedSides.insert(side)
        return endedSides.count == Side.allCases.count
    }
}
