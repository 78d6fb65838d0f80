import Capture
import Inspector
import Testing
import Wire

@Suite struct SessionLogTests {
    private func log(_ count: Int) throws -> SessionLog {
        let log = SessionLog()
        for number in 0..<count { try log.add(.time(Int64(number) * 1_000_000)) }
        return log
    }

    @Test(arguments: [1, 7, 12, 100, 4096])
    func `records come whole, from one to the next`(maximum: Int) throws {
        let log = try log(100)
        var offset: UInt64 = 0
        var lines = 0
        while true {
            let bytes = try log.records(from: offset, maximum: maximum)
            guard !bytes.isEmpty else { break }
            #expect(bytes.last == 0x0a)
            for line in bytes.split(separator: 0x0a) {
                _ = try JSON(parsing: Bytes(line))
                lines += 1
            }
            offset += UInt64(bytes.count)
        }
        #expect(lines == 100 && offset == log.count)
    }

    @Test func `an offset within a record, or behind the end, gives nothing`() throws {
        let log = try log(3)
        #expect(try log.records(from: 1, maximum: 100).isEmpty)
        #expect(try log.records(from: log.count, maximum: 100).isEmpty)
        #expect(try log.records(from: .max, maximum: 100).isEmpty)
        #expect(try SessionLog().records(from: 0, maximum: 100).isEmpty)
    }

    @Test func `events lie in blocks, the last of which grows`() throws {
        let log = SessionLog()
        for seq in 1...600 {
            try log.add(Event(seq: seq, time: 1, kind: .note(Event.Note(code: "mark", text: ""))))
        }
        #expect(log.blocks.map(\.first) == [1, 257] && log.blocks.map(\.last) == [256, 512])
        let open = try #require(try log.lines(ofBlock: 2))
        #expect(open.count { $0 == 0x0a } == 88)
        #expect(try log.lines(ofBlock: 3) == nil && log.lines(ofBlock: -1) == nil)
        var grown = 0
        log.onGrowth = { grown += 1 }
        log.tellGrowth()
        try log.finish()
        try log.finish()
        #expect(grown == 2 && log.blocks.count == 3)
        #expect(try log.lines(ofBlock: 2) == open)
        #expect(try log.lines(ofBlock: 3) == [])
    }

    @Test func `a block ends early where its events are large`() throws {
        let log = SessionLog()
        let text = String(repeating: "x", count: 300_000)
        for seq in 1...4 {
            try log.add(Event(seq: seq, time: 1, kind: .note(Event.Note(code: "c", text: text))))
        }
        let block: SessionLog.Block = try #require(log.blocks.first)
        #expect(log.blocks.count == 2 && block.last == 2)
    }
}
