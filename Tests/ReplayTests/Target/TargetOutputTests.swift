import Network
import Replay
import Testing
import Wire

@Suite struct TargetOutputTests {
    @Test func `the last lines are kept, with where they were written`() {
        var output = TargetOutput(maximumLines: 3)
        for index in 1...5 {
            output.append(index.isMultiple(of: 2) ? .error : .output, Bytes("line \(index)".utf8))
        }
        #expect(
            output.lines == [
                TargetOutput.Line(.output, "line 3"), TargetOutput.Line(.error, "line 4"),
                TargetOutput.Line(.output, "line 5"),
            ])
        #expect(output.droppedCount == 2)
        #expect(output.last(2) == ["line 4", "line 5"])
        #expect(output.last(-1).isEmpty)
    }

    @Test func `long lines push out more of the others`() {
        var output = TargetOutput(maximumBytes: 10)
        output.append(.output, Bytes("aaaa".utf8))
        output.append(.output, Bytes("bbbb".utf8))
        #expect(output.droppedCount == 0)
        output.append(.output, Bytes("cccc".utf8))
        #expect(output.lines.map(\.text) == ["bbbb", "cccc"])
        output.append(.output, Bytes("a line that is too long by itself".utf8))
        #expect(output.lines.map(\.text) == ["a line tha"])
    }

    @Test func `bytes that are no text cost nothing but themselves`() {
        var output = TargetOutput()
        output.append(.output, [0x61, 0xff, 0x62])
        #expect(output.lines.map(\.text) == ["a\u{fffd}b"])
    }

    @Test func `text is found in any letter case`() {
        var output = TargetOutput()
        output.append(.error, Bytes("bind: Address already in use".utf8))
        #expect(output.contains("address ALREADY in use"))
        #expect(!output.contains("address not available"))
    }
}
