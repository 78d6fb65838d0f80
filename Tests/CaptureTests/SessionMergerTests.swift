import Capture
import Testing
import Wire

@Suite struct SessionMergerTests {
    private func session(
        _ id: String, startedAt: String, _ events: [Event], source: String = "proxy"
    ) throws -> MemorySource {
        let output = MemoryOutput("\(id).ndjson")
        let writer = try SessionWriter(
            session: SessionInfo(id: id, startedAt: startedAt, tool: "t", source: source)
        ) { _ in output }
        for event in events { writer.receive(event) }
        writer.close(now: events.last?.time ?? 0)
        return MemorySource(output.bytes, name: "\(id).ndjson")
    }

    private func merge(_ inputs: [MemorySource]) throws -> (events: [Event], remarks: [String]) {
        var merger = try SessionMerger(MergeInputs(inputs))
        var events: [Event] = []
        var remarks: [String] = []
        while let item = try merger.next() {
            switch item {
            case .event(let event): events.append(event)
            case .remark(let remark, let name): remarks.append("\(name): \(remark.text)")
            }
        }
        return (events, remarks)
    }

    private static func exchange(_ target: String, app: String) -> [Event] {
        var session = SampleSession()
        session.open(1, app: app)
        session.send(1, .app, "GET \(target) HTTP/1.1\r\nHost: b\r\n\r\n")
        session.send(1, .board, "HTTP/1.1 204 No Content\r\n\r\n")
        session.end(1, .app)
        session.end(1, .board)
        return session.events
    }

    @Test func `times count from the earliest session, and connections in order of opening`()
        throws
    {
        let late = try session(
            "late", startedAt: "2026-03-01T09:30:00.001500000Z",
            Self.exchange("/late", app: "10.0.0.1:1"))
        let early = try session(
            "early", startedAt: "2026-03-01T10:30:00.000+01:00",
            Self.exchange("/early", app: "10.0.0.1:2"))
        let (events, remarks) = try merge([late, early])
        #expect(remarks.isEmpty)
        guard case .session(let info)? = events.first?.kind else {
            Issue.record("no session")
            return
        }
        #expect(info.startedAt == "2026-03-01T09:30:00.000000000Z")
        #expect(info.labels == [FieldLine("merged", "late.ndjson, early.ndjson")])
        let requests = events.compactMap { event -> String? in
            guard case .request(let request) = event.kind else { return nil }
            return "\(event.conn) \(request.target) \(event.time)"
        }
        #expect(requests == ["1 /early 2000000", "2 /late 3500000"])
        #expect(events.dropFirst().map(\.seq) == Array(1..<events.count))
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
        guard case .end(let end)? = events.last?.kind else {
            Issue.record("no end")
            return
        }
        #expect(end.events == events.count - 2)
    }

    @Test func `each input is announced where it begins`() throws {
        let (events, _) = try merge([
            try session("a", startedAt: "2026-03-01T09:30:00Z", []),
            try session("b", startedAt: "2026-03-01T09:30:01Z", [], source: "simulation"),
        ])
        let notes = events.compactMap { event -> String? in
            guard case .note(let note) = event.kind else { return nil }
            return "\(event.time) \(note.text)"
        }
        #expect(
            notes == [
                "0 a.ndjson begins: session a, from proxy",
                "1000000000 b.ndjson begins: session b, from simulation",
            ])
    }

    @Test func `a connection that was recorded at two places stays twice, and a note says so`()
        throws
    {
        let (events, _) = try merge([
            try session(
                "a", startedAt: "2026-03-01T09:30:00Z", Self.exchange("/x", app: "10.0.0.1:1")),
            try session(
                "b", startedAt: "2026-03-01T09:30:00.0001Z",
                Self.exchange("/x", app: "10.0.0.1:1")),
        ])
        let twice = events.filter { event in
            if case .note(let note) = event.kind { note.code == "same_connection" } else { false }
        }
        #expect(twice.count == 1)
        guard case .note(let note)? = twice.first?.kind else { return }
        #expect(
            note.text
                == "connection 2 of b.ndjson has the ends of connection 1 of a.ndjson: it was "
                + "recorded twice")
        let open = events.first { $0.seq == note.to }
        #expect(open?.conn == 2)
        #expect(events.filter { if case .request = $0.kind { true } else { false } }.count == 2)
    }

    @Test func `the second connection of a proxy is known in a capture at the board`() throws {
        var proxied = Self.exchange("/x", app: "10.0.0.1:1")
        proxied[0].kind = .open(
            Event.Open(app: "10.0.0.1:1", board: "10.0.0.9:80", via: "10.0.0.9:7 10.0.0.2:8080"))
        var seen = Self.exchange("/x", app: "10.0.0.9:7")
        seen[0].kind = .open(Event.Open(app: "10.0.0.9:7", board: "10.0.0.2:8080"))
        let (events, _) = try merge([
            try session("a", startedAt: "2026-03-01T09:30:00Z", proxied),
            try session("b", startedAt: "2026-03-01T09:30:00.0001Z", seen),
        ])
        #expect(
            events.contains { event in
                if case .note(let note) = event.kind {
                    note.code == "same_connection"
                } else {
                    false
                }
            })
    }

    @Test func `pieces and notes still name what they belong to`() throws {
        var session = SampleSession()
        session.open(1)
        session.upgrade(1)
        session.text(1, .app, String(repeating: "x", count: (1 << 20) + 5))
        session.note("mark", "here", to: 2)
        let big = try self.session("a", startedAt: "2026-03-01T09:30:00Z", session.events)
        let other = try self.session(
            "b", startedAt: "2026-03-01T09:30:00.0035Z", Self.exchange("/y", app: "10.0.0.1:9"))
        let (events, _) = try merge([big, other])
        let pieces = events.compactMap { event -> Event.Piece? in
            if case .piece(let piece) = event.kind { piece } else { nil }
        }
        #expect(!pieces.isEmpty)
        for piece in pieces {
            guard case .frame(let frame)? = events.first(where: { $0.seq == piece.of })?.kind else {
                Issue.record("no head")
                return
            }
            #expect(frame.content == .pieces)
        }
        let mark = events.compactMap { event -> Event.Note? in
            if case .note(let note) = event.kind, note.code == "mark" { note } else { nil }
        }
        let marked = events.first { $0.seq == mark.first?.to }
        guard case .request? = marked?.kind else {
            Issue.record("the mark is on \(String(describing: marked))")
            return
        }
    }

    @Test func `packets, a HAR and lines merge, and parts of one session stay one`() throws {
        let lines = try session(
            "a", startedAt: "2026-06-01T08:00:00Z", Self.exchange("/x", app: "10.0.0.1:1"))
        let har = MemorySource(Bytes(HARFixtures.chrome.utf8), name: "b.har")
        var packets = Bytes(PcapWriter.fileHeader)
        var writer = PcapWriter(startedAt: 1_780_300_801_000_000_000)
        for (index, event) in Self.exchange("/p", app: "10.0.0.1:5").enumerated() {
            writer.append(event, number: index + 1, into: &packets)
        }
        let groups = try MergeInputs([lines, har, MemorySource(packets, name: "c.pcap")])
        #expect(groups.groups.map(\.session.source) == ["proxy", "har", "pcap"])
        var merger = try SessionMerger(groups)
        var targets: [String] = []
        while let item = try merger.next() {
            if case .event(let event) = item, case .request(let request) = event.kind {
                targets.append(request.target)
            }
        }
        #expect(
            targets == [
                "/x", "/api/phone-bridge/commands?phone_id=p1", "/api/phone-bridge?platform=ios",
                "/p", "/api/phone-bridge/results",
            ])
    }

    @Test func `rotated parts are one group, read in the order of their numbers`() throws {
        var parts: [MemoryOutput] = []
        let writer = try SessionWriter(
            session: SampleSession.info, rotation: Rotation(maximumSize: 1200)
        ) { part in
            parts.append(MemoryOutput("lab-\(part).ndjson"))
            return parts[parts.count - 1]
        }
        for event in SampleSession.everyday().events {
            writer.receive(event)
            writer.flush(now: event.time)
        }
        writer.close(now: 0)
        let inputs = parts.reversed().map { MemorySource($0.bytes, name: $0.path) }
        var groups = try MergeInputs(Array(inputs))
        #expect(groups.groups.count == 1)
        var reader = try groups.groups[0].reader()
        var count = 0
        while case .event(let event)? = try reader.next() {
            if !event.isOfWriter { count += 1 }
        }
        #expect(count == SampleSession.everyday().events.count)
    }

    @Test func `a session without a time cannot be merged`() throws {
        let bad = try session("bad", startedAt: "yesterday", [])
        let good = try session("good", startedAt: "2026-03-01T09:30:00Z", [])
        #expect(throws: SessionError.badStart(name: "bad.ndjson", startedAt: "yesterday")) {
            try SessionMerger(MergeInputs([bad, good]))
        }
    }

    @Test func `a remark names its input`() throws {
        let whole = try session("a", startedAt: "2026-03-01T09:30:00Z", [])
        var torn = Bytes()
        try session("b", startedAt: "2026-03-01T09:30:00Z", Self.exchange("/", app: "1.1.1.1:1"))
            .read(into: &torn, maximum: .max)
        torn.removeLast(30)
        let (events, remarks) = try merge([whole, MemorySource(torn, name: "torn.ndjson")])
        #expect(remarks.count == 1)
        #expect(remarks.first?.hasPrefix("torn.ndjson: the last line is cut short") ?? false)
        guard case .end? = events.last?.kind else { return }
        Issue.record("an end, though one input has none")
    }
}
