import Capture
import Testing
import Wire

@Suite struct GzipDecompressorTests {
    @Test func `a file cut at any byte is used up to its last whole line`() throws {
        try cutEverywhere(.gzip)
    }

    @Test func `members one behind the other are one file`() throws {
        let session = SampleSession.everyday()
        let half = session.events.count / 2
        let first = try write(Array(session.events[..<half]), compression: .gzip, closes: false)
        let folder = try TemporaryFolder()
        // A recorder that was killed leaves a member open; gzip -c of the rest follows it.
        let plain = String(decoding: try write(session.events).bytes, as: UTF8.self)
        let path = try folder.write(Bytes(plain.utf8), to: "plain")
        let packed = try ToolProcess.run("gzip", ["-k", path])
        #expect(packed.status == 0)
        #expect(try read(first.bytes).events.count == half + 1)
        let source = try SessionFileSource(path: path + ".gz")
        var reader = SessionReader(source)
        var events: [Event] = []
        while case .event(let event)? = try reader.next() { events.append(event) }
        #expect(events.filter { !$0.isOfWriter } == session.readBack)
    }

    @Test func `changed bytes do no harm`() throws {
        try changeBytes(.gzip)
    }
}

/// Cuts a packed file at each byte and reads what is left.
func cutEverywhere(_ compression: SessionCompression) throws {
    let session = SampleSession.everyday()
    let whole = try write(session.events, compression: compression, batchSize: 1).bytes
    let all = try read(whole).events
    var counts: [Int] = []
    for count in 1..<whole.count {
        do {
            let (events, remarks) = try read(Bytes(whole[..<count]))
            #expect(Array(all.prefix(events.count)) == events)
            #expect(remarks.count <= 2)
            counts.append(events.count)
        } catch let error as SessionError {
            // Too short for the first line.
            #expect(counts.isEmpty, "\(error)")
        }
    }
    #expect(counts == counts.sorted())
    // Each batch is there as soon as its last byte is.
    #expect(Set(counts).isSuperset(of: 2..<all.count))
}

/// Changes bytes of a packed file; it is read, or refused, and never more than that.
func changeBytes(_ compression: SessionCompression) throws {
    var random = SeededRandom(4)
    let whole = try write(SampleSession.everyday().events, compression: compression).bytes
    for _ in 0..<1000 {
        var changed = whole
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
        }
        _ = try? read(changed)
    }
}
