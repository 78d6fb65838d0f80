import Capture
import Testing
import Wire

@Suite struct ZstdDecompressorTests {
    @Test func `a file cut at any byte is used up to its last whole line`() throws {
        try cutEverywhere(.zstd)
    }

    @Test func `a file that zstd itself packed is read`() throws {
        let session = SampleSession.everyday()
        let folder = try TemporaryFolder()
        let path = try folder.write(try write(session.events).bytes, to: "plain")
        let packed = try ToolProcess.run("zstd", ["-q", "-19", "--check", path])
        #expect(packed.status == 0, "\(packed.errors)")
        var reader = SessionReader(try SessionFileSource(path: path + ".zst"))
        var events: [Event] = []
        while case .event(let event)? = try reader.next() { events.append(event) }
        #expect(events.filter { !$0.isOfWriter } == session.readBack)
    }

    @Test func `changed bytes do no harm`() throws {
        try changeBytes(.zstd)
    }
}
