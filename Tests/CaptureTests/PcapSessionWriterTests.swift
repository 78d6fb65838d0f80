import Capture
import Testing
import Wire

@Suite struct PcapSessionWriterTests {
    private func write(_ session: SampleSession, into output: MemoryOutput, freedAt: Int = 0)
        throws -> OutputStatus
    {
        let writer = try PcapSessionWriter(startedAt: 0) { _ in output }
        for (index, event) in session.events.enumerated() {
            if index == freedAt, freedAt > 0 { output.room = .max }
            writer.receive(event)
            writer.flush(now: Int64(index) * 2_000_000_000)
        }
        output.room = .max
        return writer.close(now: 1_000_000_000_000)
    }

    /// The offsets at which packets end; nil if the file is not whole packets.
    private func packetEnds(_ bytes: Bytes) -> [Int]? {
        guard bytes.starts(with: PcapWriter.fileHeader) else { return nil }
        var ends: [Int] = []
        var position = 24
        while position < bytes.count {
            guard position + 16 <= bytes.count else { return nil }
            let size = (0..<4).reduce(0) { $0 | Int(bytes[position + 8 + $1]) << (8 * $1) }
            position += 16 + size
            ends.append(position)
        }
        return position == bytes.count ? ends : nil
    }

    @Test func `a full disk at any byte leaves whole packets`() throws {
        let session = SampleSession.everyday()
        let whole = MemoryOutput()
        #expect(try write(session, into: whole).isComplete)
        let all = try #require(packetEnds(whole.bytes)).count
        for room in 0...whole.bytes.count {
            let output = MemoryOutput()
            output.room = room
            let status = try write(session, into: output, freedAt: 9)
            let ends = packetEnds(output.bytes)
            #expect(ends != nil, "room \(room)")
            #expect((ends?.count == all) == status.isComplete, "room \(room)")
        }
    }

    @Test func `parts are files of their own`() throws {
        var parts: [MemoryOutput] = []
        let writer = try PcapSessionWriter(
            startedAt: 0, rotation: Rotation(maximumSize: 1000)
        ) { _ in
            parts.append(MemoryOutput("lab.pcap"))
            return parts[parts.count - 1]
        }
        for event in SampleSession.everyday().events {
            writer.receive(event)
            writer.flush(now: event.time)
        }
        let status = writer.close(now: 0)
        #expect(parts.count > 2)
        #expect(status.parts == parts.count)
        #expect(status.size == UInt64(parts.map(\.bytes.count).reduce(0, +)))
        for part in parts { #expect(packetEnds(part.bytes) != nil) }
    }

    @Test func `what never came here counts as dropped`() throws {
        let output = MemoryOutput()
        let writer = try PcapSessionWriter(startedAt: 0) { _ in output }
        writer.admit(dropped: 3)
        let status = writer.close(now: 0)
        #expect(status.dropped == 3)
        #expect(!status.isComplete)
    }
}
