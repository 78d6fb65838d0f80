import Capture
import Report
import Testing

/// Commands without ids in common.
@Suite struct CommandAlignmentTests {
    private func session(
        _ prefix: String, _ texts: [String], answers: [String]? = nil
    ) -> SessionSketch {
        DiffProbe.session { sketch in
            for (index, text) in texts.enumerated() {
                let id = "\(prefix)\(index)"
                sketch.command(
                    Int64(index) * 10, 1, id, "clipboard_write",
                    payload: #"{"text":"\#(text)"}"#)
                if let answers {
                    sketch.result(
                        Int64(index) * 10 + 5, 1, id, "clipboard_write",
                        data: #"{"n":"\#(answers[index])"}"#)
                }
            }
        }
    }

    private func pairs(_ first: SessionSketch, _ second: SessionSketch) throws -> [String] {
        try DiffProbe().commands(first, second).map {
            "\($0.first?.id ?? "-") \($0.second?.id ?? "-") \($0.outcome.rawValue)"
        }
    }

    @Test func `one that is missing in the middle is one`() throws {
        let pairs = try pairs(session("a", ["1", "2", "3", "4"]), session("b", ["1", "2", "4"]))
        #expect(pairs == ["a0 b0 same", "a1 b1 same", "a2 - missing", "a3 b2 same"])
    }

    @Test func `one more in the middle is one`() throws {
        let pairs = try pairs(session("a", ["1", "2", "4"]), session("b", ["1", "x", "2", "4"]))
        #expect(pairs == ["a0 b0 same", "a1 b2 same", "a2 b3 same", "- b1 extra"])
    }

    @Test func `what changed between two that are the same belongs together`() throws {
        let pairs = try pairs(
            session("a", ["1", "2", "3", "4"]), session("b", ["1", "x", "y", "4"]))
        #expect(pairs == ["a0 b0 same", "a1 b1 changed", "a2 b2 changed", "a3 b3 same"])
    }

    @Test func `of equal commands the answers tell which is which`() throws {
        let first = session("a", ["t", "t", "t", "t"], answers: ["1", "2", "3", "4"])
        let second = session("b", ["t", "t", "t"], answers: ["1", "3", "4"])
        #expect(
            try pairs(first, second) == [
                "a0 b0 same", "a1 - missing", "a2 b1 same", "a3 b2 same",
            ])
    }

    @Test func `equal ids come first`() throws {
        let first = session("a", ["1", "2"])
        let second = session("a", ["2", "1"])
        #expect(try pairs(first, second) == ["a0 a0 changed", "a1 a1 changed"])
    }

    @Test func `also in very long lists one that is missing is one`() throws {
        let texts = (0..<1_500).map { "\($0)" }
        let fewer = texts.enumerated().filter { ![400, 1_100].contains($0.offset) }.map(\.element)
        for (first, second) in [(texts, fewer), (fewer, texts)] {
            let outcomes = try DiffProbe().commands(session("a", first), session("b", second))
                .map(\.outcome)
            #expect(outcomes.count { $0 == .same } == 1_498)
            #expect(outcomes.count { $0 == .missing || $0 == .extra } == 2)
        }
    }

    @Test func `one long list beside a short one is paired in order`() throws {
        let many = session("a", (0..<1_500).map { "\($0)" })
        let few = session("b", ["x", "y"])
        let outcomes = try DiffProbe().commands(many, few).map(\.outcome)
        #expect(outcomes.count { $0 == .changed } == 2)
        #expect(outcomes.count { $0 == .missing } == 1_498)
    }

    @Test func `an event that is missing in the middle is one`() throws {
        func session(_ states: [String], _ day: Int) -> SessionSketch {
            DiffProbe.session { sketch in
                for (index, state) in states.enumerated() {
                    sketch.text(
                        Int64(index), 1, .app,
                        #"{"id":"phone_app_state","data":{"app_state":"\#(state)","reported_at":"2026-06-\#(day)T03:20:05Z"}}"#
                    )
                }
            }
        }
        var diff = try DiffProbe().diff(
            session(["active", "inactive", "background", "active"], 10),
            session(["active", "background", "active"], 11))
        var outcomes: [SessionDiff.Outcome] = []
        while let pair = try diff.nextEvent() { outcomes.append(pair.outcome) }
        #expect(outcomes == [.same, .missing, .same, .same])
    }

    @Test func `what has no partner names what comes closest`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "contacts_query", payload: #"{"query":"Li","limit":3}"#)
        }
        let second = DiffProbe.session { sketch in
            sketch.command(10, 1, "k1", "open_app")
            sketch.command(11, 1, "k2", "contacts_query", payload: #"{"query":"Lu","limit":5}"#)
            sketch.command(12, 1, "k3", "contacts_query", payload: #"{"query":"Li","limit":4}"#)
        }
        let probe = DiffProbe(SessionPairing(judged: .board))
        let pairs = try probe.commands(first, second)
        #expect(pairs.map(\.outcome) == [.missing, .extra, .extra, .extra])
        #expect(pairs[0].candidate?.command.id == "k3")
        #expect(
            DiffProbe.paths(pairs[0].candidate?.differences) == ["command.payload.limit changed"])
        #expect(pairs[1].candidate?.command.id == "c1")
        let text = try probe.text(first, second)
        #expect(
            text.contains(
                "    closest is contacts_query 2  k3  (event 7)\n        command.payload.limit  3 → 4\n"
            ))
    }
}
