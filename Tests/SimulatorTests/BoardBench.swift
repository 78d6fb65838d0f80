import Simulator
import Wire

/// Nanoseconds of so many seconds.
func seconds(_ count: Double) -> Int64 { Int64(count * 1e9) }

/// A JSON value from its text; a mistake in a test shows as `null`.
func json(_ text: String) -> JSON { (try? JSON(parsing: text)) ?? .null }

/// A reference board in virtual time, with the hands of a tester.
struct BoardBench {
    /// What a request was answered with.
    struct Answer {
        let status: Int
        let fieldLines: [FieldLine]
        let text: String

        var json: JSON { SimulatorTests.json(text) }
    }

    var board: Board
    /// 2026-06-10T03:20:05Z.
    private(set) var now = Moment(
        monotonic: seconds(1000), wall: 1_781_061_605 * 1_000_000_000)
    private var exchangeCount: UInt64 = 0
    /// Everything the board did about links and blocked requests, in order.
    private(set) var actions: [BoardAction] = []
    private var answers: [ExchangeID: Answer] = [:]

    init(_ defects: Defect..., configure: (inout BoardOptions) -> Void = { _ in }) {
        var options = BoardOptions()
        options.defects = Set(defects)
        configure(&options)
        board = Board(options: options)
    }

    /// Lets time pass, keeping every deadline of the board.
    mutating func wait(_ duration: Double) {
        let end = now.monotonic + seconds(duration)
        while let deadline = board.nextDeadline, deadline <= end {
            advance(to: max(deadline, now.monotonic))
            take(board.deadlineReached(at: now))
        }
        advance(to: end)
    }

    mutating func get(_ target: String) -> Answer { request("GET", target) }

    mutating func post(_ target: String, _ body: String) -> Answer {
        request("POST", target, body)
    }

    mutating func request(
        _ method: String, _ target: String, _ body: String = "",
        fieldLines: [FieldLine] = [], isFromLoopback: Bool = true
    ) -> Answer {
        let exchange = start(
            method, target, body, fieldLines: fieldLines, isFromLoopback: isFromLoopback)
        return answer(to: exchange) ?? Answer(status: 0, fieldLines: [], text: "")
    }

    /// Makes a request that may block.
    mutating func start(
        _ method: String, _ target: String, _ body: String = "",
        fieldLines: [FieldLine] = [], isFromLoopback: Bool = true
    ) -> ExchangeID {
        exchangeCount += 1
        let exchange = ExchangeID(rawValue: exchangeCount)
        take(
            board.receive(
                .request(
                    method, target, host: "192.168.42.1:8080", fieldLines: fieldLines,
                    body: Bytes(body.utf8)),
                isFromLoopback: isFromLoopback, exchange: exchange, at: now))
        return exchange
    }

    /// What a request was answered with; nil while it blocks.
    func answer(to exchange: ExchangeID) -> Answer? { answers[exchange] }

    /// Opens a WebSocket; its number is that of its exchange.
    @discardableResult
    mutating func connect(
        _ query: String = "?platform=ios&phone_id=phone-a1", fieldLines: [FieldLine] = []
    ) -> LinkID {
        let exchange = start(
            "GET", "/api/phone-bridge" + query, fieldLines: Self.upgradeLines + fieldLines)
        return LinkID(rawValue: exchange.rawValue)
    }

    static let upgradeLines = [
        FieldLine("Upgrade", "websocket"), FieldLine("Connection", "keep-alive, Upgrade"),
        FieldLine("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        FieldLine("Sec-WebSocket-Version", "13"),
    ]

    /// Says a message on a link, and returns what the board says back on any link.
    @discardableResult
    mutating func say(_ message: String, on link: LinkID) -> [String] {
        let count = actions.count
        take(board.receive(message: Bytes(message.utf8), on: link, at: now))
        return Self.sent(actions[count...])
    }

    mutating func end(_ link: LinkID, cleanly: Bool = true) {
        take(board.linkEnded(link, cleanly: cleanly, at: now))
    }

    /// A request's body ends too early.
    mutating func cut(_ method: String, _ target: String, _ body: String) {
        board.receiveCut(
            .request(method, target, host: "h", body: Bytes(body.utf8)), isFromLoopback: true,
            at: now)
    }

    /// Sends a command over the WebSocket; its request blocks until it has ended.
    mutating func command(_ text: String) -> ExchangeID {
        start("POST", "/simulate/command", text)
    }

    /// What the board made of a command; nil while it waits.
    func outcome(_ exchange: ExchangeID) -> JSON? { answers[exchange]?.json }

    mutating func enqueue(_ command: String) -> Answer {
        post("/api/phone-bridge/commands", "{\"command\":\(command)}")
    }

    /// The ids that a poll gets.
    mutating func poll(_ query: String = "platform=ios&app_state=active") -> [String] {
        let answer = get("/api/phone-bridge/commands?" + query)
        return answer.json["commands"]?.elements?.compactMap { $0["id"]?.stringValue } ?? []
    }

    mutating func status(of id: String) -> String? {
        get("/api/phone-bridge/results/" + id).json["status"]?.stringValue
    }

    var statusDocument: JSON {
        mutating get { get("/api/phone-bridge/status").json }
    }

    /// All messages that the board sent so far.
    var sent: [String] { Self.sent(actions[...]) }

    /// All closes so far, as `link code reason`.
    var closes: [String] {
        actions.compactMap {
            if case .close(let link, let code, let reason) = $0 {
                "\(link.rawValue) \(code) \(reason)"
            } else {
                nil
            }
        }
    }

    private static func sent(_ actions: ArraySlice<BoardAction>) -> [String] {
        actions.compactMap {
            if case .send(_, let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
    }

    private mutating func take(_ new: [BoardAction]) {
        for action in new {
            switch action {
            case .respond(let exchange, let response):
                answers[exchange] = Answer(
                    status: response.head.status ?? 0, fieldLines: response.head.fieldLines,
                    text: String(decoding: response.body, as: UTF8.self))
            case .accept(let accepted):
                answers[accepted.exchange] = Answer(
                    status: 101, fieldLines: accepted.head.fieldLines, text: "")
            case .send, .close, .commandEnded:
                break
            }
        }
        actions += new
    }

    private mutating func advance(to monotonic: Int64) {
        let step = monotonic - now.monotonic
        now = Moment(monotonic: monotonic, wall: now.wall + step)
    }
}
