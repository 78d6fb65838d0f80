import Capture
import Testing
import Wire

@Suite struct SessionVerifierTests {
    private let lines: [String]

    init() throws {
        lines = String(
            decoding: try write(SampleSession.everyday().events).bytes, as: UTF8.self
        ).split(separator: "\n").map(String.init)
    }

    private func verify(_ lines: [String], end: String = "\n") throws -> SessionVerifier {
        let text = lines.joined(separator: "\n") + end
        return try SessionVerifier.verify(MemorySource(Bytes(text.utf8)))
    }

    @Test func `a file that was closed in good order has no findings`() throws {
        let verifier = try verify(lines)
        #expect(verifier.findings.isEmpty)
        #expect(verifier.worst == nil)
        #expect(verifier.events == lines.count - 1)
    }

    /// What is done to the good file, and the findings expected: code and line.
    @Test(arguments: [
        ("a line is missing", ["seq_missing 6"]),
        ("a line stands twice", ["seq_twice 7"]),
        ("the end is missing", ["no_end 24"]),
        ("the last line is cut", ["torn_line 24", "no_end 24"]),
        ("a line is not JSON", ["bad_line 6", "seq_missing 7"]),
        ("time falls", ["time_falls 6"]),
        ("a connection is not open", ["unknown_connection 6"]),
        ("a length is wrong", ["not_rebuilt 5"]),
        ("events stand behind the end", ["after_end 26"]),
        ("the end counts other bytes", ["end_bytes 25"]),
        ("the end admits drops", ["dropped 25"]),
        ("an opening stands twice", ["seq_twice 26"]),
    ])
    func `each kind of damage is found at its line`(
        _ row: (name: String, findings: [String])
    ) throws {
        var lines = lines
        var end = "\n"
        let last = lines.count - 1
        switch row.name {
        case "a line is missing": lines.remove(at: 5)
        case "a line stands twice": lines.insert(lines[5], at: 6)
        case "the end is missing": lines.removeLast()
        case "the last line is cut":
            lines.removeLast()
            lines[last - 1].removeLast(10)
            end = ""
        case "a line is not JSON": lines[5] = "{\"event\":\"frame\",\"seq\":5"
        case "time falls":
            lines[5] = lines[5].replacing(#/"t":\d+/#, with: "\"t\":1")
        case "a connection is not open":
            lines[5] = lines[5].replacing("\"conn\":1", with: "\"conn\":77")
        case "a length is wrong":
            lines[4] = lines[4].replacing(#/"length":\d+/#, with: "\"length\":9")
        case "events stand behind the end":
            lines.append(#"{"event":"note","seq":25,"t":99000000,"code":"mark","text":""}"#)
        case "the end counts other bytes":
            lines[last] = lines[last].replacing(#/"bytes_app":\d+/#, with: "\"bytes_app\":9")
        case "the end admits drops":
            lines[last] = lines[last].replacing("\"dropped\":0", with: "\"dropped\":3")
        default:
            lines.append(lines[1])
        }
        let found = try verify(lines, end: end).findings.map { "\($0.code) \($0.position.line)" }
        for finding in row.findings {
            #expect(found.contains(finding), "\(row.name): \(found)")
        }
    }

    @Test func `a gap is told, and what follows it is not blamed`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 4
        var session = SampleSession(limits: limits)
        session.open(1)
        session.send(1, .app, "PUT / HTTP/1.1\r\nContent-Length: 12\r\n\r\n0123456789ab")
        var events = session.events
        let lost = events.remove(at: 3)
        events.insert(
            Event(
                time: lost.time, conn: 1, from: .app,
                kind: .gap(Event.Gap(length: 4, why: "disk_full"))),
            at: 3)
        for index in events.indices { events[index].seq = 0 }
        let verifier = try SessionVerifier.verify(MemorySource(try write(events).bytes))
        #expect(verifier.findings.map(\.code) == ["gap"])
        #expect(verifier.worst == .warning)
    }

    @Test func `a file with a finding a line is counted, not kept`() throws {
        let bad = [lines[0]] + Array(repeating: "bad", count: 5000)
        let verifier = try verify(bad)
        #expect(verifier.findings.count == SessionVerifier.maximumFindings)
        #expect(verifier.counts[.error] == 5000)
    }

    @Test func `numbers at the ends of their ranges do no harm`() throws {
        let verifier = try SessionVerifier.verify(MemorySource(hostileFile))
        #expect(verifier.worst == .error)
    }

    @Test func `no changed byte of a file does harm`() throws {
        var random = SeededRandom(5)
        let bytes = Bytes(lines.joined(separator: "\n").utf8)
        for _ in 0..<1500 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = random.pick(
                    Bytes("0123456789\"{}[],:x\\\n".utf8))
            }
            _ = try? SessionVerifier.verify(MemorySource(changed))
        }
    }

    @Test func `of packets it tells the holes, and where they are`() throws {
        var session = SampleSession()
        session.open(1)
        session.upgrade(1)
        session.text(1, .app, "one")
        var events = session.events
        events.append(
            Event(
                time: session.time + 1, conn: 1, from: .app,
                kind: .gap(Event.Gap(length: 700, why: "missing_packets"))))
        var after = session
        after.text(1, .app, "two")
        events += after.events.suffix(1)
        var packets = PcapWriter.fileHeader
        var writer = PcapWriter(startedAt: 1_780_300_800_000_000_000)
        for (index, event) in events.enumerated() {
            writer.append(event, number: index + 1, into: &packets)
        }
        let verifier = try SessionVerifier.verify(MemorySource(packets))
        #expect(verifier.counts[.error] == nil, "\(verifier.findings)")
        let gap = verifier.findings.first { $0.code == "gap" }
        #expect(gap?.position.unit == "packet")
        #expect(
            gap?.text
                == "700 bytes of the app on connection 1 are not in the file (missing_packets)")
        #expect(verifier.worst == .warning)
    }
}
