import Capture
import PhoneBridge
import Testing
import Wire

/// The HTTP routes, after the exchanges of a phone that polls with picture in picture.
@Suite struct QueueMeaningTests {
    static let poll =
        "/api/phone-bridge/commands?platform=ios&phone_id=phone-a1&app_state=background"
        + "&pip_bridge_enabled=true&limit=10"

    @Test func `a command goes through the queue`() {
        var talk = Conversation()
        // The tool, on a connection of its own.
        #expect(
            talk.request(
                "POST", "/api/phone-bridge/commands",
                #"{"command": {"id": "c1", "type": "clipboard_read", "timeout_ms": 5000}}"#, at: 0,
                conn: 2) == [#"{"kind":"enqueue","id":"c1","peer":"tool"}"#])
        #expect(
            talk.response(
                202, #"{"command_id":"c1","status":"queued","queued_at":"2026-11-30T05:08:09Z"}"#,
                conn: 2) == [#"{"kind":"enqueue","id":"c1","peer":"tool"}"#])
        // The app polls, much later.
        #expect(
            talk.request("GET", Self.poll, at: 60_000) == [
                #"{"kind":"poll","phone_id":"phone-a1","platform":"ios","app_state":"background"}"#
            ])
        #expect(
            talk.response(
                200,
                """
                {"commands":[{"id":"c1","type":"clipboard_read","phone_id":"phone-a1",\
                "timeout_ms":5000},{"id":"c2","type":"open_app","app":"x"}],\
                "server_time":"2026-11-30T05:08:09Z"}

                """, at: 60_001) == [
                    #"{"kind":"poll","commands":2}"#,
                    #"{"kind":"command","id":"c1","type":"clipboard_read","timeout_ms":5000,"route":"queue"}"#,
                    #"{"kind":"command","id":"c2","type":"open_app","route":"queue"}"#,
                ])
        #expect(
            talk.request(
                "GET", "/api/phone-bridge/results/c1", at: 60_002, conn: 2, exchange: 2)
                == [#"{"kind":"query","id":"c1","peer":"tool"}"#])
        #expect(
            talk.response(200, #"{"command_id":"c1","status":"in_flight"}"#, conn: 2, exchange: 2)
                == [#"{"kind":"query","id":"c1","peer":"tool"}"#])
        // Waiting in the queue is not the app's fault: the time counts from the poll's answer.
        #expect(
            talk.request(
                "POST", "/api/phone-bridge/results",
                #"{"id": "c1", "data": {"text": "clipboard content"}}"#, at: 60_033.5, exchange: 2)
                == [
                    #"{"kind":"result","id":"c1","type":"clipboard_read","ok":true,"latency_ms":32.500,"late":false,"duplicate":false,"route":"queue"}"#
                ])
        #expect(
            talk.response(200, #"{"status":"acknowledged"}"#, exchange: 2)
                == [#"{"kind":"unknown"}"#])
        #expect(talk.reader.tracker.unanswered.map(\.id) == ["c2"])
    }

    @Test(arguments: [
        (
            #"{"commands":null,"server_time":"2026-11-30T05:08:09Z"}"#,
            [#"{"kind":"poll","commands":0}"#]
        ),
        (#"{"commands":[],"server_time":"x"}"#, [#"{"kind":"poll","commands":0}"#]),
        ("[]", [#"{"kind":"poll","commands":0}"#]),
        (
            #"[{"id":"a","type":"t"}]"#,
            [
                #"{"kind":"poll","commands":1}"#,
                #"{"kind":"command","id":"a","type":"t","route":"queue"}"#,
            ]
        ),
        (#"{"commands":[{"id":5},7]}"#, [#"{"kind":"poll","commands":2}"#]),
        (#"{"commands":"x"}"#, [#"{"kind":"poll"}"#]),
        ("{}", [#"{"kind":"poll"}"#]),
        ("", [#"{"kind":"poll"}"#]),
        (#"{"comm"#, [#"{"kind":"poll"}"#]),
    ])
    func `a poll's answer counts what it hands out`(body: String, expected: [String]) {
        var talk = Conversation()
        _ = talk.request("GET", Self.poll)
        #expect(talk.response(200, body) == expected)
    }

    @Test func `a redelivered command is the same one again`() {
        var talk = Conversation()
        let handedOut = #"{"commands":[{"id":"a","type":"t"}],"server_time":"x"}"#
        _ = talk.request("GET", Self.poll, at: 0)
        _ = talk.response(200, handedOut, at: 0)
        _ = talk.request("GET", Self.poll, at: 40_000, exchange: 2)
        _ = talk.response(200, handedOut, at: 40_000, exchange: 2)
        let result = talk.request(
            "POST", "/api/phone-bridge/results", #"{"id":"a"}"#, at: 40_010, exchange: 3)
        #expect(result[0].contains(#""latency_ms":10.000,"late":false,"duplicate":false"#))
        let command = talk.reader.tracker.command(id: "a")
        #expect(command?.sendings == 2)
        #expect(command?.firstSeen == 0)
    }

    @Test func `a result to a command that was only enqueued has its type and no latency`() {
        var talk = Conversation()
        _ = talk.request(
            "POST", "/api/phone-bridge/commands", #"{"COMMAND":{"Id":"d1","TYPE":"t"}}"#)
        #expect(
            talk.request("POST", "/api/phone-bridge/results", #"{"id":"d1"}"#, exchange: 2) == [
                #"{"kind":"result","id":"d1","type":"t","ok":true,"late":false,"duplicate":false,"route":"queue"}"#
            ])
        #expect(
            talk.request("POST", "/api/phone-bridge/results", #"{"id":"d1"}"#, exchange: 3)[0]
                .contains(#""duplicate":true"#))
    }

    @Test func `a connection that polls or answers is not a tool's`() {
        var talk = Conversation()
        _ = talk.request("GET", "/api/phone-bridge/status")
        #expect(talk.response(200, "{}") == [#"{"kind":"status"}"#])
        _ = talk.request("GET", Self.poll, exchange: 2)
        #expect(
            talk.request("GET", "/api/phone-bridge/results/a%20b?x", exchange: 3)
                == [#"{"kind":"query","id":"a b"}"#])
        _ = talk.request("GET", "/api/phone-bridge/results/a", conn: 2)
        #expect(
            talk.request("GET", "/api/phone-bridge/status", conn: 2, exchange: 2)
                == [#"{"kind":"status","peer":"tool"}"#])
    }

    @Test func `the status document tells of the phone`() {
        var talk = Conversation()
        _ = talk.request("GET", "/api/phone-bridge/status")
        #expect(
            talk.response(
                200,
                #"{"connected":true,"platform":"ios","phone_id":"p","app_state":"active","x":1}"#)
                == [#"{"kind":"status","phone_id":"p","platform":"ios","app_state":"active"}"#])
    }

    @Test func `refusals keep the kind of what they refuse`() {
        var talk = Conversation()
        #expect(
            talk.request("POST", "/api/phone-bridge/commands", "not json")
                == [#"{"kind":"enqueue","peer":"tool"}"#])
        #expect(
            talk.response(400, #"{"error":"Invalid request: …"}"#)
                == [#"{"kind":"enqueue","peer":"tool"}"#])
        #expect(
            talk.request("GET", "/api/phone-bridge/commands", exchange: 2) == [#"{"kind":"poll"}"#])
        #expect(
            talk.response(400, #"{"error":"platform parameter required"}"#, exchange: 2)
                == [#"{"kind":"poll"}"#])
        #expect(
            talk.request("POST", "/api/phone-bridge/results", #"{"id":""}"#, exchange: 3)
                == [#"{"kind":"unknown"}"#])
        #expect(talk.request("POST", "/api/phone-bridge/results", "x", exchange: 4) == [])
    }

    @Test func `other requests mean nothing, and JSON in them is unknown`() {
        var talk = Conversation()
        #expect(talk.request("GET", "/api/phone-bridge?platform=ios") == [])
        #expect(talk.response(101) == [])
        #expect(talk.request("GET", "/other", exchange: 2) == [])
        #expect(talk.response(404, "404 page not found\n", exchange: 2) == [])
        #expect(talk.request("PUT", "/other", "{}", exchange: 3) == [#"{"kind":"unknown"}"#])
        #expect(talk.request("POST", "/api/phone-bridge/commands/", "", exchange: 4) == [])
    }

    @Test func `an interim response does not use its request up`() {
        var talk = Conversation()
        _ = talk.request(
            "POST", "/api/phone-bridge/commands", #"{"command":{"id":"a","type":"t"}}"#)
        #expect(talk.response(100) == [])
        #expect(talk.response(202, "{}") == [#"{"kind":"enqueue","id":"a","peer":"tool"}"#])
        #expect(talk.response(200, "{}") == [#"{"kind":"unknown"}"#])
    }

    @Test func `a poll's answer is known without its request`() {
        var talk = Conversation()
        #expect(
            talk.response(
                200, #"{"commands":[{"id":"a","type":"t"}],"server_time":"x"}"#, exchange: 0) == [
                    #"{"kind":"poll","commands":1}"#,
                    #"{"kind":"command","id":"a","type":"t","route":"queue"}"#,
                ])
    }

    @Test func `a request that was cut short is not acted on`() {
        var talk = Conversation()
        let request = Event.Request(
            exchange: 1, method: "POST", target: "/api/phone-bridge/results",
            body: .init(
                content: .whole(Bytes(#"{"id":"a"}"#.utf8)), framing: .length(50),
                incomplete: true))
        #expect(talk.read(.request(request), .app) == [])
    }

    @Test func `the end of a connection forgets its exchanges`() {
        var talk = Conversation()
        _ = talk.request("GET", "/api/phone-bridge/status")
        _ = talk.read(.close(.init(how: .fin)), .app)
        #expect(talk.response(200, "{}") == [#"{"kind":"status"}"#])
        _ = talk.request("GET", "/api/phone-bridge/status", exchange: 2)
        _ = talk.read(.close(.init(how: .reset)), .board)
        #expect(talk.response(200, "{}", exchange: 2) == [#"{"kind":"unknown"}"#])
    }
}
