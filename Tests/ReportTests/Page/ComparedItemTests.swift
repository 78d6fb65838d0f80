import Capture
import Report
import Testing

@Suite struct ComparedItemTests {
    private func item(
        _ first: (inout SessionSketch) -> Void, _ second: (inout SessionSketch) -> Void
    ) throws -> ComparedItem {
        let probe = try PageProbe(DiffProbe.session(first), DiffProbe.session(second))
        return try #require(probe.items.first { $0.kind == "command" })
    }

    @Test func `what comes closest to a missing command is told beside it`() throws {
        let item = try item(
            { $0.command(10, 1, "c1", "open_app", payload: #"{"app":"maps"}"#) },
            { $0.command(10, 1, "k1", "clipboard_read") })
        #expect(item.outcome == .missing)
        #expect(item.places == [.init(5, nil, firstID: "c1", isFocus: true)])
    }

    @Test func `a command that nobody answered any more is looked at where its answer was`() throws
    {
        let item = try item(
            { sketch in
                sketch.command(10, 1, "c1", "open_app")
                sketch.result(20, 1, "c1", "open_app")
            }, { $0.command(10, 1, "c1", "open_app") })
        #expect(item.outcome == .unanswered)
        #expect(item.name == "c1 1")
        #expect(
            item.places == [
                .init(5, 5, firstID: "c1", secondID: "c1"),
                .init(6, nil, firstID: "c1", secondID: "c1", isFocus: true),
            ])
    }

    @Test func `a fact about the whole has no place`() throws {
        let probe = try PageProbe(
            DiffProbe.session { $0.close(10, 1, .app) },
            DiffProbe.session { $0.close(10, 1, .app, .reset) })
        let item = try #require(probe.items.first { $0.kind == "link" })
        #expect(item.places.isEmpty)
        #expect(item.remarks.count == 1)
    }
}
