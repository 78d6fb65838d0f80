import Capture
import GoldenFiles
import Report
import Testing

@Suite struct ItemSurroundingsTests {
    private static func talk(_ text: String, answers: Bool = true) -> SessionSketch {
        DiffProbe.session { sketch in
            for number in 1...4 {
                let time = Int64(number * 100)
                sketch.command(time, 1, "c\(number)", "clipboard_read", timeout: 50)
                if number == 3, !answers { continue }
                let said = number == 3 ? text : "SECRET"
                sketch.result(
                    time + 10, 1, "c\(number)", "clipboard_read",
                    data: #"{"text":"\#(said)"}"#)
                sketch.outcome(time + 11, #"{"text":"SECRET"}"#)
            }
        }
    }

    private func text(_ first: SessionSketch, _ second: SessionSketch) throws -> String {
        let probe = try PageProbe(first, second)
        let surroundings = try ItemSurroundings(
            of: try probe.differing("clipboard_read"), in: probe.layout, probe.first,
            probe.second)
        return surroundings.text(
            TimelineText(isColoured: false, width: nil), names: ("recorded", "live"), indent: 2)
    }

    @Test func `two lines before it and two behind it are shown, without what was said`() throws {
        let text = try text(Self.talk("SECRET a"), Self.talk("SECRET b"))
        #expect(!text.contains("SECRET"))
        #expect(GoldenFile("surroundings-changed.txt").difference(from: text) == nil)
    }

    @Test func `where one side lacks it, the place where it would be is shown`() throws {
        let text = try text(Self.talk("a"), Self.talk("", answers: false))
        #expect(GoldenFile("surroundings-unanswered.txt").difference(from: text) == nil)
    }

    @Test func `what stands nowhere has no surroundings`() throws {
        let probe = try PageProbe(
            DiffProbe.session { $0.close(10, 1, .app) },
            DiffProbe.session { $0.close(10, 1, .app, .reset) })
        let surroundings = try ItemSurroundings(
            of: try probe.differing("link"), in: probe.layout, probe.first, probe.second)
        #expect(surroundings.first.isEmpty && surroundings.second.isEmpty)
    }
}
