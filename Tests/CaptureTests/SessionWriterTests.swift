import Capture
import Testing
import Wire

@Suite struct SessionWriterTests {
    @Test func `a session is a first line, numbered events and an end`() throws {
        let session = SampleSession.everyday()
        let (events, remarks) = try read(try write(session.events).bytes)
        #expect(remarks.isEmpty)
        #expect(events.first?.kind == .session(SampleSession.info))
        #expect(events.dropFirst().map(\.seq) == Array(1...session.events.count + 1))
        #expect(events.filter { !$0.isOfWriter } == session.readBack)
        guard case .end(let end)? = events.last?.kind else {
            Issue.record("no end")
            return
        }
        #expect(end.events == session.events.count)
        #expect(end.dropped == 0)
    }

    @Test func `a meaning that repeats is written in each of its lines`() throws {
        let shared: Meanings = [["kind": "unknown"]]
        let meanings: [Meanings] = [
            shared, shared, [], shared, [["kind": "heartbeat", "id": "a"]], [["kind": "unknown"]],
            shared, [["kind": "x"], ["kind": "y"]], [], shared,
        ]
        let events = meanings.enumerated().map { index, bridge in
            Event(
                seq: index + 1, time: Int64(index), conn: 1, from: .app,
                kind: .frame(
                    Event.FrameRecord(
                        header: FrameHeader(opcode: .text, payloadLength: 2),
                        content: .whole(Bytes("{}".utf8)))), bridge: bridge)
        }
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        writer.receive(events)
        _ = writer.close(now: 100)
        var expected = Bytes()
        for event in events { EventEncoder().encode(event, into: &expected) }
        let lines = output.bytes.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
        #expect(lines.joined(separator: [UInt8(ascii: "\n")]).elementsEqual(expected.dropLast()))
    }

    @Test func `the bytes of each direction are counted and come back`() throws {
        let session = SampleSession.everyday()
        let (events, _) = try read(try write(session.events).bytes)
        #expect(rebuild(events) == session.sent)
        guard case .end(let end)? = events.last?.kind else { return }
        for (side, counted) in [(Side.app, end.bytesApp), (.board, end.bytesBoard)] {
            let sent = session.sent.filter { $0.key.from == side }.values.map(\.count)
            #expect(counted == UInt64(sent.reduce(0, +)))
        }
    }

    @Test func `large things come back from their pieces, counted to the byte`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 16
        var session = SampleSession(limits: limits)
        let body = String(repeating: "0123456789", count: 9)
        session.open(1)
        session.send(1, .app, "POST /a HTTP/1.1\r\nContent-Length: 90\r\n\r\n\(body)")
        session.send(1, .board, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        session.send(1, .board, "5A;x\r\n\(body)\r\n5a\r\n\(body)\r\n0\r\nTail: 1\r\n\r\n")
        session.open(2)
        session.upgrade(2)
        session.frame(2, .app, fin: false, .text, Bytes(body.utf8))
        session.frame(2, .app, .continuation, Bytes(body.utf8))
        let (events, _) = try read(try write(session.events).bytes)
        #expect(events.filter { !$0.isOfWriter } == session.readBack)
        #expect(rebuild(events) == session.sent)
        guard case .end(let end)? = events.last?.kind else { return }
        for (side, counted) in [(Side.app, end.bytesApp), (.board, end.bytesBoard)] {
            let sent = session.sent.filter { $0.key.from == side }.values.map(\.count)
            #expect(counted == UInt64(sent.reduce(0, +)))
        }
    }

    @Test func `time never falls`() throws {
        let note = Event.Kind.note(Event.Note(code: "mark", text: ""))
        let output = try write([
            Event(time: 10, kind: note), Event(time: 4, kind: note), Event(time: 11, kind: note),
        ])
        let events = try read(output.bytes).events.filter { !$0.isOfWriter }
        #expect(events.map(\.time) == [10, 10, 11])
        #expect(events.map(\.packetTime) == [nil, 4, nil])
    }

    @Test func `nothing is written between flushes, and one append is a flush`() throws {
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        for event in SampleSession.everyday().events { writer.receive(event) }
        #expect(output.bytes.isEmpty)
        writer.flush(now: 0)
        #expect(output.appends == 1)
        #expect(output.bytes.last == UInt8(ascii: "\n"))
    }

    @Test func `a batch does not grow without bound`() throws {
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        let event = Event(
            time: 0, conn: 1, from: .app,
            kind: .data(Event.Data(bytes: Bytes(repeating: 0, count: 32 << 10), why: "noise")))
        for _ in 0..<100 { writer.receive(event) }
        #expect(output.appends >= 3)
    }

    // MARK: Full disk

    /// Writes the session on a disk that holds `room` bytes, and has room again after event
    /// `freedAt`.
    private func writeOnFullDisk(
        _ session: SampleSession, room: Int, freedAt: Int, compression: SessionCompression = .none,
        refusesToTruncate: Bool = false
    ) throws -> (output: MemoryOutput, status: OutputStatus) {
        let output = MemoryOutput()
        output.room = room
        output.refusesToTruncate = refusesToTruncate
        let writer = try SessionWriter(session: SampleSession.info, compression: compression) {
            _ in output
        }
        for (index, event) in session.events.enumerated() {
            if index == freedAt {
                output.room = .max
                output.refusesToTruncate = false
            }
            writer.receive(event)
            // Each turn is a second later, so that each tries again.
            writer.flush(now: Int64(index) * 2_000_000_000)
        }
        output.room = .max
        output.refusesToTruncate = false
        return (output, writer.close(now: 1_000_000_000_000))
    }

    /// What a file has to hold after a full disk, however it went.
    private func check(
        _ output: MemoryOutput, _ status: OutputStatus, against session: SampleSession,
        _ comment: Comment
    ) throws {
        let (events, remarks) = try read(output.bytes)
        #expect(remarks.isEmpty, comment)
        #expect(events.dropFirst().map(\.seq) == Array(1..<events.count), comment)
        guard case .end(let end)? = events.last?.kind else {
            Issue.record("no end: \(comment)")
            return
        }
        #expect(end.dropped == status.dropped, comment)
        let verifier = try SessionVerifier.verify(MemorySource(output.bytes))
        #expect(verifier.counts[.error] == nil, "\(comment) \(verifier.findings)")
        // Every byte is there, or a gap says that it is not.
        var covered: [SampleSession.Key: UInt64] = [:]
        for event in events {
            guard let from = event.from, case .gap(let gap) = event.kind else { continue }
            covered[SampleSession.Key(conn: event.conn, from: from), default: 0] +=
                gap.length ?? 0
        }
        for (key, bytes) in rebuild(events) { covered[key, default: 0] += UInt64(bytes.count) }
        #expect(covered == session.sent.mapValues { UInt64($0.count) }, comment)
        if status.dropped > 0 {
            #expect(output.bytes.contains("recording_gap"), comment)
        } else {
            #expect(events.filter { !$0.isOfWriter } == session.readBack, comment)
        }
    }

    @Test func `a disk that is full at any byte costs what a gap tells, and no more`() throws {
        for (session, step) in [(SampleSession.short(), 1), (SampleSession.everyday(), 61)] {
            let whole = try write(session.events).bytes.count
            for room in stride(from: 0, through: whole, by: step) {
                for freedAt in [4, session.events.count] {
                    let (output, status) = try writeOnFullDisk(
                        session, room: room, freedAt: freedAt)
                    try check(
                        output, status, against: session, "room \(room), freed at \(freedAt)")
                }
            }
        }
    }

    @Test func `a torn line that cannot be cut off at once is cut off later`() throws {
        let session = SampleSession.everyday()
        for room in stride(from: 100, through: 2_000, by: 37) {
            let (output, status) = try writeOnFullDisk(
                session, room: room, freedAt: 9, refusesToTruncate: true)
            try check(output, status, against: session, "room \(room)")
        }
    }

    @Test(arguments: [SessionCompression.gzip, .zstd])
    func `a packed file is whole after a full disk`(_ compression: SessionCompression) throws {
        let session = SampleSession.short()
        let whole = try write(session.events, compression: compression, batchSize: 1).bytes.count
        for room in 0...whole {
            let (output, status) = try writeOnFullDisk(
                session, room: room, freedAt: 5, compression: compression)
            try check(output, status, against: session, "room \(room)")
        }
    }

    @Test func `pieces whose head was lost become gaps`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 8
        var session = SampleSession(limits: limits)
        session.open(1)
        let body = "0123456789abcdefghijklmnopqrst"
        session.send(1, .app, "POST /a HTTP/1.1\r\nContent-Length: 30\r\n\r\n")
        for character in body { session.send(1, .app, String(character)) }
        session.end(1, .app)
        session.end(1, .board)
        let whole = try write(session.events).bytes.count
        for room in stride(from: 0, through: whole, by: 3) {
            for freedAt in 2..<session.events.count {
                let (output, status) = try writeOnFullDisk(session, room: room, freedAt: freedAt)
                try check(output, status, against: session, "room \(room), freed at \(freedAt)")
            }
        }
    }

    @Test func `while the disk is full the writer says so, and tries again each second`() throws {
        let output = MemoryOutput()
        output.room = 0
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        writer.flush(now: 5)
        #expect(writer.status.pausedBy?.name == "ENOSPC")
        #expect(writer.nextDeadline == 1_000_000_005)
        output.room = .max
        writer.flush(now: 1_000_000_004)
        #expect(output.bytes.isEmpty)
        writer.flush(now: 1_000_000_005)
        #expect(writer.status.pausedBy == nil)
        #expect(writer.nextDeadline == nil)
        #expect(!output.bytes.isEmpty)
    }

    // MARK: Rotation

    private func writeParts(
        _ session: SampleSession, _ rotation: Rotation, turn: Int64 = 1_000_000
    ) throws -> [MemoryOutput] {
        var parts: [MemoryOutput] = []
        let writer = try SessionWriter(session: SampleSession.info, rotation: rotation) { part in
            #expect(part == parts.count + 1)
            let output = MemoryOutput(Rotation.path("lab.ndjson", part: part))
            parts.append(output)
            return output
        }
        for event in session.events {
            writer.receive(event)
            writer.flush(now: event.time)
        }
        #expect(writer.close(now: session.time).isComplete)
        return parts
    }

    @Test func `each part begins with the session and its open connections`() throws {
        let session = SampleSession.everyday()
        let parts = try writeParts(session, Rotation(maximumSize: 700))
        #expect(parts.count > 4)
        #expect(parts.allSatisfy { $0.isClosed })
        for (index, part) in parts.enumerated() {
            let (events, remarks) = try read(part.bytes)
            #expect(remarks.isEmpty)
            guard case .session(let info)? = events.first?.kind else {
                Issue.record("part \(index + 1) has no first line")
                return
            }
            #expect(info.part == index + 1)
            #expect(info.id == SampleSession.info.id)
            #expect(events.dropFirst().map(\.seq) == Array(1..<events.count))
            let verifier = try SessionVerifier.verify(MemorySource(part.bytes))
            #expect(verifier.counts[.error] == nil, "\(verifier.findings)")
        }
        let second = try read(parts[1].bytes).events
        guard case .open(let open)? = second.dropFirst().first?.kind else {
            Issue.record("no opening")
            return
        }
        #expect(open.continued?.upgraded == true)
    }

    @Test func `parts together are the session, in whatever order they are given`() throws {
        let session = SampleSession.everyday()
        for size in [UInt64(1), 300, 700, 2000, 100_000] {
            let parts = try writeParts(session, Rotation(maximumSize: size))
            let inputs = parts.reversed().map { MemorySource($0.bytes, name: $0.path) }
            var reader = try SessionReader(inputs)
            var events: [Event] = []
            while let item = try reader.next() {
                guard case .event(let event) = item else {
                    Issue.record("\(item)")
                    return
                }
                events.append(event)
            }
            #expect(rebuild(events) == session.sent)
            let own = events.filter { !$0.isOfWriter }
            #expect(own.map(\.kind).count == session.events.count)
            #expect(zip(own, session.events).allSatisfy { isSame($0, $1) }, "size \(size)")
            #expect(zip(own, own.dropFirst()).allSatisfy { $0.seq < $1.seq })
        }
    }

    /// The same event but for its number, and numbers of others in it.
    private func isSame(_ first: Event, _ second: Event) -> Bool {
        var first = first
        first.seq = second.seq
        if case .note(var note) = first.kind, case .note(let other) = second.kind {
            note.to = other.to
            first.kind = .note(note)
        }
        return first == second
    }

    @Test func `a note in a later part names the part of what it is about`() throws {
        let parts = try writeParts(SampleSession.everyday(), Rotation(maximumSize: 1))
        let notes = try parts.flatMap { try read($0.bytes).events }.compactMap { event in
            if case .note(let note) = event.kind { note } else { nil }
        }
        #expect(notes.map(\.toPart) == [5])
    }

    @Test func `a large body may be cut between parts, and its pieces find their head`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 8
        var session = SampleSession(limits: limits)
        session.open(1)
        session.send(
            1, .app, "POST /a HTTP/1.1\r\nContent-Length: 30\r\n\r\n0123456789abcdefghijklmnopqrst")
        let parts = try writeParts(session, Rotation(maximumSize: 1))
        #expect(parts.count == session.events.count + 1)
        var reader = try SessionReader(parts.map { MemorySource($0.bytes) })
        var events: [Event] = []
        while case .event(let event)? = try reader.next() { events.append(event) }
        #expect(rebuild(events) == session.sent)
    }

    @Test func `a part ends when its time is over, unless nothing happened`() throws {
        let session = SampleSession.everyday()
        let parts = try writeParts(session, Rotation(maximumDuration: 6_000_000))
        #expect((3...8).contains(parts.count))
        var quiet: [MemoryOutput] = []
        let writer = try SessionWriter(
            session: SampleSession.info, rotation: Rotation(maximumDuration: 1000)
        ) { _ in
            quiet.append(MemoryOutput())
            return quiet[quiet.count - 1]
        }
        for now in stride(from: Int64(0), to: 1_000_000, by: 1000) { writer.flush(now: now) }
        #expect(writer.nextDeadline == nil)
        #expect(quiet.count == 1)
    }

    @Test func `a part that cannot be opened is tried again, and told of`() throws {
        let session = SampleSession.everyday()
        var parts: [MemoryOutput] = []
        var refusals = 3
        let writer = try SessionWriter(
            session: SampleSession.info, rotation: Rotation(maximumSize: 1500)
        ) { part throws(OutputError) in
            if part == 2, refusals > 0 {
                refusals -= 1
                throw OutputError(errno: 24, call: "open", path: "lab-0002.ndjson")
            }
            parts.append(MemoryOutput())
            return parts[parts.count - 1]
        }
        for (index, event) in session.events.enumerated() {
            writer.receive(event)
            writer.flush(now: Int64(index) * 2_000_000_000)
        }
        let status = writer.close(now: 1_000_000_000_000)
        #expect(refusals == 0)
        #expect(status.dropped > 0)
        #expect(parts.count >= 2)
        for part in parts {
            let verifier = try SessionVerifier.verify(MemorySource(part.bytes))
            #expect(verifier.counts[.error] == nil, "\(verifier.findings)")
        }
    }
}

extension Bytes {
    /// Whether the text stands somewhere in the bytes.
    func contains(_ text: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(text)
            || (try? read(self))?.events.contains { event in
                if case .note(let note) = event.kind { note.code == text } else { false }
            } == true
    }
}
