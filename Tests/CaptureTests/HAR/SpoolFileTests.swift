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
}
