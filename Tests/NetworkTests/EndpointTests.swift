import Network
import Testing
import Wire

/// HTTP servers and clients, and WebSocket connections, on every driver.
@Suite struct EndpointTests {
    /// A server that tells what it was asked.
    private func echoServer(_ bench: any Bench) throws -> (HTTPServer, Endpoint) {
        let server = HTTPServer(on: bench.server)
        server.onRequest = { exchange in
            let request = exchange.request
            exchange.respond(
                .response(
                    200, fieldLines: [FieldLine("X-Target", request.head.target ?? "")],
                    body: request.body))
        }
        return (server, Endpoint(try server.listen(on: bench.serverAddress)))
    }

    @Test(arguments: Driver.allCases)
    func `a client uses one connection for one request after the other`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let (server, endpoint) = try echoServer(bench)
        let client = HTTPClient(to: endpoint, on: bench.client)
        for round in 0..<5 {
            var answer: Result<HTTPMessage, HTTPRequestError>?
            let body = noise(20_000 * round, seed: UInt64(round))
            client.send(
                .request("POST", "/\(round)", host: "board", body: body),
                timeout: 5 * nanosecondsPerSecond
            ) { answer = $0 }
            #expect(answer == nil)
            bench.expect("it is answered") { answer != nil }
            let message = try #require(answer).get()
            #expect(message.head.status == 200)
            #expect(message.head.fieldLines.first("X-Target") == "/\(round)")
            #expect(message.body == body)
            #expect(server.connectionCount == 1)
        }
        client.closeIdle()
        bench.expect("the server lets go of it") { server.connectionCount == 0 }
        server.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a server that says nothing makes a request time out`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let server = HTTPServer(on: bench.server)
        var waiting: HTTPExchange?
        var isGone = false
        server.onRequest = { exchange in
            waiting = exchange
            exchange.onGone = { isGone = true }
        }
        let address = try server.listen(on: bench.serverAddress)
        let client = HTTPClient(to: Endpoint(address), on: bench.client)
        var answer: Result<HTTPMessage, HTTPRequestError>?
        client.send(.request("GET", "/", host: "x"), timeout: 50 * nanosecondsPerMillisecond) {
            answer = $0
        }
        bench.expect("it times out") { answer == .failure(.http(.timeout)) }
        // The client has closed; the server notices when it writes.
        waiting?.respond(.response(200, body: noise(100)))
        bench.settle()
        #expect(server.connectionCount == 0 || !isGone)
        server.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a refused connection is told from a broken one`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let server = HTTPServer(on: bench.server)
        server.onRequest = { $0.abort() }
        let endpoint = Endpoint(try server.listen(on: bench.serverAddress))
        let client = HTTPClient(to: endpoint, on: bench.client)
        var answer: Result<HTTPMessage, HTTPRequestError>?
        client.send(.request("GET", "/", host: "x"), timeout: nanosecondsPerSecond) { answer = $0 }
        bench.expect("it breaks") { answer != nil }
        guard case .failure(.network(let error))? = answer else {
            Issue.record("the answer is \(String(describing: answer))")
            return
        }
        #expect(error.kind == .reset)
        server.close()
        answer = nil
        client.send(.request("GET", "/", host: "x"), timeout: nanosecondsPerSecond) { answer = $0 }
        bench.expect("it is refused") { answer != nil }
        guard case .failure(.connect(let refusal))? = answer else {
            Issue.record("the answer is \(String(describing: answer))")
            return
        }
        #expect(refusal.kind == .refused)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `an answer arrives whole though the client goes on sending`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 1000
        let server = HTTPServer(on: bench.server, limits: limits)
        let address = try server.listen(on: bench.serverAddress)
        var witness: Witness?
        bench.client.connect(to: address, options: ConnectOptions()) { result in
            guard case .success(let stream) = result else { return }
            witness = Witness(stream)
            stream.write(Bytes("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n".utf8))
            stream.write(noise(500_000))
        }
        bench.expect("the client reads the refusal and the end") { witness?.ends == [.fin] }
        let text = String(decoding: witness?.received ?? [], as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 413 "))
        #expect(text.contains("over 1000 bytes"))
        witness?.stream.close()
        bench.expect("the server lets go of it") { server.connectionCount == 0 }
        server.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a connection that says nothing is closed in time`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var limits = HTTPServerMachine.Limits()
        limits.headTime = 40 * nanosecondsPerMillisecond
        let server = HTTPServer(on: bench.server, limits: limits)
        let address = try server.listen(on: bench.serverAddress)
        var witness: Witness?
        bench.client.connect(to: address, options: ConnectOptions()) { result in
            if case .success(let stream) = result { witness = Witness(stream) }
        }
        bench.expect("the client reads the end") { witness?.ends == [.fin] }
        #expect(witness?.received.isEmpty == true)
        witness?.stream.close()
        server.close()
        bench.finish()
    }

    // MARK: WebSocket

    private struct Talk {
        let bench: any Bench
        let server: HTTPServer
        let client: WebSocketConnection
        let board: WebSocketConnection

        init(
            _ bench: any Bench, offers: [DeflateParameters] = [],
            configure: @escaping (inout WebSocketEndpoint.Options) -> Void = { _ in }
        ) throws {
            let server = HTTPServer(on: bench.server)
            var accepted: WebSocketConnection?
            server.onRequest = { exchange in
                accepted = exchange.upgradeToWebSocket(deflate: .full, configure)
            }
            let endpoint = Endpoint(try server.listen(on: bench.serverAddress))
            var request = WebSocketRequest(target: "/ws")
            request.offers = offers
            var connected: Result<WebSocketConnection, WebSocketConnectError>?
            WebSocketClient.connect(to: endpoint, request, on: bench.client, configure: configure) {
                connected = $0
            }
            #expect(bench.run { connected != nil && accepted != nil })
            self.bench = bench
            self.server = server
            client = try #require(connected).get()
            board = try #require(accepted)
        }

        func finish() {
            client.abort()
            board.abort()
            server.close()
            bench.finish()
        }
    }

    @Test(arguments: Driver.allCases, [false, true])
    func `messages cross in both directions, compressed or not`(
        driver: Driver, isCompressed: Bool
    ) throws {
        let offers = isCompressed ? [DeflateParameters()] : []
        let talk = try Talk(try driver.makeBench(), offers: offers) { options in
            #expect((options.deflate != nil) == isCompressed)
        }
        var atBoard: [Bytes] = []
        var atClient: [Bytes] = []
        talk.board.onMessage = { opcode, message in
            #expect(opcode == .text)
            atBoard.append(message)
            talk.board.send(.binary, message)
        }
        talk.client.onMessage = { opcode, message in
            #expect(opcode == .binary)
            atClient.append(message)
        }
        let texts = (0..<50).map { String(repeating: "message \($0) ", count: $0 * 20) }
        for text in texts { talk.client.send(text: text) }
        talk.bench.expect("all come back") { atClient.count == 50 }
        #expect(atBoard == texts.map { Bytes($0.utf8) })
        #expect(atClient == atBoard)
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `what is gathered goes out in order at the end of the turn, and before a close`(
        driver: Driver
    ) throws {
        let talk = try Talk(try driver.makeBench())
        talk.client.gathersWrites = true
        var atBoard: [Bytes] = []
        var closing: WebSocketEndpoint.Closing?
        talk.board.onMessage = { _, message in atBoard.append(message) }
        talk.board.onClosed = { closing = $0 }
        // More than is gathered at once.
        let texts = (0..<50).map { String(repeating: "message \($0) ", count: 200) }
        talk.client.send(text: texts[0])
        #expect(talk.client.bufferedBytes > 0)
        talk.bench.expect("it is sent without more to do") { atBoard.count == 1 }
        talk.client.send(text: texts[1])
        talk.client.flush()
        #expect(talk.bench is SimulatedBench || talk.client.bufferedBytes == 0)
        for text in texts.dropFirst(2) { talk.client.send(text: text) }
        talk.client.close()
        talk.bench.expect("the close comes") { closing != nil }
        #expect(atBoard == texts.map { Bytes($0.utf8) })
        #expect(closing?.cause == .peer)
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `bytes go out as they are, and what is wrong with them is answered`(driver: Driver) throws
    {
        let talk = try Talk(try driver.makeBench())
        var closing: WebSocketEndpoint.Closing?
        talk.client.onClosed = { closing = $0 }
        // A reserved bit, which nobody agreed on.
        talk.client.send(raw: [0xa1, 0x80, 0, 0, 0, 0])
        talk.bench.expect("the board ends it") { closing != nil }
        #expect(closing?.payload.code == .protocolError)
        talk.client.send(raw: [0x81])
        talk.finish()
    }

    @Test func `a close is out at once, for whoever ends the loop right after`() throws {
        let talk = try Talk(try Driver.real.makeBench())
        talk.client.gathersWrites = true
        talk.client.send(text: "the last")
        #expect(talk.client.bufferedBytes > 0)
        talk.client.close()
        #expect(talk.client.bufferedBytes == 0)
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `what is gathered is not lost when the connection is dropped`(driver: Driver) throws {
        let talk = try Talk(try driver.makeBench())
        talk.client.gathersWrites = true
        var atBoard: [Bytes] = []
        talk.board.onMessage = { _, message in atBoard.append(message) }
        talk.client.send(text: "the last")
        talk.client.drop()
        talk.bench.expect("it arrives") { atBoard == [Bytes("the last".utf8)] }
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a close is answered and ends TCP on both sides`(driver: Driver) throws {
        let talk = try Talk(try driver.makeBench())
        var atBoard: WebSocketEndpoint.Closing?
        var atClient: WebSocketEndpoint.Closing?
        talk.board.onClosed = { atBoard = $0 }
        talk.client.onClosed = { atClient = $0 }
        talk.client.close(.goingAway, "bye")
        talk.bench.expect("both know") { atBoard != nil && atClient != nil }
        #expect(atBoard?.cause == .peer)
        #expect(atBoard?.payload.code == .goingAway)
        #expect(atBoard?.payload.reason == "bye")
        #expect(atClient?.cause == .own)
        #expect(!talk.client.isOpen && !talk.board.isOpen)
        talk.bench.settle()
        #expect(talk.client.streamEnd == .fin)
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a connection that breaks off is lost, and says how TCP ended`(driver: Driver) throws {
        let talk = try Talk(try driver.makeBench())
        var atBoard: WebSocketEndpoint.Closing?
        talk.board.onClosed = { atBoard = $0 }
        talk.client.abort()
        talk.bench.expect("the board knows") { atBoard != nil }
        #expect(atBoard?.cause == .lost)
        guard case .reset? = talk.board.streamEnd else {
            Issue.record("TCP ended with \(String(describing: talk.board.streamEnd))")
            return
        }
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `messages arrive whole however they are delivered`(driver: Driver) throws {
        let talk = try Talk(try driver.makeBench())
        var messages: [Bytes] = []
        talk.board.onMessage = { _, message in messages.append(message) }
        talk.client.delivery = .segments(of: 3)
        talk.client.send(text: "in segments")
        talk.client.send(text: "and another")
        talk.bench.expect("both arrive") { messages.count == 2 }
        talk.client.delivery = .held
        talk.client.send(text: "held back")
        talk.client.send(text: "as well")
        talk.bench.settle()
        #expect(messages.count == 2)
        talk.client.delivery = .atOnce
        talk.bench.expect("what was held back arrives") { messages.count == 4 }
        // What still waits goes out before the end.
        talk.client.delivery = .segments(of: 1)
        talk.client.send(text: "last words")
        talk.client.drop()
        talk.bench.expect("nothing is lost") { messages.count == 5 }
        #expect(
            messages.map { String(decoding: $0, as: UTF8.self) } == [
                "in segments", "and another", "held back", "as well", "last words",
            ])
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `frames glued to the handshake are not lost`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let server = HTTPServer(on: bench.server)
        var messages: [Bytes] = []
        server.onRequest = { exchange in
            let connection = exchange.upgradeToWebSocket()
            connection?.onMessage = { _, message in messages.append(message) }
        }
        let address = try server.listen(on: bench.serverAddress)
        var witness: Witness?
        bench.client.connect(to: address, options: ConnectOptions()) { result in
            guard case .success(let stream) = result else { return }
            witness = Witness(stream)
            var bytes = Bytes()
            WebSocketHandshake.request(
                target: "/ws", host: "x", key: WebSocketHandshake.key(from: noise(16))
            ).encode(into: &bytes)
            for text in ["one", "two"] {
                Frame(
                    opcode: .text, maskingKey: MaskingKey(rawValue: 0x1234_5678),
                    payload: Bytes(text.utf8)
                ).encode(into: &bytes)
            }
            stream.write(bytes)
        }
        bench.expect("both arrive") { messages.count == 2 }
        #expect(messages == [Bytes("one".utf8), Bytes("two".utf8)])
        witness?.stream.close()
        server.close()
        bench.settle()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a paused owner gets no message, and loses none`(driver: Driver) throws {
        let talk = try Talk(try driver.makeBench())
        var count = 0
        talk.board.onMessage = { _, _ in
            count += 1
            if count == 3 { talk.board.pause() }
        }
        for _ in 0..<10 { talk.client.send(text: "x") }
        talk.bench.settle()
        #expect(count == 3)
        talk.board.resume()
        talk.bench.expect("the rest comes") { count == 10 }
        talk.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a peer that pings and never reads does not grow the other`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let server = HTTPServer(on: bench.server)
        var board: WebSocketConnection?
        server.onRequest = { exchange in
            board = exchange.upgradeToWebSocket()
            board?.maximumBuffered = 10_000
        }
        let address = try server.listen(on: bench.serverAddress)
        var options = ConnectOptions()
        options.stream.receiveBuffer = 8192
        var client: (any TCPStream)?
        var ping = Bytes()
        Frame(
            opcode: .ping, maskingKey: MaskingKey(rawValue: 1), payload: noise(125)
        ).encode(into: &ping)
        let flood = Bytes((0..<500).map { _ in ping }.joined())
        bench.client.connect(to: address, options: options) { result in
            guard case .success(let stream) = result else { return }
            client = stream
            var bytes = Bytes()
            WebSocketHandshake.request(
                target: "/ws", host: "x", key: WebSocketHandshake.key(from: noise(16))
            ).encode(into: &bytes)
            stream.write(bytes)
            func write() {
                while stream.bufferedBytes < 1 << 20 { stream.write(flood) }
            }
            stream.onDrain = { write() }
            write()
        }
        for _ in 0..<10 { bench.settle() }
        let buffered = try #require(board).bufferedBytes
        // What one read brought may still be answered when the limit is reached.
        #expect(buffered <= 10_000 + 127)
        client?.abort()
        server.close()
        bench.settle()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a server that does not upgrade is quoted`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let (server, endpoint) = try echoServer(bench)
        var result: Result<WebSocketConnection, WebSocketConnectError>?
        WebSocketClient.connect(to: endpoint, WebSocketRequest(target: "/ws"), on: bench.client) {
            result = $0
        }
        bench.expect("it is refused") { result != nil }
        guard case .failure(.refused(let message))? = result else {
            Issue.record("it ended otherwise")
            return
        }
        #expect(message.head.status == 200)
        server.close()
        bench.finish()
    }
}
