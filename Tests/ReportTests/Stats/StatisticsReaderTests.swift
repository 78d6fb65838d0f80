import Capture
import GoldenFiles
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct StatisticsReaderTests {
    private func read(
        _ sketch: SessionSketch, isCounted: (Event) -> Bool = { _ in true }
    ) -> SessionStatistics {
        var reader = StatisticsReader()
        for event in sketch.events { reader.receive(event, isCounted: isCounted(event)) }
        reader.finish()
        return reader.statistics
    }

    /// A session in which everything happens that has a figure.
    private static func eventful() -> SessionSketch {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.upgrade(1, 1)
        for beat in 0..<5 { sketch.heartbeat(Int64(10 + beat * 5000), 1) }
        sketch.command(100, 1, "a", "contacts_query")
        sketch.result(140, 1, "a", "contacts_query", latency: "40.000")
        sketch.result(150, 1, "a", "contacts_query", latency: "50.000", duplicate: true)
        sketch.command(200, 1, "b", "calendar_create", timeout: 1000)
        sketch.result(
            1900, 1, "b", "calendar_create", latency: "1700.000", error: "permission_denied",
            late: true)
        sketch.command(2000, 1, "c", "open_app")
        sketch.result(2100, 1, "z", nil)
        sketch.add(2200, 1, .board, .gap(Event.Gap(length: 500, why: "missing_packets")))
        sketch.open(3000, 2)
        sketch.add(
            3001, 2, .app,
            .request(
                Event.Request(
                    exchange: 1, method: "POST", target: "/api/phone-bridge/commands",
                    headers: [FieldLine("Host", "b")])),
            bridge: [["kind": "enqueue", "id": "q"]])
        sketch.add(
            3003, 2, .board,
            .response(Event.Response(exchange: 1, status: 202, reason: "Accepted")),
            bridge: [["kind": "enqueue", "id": "q"]])
        sketch.poll(5000, 2, exchange: 2, commands: [("q", "clipboard_read")])
        sketch.poll(6000, 2, exchange: 3, commands: [("q", "clipboard_read")])
        sketch.poll(6500, 2, exchange: 4)
        sketch.frame(21_000, 1, .app, .ping)
        sketch.frame(21_001, 1, .board, .pong)
        sketch.frame(22_000, 1, .app, .close, [0x03, 0xe8])
        sketch.frame(22_001, 1, .board, .close, [0x03, 0xe8])
        sketch.close(22_002, 1, .app)
        sketch.close(22_003, 1, .board)
        sketch.open(25_000, 3)
        sketch.upgrade(25_001, 3)
        sketch.command(25_100, 3, "d", "open_app")
        sketch.add(25_200, 0, nil, .note(Event.Note(code: "mark", text: "here 1")))
        sketch.end(26_000, dropped: 2)
        return sketch
    }

    @Test func `each thing that happens has its figure`() throws {
        let all = read(Self.eventful())
        #expect(all.info?.id == "7f3a")
        #expect(all.duration == 26_000_000_000)
        #expect(all.dropped == 2)
        #expect(all.gaps == 1)
        #expect(all.board.missing == 500)
        #expect(all.notes == ["mark": 1])

        func row(_ type: String, _ route: String) throws -> SessionStatistics.Commands {
            try #require(all.commands[SessionStatistics.CommandKey(type: type, route: route)])
        }
        let query = try row("contacts_query", "websocket")
        #expect(query.succeeded == 1)
        #expect(query.duplicate == 1)
        #expect(query.latency.count == 1)
        #expect(query.latency.maximum == 40_000_000)
        let create = try row("calendar_create", "websocket")
        #expect(create.failed == 1)
        #expect(create.late == 1)
        #expect(create.timedOut == 1)
        // One ran out of time; for the other the session was too short.
        let open = try row("open_app", "websocket")
        #expect(open.commands == 2)
        #expect(open.unanswered == 1)
        #expect(open.open == 1)
        let read = try row("clipboard_read", "queue")
        #expect(read.commands == 1)
        #expect(read.again == 1)
        #expect(read.unanswered == 1)
        #expect(all.unpaired == 1)
        #expect(all.errors == ["permission_denied": 1])
        #expect(all.allCommands.commands == 5)

        #expect(all.queue.enqueued == 1)
        #expect(all.queue.handedOut == 2)
        #expect(all.queue.polls == 3)
        #expect(all.queue.emptyPolls == 1)
        #expect(all.queue.wait.maximum == 2_002_000_000)

        #expect(all.connections.count == 3)
        #expect(all.connections.webSockets == 2)
        #expect(all.connections.open == 2)
        #expect(all.connections.endings == ["app close 1000": 1])
        #expect(all.connections.webSocketDurations.maximum == 22_003_000_000)
        #expect(all.connections.reconnections.maximum == 3_000_000_000)

        #expect(all.heartbeats.app == 5)
        #expect(all.heartbeats.gaps.maximum == 5_000_000_000)
        #expect(all.heartbeats.gapCounts == [0, 4, 0, 0, 0, 0])
        #expect(all.heartbeats.echo.maximum == 1_000_000)

        #expect(all.exchanges["enqueue"]?.statuses == [202: 1])
        #expect(all.exchanges["poll"]?.requests == 3)
        #expect(all.exchanges["connect"]?.duration.maximum == 2_000_000)
        #expect(all.app.pings == 1)
        #expect(all.board.pongs == 1)
    }

    @Test func `a filter leaves out what it does not choose, but not what that belongs to`() {
        let results = read(Self.eventful()) { event in
            event.bridge.contains { $0["kind"]?.stringValue == "result" }
        }
        #expect(results.events == 4)
        #expect(results.allCommands.succeeded == 1)
        #expect(results.allCommands.commands == 0)
        #expect(results.allCommands.unanswered == 0)
        #expect(results.connections.count == 0)
        #expect(results.app.messages == 4)
        #expect(results.board == SessionStatistics.Traffic())
    }

    @Test func `a session without traffic is empty`() {
        var sketch = SessionSketch()
        sketch.session()
        sketch.end(10)
        #expect(read(sketch).isEmpty)
        #expect(!read(Self.eventful()).isEmpty)
    }

    @Test func `a phone that comes while its last connection is open is no reconnection`() {
        var sketch = SessionSketch()
        for conn in 1...2 {
            sketch.open(Int64(conn), conn)
            sketch.upgrade(Int64(conn) + 5, conn)
        }
        let figures = read(sketch).connections
        #expect(figures.overlapping == 1)
        #expect(figures.reconnections.count == 0)
    }

    @Test func `invented names do not fill the memory`() {
        var sketch = SessionSketch()
        sketch.open(0, 1)
        for number in 0..<3000 {
            sketch.command(Int64(number), 1, "c\(number)", "type\(number)")
            sketch.result(Int64(number), 1, "c\(number)", "type\(number)", error: "code\(number)")
        }
        let figures = read(sketch)
        #expect(figures.commands.count <= 501)
        #expect(figures.errors.count <= 501)
        #expect(figures.allCommands.failed == 3000)
        #expect(figures.errors.values.reduce(0, +) == 3000)
    }

    @Test func `bytes are those that the wire had`() throws {
        var sketch = SessionSketch()
        sketch.open(0, 1)
        sketch.upgrade(1, 1)
        sketch.text(2, 1, .app, "hello")
        var lengths = WireLengths()
        let wanted = sketch.events.filter { $0.from == .app }.reduce(UInt64(0)) {
            $0 + lengths.length(of: $1.kind, number: $1.seq, conn: $1.conn)
        }
        #expect(wanted > 11)
        #expect(read(sketch).app.bytes == wanted)
    }

    @Test func `random events never break it, and all of them are counted`() {
        var random = SplitMix(state: 7)
        for _ in 0..<300 {
            var reader = StatisticsReader()
            var count = 0
            for seq in 1...40 {
                var event = Event.random(using: &random)
                event.seq = seq
                reader.receive(event)
                switch event.kind {
                case .session, .end: break
                default: count += 1
                }
            }
            reader.finish()
            #expect(reader.statistics.events == count)
            _ = StatisticsText(isColoured: true).text(name: "x", reader.statistics)
            _ = reader.statistics.json(name: "x")
        }
    }

    @Test func `the figures are laid out as they were read last`() {
        let text = StatisticsText(isColoured: false).text(name: "lab.ndjson", read(Self.eventful()))
        #expect(GoldenFile("eventful.txt").difference(from: text) == nil)
        var coloured = StatisticsText(isColoured: true)
            .text(name: "lab.ndjson", read(Self.eventful()))
        coloured = coloured.replacing(#/\u{1b}\[[0-9]*m/#, with: "")
        #expect(coloured == text)
    }

    @Test func `the JSON is as it was read last`() {
        var bytes = Bytes()
        read(Self.eventful()).json(name: "lab.ndjson").encode(into: &bytes, style: .indented)
        #expect(
            GoldenFile("eventful.json").difference(
                from: String(decoding: bytes, as: UTF8.self) + "\n") == nil)
    }

    @Test func `the figures for Prometheus name nothing that comes from the link`() throws {
        var sketch = Self.eventful()
        sketch.command(90_000, 1, "mine", "张伟\"}\nbridgetap_events_total 7")
        var reader = StatisticsReader()
        for event in sketch.events { reader.receive(event) }
        var recording = MetricsText.Recording()
        recording.dropped = 2
        recording.breaches = ["result-once": (1, 0), "result-in-time": (0, 3)]
        let text = String(
            decoding: MetricsText.bytes(
                reader.soFar(at: 95_000_000_000), recording, tool: "bridgetap 9"), as: UTF8.self)
        #expect(text.contains("type=\"other\"") && !text.contains("张伟"))
        let difference = GoldenFile("eventful.prom").difference(from: text)
        #expect(difference == nil, "\(difference ?? "")")
        // A figure is told once, and what it is stands before it.
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let names = lines.map { $0.split(separator: " ").dropLast().joined(separator: " ") }
        #expect(Set(names).count == names.count)
    }

    @Test func `figures so far are those of a session that ends there, and it goes on`() {
        let events = Self.eventful().events
        for count in 1..<events.count {
            var reader = StatisticsReader()
            for event in events[..<count] { reader.receive(event) }
            let open = reader.soFar(at: reader.statistics.duration)
            var ended = reader
            ended.finish()
            var expected = ended.statistics
            expected.connections.open = open.connections.open
            #expect(open == expected)
            reader.receive(events[count])
        }
    }
}
