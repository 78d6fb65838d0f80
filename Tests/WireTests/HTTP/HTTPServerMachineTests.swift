import Testing
import Wire

@Suite struct HTTPServerMachineTests {
    typealias Action = HTTPServerMachine.Action
    static let second: Int64 = 1_000_000_000

    private func request(
        _ method: String, _ target: String, _ fieldLines: [(String, String)], _ body: String = ""
    ) -> Action {
        .request(
            HTTPMessage(head: requestHead(method, target, fieldLines), body: Bytes(body.utf8)))
    }

    private func send(_ text: String) -> Action { .send(wire(text)) }

    private func answer(_ actions: [Action]) -> Int? {
        guard actions.count == 2, case .send(let bytes) = actions[0], actions[1] == .close else {
            return nil
        }
        guard case .head(let head, _)? = HTTPReading(bytes, .responses).steps.first,
            !head.keepsAlive
        else { return nil }
        return head.status
    }

    @Test func `requests come out whole, one at a time, and in order`() {
        var machine = HTTPServerMachine(now: 0)
        let first = wire("POST /a HTTP/1.1\nHost: a\nContent-Length: 2\n\nhiGET /b HTTP/1.1\nHost")
        #expect(
            machine.receive(first.span, now: 1)
                == [request("POST", "/a", [("Host", "a"), ("Content-Length", "2")], "hi")])
        #expect(machine.deadline == nil)
        #expect(machine.receive(wire(": b\n\n").span, now: 2) == [])
        #expect(
            machine.respond(.response(200, body: [0x61]), now: 3)
                == [
                    send("HTTP/1.1 200 OK\nContent-Length: 1\n\na"),
                    request("GET", "/b", [("Host", "b")]),
                ])
        #expect(
            machine.respond(.response(404), now: 4)
                == [send("HTTP/1.1 404 Not Found\nContent-Length: 0\n\n")])
        #expect(machine.deadline == 4 + 120 * Self.second)
    }

    @Test func `a request fed byte by byte comes out the same`() {
        let text = wire(
            "POST /a HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2\nhi\n1;x\n!\n0\nA: b\n\n")
        var machine = HTTPServerMachine(now: 0)
        var actions: [Action] = []
        for byte in text { actions += machine.receive([byte].span, now: 1) }
        var expected = HTTPMessage(
            head: requestHead("POST", "/a", [("Host", "a"), ("Transfer-Encoding", "chunked")]),
            body: wire("hi!"))
        expected.trailers = [FieldLine("A", "b")]
        #expect(actions == [.request(expected)])
    }

    @Test func `a client that expects a 100 gets it before the request is whole`() {
        var machine = HTTPServerMachine(now: 0)
        let head = wire("PUT / HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 1\n\n")
        #expect(
            machine.receive(head.span, now: 1) == [send("HTTP/1.1 100 Continue\n\n")])
        #expect(machine.receive(wire("x").span, now: 2).count == 1)
    }

    @Test func `without a body there is nothing to continue`() {
        var machine = HTTPServerMachine(now: 0)
        let head = wire("GET / HTTP/1.1\nHost: a\nExpect: 100-continue\n\n")
        #expect(
            machine.receive(head.span, now: 1)
                == [request("GET", "/", [("Host", "a"), ("Expect", "100-continue")])])
    }

    @Test(arguments: [
        ("no Host", "GET / HTTP/1.1\n\n", 400),
        ("contradictory lengths", "PUT / HTTP/1.1\nHost: a\nContent-Length: 1, 2\n\nab", 400),
        (
            "length and coding",
            "PUT / HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked\n\n0\n\n", 400
        ),
        ("unknown coding", "PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: x, chunked\n\n", 501),
        ("space before the colon", "GET / HTTP/1.1\nHost : a\n\n", 400),
        ("another version", "GET / HTTP/2.0\nHost: a\n\n", 505),
        ("another expectation", "GET / HTTP/1.1\nHost: a\nExpect: tea\n\n", 417),
        ("a body over the limit", "PUT / HTTP/1.1\nHost: a\nContent-Length: 11\n\n", 413),
        (
            "chunks over the limit",
            "PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n9\n123456789\n2\nab\n0\n\n", 413
        ),
        ("a broken chunk", "PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\nx\n", 400),
        (
            "a head over the limit",
            "GET / HTTP/1.1\nHost: a\nA: \(String(repeating: "x", count: 999))\n\n", 431
        ),
        ("TLS", "\u{16}\u{3}\u{1}", 400), ("prose", "hello world\n", 400),
    ])
    func `what a server must refuse is refused and ends the connection`(
        _ id: String, _ text: String, _ status: Int
    ) {
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 10
        limits.http.maximumHeadSize = 512
        var machine = HTTPServerMachine(limits: limits, now: 0)
        #expect(answer(machine.receive(wire(text).span, now: 1)) == status)
        #expect(machine.deadline == nil)
        #expect(!machine.wantsInput)
        #expect(machine.receive(wire("GET / HTTP/1.1\nHost: a\n\n").span, now: 2) == [])
        #expect(machine.respond(.response(200), now: 3) == [])
    }

    @Test func `a head that is not whole in ten seconds ends the connection without a word`() {
        var machine = HTTPServerMachine(now: 5)
        #expect(machine.deadline == 5 + 10 * Self.second)
        _ = machine.receive(wire("GET / HT").span, now: 5 + 9 * Self.second)
        #expect(machine.deadline == 5 + 10 * Self.second)
        #expect(machine.deadlineReached(now: 4 + 10 * Self.second) == [])
        #expect(machine.deadlineReached(now: 5 + 10 * Self.second) == [.close])
    }

    @Test func `a request that is not whole in thirty seconds is answered with 400`() {
        var machine = HTTPServerMachine(now: 0)
        _ = machine.receive(wire("PUT / HTTP/1.1\nHost: a\nContent-Length: 2\n\nx").span, now: 7)
        #expect(machine.deadline == 30 * Self.second)
        #expect(answer(machine.deadlineReached(now: 30 * Self.second)) == 400)
    }

    @Test func `the times of a later request begin with its first byte`() {
        var machine = HTTPServerMachine(now: 0)
        _ = machine.receive(wire("GET / HTTP/1.1\nHost: a\n\n").span, now: 0)
        _ = machine.respond(.response(200), now: Self.second)
        #expect(machine.deadline == 121 * Self.second)
        _ = machine.receive(wire("G").span, now: 100 * Self.second)
        #expect(machine.deadline == 110 * Self.second)
        _ = machine.receive(
            wire("ET / HTTP/1.1\nHost: a\nContent-Length: 1\n\n").span, now: 105 * Self.second)
        #expect(machine.deadline == 130 * Self.second)
    }

    @Test func `an idle connection ends after two minutes`() {
        var machine = HTTPServerMachine(now: 0)
        _ = machine.receive(wire("GET / HTTP/1.1\nHost: a\n\n").span, now: 0)
        _ = machine.respond(.response(200), now: 0)
        #expect(machine.deadlineReached(now: 120 * Self.second) == [.close])
    }

    @Test func `a client that ended its sending still gets its answers`() {
        var machine = HTTPServerMachine(now: 0)
        let two = wire("GET /a HTTP/1.1\nHost: a\n\nGET /b HTTP/1.1\nHost: a\n\n")
        #expect(machine.receive(two.span, now: 0).count == 1)
        #expect(machine.peerEnded(now: 1) == [])
        let next = machine.respond(.response(204), now: 2)
        #expect(next.last == request("GET", "/b", [("Host", "a")]))
        #expect(
            machine.respond(.response(204), now: 3)
                == [send("HTTP/1.1 204 No Content\n\n"), .close])
    }

    @Test func `a request that the client cut short is never acted on`() {
        var machine = HTTPServerMachine(now: 0)
        _ = machine.receive(wire("PUT / HTTP/1.1\nHost: a\nContent-Length: 2\n\nx").span, now: 0)
        #expect(answer(machine.peerEnded(now: 1)) == 400)
        var other = HTTPServerMachine(now: 0)
        _ = other.receive(wire("PUT / HTTP/1.1\n").span, now: 0)
        #expect(other.peerEnded(now: 1) == [.close])
    }

    @Test func `the host is asked to stop reading while enough is waiting`() {
        var limits = HTTPServerMachine.Limits()
        limits.maximumPipelined = 40
        var machine = HTTPServerMachine(limits: limits, now: 0)
        let one = wire("GET /a HTTP/1.1\nHost: a\n\n")
        _ = machine.receive(one.span, now: 0)
        #expect(machine.wantsInput)
        _ = machine.receive((one + one).span, now: 0)
        #expect(!machine.wantsInput)
        _ = machine.respond(.response(204), now: 0)
        #expect(machine.wantsInput)
        _ = machine.respond(.response(204), now: 0)
        #expect(machine.respond(.response(204), now: 0) == [send("HTTP/1.1 204 No Content\n\n")])
    }

    @Test func `bytes behind an upgrade belong to the other protocol`() {
        var machine = HTTPServerMachine(now: 0)
        let upgrade = wire("GET / HTTP/1.1\nHost: a\nUpgrade: websocket\nConnection: upgrade\n\n")
        #expect(machine.receive((upgrade + [0x81]).span, now: 0).count == 1)
        #expect(machine.receive([0x80].span, now: 0) == [])
        let head = HTTPHead(startLine: .status(code: 101, reason: "Switching Protocols"))
        #expect(
            machine.switchProtocols(head)
                == [send("HTTP/1.1 101 Switching Protocols\n\n"), .switched([0x81, 0x80])])
        #expect(machine.deadline == nil)
        #expect(!machine.wantsInput)
    }

    @Test func `an answer of over 2 kB goes in chunks`() {
        for (count, isChunked) in [(2_048, false), (2_049, true)] {
            var machine = HTTPServerMachine(now: 0)
            _ = machine.receive(wire("GET / HTTP/1.1\nHost: a\n\n").span, now: 0)
            let actions = machine.respond(
                .response(200, body: Bytes(repeating: 0x61, count: count)), now: 0)
            guard case .send(let bytes)? = actions.first,
                case .head(_, let framing)? = HTTPReading(bytes, .responses).steps.first
            else {
                Issue.record("no answer")
                continue
            }
            #expect((framing == .chunked) == isChunked)
        }
    }

    @Test func `the machine's own answers can be worded by the host`() {
        var machine = HTTPServerMachine(now: 0) { status, _ in
            .response(status, body: wire("{}"))
        }
        #expect(
            machine.receive(wire("{").span, now: 0) == [
                send("HTTP/1.1 400 Bad Request\nContent-Length: 2\nConnection: close\n\n{}"),
                .close,
            ])
    }
}
