import Testing
import Wire

@Suite struct HTTPClientMachineTests {
    typealias Action = HTTPClientMachine.Action
    private let get = HTTPMessage.request("GET", "/", host: "a")

    private func send(_ text: String) -> Action { .send(wire(text)) }

    private func response(
        _ status: Int, _ reason: String, _ fieldLines: [(String, String)], _ body: String = "",
        version: String = "1.1"
    ) -> Action {
        .response(
            HTTPMessage(
                head: HTTPHead(
                    startLine: .status(code: status, reason: reason), version: version,
                    fieldLines: fieldLines.map { FieldLine($0.0, $0.1) }),
                body: Bytes(body.utf8)))
    }

    @Test func `requests and responses alternate on a kept connection`() {
        var machine = HTTPClientMachine()
        for time in [Int64(0), 100] {
            #expect(machine.canSend)
            #expect(machine.deadline == nil)
            #expect(
                machine.send(get, timeout: 50, now: time) == [send("GET / HTTP/1.1\nHost: a\n\n")])
            #expect(!machine.canSend)
            #expect(machine.deadline == time + 50)
            #expect(
                machine.receive(wire("HTTP/1.1 200 OK\nContent-Length: 2\n\nh").span, now: time)
                    == [])
            #expect(
                machine.receive(wire("i").span, now: time)
                    == [response(200, "OK", [("Content-Length", "2")], "hi")])
        }
        #expect(machine.peerEnded(now: 200) == [.close])
        #expect(!machine.canSend)
    }

    @Test func `a response to HEAD has no body`() {
        var machine = HTTPClientMachine()
        _ = machine.send(.request("HEAD", "/", host: "a"), timeout: 50, now: 0)
        #expect(
            machine.receive(wire("HTTP/1.1 200 OK\nContent-Length: 2\n\n").span, now: 0)
                == [response(200, "OK", [("Content-Length", "2")])])
        #expect(machine.canSend)
    }

    @Test func `a body that waits for a 100 goes out with it`() {
        var machine = HTTPClientMachine()
        let put = HTTPMessage.request(
            "PUT", "/", host: "a", fieldLines: [FieldLine("Expect", "100-continue")], body: [0x61])
        #expect(
            machine.send(put, timeout: 5_000_000_000, now: 0)
                == [send("PUT / HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 1\n\n")])
        #expect(machine.deadline == 1_000_000_000)
        let interim = HTTPHead(startLine: .status(code: 100, reason: "Continue"))
        #expect(
            machine.receive(wire("HTTP/1.1 100 Continue\n\n").span, now: 1)
                == [.interim(interim), send("a")])
        #expect(machine.deadline == 5_000_000_000)
        #expect(
            machine.receive(wire("HTTP/1.1 204 \n\n").span, now: 1) == [response(204, "", [])])
        #expect(machine.canSend)
    }

    @Test func `a body is not held back for ever`() {
        var machine = HTTPClientMachine()
        let put = HTTPMessage.request(
            "PUT", "/", host: "a", fieldLines: [FieldLine("Expect", "100-continue")], body: [0x61])
        _ = machine.send(put, timeout: 5_000_000_000, now: 0)
        #expect(machine.deadlineReached(now: 999_999_999) == [])
        #expect(machine.deadlineReached(now: 1_000_000_000) == [send("a")])
        #expect(machine.deadline == 5_000_000_000)
        #expect(machine.deadlineReached(now: 5_000_000_000) == [.failed(.timeout), .close])
    }

    @Test func `an answer before the body ends the connection`() {
        var machine = HTTPClientMachine()
        let put = HTTPMessage.request(
            "PUT", "/", host: "a", fieldLines: [FieldLine("Expect", "100-continue")], body: [0x61])
        _ = machine.send(put, timeout: 50, now: 0)
        #expect(
            machine.receive(wire("HTTP/1.1 417 No\nContent-Length: 0\n\n").span, now: 1)
                == [response(417, "No", [("Content-Length", "0")]), .close])
    }

    @Test(arguments: [
        ("nothing", "", HTTPClientError.closed(isWithinResponse: false)),
        ("a cut head", "HTTP/1.1 20", .closed(isWithinResponse: true)),
        (
            "a cut body", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhell",
            .closed(isWithinResponse: true)
        ),
        (
            "cut chunks", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\nhell\n",
            .closed(isWithinResponse: true)
        ),
    ])
    func `a response cut short is a failure and never a response`(
        _ id: String, _ text: String, _ error: HTTPClientError
    ) {
        var machine = HTTPClientMachine()
        _ = machine.send(get, timeout: 50, now: 0)
        #expect(machine.receive(wire(text).span, now: 1) == [])
        #expect(machine.peerEnded(now: 2) == [.failed(error), .close])
        #expect(machine.deadline == nil)
    }

    @Test func `a response until the close is whole at the close`() {
        var machine = HTTPClientMachine()
        _ = machine.send(get, timeout: 50, now: 0)
        #expect(machine.receive(wire("HTTP/1.0 200 OK\n\nhi").span, now: 1) == [])
        #expect(
            machine.peerEnded(now: 2) == [response(200, "OK", [], "hi", version: "1.0"), .close])
    }

    @Test func `a server that closes is not asked again`() {
        var machine = HTTPClientMachine()
        _ = machine.send(get, timeout: 50, now: 0)
        let fields = [("Content-Length", "0"), ("Connection", "close")]
        #expect(
            machine.receive(
                wire("HTTP/1.1 200 OK\nContent-Length: 0\nConnection: close\n\n").span, now: 1)
                == [response(200, "OK", fields), .close])
        #expect(!machine.canSend)
    }

    @Test(arguments: [
        ("garbage", "{}", HTTPClientError.notHTTP(why: "JSON without an HTTP response")),
        ("a switch", "HTTP/1.1 101 x\nUpgrade: websocket\n\n", .unexpectedSwitch),
        ("too much", "HTTP/1.1 200 OK\n\n123456", .tooLarge(limit: 5)),
    ])
    func `what is no answer to the request is a failure`(
        _ id: String, _ text: String, _ error: HTTPClientError
    ) {
        var limits = HTTPClientMachine.Limits()
        limits.maximumBody = 5
        var machine = HTTPClientMachine(limits: limits)
        _ = machine.send(get, timeout: 50, now: 0)
        #expect(machine.receive(wire(text).span, now: 1) == [.failed(error), .close])
        #expect(machine.receive(wire(text).span, now: 1) == [])
    }

    @Test func `bytes that nobody asked for end the connection`() {
        var machine = HTTPClientMachine()
        #expect(machine.receive(wire("H").span, now: 0) == [.failed(.unsolicited), .close])
        var other = HTTPClientMachine()
        _ = other.send(get, timeout: 50, now: 0)
        #expect(
            other.receive(wire("HTTP/1.1 204 \n\nHTTP/1.1 204 \n\n").span, now: 0)
                == [response(204, "", []), .failed(.unsolicited), .close])
    }

    @Test func `a switch hands over the bytes behind it`() {
        var machine = HTTPClientMachine()
        let upgrade = HTTPMessage.request(
            "GET", "/", host: "a",
            fieldLines: [FieldLine("Upgrade", "websocket"), FieldLine("Connection", "Upgrade")])
        _ = machine.send(upgrade, timeout: 50, now: 0)
        let head = HTTPHead(
            startLine: .status(code: 101, reason: "x"),
            fieldLines: [FieldLine("Upgrade", "websocket")])
        let bytes = wire("HTTP/1.1 101 x\nUpgrade: websocket\n\n") + [0x81, 0]
        #expect(machine.receive(bytes.span, now: 1) == [.switched(head, [0x81, 0])])
        #expect(machine.deadline == nil)
        #expect(!machine.canSend)
    }

    @Test func `client and server speak to each other, however their bytes are cut`() {
        var random = HTTPTestRandom(seed: 77)
        var server = HTTPServerMachine(now: 0)
        var client = HTTPClientMachine()
        for round in 0..<200 {
            let body = Bytes(
                repeating: 0x61, count: Int.random(in: 0...5_000, using: &random))
            let isChunked = Bool.random(using: &random)
            let request = HTTPMessage.request(
                "POST", "/\(round)", host: "a",
                fieldLines: isChunked ? [FieldLine("Transfer-Encoding", "chunked")] : [],
                body: body)
            var toServer = Bytes()
            for case .send(let bytes) in client.send(request, timeout: 50, now: 0) {
                toServer += bytes
            }
            var answered: HTTPMessage?
            for part in cut(toServer, &random) {
                for case .request(let message) in server.receive(part.span, now: 0) {
                    #expect(message.body == body)
                    for case .send(let bytes) in server.respond(
                        .response(200, body: message.body), now: 0)
                    {
                        for part in cut(bytes, &random) {
                            for case .response(let message) in client.receive(part.span, now: 0) {
                                answered = message
                            }
                        }
                    }
                }
            }
            #expect(answered?.body == body)
        }
        #expect(client.canSend)
    }

    private func cut(_ bytes: Bytes, _ random: inout HTTPTestRandom) -> [Bytes] {
        var parts: [Bytes] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...1_500, using: &random)
            parts.append(Bytes(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return parts
    }
}
