import Capture
import Testing
import Wire

/// `BatchFile` through the writers that stand on it.
@Suite struct BatchFileTests {
    @Test(arguments: SessionCompression.allCases)
    func `every batch can be read once it is on file`(_ compression: SessionCompression) throws {
        let session = SampleSession.everyday()
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info, compression: compression) {
            _ in output
        }
        for (index, event) in session.events.enumerated() {
            writer.receive(event)
            writer.flush(now: event.time)
            let events = try read(output.bytes).events
            #expect(events.count == index + 2)
        }
    }

    @Test(arguments: [SessionCompression.gzip, .zstd])
    func `a new member begins every MiB`(_ compression: SessionCompression) throws {
        var random = SeededRandom(9)
        let output = MemoryOutput()
        let writer = try SessionWriter(session: SampleSession.info, compression: compression) {
            _ in output
        }
        for index in 0..<100 {
            let bytes = (0..<30_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            writer.receive(
                Event(
                    time: Int64(index), conn: 1, from: .app,
                    kind: .data(Event.Data(bytes: bytes, why: "noise"))))
            writer.flush(now: Int64(index))
        }
        writer.close(now: 100)
        let magic: Bytes = compression == .gzip ? [0x1f, 0x8b, 0x08] : [0x28, 0xb5, 0x2f, 0xfd]
        var members = 0
        for index in output.bytes.indices.dropLast(3)
        where output.bytes[index...].starts(with: magic) {
            members += 1
        }
        // 100 events of 40 kB in base64 are 4 MB.
        #expect((4...6).contains(members))
        #expect(try read(output.bytes).events.count == 102)
    }

    @Test func `what is behind a failed write is appended to what was good`() throws {
        let output = MemoryOutput()
        let session = SampleSession.everyday()
        let writer = try SessionWriter(session: SampleSession.info) { _ in output }
        writer.receive(session.events[0])
        writer.flush(now: 0)
        let good = output.bytes
        output.room = good.count + 20
        writer.receive(session.events[1])
        writer.flush(now: 1)
        #expect(output.bytes == good)
        output.room = .max
        writer.flush(now: 2_000_000_000)
        #expect(output.bytes.starts(with: good))
        #expect(output.bytes.count > good.count)
    }
}
