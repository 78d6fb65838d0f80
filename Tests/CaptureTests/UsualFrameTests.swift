import Capture
import Testing
import Wire

/// Reading by batches, in which usual frames are no events of their own.
@Suite struct UsualFrameTests {
    /// What a file is read to, one by one: events, and remarks as their text.
    private func alone(_ bytes: Bytes, readsBridge: Bool) throws -> [String] {
        var reader = SessionReader(MemorySource(bytes), readsBridge: readsBridge)
        var items: [String] = []
        while let item = try reader.next() {
            switch item {
            case .event(let event): items.append(text(event))
            case .remark(let remark): items.append("\(remark.position.text): \(remark.text)")
            }
        }
        return items
    }

    private func batched(
        _ bytes: Bytes, readsBridge: Bool
    ) throws -> (items: [String], gathered: Int) {
        var reader = SessionReader(MemorySource(bytes), readsBridge: readsBridge)
        var items: [String] = []
        var gathered = 0
        var batch = EventBatch(gathersFrames: true)
        while let portion = try reader.next(into: &batch) {
            switch portion {
            case .events:
                items += batch.events.map(text)
                batch.forEach(event: { _ in }, frame: { _, _, _ in gathered += 1 })
            case .remark(let remark): items.append("\(remark.position.text): \(remark.text)")
            }
        }
        return (items, gathered)
    }

    private func text(_ event: Event) -> String {
        var line = Bytes()
        EventEncoder().encode(event, into: &line)
        return String(decoding: line, as: UTF8.self)
    }

    private static let start = #"{"event":"frame","seq":4,"t":5,"conn":1,"from":"app""#
    private static let rest = #","fin":true,"rsv":0,"opcode":1,"length":2,"text":"hi""#

    /// Lines that are usual, nearly so, and wrong.
    private static let lines = [
        start + rest + "}",
        start + rest + "} ",
        start + rest + #","bridge":[{"kind":"a","n":[1,{"x":null}]}]}"#,
        start + rest + #","bridge":[{"kind": "a"}]}"#,
        start + rest + #","bridge":[{"kind":"\u0061"}]}"#,
        start + rest + #","bridge":[]}"#,
        start + rest + #","bridge":[{"kind":"a"}}"#,
        start + rest + #","bridge":null}"#,
        start + rest + #","later":1}"#,
        start + rest,
        start + #","fin":true,"rsv":0,"opcode":1,"mask":"0a0b0c0d","length":2,"text":"\"\n"}"#,
        start + #","fin":true,"rsv":0,"opcode":1,"mask":"0a0b0c0","length":2,"text":"hi"}"#,
        start + #","fin":true,"rsv":0,"opcode":2,"length":2,"text":"é"}"#,
        start + #","fin":true,"rsv":0,"opcode":8,"length":2,"code":1000,"text":"\u0003è"}"#,
        start + #","fin":true,"rsv":0,"opcode":1,"length":3,"text":"hi"}"#,
        start + #","fin":true,"rsv":0,"opcode":16,"length":2,"text":"hi"}"#,
        start + #","fin":true,"rsv":4,"opcode":1,"length":2,"base64":"aGk="}"#,
        start + #","fin":false,"rsv":0,"opcode":1,"length":2,"text":"hi"}"#,
        start + #","fin":true,"rsv":0,"opcode":1,"length":5000,"text":""#
            + String(repeating: "x", count: 5000) + #""}"#,
        #"{"event":"frame","seq":4,"t":-5,"t_first":-6,"t_packet":3,"conn":2,"from":"board""#
            + rest + "}",
        #"{"event":"frame","seq":4,"t":5,"conn":0,"from":"app""# + rest + "}",
        #"{"event":"frame","seq":4,"t":5,"from":"app""# + rest + "}",
        #"{"event":"frame","t":5,"seq":4,"conn":1,"from":"app""# + rest + "}",
        #"{"event":"frame","seq":4,"t":5,"conn":1,"from":"both""# + rest + "}",
        #"{ "event":"frame","seq":4,"t":5,"conn":1,"from":"app""# + rest + "}",
        #"{"event":"note","seq":5,"t":6,"code":"a","text":"b"}"#,
        #"{"event":"later","seq":5,"t":6}"#, "", "{}", "nonsense",
    ]

    private static let session: Bytes = {
        var line = Bytes()
        EventEncoder().encode(
            Event(time: 0, kind: .session(SampleSession.info)), into: &line)
        return line
    }()

    @Test(arguments: lines, [false, true])
    func `a line in a batch is what it is alone`(_ line: String, _ readsBridge: Bool) throws {
        let usual = Self.lines[0]
        let bytes = Self.session + Bytes((usual + "\n" + line + "\n" + usual + "\n").utf8)
        #expect(
            try batched(bytes, readsBridge: readsBridge).items
                == alone(bytes, readsBridge: readsBridge))
        // Torn, and with a byte that is no text.
        let torn = bytes.dropLast(usual.utf8.count + 2)
        #expect(
            try batched(Bytes(torn), readsBridge: readsBridge).items
                == alone(Bytes(torn), readsBridge: readsBridge))
        var broken = bytes
        broken[Self.session.count + usual.utf8.count + line.utf8.count / 2] = 0xff
        #expect(
            try batched(broken, readsBridge: readsBridge).items
                == alone(broken, readsBridge: readsBridge))
    }

    @Test func `the lines of a random session are in batches what they are alone`() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            var random = SeededRandom(seed)
            var bytes = Self.session
            for _ in 0..<60 {
                let event = random.event()
                if case .session = event.kind { continue }
                EventEncoder().encode(event, into: &bytes)
            }
            #expect(
                try batched(bytes, readsBridge: true).items == alone(bytes, readsBridge: true))
        }
    }

    @Test func `most lines of an everyday session take no event of their own`() throws {
        var batch = EventBatch(gathersFrames: true)
        let decoder = ConnectionDecoder(conn: 1, continued: Event.Continued(upgraded: true))
        for time in 0..<1000 as Range<Int64> {
            let frame = Frame(opcode: .text, payload: Bytes(#"{"id":"heartbeat"}"#.utf8))
            decoder.receive(frame.encoded().span, from: .app, at: time, into: &batch)
        }
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        writer.receive(batch)
        writer.close(now: 1000)
        let read = try batched(output.bytes, readsBridge: true)
        #expect(read.gathered == 1000)
        #expect(read.items == (try alone(output.bytes, readsBridge: true)))
    }
}
