import Capture
import Testing
import Wire

@Suite struct EventBatchTests {
    /// Fills a batch with frames of every kind, of two connections, and with what is no frame.
    private func fill(_ batch: inout EventBatch, seed: UInt64 = 1) {
        var random = SeededRandom(seed)
        let decoders = (1...2).map {
            ConnectionDecoder(conn: $0, continued: Event.Continued(upgraded: true))
        }
        for time in 0..<200 as Range<Int64> {
            let decoder = decoders[Int.random(in: 0...1, using: &random)]
            let length = random.pick([0, 1, 7, 15, 16, 125, 126, 200, 4096, 4097])
            var payload = Bytes(repeating: UInt8(ascii: "a"), count: length)
            for _ in 0..<min(length, 9) {
                let special = random.pick(Bytes("\"\\\n\u{0}é".utf8) + [0xff])
                payload[Int.random(in: payload.indices, using: &random)] = special
            }
            var bytes = Bytes()
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let key = UInt32.random(in: 0...UInt32.max, using: &random)
                var frame = Frame(
                    fin: random.pick([true, true, true, false]),
                    rsv: random.pick([0, 0, 0, 4, 7]),
                    opcode: random.pick([.text, .text, .binary, .continuation, .ping, .close]),
                    maskingKey: random.maybe(MaskingKey(rawValue: key)), payload: payload)
                if random.pick([false, false, true]) { frame.header.lengthForm = .long }
                frame.encode(into: &bytes)
            }
            let side = random.pick([Side.app, .board])
            let cut = Int.random(in: 0...bytes.count, using: &random)
            decoder.receive(
                bytes.span.extracting(0..<cut), from: side, at: time, into: &batch)
            decoder.receive(
                bytes.span.extracting(cut..<bytes.count), from: side, at: time, packetTime: 5,
                into: &batch)
            if random.pick([false, false, true]) {
                batch.append(
                    Event(time: time, kind: .note(Event.Note(code: "mark", text: "\(time)"))))
            }
        }
    }

    @Test func `a batch that gathers frames holds the same events`() {
        var plain = EventBatch()
        fill(&plain)
        var gathering = EventBatch(gathersFrames: true)
        fill(&gathering)
        #expect(plain.events.map(\.seq) == Array(1...plain.events.count))
        #expect(gathering.events == plain.events)
        #expect(gathering.nextSeq == plain.nextSeq)
        #expect(gathering.take() == plain.take())
        #expect(gathering.isEmpty && gathering.events.isEmpty)
    }

    @Test func `a batch is full by what it holds, in whatever form that is`() {
        let content = Bytes(repeating: 0x78, count: 20_000)
        func event(_ kind: Event.Kind) -> Event { Event(time: 0, conn: 1, from: .app, kind: kind) }
        let frame = FrameHeader(opcode: .text, payloadLength: 20_000)
        let body = Event.Body(content: .whole(content), framing: .length(20_000))
        let large: [Event] = [
            event(.frame(Event.FrameRecord(header: frame, content: .whole(content)))),
            event(
                .message(
                    Event.Message(
                        opcode: .text, content: .whole(content), frames: 2, compressed: false))),
            event(.request(Event.Request(exchange: 1, method: "POST", target: "/", body: body))),
            event(.response(Event.Response(exchange: 1, status: 200, reason: "", body: body))),
            event(.piece(Event.Piece(of: 1, offset: 0, content: content, last: true))),
            event(.data(Event.Data(bytes: content, why: "test"))),
        ]
        for one in large {
            #expect(one.contentSize == content.count)
            var batch = EventBatch(gathersFrames: true)
            for number in 1...4 {
                #expect(!batch.isFull)
                if number % 2 == 0 { batch.adopt(one) } else { batch.append(one) }
            }
            #expect(batch.isFull)
            // What it was handed to is as full, and it has room again.
            var other = EventBatch(gathersFrames: true)
            batch.hand(to: &other)
            #expect(other.isFull && other.count == 4)
            #expect(!batch.isFull && batch.isEmpty)
            other.removeAll()
            #expect(!other.isFull)
        }
        #expect(event(.gap(Event.Gap(length: 5, why: "test"))).contentSize == 0)
        var many = EventBatch()
        while !many.isFull { many.append(event(.note(Event.Note(code: "n", text: "")))) }
        #expect(many.count == 256)
    }

    @Test func `most frames are gathered, and all is lent in order`() {
        var batch = EventBatch(gathersFrames: true)
        fill(&batch)
        var seqs: [Int] = []
        var gathered = 0
        batch.forEach(
            event: { seqs.append($0.seq) },
            frame: { frame, payload, bridge in
                seqs.append(frame.seq)
                gathered += 1
                #expect(bridge.count == 0)
                #expect(payload.count == Int(frame.header.payloadLength))
            })
        #expect(seqs == Array(1..<batch.nextSeq))
        #expect(gathered > seqs.count / 10)
        #expect(gathered < seqs.count)
    }

    @Test func `what is changed stays changed`() {
        var batch = EventBatch(gathersFrames: true)
        fill(&batch)
        batch.update(
            event: { $0.bridge = [.integer($0.seq)] },
            frame: { frame, _, text in text += Bytes("[\(frame.seq)]".utf8) })
        #expect(batch.events.map(\.bridge) == (1..<batch.nextSeq).map { [.integer($0)] })
        batch.update(
            event: { _ in },
            frame: { frame, _, text in
                #expect(frame.hasMeaning)
                if frame.seq % 2 == 0 { text += Bytes("[0]".utf8) }
            })
        batch.forEach(
            event: { _ in },
            frame: { frame, _, bridge in
                let text = String(decoding: Bytes(copying: bridge), as: UTF8.self)
                #expect(text == (frame.seq % 2 == 0 ? "[0]" : "[\(frame.seq)]"))
            })
    }

    @Test func `what has its number keeps it, in its place`() {
        var batch = EventBatch(gathersFrames: true)
        fill(&batch)
        let before = batch.count
        for seq in [70, 3, 3] {
            batch.adopt(Event(seq: seq, time: 1, kind: .note(Event.Note(code: "mark", text: ""))))
        }
        #expect(batch.count == before + 3)
        #expect(batch.events.suffix(3).map(\.seq) == [70, 3, 3])
    }

    @Test func `numbers run on when a batch is emptied`() {
        var batch = EventBatch(nextSeq: 10, gathersFrames: true)
        #expect(batch.isEmpty)
        fill(&batch)
        let next = batch.nextSeq
        batch.removeAll()
        #expect(batch.isEmpty)
        fill(&batch, seed: 2)
        #expect(batch.events.map(\.seq) == Array(next..<batch.nextSeq))
    }

    @Test func `a writer makes the same file of a batch as of its events`() throws {
        var batch = EventBatch(gathersFrames: true)
        fill(&batch)
        batch.update(
            event: { _ in },
            frame: { frame, _, text in
                if frame.seq % 3 > 0 { text += Bytes(#"[{"kind":"unknown"}]"#.utf8) }
            })
        var files: [Bytes] = []
        for isWhole in [true, false] {
            let output = MemoryOutput()
            let writer = try SessionWriter(session: SampleSession.info) { _ in output }
            if isWhole { writer.receive(batch) } else { writer.receive(batch.events) }
            #expect(writer.close(now: 1000).written == batch.nextSeq)
            files.append(output.bytes)
        }
        #expect(files[0] == files[1])
    }

    @Test func `a writer that cannot write counts the frames of a batch as dropped`() throws {
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        writer.flush(now: 0)
        output.room = output.bytes.count
        var batch = EventBatch(gathersFrames: true)
        fill(&batch)
        writer.receive(batch)
        writer.flush(now: 1)
        let count = batch.nextSeq - 1
        #expect(writer.status.dropped == count)
        batch.removeAll()
        fill(&batch, seed: 3)
        writer.receive(batch)
        #expect(writer.status.dropped == batch.nextSeq - 1)
    }
}
