import Capture
import Foundation
import Testing
import Wire

/// A source that has its bytes in two parts, as a pipe whose writer goes on later.
private final class SlowSource: ByteSource {
    let name = "standard input"
    private var parts: [Bytes]
    private(set) var reads = 0

    init(_ parts: [Bytes]) {
        self.parts = parts
    }

    func read(into bytes: inout [UInt8], maximum: Int) {
        guard !parts.isEmpty else { return }
        reads += 1
        bytes += parts[0].prefix(maximum)
        parts[0].removeFirst(min(maximum, parts[0].count))
        if parts[0].isEmpty { parts.removeFirst() }
    }
}

@Suite struct PacketSessionReaderTests {
    private func events(_ source: any ByteSource) throws -> [Event] {
        var reader = SessionReader(source)
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    /// Reads by batches, some events one by one before.
    private func batched(
        _ source: any ByteSource, gathersFrames: Bool, after count: Int = 0
    ) throws -> (events: [Event], largest: Int) {
        var reader = SessionReader(source)
        var events: [Event] = []
        var largest = 0
        while events.count < count, case .event(let event)? = try reader.next() {
            events.append(event)
        }
        var batch = EventBatch(gathersFrames: gathersFrames)
        while try reader.next(into: &batch) != nil {
            events += batch.events
            largest = max(largest, batch.count)
        }
        return (events, largest)
    }

    /// The largest of the captures.
    private func largest() throws -> Bytes {
        let files = try PacketCapture.complete.map {
            try Bytes(Data(contentsOf: URL(filePath: $0.path)))
        }
        return try #require(files.max { $0.count < $1.count })
    }

    @Test(arguments: PacketCapture.complete, [false, true])
    func `batches bring the events that come one by one`(
        _ capture: PacketCapture, _ gathersFrames: Bool
    ) throws {
        let events = try events(SessionFileSource(path: capture.path))
        for count in [0, 1, 2, 3, 20] {
            let batched = try batched(
                SessionFileSource(path: capture.path), gathersFrames: gathersFrames, after: count)
            #expect(batched.events == events)
        }
    }

    @Test func `a batch holds what is at hand, and of a stream the events of one packet`() throws {
        let bytes = try largest()
        let file = try batched(MemorySource(bytes), gathersFrames: true)
        let stream = try batched(SlowSource([bytes]), gathersFrames: true)
        #expect(stream.events == file.events)
        #expect(file.largest > 2 * stream.largest)
        #expect(stream.largest < 10)
    }

    @Test func `what is wrong with a file is told behind the events before it`() throws {
        var bytes = try largest()
        bytes.removeLast(7)
        var reader = SessionReader(MemorySource(bytes))
        var kinds: [String] = []
        var batch = EventBatch(gathersFrames: true)
        while let portion = try reader.next(into: &batch) {
            switch portion {
            case .events: kinds.append("events")
            case .remark:
                #expect(batch.isEmpty)
                kinds.append("remark")
            }
        }
        #expect(kinds.filter { $0 == "remark" }.count == 1)
        #expect(kinds.suffix(3) == ["events", "remark", "events"])
        let alone = try events(MemorySource(bytes))
        #expect(try batched(MemorySource(bytes), gathersFrames: true).events == alone)
    }

    @Test func `the captures are there`() {
        #expect(PacketCapture.all.count >= 18)
    }

    @Test(arguments: PacketCapture.complete)
    func `a capture is read to what really crossed`(_ capture: PacketCapture) throws {
        let events = try events(SessionFileSource(path: capture.path))
        #expect(SessionTally(events) == SessionTally(capture))
        let remarks = events.filter {
            if case .gap = $0.kind { return true }
            if case .data = $0.kind { return true }
            return false
        }
        #expect(remarks.isEmpty)
        guard case .session(let info)? = events.first?.kind else {
            Issue.record("no session line")
            return
        }
        #expect(info.source == "pcap")
        #expect(info.linkType == capture.capture["link_type"] as? String)
    }

    @Test func `a capture that begins within a connection has the frames that are in it`() throws {
        for capture in PacketCapture.all where capture.startsMidConnection {
            let events = try events(SessionFileSource(path: capture.path))
            var frames: [Side: Int] = [:]
            for event in events {
                switch event.kind {
                case .open(let open): #expect(open.continued?.upgraded == true)
                case .frame(let frame) where frame.header.opcode == .text:
                    if let from = event.from { frames[from, default: 0] += 1 }
                case .data, .gap: Issue.record("\(event)")
                default: break
                }
            }
            #expect((frames[.app] ?? 0) > 0 && (frames[.board] ?? 0) > 0, "\(frames)")
        }
    }

    @Test func `packets cut to the snap length leave every frame with what is there of it`() throws
    {
        for capture in PacketCapture.all where capture.isTruncated {
            let events = try events(SessionFileSource(path: capture.path))
            var frames: [Side: Int] = [:]
            var gaps = 0
            for event in events {
                switch event.kind {
                case .frame(let frame) where frame.header.opcode == .text:
                    if let from = event.from { frames[from, default: 0] += 1 }
                case .gap(let gap):
                    #expect(gap.why == "snaplen")
                    gaps += 1
                default: break
                }
            }
            let counts = capture.expected["websocket_messages"] as? [String: [String: Int]]
            #expect(frames[.app] == counts?["app_to_board"]?["text"])
            #expect(frames[.board] == counts?["board_to_app"]?["text"])
            #expect(gaps > 0)
        }
    }

    @Test func `events appear before the end of the input`() throws {
        let capture = try #require(PacketCapture.complete.first)
        let bytes = try capture.bytes()
        let source = SlowSource([Bytes(bytes[..<5000]), Bytes(bytes[5000...])])
        var reader = SessionReader(source)
        var seen = 0
        while source.reads <= 4, let item = try reader.next() {
            if case .event = item { seen += 1 }
            if source.reads > 4 { break }
            if seen > 5 { break }
        }
        #expect(seen > 5)
        // Four bytes to tell the kind of file, and the rest of the first part.
        #expect(source.reads == 2)
    }

    @Test func `a file cut within a packet gives the packets before the cut and a remark`() throws {
        let capture = try #require(PacketCapture.complete.first)
        let bytes = try capture.bytes()
        var reader = SessionReader(MemorySource(Bytes(bytes.dropLast(7)), name: "lab.pcap"))
        var remarks: [SessionRemark] = []
        var last: Event?
        while let item = try reader.next() {
            switch item {
            case .event(let event): last = event
            case .remark(let remark): remarks.append(remark)
            }
        }
        #expect(remarks.count == 1)
        let remark = try #require(remarks.first)
        #expect(remark.position.isPacket && remark.position.line > 10)
        guard case .badPackets(let fault) = remark.kind, case .end? = last?.kind else {
            Issue.record("\(remark)")
            return
        }
        #expect(fault.packets == remark.position.line)
        #expect(fault.offset == UInt64(bytes.count - 7))
    }

    @Test func `what cannot be read at all is an error with its reason`() throws {
        let header: Bytes = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]
        #expect(throws: SessionError.self) { try events(MemorySource(header)) }
        let tail = Bytes(repeating: 0, count: 8) + [0, 0, 4, 0]
        // 802.11 is not read.
        let wireless = MemorySource(header + tail + [105, 0, 0, 0], name: "air.pcap")
        #expect(
            throws: SessionError.unknownLinkType(name: "air.pcap", link: "IEEE802_11")
        ) { try events(wireless) }
        var following = SessionReader(
            MemorySource(header + tail + [1, 0, 0, 0], name: "a.pcap"), follows: true)
        #expect(throws: SessionError.cannotFollow(name: "a.pcap")) { try following.next() }
        let empty = try events(MemorySource(header + tail + [1, 0, 0, 0]))
        #expect(empty.count == 2)
    }

    @Test func `ports narrow what is read`() throws {
        let capture = try #require(PacketCapture.complete.first)
        for (port, isThere) in [(UInt16(18080), true), (80, false)] {
            var reader = SessionReader(try SessionFileSource(path: capture.path), ports: [port])
            var opens = 0
            while let item = try reader.next() {
                if case .event(let event) = item, case .open = event.kind { opens += 1 }
            }
            #expect((opens > 0) == isThere)
        }
    }

    @Test(arguments: PacketCapture.all)
    func `hostile files end in good order`(_ capture: PacketCapture) throws {
        let original = try capture.bytes()
        let rounds = original.count > 50_000 ? 40 : 150
        for seed in 0..<rounds {
            var random = SeededRandom(UInt64(seed))
            var bytes = original
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let place = Int.random(in: (random.flag() ? 24 : 0)..<bytes.count, using: &random)
                bytes[place] = random.pick([
                    0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &random),
                ])
            }
            if seed % 5 == 0 {
                bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &random))
            }
            var reader = SessionReader(MemorySource(bytes))
            var time: Int64 = 0
            do {
                while let item = try reader.next() {
                    guard case .event(let event) = item else { continue }
                    #expect(event.time >= time, "seed \(seed)")
                    time = event.time
                }
            } catch {
                #expect(!error.text.isEmpty)
            }
        }
    }

    @Test(arguments: PacketCapture.all.filter { !$0.startsMidConnection })
    func `every packet gives its events before the next one is read`(
        _ capture: PacketCapture
    ) throws {
        let bytes = try capture.bytes()
        guard capture.name.hasSuffix(".pcap") else { return }
        // Where each packet's record ends in the file.
        var ends = [24]
        while let last = ends.last, last + 16 <= bytes.count {
            let size = (0..<4).reduce(0) { $0 | Int(bytes[last + 8 + $1]) << (8 * $1) }
            ends.append(last + 16 + size)
        }
        // After how many packets an event is given, and after how many it could be.
        var given: [Int] = []
        var reader = SessionReader(SlowSource(zip([0] + ends, ends).map { Bytes(bytes[$0..<$1]) }))
        while let item = try reader.next() {
            if case .event(let event) = item, !event.isOfWriter {
                given.append(reader.position.line)
            }
        }
        var possible: [Int] = []
        let session = PacketSession(link: .raw)
        var batch = EventBatch()
        for (index, packet) in try capture.packets().enumerated() {
            session.receive(packet.bytes.span, cut: packet.cut, at: packet.time, into: &batch)
            possible += Array(repeating: index + 1, count: batch.take().count)
        }
        #expect(given == possible)
        #expect(given.count > 10)
    }
}
