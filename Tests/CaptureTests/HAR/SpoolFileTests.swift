import Capture
import Testing
import Wire

@Suite struct SpoolFileTests {
    @Test(arguments: [0, 1000, 1 << 20])
    func `what is put aside is read from anywhere, in memory or not`(_ maximumMemory: Int) throws {
        let spool = SpoolFile(maximumMemory: maximumMemory)
        var random = SeededRandom(7)
        for _ in 0..<2 {
            var expected = Bytes()
            for _ in 0..<200 {
                let part = (0..<Int.random(in: 0...9000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                try spool.append(part.span)
                expected += part
            }
            #expect(spool.count == UInt64(expected.count))
            for _ in 0..<50 {
                let start = Int.random(in: 0...expected.count, using: &random)
                let count = Int.random(in: 0...20_000, using: &random)
                var found = Bytes()
                try spool.read(at: UInt64(start), count: count, into: &found)
                #expect(found == Bytes(expected[start...].prefix(count)))
            }
            var nothing = Bytes()
            try spool.read(at: UInt64(expected.count) + 5, count: 10, into: &nothing)
            #expect(nothing.isEmpty)
            try spool.removeAll()
            #expect(spool.count == 0)
        }
    }

    @Test(arguments: [0, 1000, 1 << 20])
    func `what is cut off is gone, and more goes there`(_ maximumMemory: Int) throws {
        var random = SeededRandom(9)
        for _ in 0..<100 {
            let spool = SpoolFile(maximumMemory: maximumMemory)
            var expected = Bytes()
            for step in 0..<20 {
                let part = Bytes(
                    repeating: UInt8(step), count: Int.random(in: 0...40_000, using: &random))
                try spool.append(part.span)
                expected += part
                let size = Int.random(in: 0...expected.count + 10, using: &random)
                try spool.truncate(to: UInt64(size))
                expected = Bytes(expected.prefix(size))
            }
            var found = Bytes()
            try spool.read(at: 0, count: .max, into: &found)
            #expect(found == expected)
        }
    }

    @Test func `a session that was put aside is read again, more than once`() throws {
        let output = SpooledOutput(name: "lab.ndjson")
        try output.append(Bytes("one\ntwo, that is wro".utf8).span)
        try output.truncate(to: 4)
        try output.append(Bytes("two\n".utf8).span)
        #expect(output.size == 8)
        for _ in 0..<2 {
            let source = output.open()
            #expect(source.name == "lab.ndjson" && !source.mayWait)
            var bytes = Bytes()
            while true {
                let count = bytes.count
                try source.read(into: &bytes, maximum: 3)
                if bytes.count == count { break }
            }
            #expect(bytes == Bytes("one\ntwo\n".utf8))
        }
    }
}
