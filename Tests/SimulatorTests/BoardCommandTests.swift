import Simulator
import Testing
import Wire

@Suite struct BoardCommandTests {
    @Test func `a command goes out in order with the phone's id, and its answer comes back`() {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(
            #"{"timeout_ms":10000,"url":"https://a/?b&c","type":"open_app","id":"o1"}"#)
        #expect(
            bench.sent == [
                #"{"id":"o1","type":"open_app","phone_id":"phone-a1","#
                    + #""url":"https://a/?b\u0026c","timeout_ms":10000}"#
            ])
        #expect(bench.outcome(exchange) == nil)
        bench.say(#"{"id":"o1","method":"open_url"}"#, on: link)
        let answer = bench.answer(to: exchange)
        #expect(answer?.status == 200)
        #expect(answer?.text == #"{"id":"o1","method":"open_url"}"# + "\n")
    }

    @Test func `without a phone the board's own error comes at once`() {
        var bench = BoardBench()
        let exchange = bench.command(#"{"id":"c","type":"t"}"#)
        let outcome = bench.outcome(exchange)
        #expect(outcome?["id"] == "c")
        #expect(outcome?["error"]?["category"] == "precondition_failed")
        #expect(outcome?["error"]?["code"] == "bridge_not_connected")
    }

    @Test(arguments: [
        ("", 5.0), (#","timeout_ms":300"#, 0.3), (#","timeout_ms":0"#, 5),
        (#","timeout_ms":-7"#, 5), (#","timeout_ms":5000.0"#, 5), (#","timeout_ms":2e3"#, 2),
        (#","timeout_ms":9007199254740993"#, 3600), (#","timeout_ms":null"#, 5),
    ])
    func `a silent phone costs timeout_ms, or five seconds`(field: String, wait: Double) {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command("{\"id\":\"c\",\"type\":\"t\"\(field)}")
        var left = wait - 0.001
        while left > 0 {
            // Heartbeats flow and do not lengthen the wait.
            bench.wait(min(left, 5))
            bench.say(#"{"id":"heartbeat"}"#, on: link)
            left -= 5
        }
        #expect(bench.outcome(exchange) == nil)
        bench.wait(0.002)
        #expect(bench.outcome(exchange)?["error"]?["category"] == "transient")
        #expect(bench.outcome(exchange)?["error"]?["code"] == "bridge_timeout")
    }

    @Test func `numbers that are no times are refused`() {
        var bench = BoardBench()
        bench.connect()
        for number in ["1e400", "\"5000\"", "1.5", "{}", "true"] {
            let body = "{\"id\":\"c\",\"type\":\"t\",\"timeout_ms\":\(number)}"
            #expect(bench.post("/simulate/command", body).status == 400)
        }
        #expect(bench.sent == [])
    }

    @Test func `the first answer counts, late and unknown ones are dropped without a word`() {
        var bench = BoardBench()
        let link = bench.connect()
        let late = bench.command(#"{"id":"late","type":"clipboard_read","timeout_ms":300}"#)
        let twice = bench.command(#"{"id":"twice","type":"clipboard_read","timeout_ms":1000}"#)
        bench.say(#"{"id":"twice","data":{"text":"first"}}"#, on: link)
        bench.say(#"{"id":"twice","data":{"text":"second"}}"#, on: link)
        bench.wait(0.7)
        #expect(bench.say(#"{"id":"late","data":{"text":"too late"}}"#, on: link) == [])
        #expect(bench.say(#"{"id":"never","method":"x"}"#, on: link) == [])
        #expect(bench.outcome(twice)?["data"]?["text"] == "first")
        #expect(bench.outcome(late)?["error"]?["code"] == "bridge_timeout")
    }

    @Test func `answers in any order each end their own command`() {
        var bench = BoardBench()
        let link = bench.connect()
        let exchanges = (0..<20).map { bench.command("{\"id\":\"x_\($0)\",\"type\":\"t\"}") }
        for index in (0..<20).reversed() {
            bench.say("{\"id\":\"x_\(index)\",\"data\":\(index)}", on: link)
        }
        for (index, exchange) in exchanges.enumerated() {
            #expect(bench.outcome(exchange)?["data"] == .integer(index))
        }
    }

    @Test func `an id in flight collides, a reserved one is refused`() {
        var bench = BoardBench()
        bench.connect()
        _ = bench.command(#"{"id":"c","type":"t"}"#)
        let collision = bench.command(#"{"id":"c","type":"t"}"#)
        let second = bench.outcome(collision)
        #expect(second?["error"]?["category"] == "internal")
        #expect(second?["error"]?["code"] == "command_id_collision")
        #expect(second?["error"]?["details"]?["command_id"] == "c")
        for id in ["heartbeat", "ping", "phone_environment", "phone_app_state"] {
            let refused = bench.command("{\"id\":\"\(id)\",\"type\":\"t\"}")
            #expect(bench.outcome(refused)?["error"]?["code"] == "invalid_arguments")
        }
        #expect(bench.sent.count == 1)
    }

    @Test(arguments: [true, false])
    func `a link that ends takes its commands with it`(cleanly: Bool) {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(#"{"id":"c","type":"t","timeout_ms":60000}"#)
        bench.end(link, cleanly: cleanly)
        #expect(bench.outcome(exchange)?["error"]?["code"] == "bridge_connection_closed")
    }

    @Test func `an error is passed on whole, and wins over data`() {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(#"{"id":"c","type":"t"}"#)
        let error = #"{"category":"odd","code":"new","message":"m","details":{"n":1},"more":[]}"#
        bench.say("{\"id\":\"c\",\"ok\":true,\"data\":{},\"error\":\(error)}", on: link)
        #expect(bench.outcome(exchange)?["error"] == json(error))
    }

    @Test(arguments: [#""text""#, "null", "5", "[]", #"{"code":5}"#, #"{"details":"x"}"#])
    func `an error of a wrong type is no success`(error: String) {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(#"{"id":"c","type":"t"}"#)
        bench.say("{\"id\":\"c\",\"error\":\(error)}", on: link)
        #expect(bench.outcome(exchange) == nil)
        bench.wait(5)
        #expect(bench.outcome(exchange)?["error"]?["code"] == "bridge_timeout")
    }

    @Test func `an empty error is a failure too`() {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(#"{"id":"c","type":"t"}"#)
        bench.say(#"{"id":"c","error":{}}"#, on: link)
        #expect(bench.outcome(exchange)?["error"] == .object([]))
    }

    @Test func `an event never acknowledges, and an answer may be called like one`() {
        var bench = BoardBench()
        let link = bench.connect()
        let exchange = bench.command(#"{"id":"c","type":"t"}"#)
        bench.say(#"{"id":"phone_app_state","data":{"app_state":"active"}}"#, on: link)
        bench.say(#"{"id":"phone_environment","data":{}}"#, on: link)
        #expect(bench.outcome(exchange) == nil)
        bench.say(#"{"id":"c","method":"phone_app_state","data":{"text":"x"}}"#, on: link)
        #expect(bench.outcome(exchange)?["data"]?["text"] == "x")
    }

    @Test func `the script's commands end in an action`() {
        var bench = BoardBench()
        let link = bench.connect()
        let sent = bench.board.issue(
            BridgeCommand(id: "s", type: "clipboard_read"), step: 7, at: bench.now)
        #expect(sent.count == 1)
        let ended = bench.board.receive(
            message: Bytes(#"{"id":"s","data":{"text":""}}"#.utf8), on: link, at: bench.now)
        guard case .commandEnded(step: 7, let response)? = ended.first else {
            Issue.record("no end")
            return
        }
        #expect(response.data?["text"] == "")
    }
}
