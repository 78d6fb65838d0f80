import Capture
import PhoneBridge
import Testing

@Suite struct CommandBookTests {
    @Test func `ids differ by their bytes, and a million of them need little`() {
        var checker = RuleChecker(groups: [])
        var time: Int64 = 0
        for event in SessionScript("0 connect").events { _ = checker.receive(event) }
        func say(_ from: Side, _ text: String) {
            time += 1_000
            for event in SessionScript("0 \(from)> \(text)").events.suffix(1) {
                var event = event
                event.time = time
                _ = checker.receive(event)
            }
        }
        for id in ["c1", "C1", " c1", "c1 ", "e\u{301}", "\u{e9}"] {
            say(.board, #"{"id":"\#(id)","type":"clipboard_read"}"#)
        }
        #expect(checker.commandCount == 6)
        for number in 0..<5_000 {
            say(.board, #"{"id":"n\#(number)","type":"clipboard_read"}"#)
            say(.app, #"{"id":"n\#(number)","data":{"text":""}}"#)
        }
        #expect(checker.commandCount == 5_006)
        #expect(CommandBook.maximumOpen > 0 && checker.commandBytes <= 64 * checker.commandCount)
    }
}
