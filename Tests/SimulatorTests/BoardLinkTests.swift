import Simulator
import Testing
import Wire

@Suite struct BoardLinkTests {
    private static let environment = """
        {"id":"phone_environment","method":"phone_environment","data":{"captured_at":\
        "2026-06-10T03:20:00Z","source":"aiden-app","system_name":"iOS","is_tablet":false,\
        "utc_offset_minutes":480.0,"screen":{"width":393,"scale":3},"battery":{},\
        "system_apps":[{"name":"Camera","available":true,"unknown":1}],"unknown":1}}
        """

    @Test(arguments: [
        (#"{"id": "heartbeat"}"#, #"{"id":"heartbeat"}"#),
        (#"{"id":"ping"}"#, #"{"id":"ping"}"#),
        (
            #"{"x":1,"data":{"b":"<"},"error":{"code":"c"},"method":"m","ID":"heartbeat"}"#,
            #"{"id":"heartbeat","method":"m","error":{"code":"c"},"data":{"b":"\u003c"}}"#
        ),
    ])
    func `a heartbeat is echoed, rewritten in the board's order`(message: String, echo: String) {
        var bench = BoardBench()
        let link = bench.connect()
        #expect(bench.say(message, on: link) == [echo])
    }

    @Test(arguments: [
        "", "x", "[]", "5", "{}", #"{"id":5}"#, #"{"id":null}"#, #"{"id":"heartbeat","method":1}"#,
        #"{"id":"heartbeat","error":"x"}"#, #"{"id":"heartbeat"} {}"#, #"{"id":"Heartbeat"}"#,
        #"{"id":"heartbeat "}"#, #"{"id":"never-sent","data":{}}"#, "\u{feff}{\"id\":\"ping\"}",
        String(repeating: "[", count: 100_000),
    ])
    func `what is no message is ignored and the link lives on`(message: String) {
        var bench = BoardBench()
        let link = bench.connect()
        #expect(bench.say(message, on: link) == [])
        #expect(bench.say(#"{"id":"ping"}"#, on: link) == [#"{"id":"ping"}"#])
    }

    @Test func `an environment is kept by its known fields until the link ends`() {
        var bench = BoardBench()
        let link = bench.connect()
        #expect(bench.say(Self.environment, on: link) == [])
        let status = bench.statusDocument
        #expect(
            status["environment"]
                == json(
                    """
                    {"captured_at":"2026-06-10T03:20:00Z","source":"aiden-app","platform":"ios",\
                    "system_name":"iOS","is_tablet":false,"utc_offset_minutes":480,\
                    "screen":{"width":393,"scale":3},"battery":{},\
                    "system_apps":[{"name":"Camera","available":true}]}
                    """))
        #expect(status["environment_updated_at"] == "2026-06-10T03:20:05Z")
        bench.end(link)
        #expect(bench.statusDocument["environment"] == nil)
    }

    @Test func `a wrong type refuses an environment whole and leaves the old one`() {
        var bench = BoardBench()
        let link = bench.connect()
        bench.say(Self.environment, on: link)
        let before = bench.statusDocument["environment"]
        for data in [
            #"{"system_name":5}"#, #"{"screen":{"width":"393"}}"#, #"{"system_apps":[5]}"#,
            #"{"is_tablet":"no"}"#, #"{"utc_offset_minutes":1.5}"#, "[]", "5", "null",
        ] {
            bench.say("{\"id\":\"phone_environment\",\"data\":\(data)}", on: link)
            #expect(bench.statusDocument["environment"] == before)
        }
        bench.say(#"{"id":"phone_environment","error":{},"data":{"system_name":"x"}}"#, on: link)
        #expect(bench.statusDocument["environment"] == before)
        #expect(bench.say(#"{"id":"ping"}"#, on: link).count == 1)
    }

    @Test func `an app state keeps the phone's own time and stays after the link`() {
        var bench = BoardBench()
        let link = bench.connect()
        bench.say(
            """
            {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"background",\
            "return_entry":"Dynamic_Island","return_entry_available":true,\
            "pip_bridge_enabled":true,"reported_at":"2026-06-10T11:20:05+08:00"}}
            """, on: link)
        bench.end(link)
        #expect(
            bench.get("/api/phone-bridge/status").text
                == """
                {"connected":false,"platform":"ios","app_state":"background",\
                "app_state_updated_at":"2026-06-10T11:20:05+08:00","return_entry":\
                "dynamic_island","return_entry_available":true,"pip_bridge_enabled":true}

                """)
    }

    @Test(arguments: [
        #"{"app_state":"asleep"}"#, #"{"app_state":5}"#, #"{}"#, #"[]"#,
        #"{"app_state":"active","pip_bridge_enabled":"true"}"#,
        #"{"app_state":"active","reported_at":5}"#,
    ])
    func `an app state of unknown name or wrong types changes nothing`(data: String) {
        var bench = BoardBench()
        let link = bench.connect()
        bench.say("{\"id\":\"phone_app_state\",\"data\":\(data)}", on: link)
        #expect(bench.statusDocument["app_state"] == nil)
        #expect(bench.say(#"{"id":"heartbeat"}"#, on: link).count == 1)
    }

    @Test func `events are known by id or method, and liveness is the board's clock`() {
        var bench = BoardBench()
        let link = bench.connect()
        bench.wait(7)
        bench.say(
            #"{"id":"e1","method":"phone_app_state","data":{"app_state":"active","#
                + #""reported_at":"1999-01-01T00:00:00Z"}}"#, on: link)
        let status = bench.statusDocument
        #expect(status["app_state"] == "active")
        #expect(status["app_state_updated_at"] == "1999-01-01T00:00:00Z")
        #expect(status["last_heartbeat_at"] == "2026-06-10T03:20:12Z")
    }

    @Test func `sixty seconds without a heartbeat close the link at the next look`() {
        var bench = BoardBench()
        let link = bench.connect()
        bench.say(Self.environment, on: link)
        let waiting = bench.command(#"{"id":"c","type":"clipboard_read","timeout_ms":600000}"#)
        bench.wait(60)
        #expect(bench.closes == [])
        bench.wait(15)
        #expect(bench.closes == ["\(link.rawValue) 1001 heartbeat timeout"])
        #expect(bench.outcome(waiting)?["error"]?["code"] == "bridge_connection_closed")
        #expect(bench.statusDocument["connected"] == false)
        #expect(bench.statusDocument["environment"] == nil)
    }

    @Test(arguments: [4.0, 20, 59])
    func `beats within sixty seconds keep the link`(interval: Double) {
        var bench = BoardBench()
        let link = bench.connect()
        for _ in 0..<20 {
            bench.wait(interval)
            #expect(bench.say(#"{"id":"heartbeat"}"#, on: link).count == 1)
        }
        #expect(bench.closes == [])
    }

    @Test func `answers are no heartbeats`() {
        var bench = BoardBench()
        let link = bench.connect()
        for _ in 0..<16 {
            bench.wait(5)
            bench.say(#"{"id":"nothing","data":{}}"#, on: link)
        }
        #expect(bench.closes == ["\(link.rawValue) 1001 heartbeat timeout"])
    }

    @Test func `the newest connection wins and the old one is not heard`() {
        var bench = BoardBench()
        let old = bench.connect("?platform=ios&phone_id=A")
        bench.say(Self.environment, on: old)
        let lost = bench.command(#"{"id":"lost","type":"contacts_query"}"#)
        let new = bench.connect("?platform=android&phone_id=B")
        #expect(bench.closes == ["\(old.rawValue) 1001 new connection"])
        #expect(
            bench.outcome(lost)?["error"]?["category"] == "transient")
        #expect(bench.outcome(lost)?["error"]?["code"] == "bridge_connection_closed")
        #expect(bench.statusDocument["environment"] == nil)
        bench.say(#"{"id":"phone_environment","data":{"system_name":"new"}}"#, on: new)
        let next = bench.command(#"{"id":"next","type":"contacts_query"}"#)
        // The old link talks on, answers, and ends late.
        bench.say(Self.environment, on: old)
        #expect(bench.say(#"{"id":"heartbeat"}"#, on: old) == [])
        bench.say(#"{"id":"next","data":{"from":"old"}}"#, on: old)
        bench.end(old)
        #expect(bench.statusDocument["environment"]?["system_name"] == "new")
        #expect(bench.statusDocument["phone_id"] == "B")
        #expect(bench.outcome(next) == nil)
        bench.say(#"{"id":"next","data":{"from":"new"}}"#, on: new)
        #expect(bench.outcome(next)?["data"]?["from"] == "new")
    }

    @Test func `a poll of another phone does not speak for the connected one`() {
        var bench = BoardBench()
        bench.connect("?platform=ios&phone_id=A")
        _ = bench.poll("platform=android&phone_id=B&app_state=background&fgs_bridge_enabled=true")
        let status = bench.statusDocument
        #expect(status["platform"] == "ios")
        #expect(status["phone_id"] == "A")
        #expect(status["app_state"] == nil)
    }
}
