import Network
import Simulator
import Testing
import Wire

@Suite struct BoardRequestTests {
    @Test func `steps run in the order of their times, and as written where those are equal`() {
        let script = TimedScript<BoardRequest>([
            .init(second: 2, step: .query("c")), .init(second: 1, step: .query("a")),
            .init(second: 1, step: .query("b")),
        ])
        let targets = script.entries.map { entry -> String in
            guard case .request(_, let target) = entry.step.message(to: "b").head.startLine else {
                return ""
            }
            return String(target.suffix(1))
        }
        #expect(targets == ["a", "b", "c"])
    }

    @Test(arguments: [
        (
            BoardRequest.enqueue(BridgeCommand(id: "q", type: "clipboard_read")), "POST",
            "/api/phone-bridge/commands", #"{"command":{"id":"q","type":"clipboard_read"}}"#
        ),
        (
            .cutEnqueue(BridgeCommand(id: "q", type: "clipboard_read")), "POST",
            "/api/phone-bridge/commands",
            #"{"command":{"id":"q","type":"clipboard_read"}}"# + "          "
        ),
        (.query(#"a"/b"#), "GET", "/api/phone-bridge/results/a%22%2Fb", ""),
        (.status, "GET", "/api/phone-bridge/status", ""),
        (
            .poll("platform=ios&limit=1"), "GET", "/api/phone-bridge/commands?platform=ios&limit=1",
            ""
        ),
        (
            .result(CommandResponse(id: CommandID("q"), data: ["text": ""])), "POST",
            "/api/phone-bridge/results", #"{"id":"q","data":{"text":""}}"#
        ),
    ])
    func `a request is what the board's routes take`(
        request: BoardRequest, method: String, target: String, body: String
    ) {
        let message = request.message(to: "board:8080")
        #expect(message.head.startLine == .request(method: method, target: target))
        #expect(String(decoding: message.body, as: UTF8.self) == body)
    }

    /// A board, and what it answers to a script.
    private func run(_ script: RequestScript) throws -> JSON {
        let world = SimulatedWorld(seed: 1)
        let boardLoop = try #require(world.addHost("192.168.42.1"))
        let toolLoop = try #require(world.addHost("192.168.42.3"))
        let board = BoardHost(loop: boardLoop)
        let address = SocketAddress(boardLoop.ip, port: 8080)
        try board.listen(on: address)
        let tool = RequestHost(loop: toolLoop, board: Endpoint(address))
        tool.run(script)
        world.run(for: 5 * nanosecondsPerSecond)
        tool.stop()
        var answer: JSON = .null
        let client = HTTPClient(to: Endpoint(address), on: toolLoop)
        client.send(
            BoardRequest.query("q").message(to: "board"), timeout: nanosecondsPerSecond
        ) { result in
            guard case .success(let response) = result else { return }
            answer = (try? JSON(parsing: response.body)) ?? .null
        }
        world.run(for: nanosecondsPerSecond)
        board.stop()
        return answer
    }

    @Test func `a tool's requests reach the board at their times`() throws {
        let command = BridgeCommand(id: "q", type: "clipboard_read")
        #expect(
            try run(RequestScript([.init(second: 4, step: .enqueue(command))]))["status"]
                == "queued")
        #expect(
            try run(RequestScript([.init(second: 7, step: .enqueue(command))]))["status"]
                == "expired")
    }

    @Test func `a request that is cut short does nothing`() throws {
        let command = BridgeCommand(id: "q", type: "clipboard_read")
        #expect(
            try run(RequestScript([.init(second: 1, step: .cutEnqueue(command))]))["status"]
                == "expired")
    }
}
