import Capture
import Testing
import Wire

/// Capture, pcap, capture: equal bytes and equal events for each connection and direction
/// (capture format, promise 1).
@Suite struct PcapIdentityTests {
    private struct Key: Hashable {
        var conn: Int
        var from: Side?
    }

    private func events(_ bytes: Bytes) throws -> [Event] {
        try readEvents(MemorySource(bytes))
    }

    /// The events of each connection and direction, without what a pcap does not hold: numbers,
    /// notes, `via`, `detail`, the `t_first` of openings and closings, and how far the first packet
    /// is behind the session's start.
    ///
    /// What makes a piece full is the first byte of the next one, which the file has later: it has
    /// its time as `t_packet`. Of chunked bodies that is a line, of which the end counts, and which
    /// has one time there: their pieces are compared without times.
    private func comparable(_ events: [Event]) -> [Key: [Event]] {
        let start = events.first { if case .open = $0.kind { true } else { false } }?.time ?? 0
        var found: [Key: [Event]] = [:]
        var places: [Int: Int] = [:]
        var chunked: Set<Int> = []
        for (index, event) in events.enumerated() {
            let key = Key(conn: event.conn, from: event.from)
            let number = event.seq == 0 ? index + 1 : event.seq
            var event = event
            event.bridge = []
            event.time = (event.packetTime ?? event.time) - start
            event.firstTime = event.firstTime.map { $0 - start }
            event.packetTime = nil
            switch event.kind {
            case .open(var open):
                open.via = nil
                event.firstTime = nil
                event.kind = .open(open)
            case .close(var close):
                close.detail = nil
                event.firstTime = nil
                if close.how == .timeout || close.how == .error { close.how = .reset }
                event.kind = .close(close)
            case .piece(var piece):
                if chunked.contains(piece.of) { (event.time, event.firstTime) = (0, nil) }
                piece.of = places[piece.of] ?? -1
                event.kind = .piece(piece)
            case .request(let request) where isInChunkedPieces(request.body):
                chunked.insert(number)
                (event.time, event.firstTime) = (0, nil)
            case .response(let response) where isInChunkedPieces(response.body):
                chunked.insert(number)
                (event.time, event.firstTime) = (0, nil)
            case .request, .response, .frame, .message, .data: break
            case .session, .gap, .note, .end: continue
            }
            event.seq = (found[key]?.count ?? 0) + 1
            places[number] = event.seq
            found[key, default: []].append(event)
        }
        return found
    }

    private func isInChunkedPieces(_ body: Event.Body) -> Bool {
        body.framing == .chunked && body.content == .pieces
    }

    private func expectEqual(_ found: [Event], _ expected: [Event], _ name: String) {
        #expect(rebuild(found) == rebuild(expected), "\(name): the bytes")
        let found = comparable(found)
        let expected = comparable(expected)
        #expect(Set(found.keys) == Set(expected.keys), "\(name)")
        for (key, events) in expected {
            let others = found[key] ?? []
            #expect(others.count == events.count, "\(name), \(key)")
            for (found, expected) in zip(others, events) where found != expected {
                Issue.record("\(name), \(key): \(found) instead of \(expected)")
                return
            }
        }
    }

    @Test(arguments: [
        "all-commands", "compressed-android", "errors", "fgs-queue", "pip-queue", "reconnect",
    ])
    func `an example session comes back from its pcap`(_ name: String) throws {
        let before = try exampleSession("\(name).ndjson")
        #expect(before.count > 20)
        expectEqual(try events(try pcap(before)), before, name)
    }

    @Test(arguments: [true, false])
    func `sessions made by chance come back from their pcap`(_ isLegal: Bool) throws {
        for seed in 0..<60 {
            let session = RandomSession(seed: UInt64(seed), isLegal: isLegal).session
            expectEqual(try events(try pcap(session.events)), session.events, "seed \(seed)")
        }
    }

    @Test func `what stands in pieces comes back in the same pieces`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 200
        limits.maximumChunksInPiece = 2
        limits.maximumData = 100
        var reading = PacketSession.Limits()
        reading.connection = limits
        for seed in 0..<60 {
            let session = RandomSession(
                seed: UInt64(seed), isLegal: seed % 3 == 0, limits: limits
            ).session
            let packets = try pcapPackets(session.events)
            expectEqual(
                CaptureTests.session(packets, limits: reading), session.events, "seed \(seed)")
        }
    }

    @Test func `undecoded bytes of up to 32 KiB come back as they were`() throws {
        var session = SampleSession()
        session.open(1)
        for count in [1, 1460, 1461, 5000, 32 << 10, 40_000] {
            session.send(1, .app, Bytes(repeating: 0x16, count: count))
        }
        session.end(1, .app)
        session.end(1, .board)
        let data = session.events.filter { if case .data = $0.kind { true } else { false } }
        // One byte alone might still be HTTP.
        #expect(data.count == 6)
        expectEqual(try events(try pcap(session.events)), session.events, "data")
    }

    @Test func `tshark follows what is written without a complaint`() throws {
        let examples = try EditablePackets.examples.map { ($0, try exampleSession($0)) }
        let others = (0..<10).map { seed in
            ("seed \(seed)", RandomSession(seed: UInt64(seed), isLegal: true).session.events)
        }
        for (name, events) in examples + others {
            let board = events.compactMap { event -> UInt16? in
                guard case .open(let open) = event.kind else { return nil }
                return IPEndpoint(parsing: open.board)?.port
            }
            let port = try #require(board.first)
            let folder = try TemporaryFolder()
            let path = try folder.write(try pcap(events), to: "lab.pcap")
            // A refused connection is remarked on as a reset, which it is.
            let result = try ToolProcess.run(
                "tshark",
                [
                    "-n", "-r", path, "-d", "tcp.port==\(port),http", "-o",
                    "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-e",
                    "frame.number", "-e",
                    "_ws.expert.message", "-Y",
                    "(_ws.expert.severity >= 0x00600000 || _ws.malformed || tcp.analysis.flags "
                        + "|| tcp.checksum.status == 0 || ip.checksum.status == 0) "
                        + "&& !tcp.flags.reset",
                ])
            try #require(result.status == 0, "\(result.errors)")
            #expect(result.output == "", "\(name)")
        }
    }
}
