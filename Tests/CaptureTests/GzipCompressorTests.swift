import Capture
import Testing
import Wire

@Suite struct GzipCompressorTests {
    @Test func `gzip itself reads what was written, also after a full disk`() throws {
        let session = SampleSession.everyday()
        let folder = try TemporaryFolder()
        let plain = try write(session.events)
        let packed = try write(session.events, compression: .gzip, batchSize: 1)
        let path = try folder.write(packed.bytes, to: "lab.ndjson.gz")
        let whole = try ToolProcess.run("gzip", ["-dc", path])
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(whole.output == String(decoding: plain.bytes, as: UTF8.self))

        for room in stride(from: 0, through: packed.bytes.count, by: 97) {
            let output = MemoryOutput()
            output.room = room
            let writer = try SessionWriter(session: SampleSession.info, compression: .gzip) {
                _ in output
            }
            for (index, event) in session.events.enumerated() {
                if index == 12 { output.room = .max }
                writer.receive(event)
                writer.flush(now: Int64(index) * 2_000_000_000)
            }
            writer.close(now: 1_000_000_000_000)
            let path = try folder.write(output.bytes, to: "full.ndjson.gz")
            let result = try ToolProcess.run("gzip", ["-t", path])
            #expect(result.status == 0, "room \(room): \(result.errors)")
        }
    }
}
