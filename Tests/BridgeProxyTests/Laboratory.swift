import BridgeProxy
import Capture
import Network
import Testing
import Wire

/// A phone, a proxy that records and a board, in one process and in virtual time.
final class Laboratory {
    let world: SimulatedWorld
    let phone: SimulatedLoop
    let middle: SimulatedLoop
    let boardHost: SimulatedLoop
    let recording: Recording
    let proxy: Proxy
    let boardAddress: SocketAddress
    private(set) var reports: [Recording.Report] = []
    private(set) var arrivals: [End] = []
    /// Called when a connection reaches the board, before it reads.
    var onArrival: (End) -> Void = { _ in }

    static let file = "lab.ndjson"

    init(
        seed: UInt64 = 1, boardListens: Bool = true, striker: (any MessageStriker)? = nil,
        conditions: (inout LinkConditions) -> Void = { _ in },
        recording configure: (inout Recording.Options) -> Void = { _ in },
        options: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws {
        world = SimulatedWorld(seed: seed)
        conditions(&world.conditions)
        phone = try #require(world.addHost("192.168.42.2"))
        middle = try #require(world.addHost("10.0.0.9"))
        boardHost = try #require(world.addHost("192.168.42.1"))
        boardAddress = SocketAddress(boardHost.ip, port: 8080)
        var proxy = ProxyConfiguration(
            listen: SocketAddress(middle.ip, port: 8080),
            target: .upstream(Endpoint(host: "192.168.42.1", port: 8080)))
        proxy.allowFrom = [try #require(CIDR(parsing: "192.168.42.0/24"))]
        options(&proxy)
        var configured = Recording.Options(
            session: SessionInfo(
                id: "lab", startedAt: "2026-01-01T00:00:00.000000000Z", tool: "test",
                source: "proxy"), outputs: [Self.file])
        configure(&configured)
        var sink: (Recording.Report) -> Void = { _ in }
        recording = try Recording(configured, loop: middle) { sink($0) }
        self.proxy = Proxy(proxy, loop: middle, recorder: recording.recorder, striker: striker) {
            sink(.remark($0))
        }
        sink = { [unowned self] in self.reports.append($0) }
        let isReverse = proxy.target != .originalDestination(fallback: nil)
        try self.proxy.start(upstream: isReverse ? [boardAddress] : [])
        recording.start(self.proxy)
        if boardListens { try listen() }
    }

    func listen() throws {
        _ = try boardHost.listen(on: boardAddress, options: ListenOptions()) { [unowned self] in
            let end = End($0)
            self.arrivals.append(end)
            self.onArrival(end)
        }
    }

    /// A phone's connection to the proxy.
    func dial() throws -> End {
        var end: End?
        let address = try #require(proxy.localAddress)
        phone.connect(to: address, options: ConnectOptions()) { result in
            if case .success(let stream) = result { end = End(stream) }
        }
        world.run { end != nil }
        return try #require(end)
    }

    /// Makes a WebSocket between phone and board, through the proxy.
    func link() throws -> (app: End, board: End) {
        let app = try dial()
        app.send(
            "GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        expect("the handshake arrives") {
            arrivals.first?.text.hasSuffix("\r\n\r\n") == true
        }
        let board = try #require(arrivals.first)
        board.send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
        expect("the answer arrives") { app.text.hasSuffix("\r\n\r\n") }
        return (app, board)
    }

    /// Lets time pass until `condition` holds, for an hour at most.
    func expect(_ what: Comment, _ condition: () -> Bool) {
        let holds = world.run(until: condition)
        #expect(holds, what)
    }

    /// The lines on file now.
    var lines: [String] {
        let bytes = middle.disk.files[Self.file] ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Lines of one kind, such as `close`.
    func lines(_ event: String) -> [String] {
        lines.filter { $0.hasPrefix("{\"event\":\"\(event)\"") }
    }
}

/// An end of a connection that keeps what it got.
final class End {
    let stream: any TCPStream
    private(set) var received: Bytes = []
    private(set) var ends: [StreamEnd] = []

    init(_ stream: any TCPStream, reads: Bool = true) {
        self.stream = stream
        stream.onRead = { [unowned self] chunk in self.received += chunk.bytes }
        stream.onEnd = { [unowned self] end in self.ends.append(end) }
        stream.resume()
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    func send(_ text: String) {
        stream.write(Bytes(text.utf8))
    }

    var hasFin: Bool { ends.contains(.fin) }

    var hasReset: Bool {
        ends.contains { if case .reset = $0 { true } else { false } }
    }
}
