import Capture
import Wire

/// What the two ends of a link said of themselves: programs and extensions, by the addresses.
struct LinkFacts: Sendable, Equatable {
    /// One way in which the two ends met.
    struct Way: Hashable, Sendable {
        /// Without the port, which is another one each time.
        var app = ""
        var board = ""
        var userAgent: String?
        var server: String?
        /// What was agreed on, of a WebSocket.
        var extensions: String?
        var isWebSocket = false
    }

    /// How many connections there were of each.
    private(set) var ways: [Way: Int] = [:]
    private var open: [Int: Way] = [:]

    /// Ways that are told apart, and connections that are known at once.
    private static let maximum = 50
    private static let maximumOpen = 10_000

    mutating func receive(_ event: Event) {
        switch event.kind {
        case .open(let ends):
            guard open.count < Self.maximumOpen else { return }
            open[event.conn] = Way(app: Self.host(ends.app), board: ends.board)
        case .request(let request):
            guard let value = Self.value("user-agent", request.headers) else { return }
            open[event.conn]?.userAgent = value
        case .response(let response):
            if let value = Self.value("server", response.headers) {
                open[event.conn]?.server = value
            }
            guard response.status == 101 else { return }
            open[event.conn]?.isWebSocket = true
            open[event.conn]?.extensions = Self.value(
                "sec-websocket-extensions", response.headers)
        case .close: count(event.conn)
        case .end:
            for conn in open.keys.sorted() { count(conn) }
        case .session, .frame, .message, .piece, .data, .gap, .note: break
        }
    }

    private mutating func count(_ conn: Int) {
        guard let way = open.removeValue(forKey: conn) else { return }
        guard ways[way] != nil || ways.count < Self.maximum else { return }
        ways[way, default: 0] += 1
    }

    /// The ways, the most frequent first.
    var sorted: [(way: Way, count: Int)] {
        ways.map { (way: $0.key, count: $0.value) }.sorted {
            ($1.count, $0.way.app, $0.way.board, $0.way.userAgent ?? "", $0.way.server ?? "")
                < ($0.count, $1.way.app, $1.way.board, $1.way.userAgent ?? "", $1.way.server ?? "")
        }
    }

    private static func host(_ place: String) -> String {
        place.lastIndex(of: ":").map { String(place[..<$0]) } ?? place
    }

    private static func value(_ name: String, _ headers: [FieldLine]) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}
