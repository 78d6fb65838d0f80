import Capture
import Testing
import Wire

/// A session that is written into memory.
@Suite struct SessionMemoryTests {
    @Test func `what is appended and cut is there, and there is an end to it`() throws {
        let memory = SessionMemory()
        try memory.append(Bytes("abcdef".utf8).span)
        try memory.truncate(to: 4)
        #expect(memory.bytes == Bytes("abcd".utf8))
        #expect(memory.size == 4)
        try memory.truncate(to: 9)
        #expect(memory.size == 4)
        let much = Bytes(repeating: 0x20, count: 64 << 20)
        #expect(throws: OutputError.self) { try memory.append(much.span) }
        #expect(memory.size == 4)
        try memory.close()
    }
}
