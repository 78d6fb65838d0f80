import Capture
import Testing
import Wire

/// Files are held against tshark, which has to be installed.
@Suite struct PcapWriterTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func pcap(_ session: SampleSession) throws -> (path: String, losses: PcapWriter.Losses)
    {
        let output = MemoryOutput("lab.pcap")
        let startedAt = try #require(
            SessionTime.nanoseconds(parsing: SampleSession.info.startedAt))
        let writer = try PcapSessionWriter(startedAt: startedAt) { _ in output }
        for event in session.events { writer.receive(event) }
        writer.close(now: session.time)
        return (try folder.write(output.bytes, to: "lab.pcap"), writer.losses)
    }

    /// The fields of the packets that a filter lets through, a line each.
    private func tshark(
        _ path: String, _ filter: String, _ fields: [String], options: [String] = []
    ) throws -> [[String]] {
        let result = try ToolProcess.run(
            "tshark",
            [
                "-n", "-r", path, "-d", "tcp.port==8080,http", "-Y", filter, "-T", "fields",
                "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
            ] + options + fields.flatMap { ["-e", $0] })
        try #require(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Nothing that an expert would remark on, nor a wrong checksum.
    private func expectNoComplaint(_ path: String) throws {
        let complaints = try tshark(
            path,
            "(_ws.expert.severity >= 0x00600000) || _ws.malformed || tcp.checksum.status == 0 "
                + "|| ip.checksum.status == 0 || tcp.analysis.flags",
            ["frame.number", "_ws.expert.message"])
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test func `an everyday session is followed without a complaint`() throws {
        let session = SampleSession.everyday()
        let (path, losses) = try pcap(session)
        // A refused connection is remarked on as a reset, which it is.
        let complaints = try tshark(
            path,
            "(_ws.expert.severity >= 0x00600000 || tcp.analysis.flags || tcp.checksum.status == 0)"
                + " && !tcp.flags.reset",
            ["frame.number", "_ws.expert.message"])
        #expect(complaints.isEmpty, "\(complaints)")
        #expect(losses.warnings == ["1 notes are left out"])
    }

    @Test func `tshark sees the handshake, both FINs and the refusal`() throws {
        let (path, _) = try pcap(SampleSession.everyday())
        let flags = try tshark(path, "tcp.stream == 0", ["tcp.flags.str"]).map { $0[0] }
        #expect(flags.prefix(3).map { $0.filter(\.isLetter) } == ["S", "AS", "A"])
        #expect(flags.filter { $0.contains("F") }.count == 2)
        let refused = try tshark(
            path, "tcp.stream == 2", ["tcp.flags.syn", "tcp.flags.reset", "tcp.flags.ack"])
        #expect(refused == [["1", "0", "0"], ["0", "1", "1"]])
    }

    @Test func `tshark reads the texts of the WebSocket as the session has them`() throws {
        let session = SampleSession.everyday()
        let (path, _) = try pcap(session)
        let frames = try tshark(
            path, "websocket",
            ["tcp.srcport", "websocket.opcode", "websocket.fin", "websocket.payload.text"])
        let texts = frames.filter { $0[1] == "1" && $0[2] == "1" }.map { $0[3] }
        let expected = session.events.compactMap { event -> String? in
            guard case .frame(let frame) = event.kind, frame.header.opcode == .text,
                frame.header.fin, case .whole(let payload) = frame.content
            else { return nil }
            return String(decoding: payload, as: UTF8.self)
        }
        #expect(texts == expected)
        let close = try tshark(
            path, "websocket.opcode == 8",
            ["tcp.srcport", "websocket.payload.close.status_code"])
        #expect(close == [["50001", "1000"], ["8080", "1000"]])
        let chunked = try tshark(path, "http.response && tcp.stream == 1", ["http.file_data"])
        #expect(
            chunked == [["{\"commands\":[]}"]] || chunked == [["7b22636f6d6d616e6473223a5b5d7d"]])
    }

    @Test func `tshark inflates what is compressed`() throws {
        var session = SampleSession()
        session.open(1)
        session.upgrade(1, extensions: "permessage-deflate")
        let texts = [#"{"id":"cmd_1","type":"open_app"}"#, #"{"id":"cmd_2","type":"open_app"}"#]
        let deflater = try #require(Deflater())
        for text in texts {
            let payload = deflater.compress(Bytes(text.utf8).span)
            session.frame(1, .board, rsv: 4, .text, payload)
        }
        session.end(1, .board)
        session.end(1, .app)
        let (path, _) = try pcap(session)
        try expectNoComplaint(path)
        let frames = try tshark(path, "websocket", ["websocket.payload.text"])
        #expect(frames.map { $0[0].split(separator: ",{").first.map(String.init) } == texts)
        let messages = session.events.compactMap { event -> String? in
            guard case .message(let message) = event.kind, case .whole(let bytes) = message.content
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(messages == texts)
    }

    @Test func `a connection over IPv6 with large messages is followed`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 50_000
        var session = SampleSession(limits: limits)
        session.open(1, app: "[fd00::2]:50001", board: "[fd00::1]:8080")
        session.upgrade(1)
        let large = String(repeating: "a long note. ", count: 20_000)
        session.text(1, .app, large)
        session.text(1, .board, "ok")
        session.end(1, .app)
        session.end(1, .board)
        let (path, _) = try pcap(session)
        try expectNoComplaint(path)
        let lengths = try tshark(path, "websocket", ["websocket.payload_length_ext_64"])
        #expect(lengths.first == ["260000"])
        let sizes = try tshark(path, "tcp.len > 0", ["tcp.len"]).compactMap { Int($0[0]) }
        #expect(sizes.max() == 1440)
        #expect(sizes.reduce(0, +) == session.sent.values.map(\.count).reduce(0, +))
    }

    @Test func `a reset, an open end and a gap are shown as what they are`() throws {
        var session = SampleSession()
        session.open(1)
        session.send(1, .app, "GET / HTTP/1.1\r\n\r\n")
        session.end(1, .board, .reset)
        session.open(2)
        session.send(2, .app, "GET / HTTP/1.1\r\n\r\n")
        session.open(3)
        let (path, _) = try pcap(session)
        #expect(try tshark(path, "tcp.flags.reset == 1", ["tcp.stream"]) == [["0"]])
        #expect(try tshark(path, "tcp.flags.fin == 1", ["tcp.stream"]).isEmpty)
        #expect(try tshark(path, "tcp.stream == 2", ["tcp.len"]) == [["0"], ["0"], ["0"]])
    }

    @Test func `the bytes of every connection and direction are in the file, at their times`()
        throws
    {
        let session = SampleSession.everyday()
        let (path, _) = try pcap(session)
        let packets = try tshark(
            path, "tcp.len > 0", ["tcp.stream", "tcp.srcport", "tcp.payload", "frame.time_epoch"])
        var found: [SampleSession.Key: String] = [:]
        for packet in packets {
            let key = SampleSession.Key(
                conn: (Int(packet[0]) ?? 0) + 1, from: packet[1] == "8080" ? .board : .app)
            found[key, default: ""] += packet[2]
        }
        let expected = session.sent.mapValues { bytes in
            var hex = Bytes()
            appendHex(bytes.span, to: &hex)
            return String(decoding: hex, as: UTF8.self)
        }
        #expect(found == expected)
        #expect(packets.first?[3] == "1772357400.002000000")
    }

    @Test func `numbers at the ends of their ranges do no harm`() throws {
        var reader = SessionReader(MemorySource(hostileFile))
        let output = MemoryOutput("lab.pcap")
        let writer = try PcapSessionWriter(startedAt: .max) { _ in output }
        while let item = try reader.next() {
            if case .event(let event) = item { writer.receive(event) }
        }
        #expect(writer.close(now: .max).written > 0)
    }

    @Test func `undecoded data is one segment, and named where no packet holds it`() throws {
        var session = SampleSession()
        session.open(1)
        session.send(1, .app, Bytes(repeating: 0x16, count: 20_000))
        var events = session.events
        let other = Event(
            time: session.time + 1, conn: 1, from: .board,
            kind: .data(Event.Data(bytes: Bytes(repeating: 0x16, count: 70_000), why: "noise")))
        events.append(other)
        let output = MemoryOutput("lab.pcap")
        let writer = try PcapSessionWriter(startedAt: 0) { _ in output }
        for event in events { writer.receive(event) }
        writer.close(now: session.time + 1)
        #expect(
            writer.losses.warnings == [
                "1 events of undecoded data are cut into several packets"
            ])
        let path = try folder.write(output.bytes, to: "lab.pcap")
        #expect(try tshark(path, "tcp.len > 0", ["tcp.len"]) == [["20000"], ["65495"], ["4505"]])
    }

    @Test func `what a pcap file cannot hold is named`() throws {
        var session = SampleSession()
        session.open(1, app: "phone", board: "board")
        session.end(1, .board, .timeout)
        session.note("mark", "here")
        let (_, losses) = try pcap(session)
        #expect(
            losses.warnings == [
                "1 notes are left out", "1 time-outs and errors are shown as resets",
                "1 connections have no IP addresses; invented ones are shown",
            ])
    }
}
