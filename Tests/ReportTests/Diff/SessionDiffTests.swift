import Capture
import GoldenFiles
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct SessionDiffTests {
    /// What became of each command, in order: type, ordinal and outcome.
    private func outcomes(_ first: SessionSketch, _ second: SessionSketch) throws -> [String] {
        try commands(first, second).map { "\($0.type) \($0.ordinal) \($0.outcome.rawValue)" }
    }

    private func commands(
        _ first: SessionSketch, _ second: SessionSketch
    ) throws -> [SessionDiff.CommandPair] {
        var diff = try diff(first, second)
        var pairs: [SessionDiff.CommandPair] = []
        while let pair = try diff.nextCommand() { pairs.append(pair) }
        return pairs
    }

    private func diff(_ first: SessionSketch, _ second: SessionSketch) throws -> SessionDiff {
        try SessionDiff(read(first, "a"), read(second, "b"))
    }

    private func read(_ sketch: SessionSketch, _ name: String) throws -> DiffSession {
        var reader = DiffReader(name: "\(name).ndjson")
        for event in sketch.events { try reader.receive(event) }
        return reader.session
    }

    /// A session in which some commands were sent and answered over a WebSocket.
    private func session(
        platform: String = "ios", _ body: (inout SessionSketch) -> Void
    ) -> SessionSketch {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.add(
            1, 1, .app,
            .request(
                Event.Request(
                    exchange: 1, method: "GET",
                    target: "/api/phone-bridge?platform=\(platform)")))
        sketch.add(
            2, 1, .board,
            .response(Event.Response(exchange: 1, status: 101, reason: "Switching Protocols")))
        body(&sketch)
        return sketch
    }

    private func paths(_ pair: SessionDiff.CommandPair?) -> [String] {
        (pair?.differences ?? []).map { "\($0.path) \($0.kind.rawValue)" }
    }

    @Test func `a session does not differ from itself`() throws {
        let one = session { sketch in
            sketch.command(10, 1, "c1", "contacts_query", payload: #"{"query":"Li"}"#)
            sketch.result(20, 1, "c1", "contacts_query", data: #"{"contacts":[]}"#)
        }
        var diff = try diff(one, one)
        while try diff.nextCommand() != nil {}
        while try diff.nextEvent() != nil {}
        #expect(!diff.isDifferent)
        #expect(diff.counts == [.same: 1])
        #expect(diff.facts.isEmpty)
        #expect(!diff.isEmpty)
    }

    @Test func `nothing on either side is nothing compared`() throws {
        #expect(try diff(session { _ in }, session { _ in }).isEmpty)
    }

    @Test func `commands belong together by id, then by type, route and order`() throws {
        let first = session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.command(11, 1, "c2", "contacts_query", payload: #"{"query":"one"}"#)
            sketch.command(12, 1, "c3", "contacts_query", payload: #"{"query":"two"}"#)
        }
        let second = session { sketch in
            sketch.command(10, 1, "c3", "contacts_query", payload: #"{"query":"two"}"#)
            sketch.command(11, 1, "k1", "contacts_query", payload: #"{"query":"one"}"#)
            sketch.command(12, 1, "c2", "clipboard_read")
        }
        #expect(
            try outcomes(first, second) == [
                "clipboard_read 1 same", "contacts_query 1 same", "contacts_query 2 same",
            ])
    }

    @Test func `what only one session has is missing or extra`() throws {
        let first = session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.command(11, 1, "c2", "contacts_query")
        }
        let second = session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.command(11, 1, "c9", "device_reboot")
        }
        #expect(
            try outcomes(first, second) == [
                "clipboard_read 1 same", "contacts_query 1 missing", "device_reboot 1 extra",
            ])
    }

    @Test func `how a command was answered decides its outcome`() throws {
        func answered(_ body: (inout SessionSketch) -> Void) -> SessionSketch {
            session { sketch in
                sketch.command(10, 1, "c1", "clipboard_read")
                body(&sketch)
            }
        }
        let plain = answered {
            $0.result(20, 1, "c1", "clipboard_read", latency: "10.000", data: #"{"text":""}"#)
        }
        let late = answered {
            $0.result(
                6000, 1, "c1", "clipboard_read", latency: "5990.000", data: #"{"text":""}"#,
                late: true)
        }
        let twice = answered {
            $0.result(20, 1, "c1", "clipboard_read", latency: "10.000", data: #"{"text":""}"#)
            $0.result(30, 1, "c1", "clipboard_read", data: #"{"text":""}"#, duplicate: true)
        }
        let never = answered { _ in }
        #expect(try outcomes(plain, late) == ["clipboard_read 1 late"])
        #expect(
            try commands(plain, late).first?.remarks
                == ["answered in 10.0 ms, now late, in 5.99 s"])
        #expect(try outcomes(late, plain) == ["clipboard_read 1 changed"])
        #expect(try outcomes(late, late) == ["clipboard_read 1 same"])
        #expect(try outcomes(plain, twice) == ["clipboard_read 1 duplicate"])
        #expect(try outcomes(twice, plain) == ["clipboard_read 1 changed"])
        #expect(try outcomes(plain, never) == ["clipboard_read 1 unanswered"])
        #expect(try outcomes(never, plain) == ["clipboard_read 1 changed"])
        #expect(try outcomes(never, never) == ["clipboard_read 1 same"])
    }

    @Test func `a command that comes another way has another route`() throws {
        let first = session { $0.command(10, 1, "c1", "contacts_query", payload: #"{"limit":3}"#) }
        let second = session { sketch in
            sketch.open(9, 2)
            sketch.poll(10, 2, commands: [("c1", "contacts_query")])
        }
        let pair = try commands(first, second).first
        #expect(pair?.outcome == .routeChanged)
        #expect(pair?.remarks == ["sent by WebSocket, now by the queue"])
        #expect(pair?.differences == [])
    }

    @Test func `differences have their path, and empty is not absent`() throws {
        let first = session { sketch in
            sketch.command(10, 1, "c1", "contacts_query")
            sketch.result(
                20, 1, "c1", "contacts_query",
                data: #"{"contacts":[{"contact_id":"1","name":"Li","emails":[]}]}"#)
        }
        let second = session { sketch in
            sketch.command(10, 1, "c1", "contacts_query", payload: #"{"query":""}"#)
            sketch.result(
                20, 1, "c1", "contacts_query",
                data: #"{"contacts":[{"name":"Lu","contact_id":"1"},{"contact_id":"2"}]}"#)
        }
        #expect(
            paths(try commands(first, second).first) == [
                "command.payload.query added", "result.data.contacts[0].name changed",
                "result.data.contacts[0].emails removed",
                "result.data.contacts[1].contact_id added",
            ])
    }

    @Test func `what the contract lets differ is told and does not count`() throws {
        let first = session { sketch in
            sketch.command(
                10, 1, "c1", "calendar_create",
                payload:
                    #"{"title":"x","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}"#
            )
            sketch.result(20, 1, "c1", "calendar_create", data: #"{"event_id":"e"}"#)
        }
        let second = session { sketch in
            sketch.command(
                10, 1, "c1", "calendar_create",
                payload:
                    #"{"title":"x","start_at":"2026-06-02T07:00:00Z","end_at":"2026-06-02T16:00:00+08:00","all_day":false}"#
            )
            sketch.result(
                20, 1, "c1", "calendar_create", data: #"{"event_id":"e","calendar":"home"}"#)
        }
        let pair = try commands(first, second).first
        #expect(pair?.outcome == .same)
        #expect(
            paths(pair) == [
                "command.payload.start_at form", "command.payload.all_day form",
                "result.data.calendar addition",
            ])
        // The other way round a field that was there is gone.
        #expect(try outcomes(second, first) == ["calendar_create 1 changed"])
    }

    @Test func `methods are one class on two platforms, and differ on one`() throws {
        func opened(_ platform: String, _ method: String) -> SessionSketch {
            session(platform: platform) { sketch in
                sketch.command(10, 1, "c1", "open_app")
                sketch.text(
                    20, 1, .app, #"{"id":"c1","method":"\#(method)"}"#,
                    bridge: [["kind": "result", "id": "c1", "ok": true, "route": "websocket"]])
            }
        }
        let ios = opened("ios", "ios_url_scheme")
        #expect(try outcomes(ios, opened("android", "android_intent")) == ["open_app 1 same"])
        #expect(
            paths(try commands(ios, opened("android", "android_intent")).first)
                == ["result.method method"])
        #expect(try outcomes(ios, opened("ios", "ios_shortcut")) == ["open_app 1 changed"])
        #expect(try outcomes(ios, opened("android", "magic")) == ["open_app 1 changed"])
    }

    @Test func `an error's code matters, its words do not`() throws {
        func failed(_ code: String, _ message: String) -> SessionSketch {
            session { sketch in
                sketch.command(10, 1, "c1", "open_app")
                sketch.text(
                    20, 1, .app,
                    #"{"id":"c1","error":{"category":"x","code":"\#(code)","message":"\#(message)"}}"#,
                    bridge: [["kind": "result", "id": "c1", "ok": false, "route": "websocket"]])
            }
        }
        let one = failed("app_not_installed", "App not installed")
        let other = try commands(one, failed("app_not_installed", "No such app")).first
        #expect(other?.outcome == .same)
        #expect(paths(other) == ["result.error.message wording"])
        #expect(try outcomes(one, failed("permission_denied", "No")) == ["open_app 1 changed"])
    }

    @Test func `events of the app are compared, but for when they were reported`() throws {
        func reported(_ state: String, at time: String) -> SessionSketch {
            session { sketch in
                sketch.text(
                    10, 1, .app,
                    #"{"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"\#(state)","reported_at":"\#(time)"}}"#
                )
            }
        }
        let one = reported("active", at: "2026-06-10T03:20:05Z")
        for (other, outcome) in [
            (reported("active", at: "2026-06-11T03:20:05Z"), SessionDiff.Outcome.same),
            (reported("background", at: "2026-06-10T03:20:05Z"), .changed),
            (session { _ in }, .missing),
        ] {
            var diff = try diff(one, other)
            #expect(try diff.nextEvent()?.outcome == outcome)
            #expect(diff.isDifferent == (outcome != .same))
        }
    }

    @Test func `connections and their ends count, heartbeats are told`() throws {
        let first = session { sketch in
            sketch.command(5, 1, "c1", "clipboard_read")
            sketch.heartbeat(10, 1)
            sketch.frame(20, 1, .app, .close, [0x03, 0xe8])
        }
        let second = session { sketch in
            sketch.command(5, 1, "c1", "clipboard_read")
            sketch.heartbeat(10, 1)
            sketch.heartbeat(15, 1)
            sketch.close(20, 1, .app, .reset)
        }
        let facts = try diff(first, second).facts
        #expect(
            facts.map { "\($0.name): \($0.first) → \($0.second) \($0.counts)" } == [
                "end of WebSocket connection 1: 1000 → reset true",
                "heartbeats of the app: 1 → 2 false", "heartbeats of the board: 1 → 2 false",
            ])
        let again = session { sketch in
            sketch.command(5, 1, "c1", "clipboard_read")
            sketch.heartbeat(10, 1)
            sketch.open(30, 2)
            sketch.upgrade(31, 2)
        }
        let fact = try diff(first, again).facts.first
        #expect(fact?.name == "WebSocket connections")
        #expect(fact?.first == "1" && fact?.second == "2" && fact?.counts == true)
    }

    @Test func `the answer to a broken close counts, that to one in good order is as ever`() throws
    {
        func closed(_ payload: Bytes, answer: Bytes) -> SessionSketch {
            session { sketch in
                sketch.command(5, 1, "c1", "clipboard_read")
                sketch.frame(20, 1, .board, .close, payload)
                sketch.frame(21, 1, .app, .close, answer)
            }
        }
        let (refused, echoed, broken) = (Bytes([3, 0xea]), Bytes([3, 0xe8]), Bytes([3]))
        let facts = try diff(
            closed(broken, answer: refused), closed(broken, answer: echoed)
        ).facts
        #expect(
            facts.map { "\($0.name): \($0.first) → \($0.second) \($0.counts)" } == [
                "end of WebSocket connection 1: 1005, answered with 1002 → "
                    + "1005, answered with 1000 true"
            ])
        #expect(
            try DiffProbe.read(closed(broken, answer: refused), "a").links.map(\.answer) == ["1002"]
        )
        #expect(
            try diff(closed(echoed, answer: refused), closed(echoed, answer: echoed)).facts.isEmpty)
    }

    @Test func `what only one session has is masked field by field`() throws {
        let first = session { sketch in
            sketch.command(10, 1, "c1", "contacts_query")
            sketch.result(
                20, 1, "c1", "contacts_query",
                data: #"{"contacts":[{"contact_id":"41","name":"Wei","phone_numbers":["+1 20"]}]}"#)
        }
        let second = session { sketch in
            sketch.command(10, 1, "c1", "contacts_query")
            sketch.result(20, 1, "c1", "contacts_query", error: "permission_denied")
        }
        let pair = try #require(try commands(first, second).first)
        let text = DiffText(isColoured: false).text(pair)
        #expect(text.contains("result.data.contacts[0].name  ‹name, 3 characters› → absent"))
        #expect(text.contains("result.error.code  absent → \"permission_denied\""))
        for secret in ["Wei", "+1", "It failed", "41"] { #expect(!text.contains(secret)) }
        // The same where a value became one of another type.
        let mask = PersonalMask()
        #expect(mask.text(.array([.string("Wei")]), Contract.Personal.none) == "‹1 element›")
    }

    @Test func `very many differences are counted, and the first ones shown`() throws {
        func many(_ value: Int) -> SessionSketch {
            let list = (0..<500).map { "\($0 * 10 + value)" }.joined(separator: ",")
            return session { sketch in
                sketch.command(10, 1, "c1", "clipboard_read")
                sketch.result(20, 1, "c1", "clipboard_read", data: "{\"text\":[\(list)]}")
            }
        }
        let pair = try commands(many(1), many(2)).first
        #expect(pair?.outcome == .changed)
        #expect(pair?.differences.count == 100)
        #expect(pair?.left == 400)
    }

    /// A pair of sessions with one of each outcome.
    private var everything: (SessionSketch, SessionSketch) {
        let first = session { sketch in
            sketch.text(
                5, 1, .app,
                #"{"id":"phone_environment","method":"phone_environment","data":{"captured_at":"2026-06-10T03:20:00Z","platform":"ios","device_name":"Ann's phone","battery":{"level":0.87}}}"#
            )
            sketch.command(10, 1, "c1", "contacts_query", payload: #"{"query":"Zhang San"}"#)
            sketch.result(
                20, 1, "c1", "contacts_query", latency: "10.000",
                data: #"{"contacts":[{"contact_id":"1","name":"Zhang San"}]}"#)
            sketch.command(30, 1, "c2", "clipboard_read", timeout: 5000)
            sketch.result(40, 1, "c2", "clipboard_read", latency: "10.000", data: #"{"text":"a"}"#)
            sketch.command(50, 1, "c3", "calendar_delete", payload: #"{"event_id":"e1"}"#)
            sketch.result(60, 1, "c3", "calendar_delete", latency: "10.000")
            sketch.command(
                70, 1, "c4", "calendar_query",
                payload: #"{"from":"2026-06-02T00:00:00+08:00","to":"2026-06-03T00:00:00+08:00"}"#)
            sketch.command(80, 1, "c5", "open_app")
            sketch.heartbeat(90, 1)
        }
        let second = session { sketch in
            sketch.text(
                5, 1, .app,
                #"{"id":"phone_environment","method":"phone_environment","data":{"captured_at":"2026-06-11T03:20:00Z","platform":"ios","device_name":"Bob's phone","battery":{"level":0.5}}}"#
            )
            sketch.command(10, 1, "k1", "contacts_query", payload: #"{"query":"Zhang San"}"#)
            sketch.result(
                20, 1, "k1", "contacts_query", latency: "10.000",
                data: #"{"contacts":[{"contact_id":"1","name":"Zhang Si","nickname":"Z"}]}"#)
            sketch.command(30, 1, "k2", "clipboard_read", timeout: 5000)
            sketch.result(
                7030, 1, "k2", "clipboard_read", latency: "7000.000", data: #"{"text":"a"}"#,
                late: true)
            sketch.command(7050, 1, "k3", "calendar_delete", payload: #"{"event_id":"e1"}"#)
            sketch.command(
                7070, 1, "k4", "calendar_query",
                payload: #"{"from":"2026-06-01T16:00:00Z","to":"2026-06-03T01:00:00+08:00"}"#)
            sketch.command(7080, 1, "k6", "notification_send")
        }
        return (first, second)
    }

    @Test func `people see what differs, and nothing about a person`() throws {
        let (first, second) = everything
        var diff = try diff(first, second)
        let layout = DiffText(isColoured: false)
        var text = layout.head(diff)
        while let pair = try diff.nextCommand() { text += layout.text(pair) }
        while let pair = try diff.nextEvent() { text += layout.text(pair) }
        text += layout.end(diff)
        if let difference = GoldenFile("diff.txt").difference(from: text) {
            Issue.record("\(difference)")
        }
        for secret in ["Zhang", "Ann", "Bob", "2026-06-02", "e1"] {
            #expect(!text.contains(secret), "\(secret) is shown")
        }
    }

    @Test func `a JUnit report has a case a command, and nothing about a person`() throws {
        let (first, second) = everything
        var diff = try diff(first, second)
        var results = DiffResults(diff)
        while let pair = try diff.nextCommand() { results.add(pair) }
        while let pair = try diff.nextEvent() { results.add(pair) }
        let text = JUnitText(
            Results(command: "diff", tool: "bridgetap 0.1.0", suites: [results.finish(diff)])
        ).text
        #expect(text.contains("classname=\"contacts_query\" name=\"c1 1\""))
        #expect(text.contains("<failure message=\"late\""))
        #expect(text.contains("answered in 10.0 ms, now late, in 7.00 s"))
        #expect(text.contains("result.data.contacts[0].name  ‹name, 9 characters›"))
        #expect(try JUnitSchema.complaints(about: text) == "")
        for secret in ["Zhang", "Ann", "Bob", "2026-06-02", "e1"] {
            #expect(!text.contains(secret), "\(secret) is shown")
        }
    }

    @Test func `programs see the values`() throws {
        let (first, second) = everything
        var diff = try diff(first, second)
        let lines = DiffLines()
        var bytes = Bytes()
        while let pair = try diff.nextCommand() { bytes += lines.line(pair) }
        while let pair = try diff.nextEvent() { bytes += lines.line(pair) }
        bytes += lines.end(diff)
        let text = String(decoding: bytes, as: UTF8.self)
        if let difference = GoldenFile("diff.ndjson").difference(from: text) {
            Issue.record("\(difference)")
        }
        for line in text.split(separator: "\n") { _ = try JSON(parsing: String(line)) }
    }
}
