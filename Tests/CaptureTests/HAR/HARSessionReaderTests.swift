import Capture
import Testing
import Wire

@Suite struct HARSessionReaderTests {
    private func events(_ text: String) throws -> [Event] {
        let (events, remarks) = try read(Bytes(text.utf8))
        #expect(remarks.isEmpty)
        return events
    }

    private func notes(_ events: [Event]) -> [String] {
        events.compactMap { if case .note(let note) = $0.kind { note.text } else { nil } }
    }

    private func requests(_ events: [Event]) -> [Event.Request] {
        events.compactMap { if case .request(let request) = $0.kind { request } else { nil } }
    }

    private func responses(_ events: [Event]) -> [Event.Response] {
        events.compactMap { if case .response(let response) = $0.kind { response } else { nil } }
    }

    /// Side, opcode and content of the frames.
    private func frames(_ events: [Event]) -> [String] {
        events.compactMap { event in
            guard case .frame(let frame) = event.kind, case .whole(let bytes) = frame.content else {
                return nil
            }
            let side = event.from?.rawValue ?? "?"
            return
                "\(side) \(frame.header.opcode.rawValue) \(String(decoding: bytes, as: UTF8.self))"
        }
    }

    @Test func `what Chrome writes is read in the order of time`() throws {
        let events = try events(HARFixtures.chrome)
        guard case .session(let info)? = events.first?.kind else {
            Issue.record("no session line")
            return
        }
        #expect(info.source == "har")
        #expect(info.labels == [FieldLine("creator", "WebInspector 537.36")])
        // The poll's connection was opened 3 ms after its entry began.
        #expect(info.startedAt == "2026-06-01T08:00:00.003000000Z")
        #expect(
            requests(events).map(\.target) == [
                "/api/phone-bridge/commands?phone_id=p1", "/api/phone-bridge?platform=ios",
                "/api/phone-bridge/results",
            ])
        #expect(
            frames(events) == [
                "app 1 {\"id\":\"heartbeat\"}", "board 1 {\"id\":\"heartbeat\"}",
                "board 2 \0\u{1}\u{2}",
            ])
        #expect(notes(events).contains("Invalid frame header"))
        #expect(notes(events).contains("net::ERR_CONNECTION_REFUSED"))
        #expect(notes(events).contains("1 entry came from the browser's cache and is left out"))
        #expect(
            notes(events).contains("1 entry of another scheme than http or ws is left out"))
    }

    @Test func `times are exact, and an answer to an upgrade comes before its messages`() throws {
        let events = try events(HARFixtures.chrome)
        let start = 3_000_000
        let poll = events.first { $0.conn == 1 && $0.from == .app }
        #expect(poll?.time == 500_000)
        let answer = events.first { $0.conn == 1 && $0.from == .board }
        #expect((answer?.firstTime, answer?.time) == (8_500_000, 9_500_000))
        let upgrade = events.first { event in
            if case .response(let response) = event.kind { response.status == 101 } else { false }
        }
        #expect(upgrade?.time == Int64(500_000_000 - start))
        let first = events.first { if case .frame = $0.kind { true } else { false } }
        #expect(first?.time == Int64(500_000_000 - start))
    }

    @Test func `a body that the browser unpacked loses its encoding, and says so`() throws {
        let events = try events(HARFixtures.chrome)
        let poll = try #require(responses(events).first)
        #expect(
            poll.headers == [
                FieldLine("Content-Length", "15"), FieldLine("Content-Type", "application/json"),
            ])
        #expect(poll.body.content == .whole(Bytes("{\"commands\":[]}".utf8)))
        #expect(poll.body.framing == .length(15))
        #expect(
            notes(events).contains("1 body was unpacked by the program that wrote the HAR"))
    }

    @Test func `frames of the app are masked with 0, those of the board are not masked`() throws {
        for event in try events(HARFixtures.chrome) {
            guard case .frame(let frame) = event.kind else { continue }
            #expect(
                frame.header.maskingKey == (event.from == .app ? MaskingKey(rawValue: 0) : nil))
        }
    }

    @Test func `what a browser cannot know of a WebSocket's end is a gap`() throws {
        let events = try events(HARFixtures.chrome)
        let gaps = events.filter { if case .gap = $0.kind { true } else { false } }
        #expect(gaps.map(\.from) == [.app, .board])
        #expect(gaps.allSatisfy { $0.kind == .gap(Event.Gap(length: nil, why: "har")) })
        let conn = gaps.first?.conn
        let closes = events.filter { event in
            if case .close = event.kind { event.conn == conn } else { false }
        }
        #expect(closes.count == 2)
    }

    @Test func `entries at one time of one connection each have their own`() throws {
        let events = try events(HARFixtures.firefox)
        let conns = events.filter { if case .request = $0.kind { true } else { false } }.map(\.conn)
        #expect(conns == [1, 2, 1])
        #expect(requests(events).map(\.exchange) == [1, 1, 2])
        #expect(requests(events)[1].target == "/a%20b")
        #expect(responses(events).map(\.status) == [200, 204, 200])
        #expect(responses(events)[0].body.chunks == Event.Chunks(sizes: [11]))
        #expect(
            notes(events).contains(
                "1 entry that overlaps another of its connection has one of its own"))
        #expect(notes(events).contains("1 entry of HTTP/2 or HTTP/3 is shown as HTTP/1.1"))
    }

    @Test func `base64 bodies, IPv6 addresses and a byte order mark are read`() throws {
        let events = try events(HARFixtures.safari)
        let response = try #require(responses(events).first)
        #expect(response.body.content == .whole([0x89, 0x50, 0x4e, 0x47]))
        guard case .open(let open)? = events.first(where: { $0.conn == 1 })?.kind else {
            Issue.record("no opening")
            return
        }
        #expect(open.board == "[fd00::1]:8080")
        #expect(open.app == "unknown")
        #expect(responses(events).count == 1)
    }

    @Test func `a message that is earlier than the one before it keeps its place and its time`()
        throws
    {
        let events = try events(HARFixtures.mitmproxy)
        let found = events.filter { if case .frame = $0.kind { true } else { false } }
        #expect(found.map(\.from) == [.board, .app])
        #expect(found[1].time == found[0].time)
        #expect(found[1].packetTime == found[0].time - 125_000_000)
        #expect(frames(events).last == "app 1 {\"id\":\"c1\",\"data\":{\"text\":\"é\"}}")
    }

    @Test func `an upgrade without an answer is made up, and odd messages are taken as they are`()
        throws
    {
        let events = try events(HARFixtures.charles)
        let response = try #require(responses(events).first)
        #expect(response.status == 101)
        #expect(response.headers.has(token: "websocket", in: "Upgrade"))
        #expect(
            frames(events) == ["app 1 one", "board 1 7", "board 2 not base64!", "board 8 "])
        #expect(
            notes(events).contains("1 WebSocket has no 101 response in the HAR; one was made up"))
        #expect(
            notes(events).contains("1 message without an opcode of its own is taken for text"))
    }

    @Test(arguments: HARFixtures.all.map(\.text))
    func `the events agree with what their bytes are decoded to`(_ text: String) throws {
        let events = try events(text)
        var lastTime: Int64 = 0
        for (index, event) in events.dropFirst().enumerated() {
            #expect(event.seq == index + 1)
            #expect(event.time >= lastTime)
            lastTime = event.time
        }
        // The same connections, told by their bytes.
        for conn in Set(events.map(\.conn)).subtracting([0]) {
            let decoder = ConnectionDecoder(conn: conn)
            var batch = EventBatch()
            var encoder = ConnectionEncoder()
            var expected: [Event.Kind] = []
            for event in events where event.conn == conn {
                guard let from = event.from else { continue }
                var bytes = Bytes()
                switch encoder.encode(event, into: &bytes) {
                case .missing(let length):
                    decoder.gap(from, length: length, why: "har", at: event.time, into: &batch)
                case .bytes:
                    decoder.receive(bytes.span, from: from, at: event.time, into: &batch)
                default:
                    continue
                }
                expected.append(event.kind)
            }
            #expect(batch.events.map(\.kind) == expected)
        }
    }

    @Test(arguments: HARFixtures.all.map(\.text))
    func `a file that arrives in any parts is the same session`(_ text: String) throws {
        let bytes = Bytes(text.utf8)
        let whole = try read(bytes).events
        for size in [1, 2, 7, 64] {
            #expect(try Self.readSlowly(bytes, by: size, maximumMemory: 1 << 20) == whole)
        }
        // Everything through the temporary files.
        #expect(try Self.readSlowly(bytes, by: 4096, maximumMemory: 0) == whole)
    }

    private static func readSlowly(_ bytes: Bytes, by size: Int, maximumMemory: Int) throws
        -> [Event]
    {
        let reader = HARSessionReader(
            SlowSource(bytes, size: size), maximumMemory: maximumMemory)
        var events: [Event] = []
        while case .event(let event)? = try reader.next() { events.append(event) }
        return events
    }

    @Test(arguments: HARFixtures.all.map(\.text))
    func `a file that is cut is read as far as it goes`(_ text: String) throws {
        let bytes = Bytes(text.utf8)
        for count in stride(from: bytes.count - 1, to: 0, by: -41) {
            do {
                let (events, remarks) = try read(Bytes(bytes.prefix(count)))
                if count < bytes.count - 10 { #expect(remarks.count == 1) }
                guard case .end? = events.last?.kind else {
                    Issue.record("no end")
                    return
                }
            } catch let error as SessionError {
                #expect(!error.text.isEmpty)
            }
        }
    }

    @Test func `an error says where it is`() throws {
        let text =
            "{\"log\": {\n \"entries\": [\n  {\"request\": {\"url\": \"http://a/\", \"headers\": [{]"
        #expect(throws: SessionError.self) { try read(Bytes(text.utf8)) }
        do {
            _ = try read(Bytes(text.utf8))
        } catch let error as SessionError {
            #expect(
                error.text
                    == "memory, line 3, byte 72, in log.entries[0].request.headers[0]: \"]\" stands "
                    + "where a name in quotes or \"}\" is expected")
        }
    }

    @Test func `large bodies and messages come in pieces and fit together`() throws {
        let big = String(repeating: "0123456789abcde\\n", count: 200_000)
        let decoded = String(repeating: "0123456789abcde\n", count: 200_000)
        var packed = Bytes()
        appendBase64(Bytes(decoded.utf8).span, to: &packed)
        let base64 = String(decoding: packed, as: UTF8.self)
        let text = """
            {"log":{"entries":[{"startedDateTime":"2026-06-01T08:00:00Z",
            "_webSocketMessages":[{"type":"send","time":1780300801,"opcode":1,"data":"\(big)"},
            {"type":"receive","time":1780300801,"opcode":2,"data":"\(base64)"}],
            "request":{"url":"ws://b/","headers":[]},"response":{"status":101}},
            {"startedDateTime":"2026-06-01T08:00:00Z",
            "request":{"url":"http://b/","postData":{"text":"\(big)"}},
            "response":{"status":200,"content":{"text":"\(base64)","encoding":"base64"},
            "headers":[{"name":"Transfer-Encoding","value":"chunked"}]}}]}}
            """
        let events = try events(text)
        var found: [String: Bytes] = [:]
        for event in events {
            guard case .piece(let piece) = event.kind else { continue }
            let head = events.first { $0.seq == piece.of }
            #expect(head?.kind.isHead ?? false)
            #expect(piece.content.count <= 1 << 20)
            found["\(event.conn) \(event.from?.rawValue ?? "")", default: []] += piece.content
        }
        #expect(found.count == 4)
        for (_, bytes) in found { #expect(bytes == Bytes(decoded.utf8)) }
        let sent = rebuild(events)
        let chunked = try #require(sent[.init(conn: 1, from: .board)] ?? nil)
        #expect(chunked.count > decoded.utf8.count || sent.count == 4)
    }

    @Test func `verify tells what a HAR lacks, and counts events instead of lines`() throws {
        let source = MemorySource(Bytes(HARFixtures.chrome.utf8))
        let verifier = try SessionVerifier.verify(source)
        #expect(verifier.counts == [.info: 7, .warning: 2])
        let gap = verifier.findings.first { $0.code == "gap" }
        #expect(gap?.position.text == "event 18")
        let cut = MemorySource(Bytes(HARFixtures.chrome.utf8.dropLast(20)))
        #expect(try SessionVerifier.verify(cut).findings.contains { $0.code == "damaged" })
    }

    @Test func `only entries of the ports asked for are read`() throws {
        var reader = SessionReader(
            MemorySource(Bytes(HARFixtures.charles.utf8)), ports: [8080])
        var count = 0
        while let item = try reader.next() {
            if case .event(let event) = item, event.conn != 0 { count += 1 }
        }
        #expect(count == 0)
    }

    @Test func `a HAR cannot be followed`() throws {
        var reader = SessionReader(
            MemorySource(Bytes(HARFixtures.chrome.utf8), name: "a.har"), follows: true)
        #expect(throws: SessionError.cannotFollow(name: "a.har")) { try reader.next() }
    }

    /// Whatever is done to a HAR, it is read to an end, and what is read is a session.
    @Test(arguments: 0..<300)
    func `a HAR that is damaged anywhere gives events or an error`(_ seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        var bytes = Bytes(random.pick(HARFixtures.all).text.utf8)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2:
                let numbers = ["-1", "1e400", "9223372036854775807", "null", "\"\"", "[", "}"]
                bytes.insert(contentsOf: Bytes(random.pick(numbers).utf8), at: place)
            case 3:
                let end = min(bytes.count, place + Int.random(in: 1...80, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...80, using: &random))
                bytes.removeSubrange(place..<end)
            }
        }
        do {
            let (events, _) = try read(bytes)
            let written = try write(events.filter { !$0.isOfWriter })
            var verifier = try SessionVerifier.verify(MemorySource(written.bytes))
            verifier.finish(at: SessionPosition(line: 0, offset: 0))
            #expect(
                verifier.counts[.error, default: 0] == 0,
                "\(verifier.findings.filter { $0.severity == .error })")
        } catch let error as SessionError {
            #expect(!error.text.isEmpty)
        }
    }
}

extension Event.Kind {
    fileprivate var isHead: Bool {
        switch self {
        case .frame(let frame): frame.content == .pieces
        case .request(let request): request.body.content == .pieces
        case .response(let response): response.body.content == .pieces
        default: false
        }
    }
}

/// Gives so many bytes at a time.
private final class SlowSource: ByteSource {
    let name = "slow"
    private let bytes: Bytes
    private var position = 0
    private let size: Int

    init(_ bytes: Bytes, size: Int) {
        self.bytes = bytes
        self.size = size
    }

    func read(into target: inout [UInt8], maximum: Int) {
        let end = min(bytes.count, position + min(size, maximum))
        target += bytes[position..<end]
        position = end
    }
}
