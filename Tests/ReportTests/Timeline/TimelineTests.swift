import Capture
import GoldenFiles
import Report
import Testing
import Wire

/// The whole timeline of some events as a file shows it.
private func timeline(_ sketch: SessionSketch, hiding: (Event) -> Bool = { _ in false }) -> String {
    var timeline = Timeline()
    let layout = TimelineText(isColoured: false, width: nil)
    var lines = sketch.events.flatMap { timeline.receive($0, isShown: !hiding($0)) }
    lines += timeline.finish()
    return lines.map(layout.text).joined()
}

@Suite struct TimelineTests {
    @Test func `a count says which events it has, and is there before it ends`() {
        var sketch = SessionSketch()
        for second in 0..<3 { sketch.heartbeat(Int64(second) * 5000, 1, echo: 1) }
        var timeline = Timeline()
        let events = sketch.events
        let early = events.flatMap { timeline.receive($0) }
        #expect(early.isEmpty)
        #expect(timeline.pending.map(\.counted) == [1...6])
        let own = TimelineLine(time: 11, label: "rule", seq: 4)
        #expect(timeline.insert(own).map(\.label.text) == ["alive", "rule"])
        #expect(timeline.pending.isEmpty)
    }

    @Test func `a foreground session reads like a conversation`() {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.upgrade(1, 1, extensions: "permessage-deflate; server_no_context_takeover")
        sketch.text(
            10, 1, .app,
            """
            {"id":"phone_environment","method":"phone_environment","data":{"captured_at":\
            "2026-06-10T03:20:00Z","platform":"ios","system_version":"18.5",\
            "model":"iPhone16,2","battery":{"level":0.87}}}
            """,
            bridge: [["kind": "app_event", "id": "phone_environment"]])
        for second in 1...12 { sketch.heartbeat(Int64(second) * 5000, 1, echo: 2) }
        sketch.command(
            61_000, 1, "cal_create_001", "calendar_create", timeout: 8000,
            payload: #"{"title":"Dentist appointment","start_at":"2026-06-02T15:00:00+08:00"}"#)
        sketch.heartbeat(65_000, 1)
        sketch.result(
            65_222, 1, "cal_create_001", "calendar_create", latency: "4222.104",
            data: #"{"event_id":"ios_calendar_id_123"}"#)
        sketch.command(66_000, 1, "c-2", "contacts_query", payload: #"{"query":"张","limit":20}"#)
        sketch.result(
            66_050, 1, "c-2", "contacts_query", latency: "50.000", error: "permission_denied")
        sketch.command(67_000, 1, "c-3", "clipboard_read")
        sketch.result(
            73_000, 1, "c-3", "clipboard_read", latency: "6000.000", data: #"{"text":""}"#,
            late: true)
        sketch.result(
            73_001, 1, "c-3", "clipboard_read", latency: "6001.000", data: #"{"text":""}"#,
            late: true, duplicate: true)
        sketch.result(73_002, 1, "nobody", nil, data: "{}")
        sketch.text(74_000, 1, .app, #"{"hello":[1,2,{"x":null}]}"#, bridge: [["kind": "unknown"]])
        sketch.command(75_000, 1, "c-4", "open_app")
        sketch.frame(76_000, 1, .board, .close, [0x03, 0xe9] + Bytes("new connection".utf8))
        sketch.close(76_001, 1, .board)
        sketch.close(76_005, 1, .app)
        sketch.end(80_000)
        #expect(GoldenFile("foreground.txt").difference(from: timeline(sketch)) == nil)
    }

    @Test func `polls that bring nothing are a count, and those that bring a command are not`() {
        var sketch = SessionSketch()
        sketch.session()
        for poll in 1...20 {
            let start = Int64(poll) * 2000
            sketch.open(start, poll)
            sketch.poll(start + 1, poll)
            sketch.close(start + 10, poll, .app)
            sketch.close(start + 11, poll, .board)
        }
        sketch.open(50_000, 21)
        sketch.poll(
            50_001, 21, commands: [("q-1", "calendar_query"), ("q-2", "notification_send")])
        sketch.poll(90_000, 21, exchange: 2, commands: [("q-1", "calendar_query")])
        sketch.result(90_500, 21, "q-1", "calendar_query", latency: "40499.000", data: "{}")
        sketch.close(91_000, 21, .app)
        sketch.close(91_000, 21, .board)
        #expect(GoldenFile("polling.txt").difference(from: timeline(sketch)) == nil)
    }

    @Test func `what broke is marked where it broke`() {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.add(
            5, 1, .app,
            .data(Event.Data(bytes: [0x16, 0x03, 0x01, 0x02], why: "not an HTTP request")))
        sketch.close(6, 1, .board, .reset, detail: "connection reset by peer")
        sketch.open(1000, 2)
        sketch.upgrade(1001, 2)
        sketch.frame(1010, 2, .app, .text, fin: false, Bytes("half a ".utf8))
        sketch.frame(1011, 2, .app, .ping)
        sketch.frame(1012, 2, .board, Opcode(rawValue: 0xb), [1])
        sketch.frame(1013, 2, .board, Opcode(rawValue: 3), [1, 2])
        sketch.frame(1014, 2, .board, .text, rsv: 4, [0xff, 0xff])
        sketch.text(1015, 2, .board, "still alive")
        sketch.frame(1016, 2, .board, .close, [0x03])
        sketch.add(1020, 2, .board, .gap(Event.Gap(length: 1448, why: "missing_packets")))
        sketch.add(
            1021, 0, nil, .note(Event.Note(code: "recording_gap", text: "disk full for 3 s")))
        sketch.add(1022, 0, nil, .note(Event.Note(code: "mark", text: "I pressed send", to: 4)))
        sketch.add(
            1030, 2, .app,
            .frame(
                Event.FrameRecord(
                    header: FrameHeader(opcode: .text, payloadLength: 126),
                    content: .whole(Bytes("{\"id\"".utf8)), incomplete: true)))
        sketch.add(1031, 2, .app, .gap(Event.Gap(length: nil, why: "snaplen")))
        sketch.close(1032, 2, .app, .timeout)
        sketch.end(2000, dropped: 12)
        #expect(GoldenFile("broken.txt").difference(from: timeline(sketch)) == nil)
    }

    @Test func `requests of tools and odd bodies are told with what they say`() {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        let enqueue = #"{"command":{"id":"q-1","type":"clipboard_write","payload":{"text":"a b"}}}"#
        sketch.add(
            1, 1, .app,
            .request(
                Event.Request(
                    exchange: 1, method: "POST", target: "/api/phone-bridge/commands",
                    body: Event.Body(content: .whole(Bytes(enqueue.utf8)), framing: .length(80)))),
            bridge: [["kind": "enqueue", "id": "q-1", "peer": "tool"]])
        let conflict = Bytes("{\"error\":\"command q-1 already exists\"}\n".utf8)
        sketch.add(
            4, 1, .board,
            .response(
                Event.Response(
                    exchange: 1, status: 409, reason: "Conflict",
                    body: Event.Body(content: .whole(conflict), framing: .length(38)))),
            bridge: [["kind": "enqueue", "id": "q-1"]])
        sketch.add(
            5, 1, .app,
            .request(
                Event.Request(exchange: 2, method: "GET", target: "/api/phone-bridge/results/q-1")),
            bridge: [["kind": "query", "id": "q-1"]])
        sketch.add(
            6, 1, .board, .response(Event.Response(exchange: 2, status: 100, reason: "Continue")))
        sketch.add(
            8, 1, .board,
            .response(
                Event.Response(
                    exchange: 2, status: 404, reason: "Not Found",
                    body: Event.Body(
                        content: .whole(Bytes("404 page not found\n".utf8)), framing: .length(19))))
        )
        sketch.add(
            9, 1, .app,
            .request(
                Event.Request(
                    exchange: 3, method: "PUT", target: "/upload",
                    body: Event.Body(content: .pieces, framing: .chunked))))
        sketch.add(
            10, 1, .app,
            .piece(Event.Piece(of: 8, offset: 0, content: [1, 2], last: false)))
        sketch.add(
            11, 1, .app,
            .piece(
                Event.Piece(of: 8, offset: 5 << 20, content: [1, 2], last: true, incomplete: true)))
        #expect(GoldenFile("tools.txt").difference(from: timeline(sketch)) == nil)
    }

    @Test func `nothing from the link reaches the terminal as a control character`() {
        let hostile = "\u{1b}]0;owned\u{7}\u{202e}\r\n\u{85}\u{0}"
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.add(
            1, 1, .app, .request(Event.Request(exchange: 1, method: hostile, target: hostile)))
        sketch.add(
            2, 1, .board, .response(Event.Response(exchange: 1, status: 200, reason: hostile)))
        sketch.text(3, 1, .board, hostile)
        sketch.text(4, 1, .board, JSON.object([.init(hostile, .string(hostile))]).description)
        sketch.command(5, 1, "c-1", "open_app")
        sketch.result(6, 1, hostile, hostile, error: "x")
        sketch.frame(7, 1, .board, .close, [3, 232] + Bytes(hostile.utf8))
        sketch.add(8, 1, .board, .data(Event.Data(bytes: Bytes(hostile.utf8), why: hostile)))
        sketch.add(9, 1, nil, .note(Event.Note(code: hostile, text: hostile)))
        sketch.close(10, 1, .app, .error, detail: hostile)
        let raw = sketch.events.map {
            TimelineText(isColoured: false, width: nil).text(RawTimeline().line($0))
        }.joined()
        for text in [timeline(sketch), raw] {
            let wrong = text.unicodeScalars.filter {
                $0 != "\n"
                    && [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test func `an event that is not shown still pairs`() {
        var sketch = SessionSketch()
        sketch.open(0, 1)
        sketch.command(1000, 1, "c-1", "clipboard_read")
        sketch.command(1001, 1, "c-2", "clipboard_read")
        sketch.result(1500, 1, "c-2", "clipboard_read", latency: "499.000", data: "{}")
        let text = timeline(sketch) { event in
            event.bridge.first?["kind"]?.stringValue != "result"
        }
        let expected = """
              00:01.500   1  app →    result     #2 clipboard_read ok · 499 ms

            """
        #expect(text.hasPrefix(expected))
    }

    @Test func `a command without an answer is told once, when its time is over`() {
        var sketch = SessionSketch()
        sketch.open(0, 1)
        sketch.command(1000, 1, "c-1", "clipboard_read", timeout: 2000)
        sketch.command(1000, 1, "c-2", "clipboard_read", timeout: 90_000)
        for second in 2...9 { sketch.text(Int64(second) * 1000, 1, .app, "\(second)") }
        sketch.close(9500, 1, .app)
        sketch.close(9501, 1, .board)
        let told = timeline(sketch).split(separator: "\n").filter { $0.contains("no answer") }
        #expect(
            told == [
                "! 00:03.000   1           no answer  #1 clipboard_read c-1 · nothing within 2.00 s",
                "! 00:09.501   1           no answer  #2 clipboard_read c-2 · the connection ended first",
            ])
    }

    @Test func `somebody who watches gets a fold at least every so often`() {
        var sketch = SessionSketch()
        for second in 0..<60 { sketch.heartbeat(Int64(second) * 5000, 1) }
        var timeline = Timeline(maximumFold: 60_000_000_000)
        let lines = sketch.events.flatMap { timeline.receive($0) }
        #expect(lines.count == 4)
    }

    @Test func `what is held back is given when nothing comes`() {
        var sketch = SessionSketch()
        sketch.open(0, 1)
        var timeline = Timeline()
        #expect(sketch.events.flatMap { timeline.receive($0) }.isEmpty)
        #expect(timeline.settle().count == 1)
        #expect(timeline.settle().isEmpty)
    }

    @Test func `heartbeats that are not echoed are told`() {
        var sketch = SessionSketch()
        for second in 0..<5 { sketch.heartbeat(Int64(second) * 5000, 1, echo: nil) }
        #expect(
            timeline(sketch).hasPrefix(
                "  00:00.000   1     ⇄     alive      5 heartbeats, until 00:20.000, "
                    + "5 without an echo\n"))
    }

    @Test(arguments: 0..<20)
    func `no order of events and no number in them stops it`(seed: UInt64) {
        var random = SplitMix(state: seed)
        var timeline = Timeline(maximumFold: Int64.random(in: 0...(.max), using: &random))
        for _ in 0..<500 {
            let event = Event.random(using: &random)
            _ = timeline.receive(event, isShown: Bool.random(using: &random))
            _ = RawTimeline().line(event)
        }
        #expect(timeline.finish().last?.time == nil)
    }
}
