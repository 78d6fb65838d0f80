import Capture
import PhoneBridge
import Testing
import Wire

@Suite struct MeaningReaderTests {
    // MARK: - The contract's own examples

    @Test func `a heartbeat and its echo are heartbeats`() {
        var talk = Conversation()
        #expect(talk.app(#"{"id": "heartbeat"}"#) == [#"{"kind":"heartbeat","id":"heartbeat"}"#])
        #expect(talk.board(#"{"id":"heartbeat"}"#) == [#"{"kind":"heartbeat","id":"heartbeat"}"#])
        #expect(talk.app(#"{"id":"ping"}"#) == [#"{"kind":"heartbeat","id":"ping"}"#])
        #expect(talk.reader.tracker.count == 0)
    }

    @Test func `a frame of a batch means what its event means`() {
        let texts = [
            #"{"id":"ping"}"#, #"{"id":"a","type":"open_app","timeout_ms":5}"#,
            #"{"id":"a","method":"x"}"#, #"{"a":1}"#, "no JSON", "",
            // Escapes, names of any case, members that stand there twice, and odd numbers.
            #"{"id":"p\u0069ng"}"#, #"{"\u0069d":"b","type":"open_\u0061pp","timeout_ms":2.5}"#,
            #"{"ID":"b","Error":{"CODE":"n\to"}}"#, #"{"id":"b","error":null,"method":7}"#,
            #"{"id":1,"id":"c","type":"Grüße","timeout_ms":1e400}"#,
            #"{"id":"\"c\"","method":"\"\u0063\""}"#, #"{"id":"c","method":"phone_environment"}"#,
            #"{"id":"d","method":"\u0064"}"#, #"{"id":"d","type":5}"#, #"{"id":"","type":"x"}"#,
            #"{"id":"\ud800","type":"\ud800","timeout_ms":-0}"#, #"{"id":"\ud800"}"#,
        ]
        var batch = EventBatch(gathersFrames: true)
        let decoder = ConnectionDecoder(conn: 1, continued: Event.Continued(upgraded: true))
        for (index, text) in texts.enumerated() {
            for side in Side.allCases {
                for opcode in [Opcode.text, .binary, .ping] {
                    let frame = Frame(opcode: opcode, payload: Bytes(text.utf8))
                    decoder.receive(
                        frame.encoded().span, from: side, at: Int64(index), into: &batch)
                }
            }
        }
        var reader = MeaningReader()
        var expected = batch.events
        for index in expected.indices { reader.annotate(&expected[index]) }
        var other = MeaningReader()
        batch.update(
            event: { other.annotate(&$0) },
            frame: { other.annotate($0, payload: $1, into: &$2) })
        #expect(batch.events == expected)
        #expect(expected.contains { !$0.bridge.isEmpty })
    }

    @Test func `opening an app is a command and its result`() {
        var talk = Conversation()
        #expect(
            talk.board(
                """
                {
                  "id": "open_1717667890123_1",
                  "type": "open_app",
                  "app": "微信",
                  "timeout_ms": 10000
                }
                """, at: 100) == [
                    #"{"kind":"command","id":"open_1717667890123_1","type":"open_app","timeout_ms":10000,"route":"websocket"}"#
                ])
        #expect(
            talk.app(
                """
                {
                  "id": "open_1717667890123_1",
                  "method": "ios_url_scheme"
                }
                """, at: 112.3456) == [
                    #"{"kind":"result","id":"open_1717667890123_1","type":"open_app","ok":true,"latency_ms":12.346,"late":false,"duplicate":false,"route":"websocket"}"#
                ])
    }

    @Test func `a failure carries its code`() {
        var talk = Conversation()
        _ = talk.board(#"{"id":"open_001","type":"open_app","app":"x"}"#, at: 0)
        #expect(
            talk.app(
                """
                {"id": "open_001", "error": {"category": "precondition_failed",
                 "code": "app_not_installed", "message": "App not installed"}}
                """, at: 1) == [
                    #"{"kind":"result","id":"open_001","type":"open_app","ok":false,"code":"app_not_installed","latency_ms":1.000,"late":false,"duplicate":false,"route":"websocket"}"#
                ])
    }

    @Test(arguments: ["phone_environment", "phone_app_state"])
    func `the app's events are events`(name: String) {
        var talk = Conversation()
        let text = #"{"id":"\#(name)","method":"\#(name)","data":{"app_state":"active"}}"#
        #expect(talk.app(text) == [#"{"kind":"app_event","id":"\#(name)"}"#])
        #expect(
            talk.app(#"{"id":"e1","method":"\#(name)","data":{}}"#)
                == [#"{"kind":"app_event","id":"\#(name)"}"#])
    }

    // MARK: - Pairing

    @Test func `a result after its time is late, one at its time is not`() {
        let rows: [(String, Double, Bool)] = [
            (#","timeout_ms":300"#, 300, false), (#","timeout_ms":300"#, 300.001, true),
            ("", 5000, false), ("", 5000.001, true),
            (#","timeout_ms":5e2"#, 500, false), (#","timeout_ms":5e2"#, 501, true),
            (#","timeout_ms":0.5"#, 1, false), (#","timeout_ms":0.5"#, 1.5, true),
            // What is no positive number leaves the default.
            (#","timeout_ms":0"#, 4999, false), (#","timeout_ms":-5"#, 4999, false),
            (#","timeout_ms":"1""#, 4999, false), (#","timeout_ms":null"#, 5001, true),
            (#","timeout_ms":1e400"#, 9e9, false),
            (#","timeout_ms":9223372036854775807"#, 9e9, false),
            (#","timeout_ms":99999999999999999999"#, 9e9, false),
        ]
        for (timeout, after, late) in rows {
            var talk = Conversation()
            _ = talk.board(#"{"id":"a","type":"clipboard_read"\#(timeout)}"#, at: 10)
            let result = talk.app(#"{"id":"a","data":{"text":""}}"#, at: 10 + after)
            #expect(result.first?.contains(#""late":\#(late)"#) == true, "\(timeout) \(result)")
        }
    }

    @Test func `a second result is a duplicate, until the command is sent again`() {
        var talk = Conversation()
        _ = talk.board(#"{"id":"a","type":"t"}"#, at: 0)
        #expect(talk.app(#"{"id":"a"}"#, at: 1)[0].contains(#""duplicate":false"#))
        #expect(talk.app(#"{"id":"a"}"#, at: 2)[0].contains(#""duplicate":true"#))
        _ = talk.board(#"{"id":"a","type":"t"}"#, at: 100)
        let again = talk.app(#"{"id":"a"}"#, at: 103)[0]
        #expect(again.contains(#""latency_ms":3.000,"late":false,"duplicate":false"#))
        #expect(talk.reader.tracker.command(id: "a")?.sendings == 2)
        #expect(talk.reader.tracker.command(id: "a")?.results == 3)
    }

    @Test func `a result to an unknown id claims nothing about a command`() {
        var talk = Conversation()
        #expect(
            talk.app(#"{"id":"never-sent","method":"clipboard_write"}"#)
                == [#"{"kind":"result","id":"never-sent","ok":true,"route":"websocket"}"#])
    }

    @Test func `answers are paired across connections and routes`() {
        var talk = Conversation()
        _ = talk.frame(.board, #"{"id":"a","type":"t"}"#, at: 0, conn: 1)
        #expect(
            talk.frame(.app, #"{"id":"a"}"#, at: 2, conn: 2) == [
                #"{"kind":"result","id":"a","type":"t","ok":true,"latency_ms":2.000,"late":false,"duplicate":false,"route":"websocket"}"#
            ])
        _ = talk.frame(.board, #"{"id":"b","type":"t"}"#, at: 0, conn: 1)
        #expect(
            talk.request("POST", "/api/phone-bridge/results", #"{"id":"b"}"#, at: 5, conn: 3) == [
                #"{"kind":"result","id":"b","type":"t","ok":true,"latency_ms":5.000,"late":false,"duplicate":false,"route":"queue"}"#
            ])
    }

    @Test func `ids are the same only scalar by scalar`() {
        var talk = Conversation()
        _ = talk.board("{\"id\":\"\u{e9}\",\"type\":\"t\"}")
        #expect(!talk.app("{\"id\":\"e\u{301}\"}")[0].contains("\"type\""))
        #expect(!talk.app("{\"id\":\"\u{e9} \"}")[0].contains("\"type\""))
        #expect(talk.app(#"{"id":"\u00e9"}"#)[0].contains("\"type\""))
    }

    @Test func `an answer to a command stays one, whatever its method`() {
        var talk = Conversation()
        _ = talk.board(#"{"id":"a","type":"t"}"#)
        #expect(talk.app(#"{"id":"a","method":"phone_app_state"}"#)[0].contains("result"))
        _ = talk.board(#"{"id":"m","type":"t"}"#)
        #expect(talk.app(#"{"id":"m","method":"m"}"#)[0].contains("result"))
    }

    @Test func `a reserved id is never paired`() {
        var talk = Conversation()
        #expect(
            talk.board(#"{"id":"heartbeat","type":"open_app"}"#)
                == [#"{"kind":"command","id":"heartbeat","type":"open_app","route":"websocket"}"#])
        #expect(talk.app(#"{"id":"heartbeat"}"#) == [#"{"kind":"heartbeat","id":"heartbeat"}"#])
        #expect(talk.reader.tracker.count == 0)
    }

    @Test func `success is an absent error and nothing else`() {
        let rows = [
            ("", true), (#","ok":false"#, true), (#","data":{}"#, true),
            (#","error":{}"#, false), (#","error":"x""#, false), (#","error":null"#, false),
            (#","ERROR":{"Code":"c"}"#, false), (#","error":{"code":5},"ok":true"#, false),
        ]
        for (fields, ok) in rows {
            var talk = Conversation()
            let result = talk.app(#"{"id":"a"\#(fields)}"#)[0]
            #expect(result.contains(#""ok":\#(ok)"#), "\(fields)")
        }
    }

    // MARK: - What is unknown

    @Test func `unknown commands and events are read like known ones`() {
        var talk = Conversation()
        #expect(
            talk.board(#"{"id":"x1","type":"door_open","payload":{}}"#, at: 0)
                == [#"{"kind":"command","id":"x1","type":"door_open","route":"websocket"}"#])
        #expect(
            talk.app(#"{"id":"x1","data":{"open":true}}"#, at: 1) == [
                #"{"kind":"result","id":"x1","type":"door_open","ok":true,"latency_ms":1.000,"late":false,"duplicate":false,"route":"websocket"}"#
            ])
        #expect(
            talk.app(#"{"id":"phone_log","method":"phone_log","data":{"message":"m"}}"#)
                == [#"{"kind":"app_event","id":"phone_log"}"#])
    }

    @Test func `any other JSON is unknown, and what is not JSON means nothing`() {
        let unknown = [#"{"kind":"unknown"}"#]
        let rows: [(Side, String, [String])] = [
            (.app, "{}", unknown), (.app, "[1,2]", unknown), (.app, "42", unknown),
            (.app, "\"text\"", unknown), (.app, " null ", unknown), (.app, "true", unknown),
            (.app, #"{"id":5}"#, unknown), (.app, #"{"id":""}"#, unknown),
            (.app, #"{"id":null}"#, unknown), (.board, #"{"id":"a"}"#, unknown),
            (.board, #"{"type":"t"}"#, unknown), (.board, #"{"id":"a","type":1}"#, unknown),
            (.board, #"{"ID":"a","TYPE":"t"}"#, unknown),
            (.app, "", []), (.app, " ", []), (.app, "hello", []), (.app, "{", []),
            (.app, #"{"id":"a"} x"#, []), (.app, "12ab", []), (.app, "\u{feff}{}", []),
        ]
        for (from, text, expected) in rows {
            var talk = Conversation()
            #expect(talk.frame(from, text) == expected, "\(text)")
        }
    }

    @Test func `the board reads names without regard to case, the app does not`() {
        var talk = Conversation()
        #expect(talk.app(#"{"ID":"heartbeat"}"#) == [#"{"kind":"heartbeat","id":"heartbeat"}"#])
    }

    // MARK: - Which events

    @Test func `a compressed or fragmented message is read where its content stands`() {
        let text = Bytes(#"{"id":"heartbeat"}"#.utf8)
        let heartbeat = [#"{"kind":"heartbeat","id":"heartbeat"}"#]
        func frame(_ fin: Bool, _ rsv: UInt8, _ opcode: Opcode) -> Event.Kind {
            .frame(
                .init(
                    header: FrameHeader(
                        fin: fin, rsv: rsv, opcode: opcode, payloadLength: UInt64(text.count)),
                    content: .whole(text)))
        }
        var talk = Conversation()
        #expect(talk.read(frame(true, 0, .text), .app) == heartbeat)
        #expect(talk.read(frame(true, 0, .binary), .app) == heartbeat)
        #expect(talk.read(frame(false, 0, .text), .app) == [])
        #expect(talk.read(frame(true, 0, .continuation), .app) == [])
        #expect(talk.read(frame(true, 4, .text), .app) == [])
        #expect(talk.read(frame(true, 0, .ping), .app) == [])
        #expect(talk.read(frame(true, 0, Opcode(rawValue: 3)), .app) == [])
        let message = Event.Message(
            opcode: .text, content: .whole(text), frames: 2, compressed: true)
        #expect(talk.read(.message(message), .app) == heartbeat)
        var cut = message
        cut.incomplete = true
        #expect(talk.read(.message(cut), .app) == [])
    }

    @Test func `what stands in pieces has no meaning`() {
        var talk = Conversation()
        let header = FrameHeader(opcode: .text, payloadLength: 2 << 20)
        #expect(talk.read(.frame(.init(header: header, content: .pieces)), .app) == [])
        #expect(
            talk.read(
                .request(
                    .init(
                        exchange: 1, method: "POST", target: "/api/phone-bridge/commands",
                        body: .init(content: .pieces, framing: .chunked))), .app) == [])
        // The answer still belongs to its request.
        #expect(
            talk.response(202, #"{"command_id":"big","status":"queued"}"#)
                == [#"{"kind":"enqueue","id":"big","peer":"tool"}"#])
    }

    @Test func `a meaning that was there is replaced`() {
        var reader = MeaningReader()
        var event = Event(
            time: 0, kind: .note(.init(code: "mark", text: "x")), bridge: [Meaning.unknown])
        reader.annotate(&event)
        #expect(event.bridge.isEmpty)
    }

    // MARK: - Limits

    @Test func `remembered connections and exchanges are bounded`() {
        var talk = Conversation(MeaningReader(maximumConnections: 8))
        for conn in 1...100 {
            _ = talk.request("GET", "/api/phone-bridge/results/a", conn: conn)
        }
        #expect(
            talk.response(200, "{}", conn: 100) == [#"{"kind":"query","id":"a","peer":"tool"}"#])
        #expect(talk.response(200, "{}", conn: 1) == [#"{"kind":"unknown"}"#])
        for exchange in 1...1000 {
            _ = talk.request("GET", "/api/phone-bridge/status", conn: 200, exchange: exchange)
        }
        #expect(talk.response(200, "{}", conn: 200, exchange: 1) == [#"{"kind":"unknown"}"#])
        #expect(
            talk.response(200, "{}", conn: 200, exchange: 1000) == [#"{"kind":"status"}"#])
    }
}
