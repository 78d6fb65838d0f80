import Capture
import Foundation
import Testing
import Wire

@Suite struct HARSessionWriterTests {
    /// Writes events as a HAR.
    private func har(
        _ events: [Event], info: SessionInfo = SampleSession.info
    ) throws -> (bytes: Bytes, writer: HARSessionWriter) {
        let output = MemoryOutput("lab.har")
        let start = try #require(SessionTime.nanoseconds(parsing: info.startedAt))
        let writer = try HARSessionWriter(
            session: info, startedAt: start, creator: "bridgetap 0.1"
        ) { _ in output }
        for event in events { writer.receive(event) }
        let status = writer.close(now: 0)
        #expect(status.pausedBy == nil)
        return (output.bytes, writer)
    }

    /// What a session says, whatever its frames are: exchanges, messages, control frames, ends.
    private func sayings(_ events: [Event]) -> [String] {
        var result: [String] = []
        var large: [Int: String] = [:]
        for event in events {
            let from = event.from?.rawValue ?? "-"
            let place = "\(event.conn) \(from)"
            switch event.kind {
            case .request(let request):
                result.append(
                    "\(place) \(request.method) \(request.target) \(request.headers) "
                        + "\(request.body.content)")
            case .response(let response):
                result.append(
                    "\(place) \(response.exchange) \(response.status) \(response.headers) "
                        + "\(response.body.content)")
            case .frame(let frame):
                guard frame.header.fin, frame.header.rsv == 0, frame.header.opcode != .continuation
                else { continue }
                result.append("\(place) \(frame.header.opcode.rawValue) \(frame.content)")
            case .message(let message):
                guard !message.incomplete else { continue }
                result.append("\(place) \(message.opcode.rawValue) \(message.content)")
                if message.content == .pieces { large[event.seq] = place }
            case .piece(let piece):
                result.append("\(place) \(piece.offset) \(piece.content.count) \(piece.last)")
            case .close(let close):
                result.append("\(place) \(close.how.rawValue) \(close.detail ?? "")")
            case .open(let open): result.append("\(place) \(open.app) \(open.board)")
            case .note(let note): result.append("\(place) \(note.code) \(note.text)")
            case .session, .end, .data, .gap: break
            }
        }
        return result
    }

    @Test func `a session comes back with its exchanges, messages, control frames and ends`()
        throws
    {
        let events = SampleSession.everyday().events
        let back = try read(try har(events).bytes)
        #expect(back.remarks.isEmpty)
        // A remark about no connection, and a connection that never had a request, have no entry.
        let expected = sayings(events).filter { !$0.contains("3 ") && !$0.contains("locked") }
        #expect(sayings(back.events).sorted() == expected.sorted())
        // Times are exact.
        let times = Set(back.events.filter { !$0.isOfWriter }.map(\.time))
        let base = events.first { if case .request = $0.kind { true } else { false } }?.time ?? 0
        let all = Set(events.map { $0.time - base })
        #expect(times.subtracting(all).isEmpty)
    }

    @Test(arguments: [
        "all-commands", "compressed-android", "errors", "fgs-queue", "pip-queue", "reconnect",
    ])
    func `every example session keeps its messages and bodies`(_ name: String) throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../captures/\(name).ndjson").path
        let original = try read(Bytes(Data(contentsOf: URL(fileURLWithPath: path)))).events
        guard case .session(let info)? = original.first?.kind else {
            Issue.record("no session")
            return
        }
        let back = try read(try har(original, info: info).bytes)
        #expect(back.remarks.isEmpty)
        func wire(_ events: [Event]) -> [String] {
            events.compactMap { event in
                let place = "\(event.conn) \(event.from?.rawValue ?? "-")"
                switch event.kind {
                case .request(let request):
                    return "\(place) \(request.target) \(request.headers) \(request.body.content)"
                case .response(let response):
                    return "\(place) \(response.status) \(response.body.content)"
                case .frame(let frame):
                    guard frame.header.fin, frame.header.rsv == 0,
                        frame.header.opcode != .continuation
                    else { return nil }
                    return "\(place) \(frame.header.opcode.rawValue) \(frame.content)"
                case .message(let message):
                    return "\(place) \(message.opcode.rawValue) \(message.content)"
                case .close(let close): return "\(place) \(close.how)"
                default: return nil
                }
            }
        }
        // Connections are numbered by their first entry; in these sessions that is the order.
        #expect(wire(back.events) == wire(original))
    }

    @Test func `the JSON is what Python reads, with what HAR demands of an entry`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(try har(SampleSession.everyday().events).bytes, to: "a.har")
        let script = """
            import json, sys
            from datetime import datetime
            log = json.load(open(sys.argv[1]))["log"]
            assert log["version"] == "1.2" and log["creator"] == {"name": "bridgetap", "version": "0.1"}
            for entry in log["entries"]:
                datetime.fromisoformat(entry["startedDateTime"][:26])
                assert entry["time"] == sum(v for v in entry["timings"].values() if v > 0)
                assert entry["cache"] == {}
                request, response = entry["request"], entry["response"]
                for key in "method url httpVersion cookies headers queryString headersSize bodySize".split():
                    assert key in request, key
                for key in "status statusText httpVersion cookies headers content redirectURL headersSize bodySize".split():
                    assert key in response, key
                print(request["url"], response["status"], entry.get("serverIPAddress"), entry["connection"])
                for message in entry.get("_webSocketMessages", []):
                    assert isinstance(message["time"], float)
                    print(message["type"], message["opcode"], message["data"])
            print(log["comment"])
            """
        let result = try ToolProcess.run("python3", ["-c", script, path])
        #expect(result.errors == "")
        #expect(
            result.output == """
                http://board/api/phone-bridge/commands?limit=10 200 192.168.42.1 2
                ws://192.168.42.1:8080/api/phone-bridge?platform=android 101 192.168.42.1 1
                receive 1 {"id":"cmd_1","type":"contacts_query","timeout_ms":5000,"payload":{"name":"张伟"}}
                send 1 {"id":"cmd_1","contacts":[]}
                receive 1 {"id":"heartbeat"}
                send 2 AAEC/w==
                events that were not recorded: 0

                """)
    }

    @Test func `what is not held is named, each kind once with its count`() throws {
        let (_, writer) = try har(SampleSession.everyday().events)
        #expect(
            writer.losses.warnings == [
                "4 masking keys are left out", "1 messages in several frames are shown as one each",
                "1 chunked bodies are shown whole",
                "1 connections without an exchange are left out",
            ])
    }

    @Test func `large bodies and messages, and texts cut within a character, come back`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 1 << 20
        var session = SampleSession(limits: limits)
        let text = String(repeating: "aé😀", count: 400_000)
        let body = Bytes(text.utf8)
        session.open(1)
        session.upgrade(1)
        session.text(1, .app, text)
        session.frame(1, .board, fin: false, .binary, body)
        session.frame(1, .board, .continuation, [1, 2])
        session.open(2)
        session.send(
            2, .app, "POST /x HTTP/1.1\r\nHost: b\r\nContent-Length: \(body.count)\r\n\r\n")
        session.send(2, .app, body)
        session.send(
            2, .board, "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
        session.send(2, .board, body)
        let back = try read(try har(session.events).bytes).events
        var found: [String: Bytes] = [:]
        for event in back {
            guard case .piece(let piece) = event.kind else { continue }
            found["\(event.conn) \(event.from?.rawValue ?? "")", default: []] += piece.content
        }
        #expect(found["1 app"] == body)
        #expect(found["1 board"] == body + [1, 2])
        #expect(found["2 app"] == body)
        #expect(found["2 board"] == body)
    }

    @Test func `a request without an answer, and a joined WebSocket, are entries`() throws {
        var session = SampleSession()
        session.open(1)
        session.send(1, .app, "GET /late HTTP/1.1\r\nHost: b\r\n\r\n")
        var events = session.events
        let continued = Event.Continued(extensions: "permessage-deflate", upgraded: true)
        events.append(
            Event(
                time: 5_000_000, conn: 2,
                kind: .open(
                    Event.Open(app: "10.0.0.1:1", board: "10.0.0.2:2", continued: continued))))
        events.append(
            Event(
                time: 6_000_000, conn: 2, from: .board,
                kind: .frame(
                    Event.FrameRecord(
                        header: FrameHeader(opcode: .text, payloadLength: 2),
                        content: .whole(Bytes("hi".utf8))))))
        let (bytes, _) = try har(events)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"url\":\"http://b/late\""))
        #expect(text.contains("\"status\":0"))
        let back = try read(bytes).events
        let open = back.compactMap { if case .open(let open) = $0.kind { open } else { nil } }
        #expect(open.last?.continued == continued)
        #expect(open.last?.app == "10.0.0.1:1")
        #expect(back.contains { if case .frame = $0.kind { true } else { false } })
        #expect(!back.contains { if case .response = $0.kind { true } else { false } })
    }

    @Test func `frames before the answer to their upgrade stand in its entry`() throws {
        var session = SampleSession()
        session.open(1)
        session.send(
            1, .app,
            "GET /x HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        session.text(1, .app, "early")
        session.send(
            1, .board,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\n\r\n")
        session.text(1, .board, "late")
        let (bytes, writer) = try har(session.events)
        var expected = HARLosses()
        expected.masks = 1
        #expect(writer.losses == expected)
        let back = try read(bytes).events
        let texts = back.compactMap { event -> Bytes? in
            guard case .frame(let frame) = event.kind, case .whole(let text) = frame.content
            else { return nil }
            return text
        }
        #expect(texts == [Bytes("early".utf8), Bytes("late".utf8)])
        #expect(back.filter { if case .request = $0.kind { true } else { false } }.count == 1)
    }

    @Test func `a full disk ends it, and says so`() throws {
        let output = MemoryOutput("lab.har")
        output.room = 300
        let writer = try HARSessionWriter(
            session: SampleSession.info, startedAt: 0, creator: "bridgetap 0.1"
        ) { _ in output }
        for event in SampleSession.everyday().events { writer.receive(event) }
        let status = writer.close(now: 0)
        #expect(status.pausedBy?.errno == 28)
    }

    @Test func `dropped events are counted in the comment`() throws {
        let output = MemoryOutput("lab.har")
        let writer = try HARSessionWriter(
            session: SampleSession.info, startedAt: 0, creator: "bridgetap 0.1"
        ) { _ in output }
        writer.admit(dropped: 7)
        writer.close(now: 0)
        #expect(
            String(decoding: output.bytes, as: UTF8.self)
                .contains("\"comment\":\"events that were not recorded: 7\""))
    }

    /// Any events, whether they fit to one another or not, give JSON.
    @Test(arguments: 0..<100)
    func `whatever comes, the file is JSON`(_ seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        var events: [Event] = []
        for number in 1...60 {
            var event = random.event()
            event.seq = number
            event.conn = Int.random(in: 1...3, using: &random)
            event.time = Int64(number) * 1000
            events.append(event)
        }
        let (bytes, _) = try har(events)
        _ = try JSON(parsing: bytes)
        _ = try read(bytes)
    }
}
