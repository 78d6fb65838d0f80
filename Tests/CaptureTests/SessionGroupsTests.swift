import Capture
import Testing

@Suite struct SessionGroupsTests {
    private func input(_ name: String, id: String, part: Int? = nil) -> MemorySource {
        let part = part.map { ",\"part\":\($0)" } ?? ""
        let line = """
            {"event":"session","format":"bridgetap","version":1,"id":"\(id)",\
            "started_at":"2026-06-10T03:20:00.000000000Z","tool":"t","contract":"1.2",\
            "source":"proxy"\(part)}

            """
        return MemorySource(Array(line.utf8), name: name)
    }

    private func names(_ inputs: [any SessionInput]) -> [[String]] {
        SessionGroups.group(inputs).map { $0.map(\.name) }
    }

    @Test func `parts of a session belong together, whole sessions stand alone`() {
        #expect(
            names([
                input("b-2", id: "b", part: 2), input("a", id: "a"),
                input("b-1", id: "b", part: 1), input("a again", id: "a"),
                input("c-1", id: "c", part: 1),
            ]) == [["b-2", "b-1"], ["a"], ["a again"], ["c-1"]])
        #expect(names([]) == [])
        #expect(names([input("b-2", id: "b", part: 2)]) == [["b-2"]])
    }

    @Test func `what cannot be read stands alone, and a stream is not opened`() {
        struct Stream: SessionInput {
            var name: String { "stream" }
            var isStream: Bool { true }
            func open() throws(SourceError) -> any ByteSource {
                Issue.record("it was opened")
                throw SourceError(errno: 1, call: "open", name: name)
            }
        }
        let inputs: [any SessionInput] = [
            MemorySource(Array("no session".utf8), name: "x"), Stream(),
            SessionFileInput(path: "/nowhere/x.ndjson"),
            MemorySource([0xd4, 0xc3, 0xb2, 0xa1], name: "pcap"),
        ]
        #expect(names(inputs) == [["x"], ["stream"], ["/nowhere/x.ndjson"], ["pcap"]])
        #expect(SessionFileInput(path: "-").isStream)
        #expect(SessionFileInput(path: "/dev/null").isStream)
        #expect(!SessionFileInput(path: #filePath).isStream)
        #expect(SessionFileInput(path: "/dev/null").size == nil)
        #expect((SessionFileInput(path: #filePath).size ?? 0) > 1000)
    }

    @Test(arguments: [
        (["lab.ndjson"], "lab.ndjson"),
        (["x/lab-0001.ndjson", "x/lab-0002.ndjson"], "x/lab-*.ndjson"),
        (
            ["lab-0009.ndjson.zst", "lab-0010.ndjson.zst", "lab-0011.ndjson.zst"],
            "lab-*.ndjson.zst"
        ),
        (["lab-0011.ndjson", "lab-0021.ndjson"], "lab-*.ndjson"),
        (["a.ndjson", "b.ndjson"], "a.ndjson"),
        (["lab", "lab"], "lab"),
    ])
    func `a session is called what its parts have in common`(parts: [String], name: String) {
        #expect(SessionGroups.name(of: parts.map { MemorySource([], name: $0) }) == name)
    }
}
