import Simulator
import Wire

/// A reference app and a reference board that talk to each other, without bytes, in virtual time.
struct Conversation {
    var app: App
    var board: Board
    private(set) var now = Moment(monotonic: 0, wall: 1_781_061_605 * 1_000_000_000)
    /// How each command of the script ended, by its step.
    private(set) var outcomes: [Int: CommandResponse] = [:]
    /// What crossed, a line a message, with the second at which it arrived.
    private(set) var lines: [String] = []
    /// Whether the board can be reached.
    var isReachable = true

    /// What is on its way, and when it arrives.
    private var transit: [(arrival: Int64, deliver: Delivery)] = []
    private var exchangeCount: UInt64 = 0
    /// The app's requests and links by the board's exchanges.
    private var requests: [ExchangeID: RequestID] = [:]
    private var links: [LinkID: LinkID] = [:]
    private let latency: Int64 = 1_000_000

    private enum Delivery {
        case toBoard(AppAction)
        case toApp(BoardAction)
        case refusal(LinkID)
        case failure(RequestID)
    }

    init(app: AppOptions = AppOptions(), board: BoardOptions = BoardOptions()) {
        self.app = App(options: app)
        self.board = Board(options: board)
        take(self.app.start(at: now))
    }

    /// Lets everything happen that is due within `duration` seconds.
    mutating func run(_ duration: Double) {
        let end = now.monotonic + Int64(duration * 1e9)
        while true {
            let next = [app.nextDeadline, board.nextDeadline, transit.first?.arrival]
                .compactMap { $0 }.min()
            guard let next, next <= end else { break }
            advance(to: max(next, now.monotonic))
            if let first = transit.first, first.arrival <= now.monotonic {
                deliver(transit.removeFirst().deliver)
            } else if let due = app.nextDeadline, due <= now.monotonic {
                take(app.deadlineReached(at: now))
            } else {
                take(board.deadlineReached(at: now))
            }
        }
        advance(to: end)
    }

    mutating func perform(_ step: AppStep) { take(app.perform(step, at: now)) }

    mutating func issue(_ command: BridgeCommand, step: Int) {
        take(board.issue(command, step: step, at: now))
    }

    mutating func enqueue(_ command: BridgeCommand) -> Bool { board.enqueue(command, at: now) }

    /// Asks the board by HTTP, as a tool beside it does.
    mutating func get(_ target: String) -> JSON {
        exchangeCount += 1
        let actions = board.receive(
            .request("GET", target, host: "h"), isFromLoopback: true,
            exchange: ExchangeID(rawValue: exchangeCount), at: now)
        for case .respond(_, let response) in actions {
            return (try? JSON(parsing: response.body)) ?? .null
        }
        return .null
    }

    private mutating func take(_ actions: [AppAction]) {
        for action in actions { transit.append((now.monotonic + latency, .toBoard(action))) }
    }

    private mutating func take(_ actions: [BoardAction]) {
        for action in actions { transit.append((now.monotonic + latency, .toApp(action))) }
    }

    private mutating func deliver(_ delivery: Delivery) {
        switch delivery {
        case .toBoard(let action): deliver(action)
        case .toApp(let action): deliver(action)
        case .refusal(let link): take(app.linkEnded(link, at: now))
        case .failure(let request): take(app.requestFailed(request, at: now))
        }
    }

    private mutating func deliver(_ action: AppAction) {
        switch action {
        case .connect(let link, let target):
            guard isReachable else {
                transit.append((now.monotonic + latency, .refusal(link)))
                return
            }
            exchangeCount += 1
            links[LinkID(rawValue: exchangeCount)] = link
            ask(.request("GET", target, host: "h", fieldLines: BoardBench.upgradeLines))
        case .send(let link, let bytes):
            guard let id = boardLink(link) else { return }
            note("app   ", bytes)
            take(board.receive(message: bytes, on: id, at: now))
        case .close(let link, _, _), .abort(let link):
            guard let id = boardLink(link) else { return }
            links[id] = nil
            take(board.linkEnded(id, cleanly: false, at: now))
        case .request(let request, let method, let target, let body):
            guard isReachable else {
                transit.append((now.monotonic + latency, .failure(request)))
                return
            }
            exchangeCount += 1
            requests[ExchangeID(rawValue: exchangeCount)] = request
            note("app   ", Bytes("\(method) \(target) ".utf8) + (body ?? []))
            ask(.request(method, target, host: "h", body: body ?? []))
        case .cancel(let request):
            requests = requests.filter { $0.value != request }
        case .listen:
            // Here every word arrives at once, so that nothing waits to be read.
            break
        }
    }

    private mutating func ask(_ request: HTTPMessage) {
        take(
            board.receive(
                request, isFromLoopback: true, exchange: ExchangeID(rawValue: exchangeCount),
                at: now))
    }

    private mutating func deliver(_ action: BoardAction) {
        switch action {
        case .accept(let accepted):
            if let link = links[accepted.link] { take(app.linkOpened(link, at: now)) }
        case .send(let id, let bytes):
            guard let link = links[id] else { return }
            note("board ", bytes)
            take(app.receive(message: bytes, on: link, at: now))
        case .close(let id, _, _):
            guard let link = links.removeValue(forKey: id) else { return }
            take(app.linkEnded(link, at: now))
        case .respond(let exchange, let response):
            guard let request = requests.removeValue(forKey: exchange) else { return }
            note("board ", response.body)
            take(
                app.replied(
                    to: request, status: response.head.status ?? 0, body: response.body, at: now))
        case .commandEnded(let step, let response):
            outcomes[step] = response
        }
    }

    private func boardLink(_ link: LinkID) -> LinkID? {
        links.first { $0.value == link }?.key
    }

    private mutating func note(_ side: String, _ bytes: Bytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        lines.append("\(Double(now.monotonic) / 1e9) \(side) \(text)")
    }

    private mutating func advance(to monotonic: Int64) {
        let step = monotonic - now.monotonic
        now = Moment(monotonic: monotonic, wall: now.wall + step)
    }
}
