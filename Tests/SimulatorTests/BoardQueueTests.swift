import Simulator
import Testing
import Wire

@Suite struct BoardQueueTests {
    private let read = #"{"id":"q1","type":"clipboard_read","timeout_ms":5000}"#

    @Test func `a command goes from the queue to the phone and its result back`() {
        var bench = BoardBench()
        let queued = bench.enqueue(read)
        #expect(queued.status == 202)
        #expect(
            queued.text
                == #"{"command_id":"q1","status":"queued","queued_at":"2026-06-10T03:20:05Z"}"#
                + "\n")
        #expect(queued.fieldLines.first("Content-Type") == "application/json")
        #expect(bench.status(of: "q1") == "queued")
        let poll = bench.get("/api/phone-bridge/commands?platform=ios&app_state=active")
        #expect(
            poll.text
                == #"{"commands":[{"id":"q1","type":"clipboard_read","timeout_ms":5000}],"#
                + #""server_time":"2026-06-10T03:20:05Z"}"# + "\n")
        #expect(bench.status(of: "q1") == "in_flight")
        #expect(bench.poll().isEmpty)
        let result = bench.post("/api/phone-bridge/results", #"{"data":{"text":"x"},"id":"q1"}"#)
        #expect(result.text == #"{"status":"acknowledged"}"# + "\n")
        #expect(
            bench.get("/api/phone-bridge/results/q1").text
                == #"{"command_id":"q1","status":"completed","result":{"id":"q1","#
                + #""data":{"text":"x"}},"completed_at":"2026-06-10T03:20:05Z"}"# + "\n")
    }

    @Test func `an empty poll is null`() {
        var bench = BoardBench()
        #expect(
            bench.get("/api/phone-bridge/commands?platform=ios").text
                == #"{"commands":null,"server_time":"2026-06-10T03:20:05Z"}"# + "\n")
    }

    @Test func `field names are matched without case, unknown ones ignored, order is the board's`()
    {
        var bench = BoardBench()
        let answer = bench.post(
            "/api/phone-bridge/commands",
            #"{"COMMAND":{"Payload":{"b":1,"a":"<"},"ID":"q","Type":"t","x":1,"Timeout_MS":5e3}}"#)
        #expect(answer.status == 202)
        #expect(
            bench.get("/api/phone-bridge/commands?platform=ios").text.hasPrefix(
                #"{"commands":[{"id":"q","type":"t","timeout_ms":5000,"#
                    + #""payload":{"b":1,"a":"\u003c"}}],"#))
    }

    @Test func `an id that is queued, in flight or kept is refused`() {
        var bench = BoardBench()
        #expect(bench.enqueue(read).status == 202)
        let refusal = bench.enqueue(read)
        #expect(refusal.status == 409)
        #expect(
            refusal.text
                == #"{"error":"command q1 already exists: phone bridge command already exists"}"#
                + "\n")
        _ = bench.poll()
        #expect(bench.enqueue(read).status == 409)
        #expect(bench.post("/api/phone-bridge/results", #"{"id":"q1"}"#).status == 200)
        #expect(bench.enqueue(read).status == 409)
        bench.wait(181)
        #expect(bench.enqueue(read).status == 202)
    }

    @Test func `only the first result counts`() {
        var bench = BoardBench()
        _ = bench.enqueue(read)
        _ = bench.poll()
        #expect(bench.post("/api/phone-bridge/results", #"{"id":"q1","data":1}"#).status == 200)
        let second = bench.post("/api/phone-bridge/results", #"{"id":"q1","data":2}"#)
        #expect(second.status == 404)
        #expect(second.text == #"{"error":"command q1 not found"}"# + "\n")
        #expect(bench.get("/api/phone-bridge/results/q1").json["result"]?["data"] == 1)
    }

    @Test func `a result before the first poll is taken, as observed`() {
        var bench = BoardBench()
        _ = bench.enqueue(read)
        #expect(bench.post("/api/phone-bridge/results", #"{"id":"q1"}"#).status == 200)
        #expect(bench.poll().isEmpty)
    }

    @Test func `a queued command lives five minutes and up to a sweep more`() {
        var bench = BoardBench()
        _ = bench.enqueue(read)
        bench.wait(300)
        #expect(bench.status(of: "q1") == "queued")
        bench.wait(61)
        #expect(bench.status(of: "q1") == "expired")
    }

    @Test func `a command without result comes back three times and is then dropped`() {
        var bench = BoardBench()
        _ = bench.enqueue(read)
        var handedOut = 0
        var gaps: [Double] = []
        var last = 0.0
        for second in 0..<400 {
            if bench.poll() == ["q1"] {
                handedOut += 1
                if handedOut > 1 { gaps.append(Double(second) - last) }
                last = Double(second)
            }
            bench.wait(1)
        }
        #expect(handedOut == 4)
        #expect(gaps.allSatisfy { $0 > 30 && $0 <= 91 })
        #expect(bench.status(of: "q1") == "expired")
    }

    @Test func `a result that was kept for two minutes is gone`() {
        var bench = BoardBench()
        _ = bench.enqueue(read)
        _ = bench.post("/api/phone-bridge/results", #"{"id":"q1"}"#)
        bench.wait(119)
        #expect(bench.status(of: "q1") == "completed")
        bench.wait(62)
        #expect(bench.status(of: "q1") == "expired")
    }

    @Test(arguments: [
        ("1", 1), ("50", 50), ("10", 10), ("", 10), ("0", 10), ("-1", 10), ("51", 10),
        ("99999999999999999999", 10), ("ten", 10), ("1.0", 10),
    ])
    func `a poll takes as many as its limit, and other limits count as ten`(
        limit: String, count: Int
    ) {
        var bench = BoardBench()
        for index in 0..<60 { _ = bench.enqueue("{\"id\":\"c\(index)\",\"type\":\"t\"}") }
        let ids = bench.poll("platform=ios&limit=\(limit)")
        #expect(ids == (0..<count).map { "c\($0)" }, "oldest first")
    }

    @Test func `many polls together get everything once`() {
        var bench = BoardBench()
        for index in 0..<1000 { #expect(bench.enqueue("{\"id\":\"c\(index)\"}").status == 202) }
        var ids: [String] = []
        while true {
            let more = bench.poll("platform=ios&limit=7")
            if more.isEmpty { break }
            ids += more
        }
        #expect(ids == (0..<1000).map { "c\($0)" })
    }

    @Test func `a command with a phone_id goes to that phone only`() {
        var bench = BoardBench()
        _ = bench.enqueue(#"{"id":"any","type":"t"}"#)
        _ = bench.enqueue(#"{"id":"a","type":"t","phone_id":"A"}"#)
        _ = bench.enqueue(#"{"id":"b","type":"t","phone_id":"B"}"#)
        #expect(bench.poll("platform=ios&phone_id=a") == ["any"])
        #expect(bench.poll("platform=ios&phone_id=A") == ["a"])
        #expect(bench.poll("platform=ios") == [])
        #expect(bench.poll("platform=ios&phone_id=B%20") == [])
        #expect(bench.poll("platform=ios&phone_id=B") == ["b"])
    }

    @Test func `a command without phone_id gets the one last known`() {
        var bench = BoardBench()
        _ = bench.poll("platform=ios&phone_id=A")
        _ = bench.enqueue(#"{"id":"c","type":"t"}"#)
        #expect(bench.poll("platform=ios&phone_id=B") == [])
        #expect(bench.poll("platform=ios&phone_id=A") == ["c"])
    }

    @Test func `ids differ by their bytes alone`() {
        let ids = [
            "x", "X", "x ", " x", "x1", "\u{e9}", "e\u{301}", "\u{fffd}", "x\u{0}",
            String(repeating: "k", count: 65_536), "\"q\"", "\u{212a}", "K",
        ]
        var bench = BoardBench()
        for id in ids {
            let command = JSON.object([JSON.Member("id", .string(id))])
            #expect(bench.enqueue("\(command)").status == 202)
        }
        #expect(bench.poll("platform=ios&limit=50").count == ids.count)
        let result = JSON.object([JSON.Member("id", "e\u{301}")])
        #expect(bench.post("/api/phone-bridge/results", "\(result)").status == 200)
        #expect(bench.status(of: "%C3%A9") == "in_flight")
        #expect(bench.status(of: "e%CC%81") == "completed")
    }

    @Test func `reserved ids are refused`() {
        var bench = BoardBench()
        for id in ["heartbeat", "ping", "phone_environment", "phone_app_state"] {
            #expect(bench.enqueue("{\"id\":\"\(id)\"}").status == 400)
        }
    }

    @Test func `a phone that only a BLE wake reaches gets a refusal for what BLE does not carry`() {
        var bench = BoardBench { $0.isBLEWakeAvailable = true }
        _ = bench.poll("platform=iOS&phone_id=p&app_state=background&pip_bridge_enabled=false")
        let refusal = bench.enqueue(#"{"id":"c","type":"clipboard_read"}"#)
        #expect(refusal.status == 409)
        #expect(refusal.fieldLines.first("Content-Type") == "application/json")
        #expect(refusal.json["tool_error"]?["category"] == "user_action_required")
        #expect(refusal.json["tool_error"]?["code"] == "app_backgrounded")
        #expect(
            refusal.json["tool_error"]?["details"]
                == json(#"{"command_type":"clipboard_read","transport":"ios_ble_wake"}"#))
        #expect(bench.enqueue(#"{"id":"d","type":"calendar_query"}"#).status == 202)
        _ = bench.poll("platform=ios&app_state=background&pip_bridge_enabled=true")
        #expect(bench.enqueue(#"{"id":"c","type":"clipboard_read"}"#).status == 202)
        bench.wait(16)
        #expect(
            bench.enqueue(#"{"id":"e","type":"clipboard_read"}"#).status == 409,
            "PiP was reported too long ago")
    }

    @Test func `a full queue says so and forgets nothing`() {
        var bench = BoardBench { $0.maximumQueueCount = 2 }
        #expect(bench.enqueue(#"{"id":"a"}"#).status == 202)
        #expect(bench.enqueue(#"{"id":"b"}"#).status == 202)
        #expect(bench.enqueue(#"{"id":"c"}"#).status == 503)
        #expect(bench.poll() == ["a", "b"])
    }

    @Test func `all durations shrink with the time scale`() {
        var bench = BoardBench { $0.timeScale = TimeScale(100) }
        _ = bench.enqueue(read)
        bench.wait(3)
        #expect(bench.status(of: "q1") == "queued")
        bench.wait(0.7)
        #expect(bench.status(of: "q1") == "expired")
    }
}
