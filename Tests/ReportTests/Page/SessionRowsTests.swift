import Capture
import Report
import Testing
import Wire

@Suite struct SessionRowsTests {
    /// A session in which each place that can hold a person's text does.
    static var talkative: SessionSketch {
        DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_write", payload: #"{"text":"SECRET"}"#)
            sketch.result(20, 1, "c1", "clipboard_write", data: #"{"text":"SECRET"}"#)
            sketch.command(30, 1, "c2", "open_app")
            sketch.text(
                40, 1, .app, #"{"id":"c2","error":{"code":"x","message":"SECRET"}}"#,
                bridge: [["kind": "result", "id": "c2", "ok": false, "code": "x"]])
            sketch.text(
                50, 1, .app, #"{"id":"phone_app_state","data":{"note":"SECRET"}}"#,
                bridge: [["kind": "app_event", "id": "phone_app_state"]])
            sketch.text(60, 1, .app, "SECRET")
            sketch.text(61, 1, .app, #"{"a":"SECRET"}"#)
            sketch.frame(70, 1, .app, .binary, Bytes("SECRET".utf8))
            sketch.exchange(80, 2, 1, "POST /x?q=SECRET", body: "SECRET", 200, "SECRET")
            sketch.exchange(90, 2, 2, "POST /x", body: #"{"a":"SECRET"}"#, 400, #"{"a":"SECRET"}"#)
            sketch.add(
                95, 1, .app,
                .data(Event.Data(bytes: Bytes("SECRET".utf8), why: "unknown protocol")))
            sketch.outcome(100, #"{"text":"SECRET"}"#)
            sketch.frame(110, 1, .app, .close, [3, 232] + Bytes("SECRET".utf8))
        }
    }

    @Test func `a line comes back as the timeline gave it`() throws {
        var timeline = Timeline()
        var expected = Self.talkative.events.flatMap { timeline.receive($0) }
        expected += timeline.finish()
        expected.removeAll { $0.time == nil }
        let rows = try PageProbe.rows(Self.talkative)
        #expect(rows.count == expected.count)
        for (index, line) in expected.enumerated() {
            // What lanes of time are drawn from is not kept.
            var line = line
            line.command = nil
            line.counted = nil
            #expect(try rows.line(at: index) == line)
        }
    }

    @Test func `an index without a line gives an empty one`() throws {
        let rows = try PageProbe.rows(Self.talkative)
        #expect(try rows.line(at: -1).time == nil)
        #expect(try rows.line(at: rows.count).time == nil)
    }

    @Test func `a line without values says nothing of what was said`() throws {
        let rows = try PageProbe.rows(Self.talkative)
        let layout = TimelineText(isColoured: false, width: nil)
        var quotes = 0
        for index in 0..<rows.count {
            let line = try rows.line(at: index)
            let text = layout.text(line.withoutValues)
            #expect(!text.contains("SECRET") && !text.contains("53 45 43 52"), "\(text)")
            if layout.text(line) != text { quotes += 1 }
        }
        #expect(quotes >= 12)
    }

    @Test func `a line knows its event and its command`() throws {
        let rows = try PageProbe.rows(Self.talkative)
        let lines = try (0..<rows.count).map { try rows.line(at: $0) }
        let command = try #require(lines.first { $0.label.text == "command" })
        #expect(command.seq == 5)
        #expect(command.id == "c1")
        #expect(lines.first { $0.label.text == "result" }?.id == "c1")
    }

    @Test func `what never came is a line about its command and about no event`() throws {
        var sketch = DiffProbe.session { $0.command(10, 1, "c1", "open_app", timeout: 100) }
        sketch.heartbeat(5000, 1)
        let rows = try PageProbe.rows(sketch)
        let lines = try (0..<rows.count).map { try rows.line(at: $0) }
        let line = try #require(lines.first { $0.label.text == "no answer" })
        #expect(line.seq == nil)
        #expect(line.id == "c1")
    }
}
