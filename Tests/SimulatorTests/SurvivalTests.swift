import Network
import Simulator
import Testing
import Wire

/// The reference peers survive whatever the other side sends.
@Suite struct SurvivalTests {
    /// Bytes that look like what a board gets, and are wrong in a place or two.
    private static func noise(_ random: inout SeededGenerator) -> Bytes {
        let body = #"{"command":{"id":"n","type":"clipboard_read","timeout_ms":5}}"#
        let seeds = [
            "GET /api/phone-bridge/status HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /api/phone-bridge/commands?platform=ios&limit=3 HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST /api/phone-bridge/commands HTTP/1.1\r\nHost: h\r\nContent-Length: "
                + "\(body.utf8.count)\r\n\r\n" + body,
            "POST /api/phone-bridge/results HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                + "\r\n5\r\n{\"id\"\r\n4\r\n:\"n\"\r\n1\r\n}\r\n0\r\n\r\n",
            "GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
        ]
        var bytes = Bytes(seeds[random.below(seeds.count)].utf8)
        for _ in 0..<random.below(4) {
            var options = WebSocketEndpoint.Options(
                role: .client,
                deflate: random.oneIn(2)
                    ? DeflateServerPolicy.board.agree(to: [.init("permessage-deflate")]) : nil)
            options.compressionThreshold = 0
            options.framing = random.oneIn(2) ? .whole : .fragments(of: 7)
            var endpoint = WebSocketEndpoint(options) { MaskingKey(rawValue: 0x1234_5678) }
            let messages = [
                #"{"id":"heartbeat"}"#, #"{"id":"phone_app_state","data":{"app_state":"active"}}"#,
                #"{"id":"phone_environment","data":{"screen":{"width":1}}}"#, "[[[[", "",
            ]
            let message = Bytes(messages[random.below(messages.count)].utf8)
            for case .send(let frame) in endpoint.send(.text, message) { bytes += frame }
        }
        for _ in 0..<random.below(5) where !bytes.isEmpty {
            let position = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes[position] = UInt8(random.below(256))
            case 1: bytes.remove(at: position)
            case 2: bytes.insert(UInt8(random.below(256)), at: position)
            default: bytes.removeLast(bytes.count - position)
            }
        }
        return bytes
    }

    @Test(arguments: 1...8)
    func `a board answers a good phone after any noise`(seed: Int) throws {
        let world = SimulatedWorld(seed: UInt64(seed))
        world.conditions.segment = 1...200
        var random = SeededGenerator(seed: UInt64(seed))
        let boardLoop = try #require(world.addHost("192.168.42.1"))
        let other = try #require(world.addHost("192.168.42.9"))
        let board = BoardHost(loop: boardLoop)
        let address = try board.listen(on: SocketAddress(boardLoop.ip, port: 8080))
        for _ in 0..<60 {
            let bytes = Self.noise(&random)
            let ending = random.below(3)
            other.connect(to: address, options: ConnectOptions()) { result in
                guard case .success(let stream) = result else { return }
                stream.resume()
                _ = stream.write(bytes)
                switch ending {
                case 0: stream.shutdown()
                case 1: stream.abort()
                default: other.schedule(after: 100_000_000) { stream.close() }
                }
            }
            world.run(for: 200_000_000)
        }
        let phoneLoop = try #require(world.addHost("192.168.42.2"))
        var options = AppOptions()
        options.phoneID = "good"
        let app = AppHost(loop: phoneLoop, board: Endpoint(address), options: options)
        app.start()
        board.run(
            BoardScript([
                .init(second: 3, step: .send(BridgeCommand(id: "alive", type: "clipboard_read")))
            ]))
        var outcome: CommandResponse?
        board.onOutcome = { outcome = $1 }
        world.run(for: 6_000_000_000)
        #expect(outcome?.data?["text"] == "")
        app.stop()
        board.stop()
    }

    @Test(arguments: 1...8)
    func `an app comes back to a good board after any noise`(seed: Int) throws {
        let world = SimulatedWorld(seed: UInt64(seed))
        world.conditions.segment = 1...200
        let boardLoop = try #require(world.addHost("192.168.42.1"))
        let phoneLoop = try #require(world.addHost("192.168.42.2"))
        let address = SocketAddress(boardLoop.ip, port: 8080)
        var random = SeededGenerator(seed: UInt64(seed))
        let bad = try boardLoop.listen(on: address, options: ListenOptions()) { stream in
            let key = "dGhlIHNhbXBsZSBub25jZQ=="
            var bytes = Bytes()
            if random.oneIn(2), let head = WebSocketHandshake.response(key: key, deflate: nil) {
                head.encode(into: &bytes)
            } else {
                bytes = Bytes("HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n".utf8)
                bytes += Bytes(#"{"commands":[{"id":1}]}"#.utf8)
            }
            for _ in 0..<random.below(6) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            stream.onRead = { _ in }
            stream.onEnd = { _ in stream.close() }
            stream.resume()
            _ = stream.write(bytes)
            switch random.below(4) {
            case 0: stream.abort()
            case 1: stream.shutdown()
            case 2: boardLoop.schedule(after: 1_000_000_000) { stream.close() }
            default: break
            }
        }
        let app = AppHost(loop: phoneLoop, board: Endpoint(address))
        app.start()
        world.run(for: 300_000_000_000)
        bad.close()
        let board = BoardHost(loop: boardLoop)
        try board.listen(on: address)
        world.run(for: 40_000_000_000)
        #expect(app.isConnected)
        app.stop()
        board.stop()
    }
}
