import Capture
import Report
import Testing

@Suite struct RowLayoutTests {
    @Test func `commands and answers stand beside their partners, whatever else comes between`()
        throws
    {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.result(20, 1, "c1", "clipboard_read", data: #"{"text":"a"}"#)
            sketch.command(30, 1, "c2", "open_app")
            sketch.result(40, 1, "c2", "open_app")
        }
        let second = DiffProbe.session { sketch in
            sketch.heartbeat(5, 1)
            sketch.command(10, 1, "k1", "clipboard_read")
            sketch.text(15, 1, .app, "?")
            sketch.result(20, 1, "k1", "clipboard_read", data: #"{"text":"b"}"#)
            sketch.command(30, 1, "k2", "open_app")
            sketch.result(40, 1, "k2", "open_app")
        }
        let text = try PageProbe(first, second).text
        #expect(
            text == [
                "open | open", "request | request  same", "upgraded | upgraded",
                "- | alive", "command c1 | command k1  changed", "- | message",
                "result c1 | result k1  changed", "command c2 | command k2  same",
                "result c2 | result k2  same",
            ])
    }

    @Test func `what only one session has stands alone`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.command(11, 1, "c2", "open_app")
        }
        let second = DiffProbe.session { $0.command(10, 1, "c1", "clipboard_read") }
        let text = try PageProbe(first, second).text
        #expect(text.contains("command c1 | command c1  same"))
        #expect(text.contains("command c2 | -  missing"))
    }

    @Test func `what came in another order stands alone on both sides, and nothing is lost`()
        throws
    {
        let first = DiffProbe.session { sketch in
            for id in ["a", "b", "c"] { sketch.command(10, 1, id, "open_app") }
        }
        let second = DiffProbe.session { sketch in
            for id in ["b", "c", "a"] { sketch.command(10, 1, id, "open_app") }
        }
        let probe = try PageProbe(first, second)
        let text = try probe.text
        #expect(text.contains("command b | command b  same"))
        #expect(text.contains("command c | command c  same"))
        #expect(text.contains("command a | -  same"))
        #expect(text.contains("- | command a  same"))
        #expect(probe.layout.lines.compactMap(\.left) == Array(0..<probe.first.count))
        #expect(probe.layout.lines.compactMap(\.right) == Array(0..<probe.second.count))
    }

    @Test func `a second answer and what never came belong to their command`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "open_app", timeout: 100)
            sketch.result(20, 1, "c1", "open_app")
            sketch.heartbeat(1000, 1)
        }
        let unanswered = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "open_app", timeout: 100)
            sketch.heartbeat(1000, 1)
        }
        #expect(try PageProbe(first, unanswered).text.contains("- | no answer c1  unanswered"))
        let twice = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "open_app", timeout: 100)
            sketch.result(20, 1, "c1", "open_app")
            sketch.result(21, 1, "c1", "open_app", duplicate: true)
        }
        #expect(try PageProbe(first, twice).text.contains("- | result c1  duplicate"))
    }

    @Test func `the answer is looked at first where it is what differs`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.result(20, 1, "c1", "clipboard_read", data: #"{"text":"a"}"#)
        }
        let second = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.result(20, 1, "c1", "clipboard_read", data: #"{"text":"b"}"#)
        }
        let probe = try PageProbe(first, second)
        let places = try #require(probe.layout.places[try probe.differing("clipboard_read")])
        let text = try probe.text
        #expect(
            places.map { text[$0] } == [
                "result c1 | result c1  changed", "command c1 | command c1  changed",
            ])
    }
}
