import Report
import Testing

@Suite struct CommandLedgerTests {
    @Test func `a million commands without a result do not fill memory`() {
        // Seen through the timeline: the count stays right though the oldest are forgotten.
        var timeline = Timeline()
        var sketch = SessionSketch()
        for index in 0..<11_500 {
            sketch.command(Int64(index), 1, "c-\(index)", "clipboard_read", timeout: 3_600_000)
        }
        sketch.result(30_000, 1, "c-11499", "clipboard_read", data: "{}")
        sketch.result(30_000, 1, "c-0", "clipboard_read", data: "{}")
        let lines = sketch.events.flatMap { timeline.receive($0) }
        let texts = lines.suffix(2).map { $0.text.map(\.text).joined() }
        #expect(texts[0].hasPrefix("#11500 clipboard_read ok"))
        #expect(texts[1].hasPrefix("clipboard_read c-0 ok"))
    }
}
