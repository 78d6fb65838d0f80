import Capture
import Report
import Testing

@Suite struct EventPlacesTests {
    @Test func `an event stands where it was read`() {
        var places = EventPlaces()
        var asked = 0
        func name(_ text: String) -> String {
            asked += 1
            return text
        }
        // Line 4 is broken, so that the numbers and lines part there.
        for (seq, line) in [(0, 1), (1, 2), (2, 3), (3, 5), (4, 6)] {
            places.add(
                seq: seq, at: SessionPosition(line: line, offset: 0), name: name("a"))
        }
        for (seq, line) in [(5, 2), (6, 3)] {
            places.add(
                seq: seq, at: SessionPosition(input: 1, line: line, offset: 0), name: name("b"))
        }
        let expected = [("a", 2), ("a", 3), ("a", 5), ("a", 6), ("b", 2), ("b", 3)]
        for (index, (file, line)) in expected.enumerated() {
            #expect(places.place(of: index + 1) == EventPlace(file: file, line: line))
        }
        #expect(places.place(of: 0) == nil)
        #expect(asked == 2)
    }

    @Test func `packets have no lines`() {
        var places = EventPlaces()
        for seq in 1...5 {
            places.add(
                seq: seq, at: SessionPosition(line: seq * 7, offset: 0, isPacket: true), name: "p")
        }
        #expect(places.place(of: 3) == EventPlace(file: "p", line: nil))
    }

    @Test func `a file full of holes is remembered up to a limit`() {
        var places = EventPlaces()
        for seq in 1...EventPlaces.maximumRuns + 10 {
            places.add(seq: seq, at: SessionPosition(line: seq * 2, offset: 0), name: "h")
        }
        #expect(places.place(of: 1000) == EventPlace(file: "h", line: 2000))
        #expect(places.place(of: EventPlaces.maximumRuns + 1) == nil)
    }
}
