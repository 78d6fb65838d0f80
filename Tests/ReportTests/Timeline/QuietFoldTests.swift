import Capture
import Report
import Testing
import Wire

/// The lines of a session that is nothing but quiet.
private func lines(_ sketch: SessionSketch) -> [String] {
    var timeline = Timeline()
    let layout = TimelineText(isColoured: false, width: nil)
    let lines = sketch.events.flatMap { timeline.receive($0) } + timeline.finish()
    return lines.dropLast().map { layout.text($0) }
}

@Suite struct QuietFoldTests {
    @Test func `each connection has its own count of heartbeats`() {
        var sketch = SessionSketch()
        for second in 0..<4 {
            sketch.heartbeat(Int64(second) * 5000, 1, echo: 1)
            sketch.heartbeat(Int64(second) * 5000 + 100, 2, echo: 40)
        }
        #expect(
            lines(sketch) == [
                "  00:00.000   1     ⇄     alive      4 heartbeats, slowest echo 1.000 ms, "
                    + "until 00:15.001\n",
                "  00:00.100   2     ⇄     alive      4 heartbeats, slowest echo 40.0 ms, "
                    + "until 00:15.140\n",
            ])
    }

    @Test func `pings and pongs are counted`() {
        var sketch = SessionSketch()
        for second in 0..<3 {
            sketch.frame(Int64(second) * 20_000, 1, .app, .ping)
            sketch.frame(Int64(second) * 20_000 + 1, 1, .board, .pong)
        }
        #expect(
            lines(sketch) == [
                "  00:00.000   1     ⇄     pings      3 pings, 3 pongs, until 00:40.001\n"
            ])
    }

    @Test func `heartbeats that the file does not pair are still counted`() {
        var sketch = SessionSketch()
        for _ in 0..<1000 { sketch.heartbeat(0, 1, echo: nil) }
        #expect(
            lines(sketch) == [
                "  00:00.000   1     ⇄     alive      1,000 heartbeats, 1,000 without an echo\n"
            ])
    }
}
