import BridgeProxy
import Capture
import ExampleSessions
import PhoneBridge
import Testing
import Wire

@Suite struct BackgroundOutputTests {
    private static let session = SessionInfo(
        id: "s", startedAt: "2026-01-01T00:00:00.000000000Z", tool: "test", source: "simulation")

    /// A file that takes so many bytes and no more.
    private final class FullDisk: ByteOutput {
        let path = "full"
        private(set) var bytes = Bytes()
        private let limit: Int
        var size: UInt64 { UInt64(bytes.count) }

        init(limit: Int) {
            self.limit = limit
        }

        func append(_ more: borrowing Span<UInt8>) throws(OutputError) {
            let room = min(limit - bytes.count, more.count)
            bytes.append(copying: more.extracting(0..<room))
            guard room == more.count else {
                throw OutputError(errno: 28, call: "write", path: path, written: room)
            }
        }

        func truncate(to size: UInt64) throws(OutputError) {
            bytes.removeLast(bytes.count - Int(size))
        }

        func close() throws(OutputError) {}
    }

    private static func writer(_ file: any ByteOutput) throws -> SessionWriter {
        try SessionWriter(session: session) { (_: Int) throws(OutputError) in file }
    }

    /// Calls `take` with the batches of a session; gives the time of its last event.
    private static func read(
        _ name: String, gathersFrames: Bool = true, readsBridge: Bool = true,
        _ take: (inout EventBatch) -> Void
    ) throws -> Int64 {
        var reader = SessionReader(
            try SessionFileSource(path: Captures.path(name)), readsBridge: readsBridge)
        var batch = EventBatch(gathersFrames: gathersFrames)
        var time: Int64 = 0
        while try reader.next(into: &batch) != nil {
            time = max(time, batch.events.last?.time ?? 0)
            take(&batch)
        }
        return time
    }

    @Test(arguments: Captures.names, [true, false])
    func `what is written on another thread is the same to the byte`(
        name: String, gathersFrames: Bool
    ) throws {
        let straight = SessionMemory()
        let first = try Self.writer(straight)
        let end = try Self.read(name, gathersFrames: gathersFrames) { first.receive($0) }
        first.admit(dropped: 2)
        first.receive(Event(time: end, kind: .note(Event.Note(code: "n", text: "last"))))
        first.close(now: end)

        let beside = SessionMemory()
        let background = try #require(
            BackgroundOutput(try Self.writer(beside), gathersFrames: gathersFrames))
        _ = try Self.read(name, gathersFrames: gathersFrames) { batch in
            background.receive(&batch)
            #expect(batch.isEmpty)
        }
        background.admit(dropped: 2)
        background.receive(Event(time: end, kind: .note(Event.Note(code: "n", text: "last"))))
        let status = background.finish().close(now: end)
        #expect(beside.bytes == straight.bytes)
        #expect(status == first.status)
        #expect(background.trouble == nil)
    }

    @Test(arguments: Captures.names, [true, false])
    func `what events mean is read on the way`(name: String, gathersFrames: Bool) throws {
        let straight = SessionMemory()
        let first = try Self.writer(straight)
        var meaning = MeaningReader()
        let end = try Self.read(name, gathersFrames: gathersFrames, readsBridge: false) { batch in
            meaning.annotate(&batch)
            first.receive(batch)
        }
        first.close(now: end)

        let beside = SessionMemory()
        let background = try #require(
            BackgroundOutput(
                try Self.writer(beside), gathersFrames: gathersFrames, meaning: MeaningReader()))
        _ = try Self.read(name, gathersFrames: gathersFrames, readsBridge: false) { batch in
            background.receive(&batch)
            #expect(batch.isEmpty)
        }
        background.finish().close(now: end)
        #expect(beside.bytes == straight.bytes)
        #expect(String(decoding: beside.bytes, as: UTF8.self).contains("\"bridge\":"))
    }

    @Test func `a disk that is full is told, and nothing is written any more`() throws {
        // The writer gathers a MiB before it writes.
        let content = Bytes(repeating: UInt8(ascii: "x"), count: 900_000)
        let event = Event(time: 1, kind: .data(Event.Data(bytes: content, why: "test")))
        let disk = FullDisk(limit: 3_000_000)
        let background = try #require(
            BackgroundOutput(try Self.writer(disk), gathersFrames: true))
        var batch = EventBatch(gathersFrames: true)
        var given = 0
        while background.trouble == nil, given < 1000 {
            batch.append(event)
            background.receive(&batch)
            given += 1
        }
        #expect(background.trouble?.errno == 28)
        #expect(background.trouble?.path == "full")
        // What was under way, and no more.
        #expect(given < 20)
        background.receive(Event(time: 2, kind: .note(Event.Note(code: "n", text: "late"))))
        let output = background.finish()
        #expect(output.status.pausedBy?.errno == 28)
        #expect(output.status.dropped > 0)
        #expect(disk.bytes.count <= 3_000_000)
    }
}
