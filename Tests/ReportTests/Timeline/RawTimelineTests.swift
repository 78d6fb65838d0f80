import Capture
import GoldenFiles
import Report
import Testing
import Wire

@Suite struct RawTimelineTests {
    @Test func `every event shows its bytes`() {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.upgrade(1, 1)
        sketch.heartbeat(5000, 1)
        sketch.add(
            6000, 1, .app,
            .request(
                Event.Request(
                    exchange: 2, method: "POST", target: "/x",
                    raw: Bytes("POST  /x\r\nA:b\r\n\r\n".utf8),
                    body: Event.Body(
                        content: .whole(Bytes("line one\nline two".utf8)), framing: .chunked,
                        chunks: Event.Chunks(sizes: [9, 8]), trailers: [FieldLine("T", "v")]))))
        sketch.frame(7000, 1, .board, .binary, fin: false, rsv: 5, Bytes(0...40))
        sketch.add(
            7500, 1, .board,
            .message(
                Event.Message(opcode: .text, content: .pieces, frames: 3, compressed: true)))
        sketch.add(
            8000, 1, .app, .data(Event.Data(bytes: [0x16, 3, 1], why: "not an HTTP request")))
        sketch.add(9000, 1, .board, .gap(Event.Gap(length: 12, why: "snaplen")))
        sketch.close(9001, 1, .app, .reset)
        sketch.end(9002)
        let layout = TimelineText(isColoured: false, width: nil)
        let text = sketch.events.map { layout.text(RawTimeline().line($0)) }.joined()
        #expect(GoldenFile("raw.txt").difference(from: text) == nil)
    }
}
