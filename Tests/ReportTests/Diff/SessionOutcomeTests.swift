import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// What the board's own side got for a command.
@Suite struct SessionOutcomeTests {
    /// A command that the app answers after `answered` milliseconds, and whose connection it
    /// leaves after `closed`.
    private func session(
        answered: Int64? = 100, closed: Int64? = nil, by side: Side = .app, outcome: String? = nil
    ) -> SessionSketch {
        DiffProbe.session { sketch in
            sketch.command(1_000, 1, "c1", "clipboard_read", timeout: 5_000)
            var steps: [(Int64, (inout SessionSketch) -> Void)] = []
            if let answered {
                steps.append(
                    (
                        answered,
                        {
                            $0.result(
                                1_000 + answered, 1, "c1", "clipboard_read",
                                latency: "\(answered).000", data: #"{"text":"a"}"#,
                                late: answered > 5_000)
                        }
                    ))
            }
            if let closed {
                steps.append((closed, { $0.frame(1_000 + closed, 1, side, .close, [0x03, 0xe8]) }))
            }
            for step in steps.sorted(by: { $0.0 < $1.0 }) { step.1(&sketch) }
            if let outcome { sketch.outcome(9_000, outcome) }
        }
    }

    private func error(_ code: String) -> String {
        #"{"id":"c1","error":{"category":"transient","code":"\#(code)","message":"words"}}"#
    }

    private func outcome(_ first: SessionSketch, _ second: SessionSketch) throws -> String {
        let pair = try DiffProbe().commands(first, second).first
        return "\(pair?.outcome.rawValue ?? "none") "
            + DiffProbe.paths(pair?.differences).joined(separator: ", ")
    }

    @Test func `what it got is compared like an answer`() throws {
        let one = session(outcome: #"{"id":"c1","data":{"text":"a"}}"#)
        #expect(try outcome(one, one) == "same ")
        #expect(
            try outcome(one, session(outcome: #"{"id":"c1","data":{"text":"b"}}"#))
                == "changed outcome.data.text changed")
        let failed = session(answered: nil, outcome: error("bridge_timeout"))
        let broken = session(answered: nil, outcome: error("bridge_write_failed"))
        #expect(try outcome(failed, broken) == "changed outcome.error.code changed")
    }

    private static let right: [(Int64?, Int64?, Side, String)] = [
        (100, nil, .app, "a"), (nil, nil, .app, "bridge_timeout"),
        (6_000, nil, .app, "bridge_timeout"), (nil, 500, .app, "bridge_connection_closed"),
        // Close to the limit nobody knows.
        (5_100, nil, .app, "a"), (4_900, nil, .app, "bridge_timeout"), (4_900, nil, .app, "a"),
        (100, 120, .board, "bridge_connection_closed"), (100, 120, .board, "a"),
        (100, 120, .app, "a"), (nil, 5_100, .app, "bridge_timeout"),
    ]

    @Test(arguments: right)
    func `what the contract asks for is right where the first session does not tell`(
        _ answered: Int64?, _ closed: Int64?, _ side: Side, _ got: String
    ) throws {
        let plain = session(answered: answered, closed: closed, by: side)
        let text = got == "a" ? #"{"id":"c1","data":{"text":"a"}}"# : error(got)
        let told = session(answered: answered, closed: closed, by: side, outcome: text)
        #expect(try outcome(plain, told) == "same ")
    }

    private static let wrong: [(Int64?, Int64?, String, String)] = [
        (100, nil, #"{"id":"c1","data":{"text":"b"}}"#, "outcome.data.text changed"),
        (100, nil, #"{"id":"c1"}"#, "outcome.data.text removed"),
        (nil, nil, #"{"id":"c1","data":{"text":"a"}}"#, "outcome.error.code changed"),
        (6_000, nil, #"{"id":"c1","data":{"text":"a"}}"#, "outcome.error.code changed"),
        (
            100, 150,
            #"{"id":"c1","error":{"category":"transient","code":"bridge_connection_closed","message":""}}"#,
            "outcome.data.text removed, outcome.error.category added, outcome.error.code added, "
                + "outcome.error.message added"
        ),
        (
            nil, 500,
            #"{"id":"c1","error":{"category":"transient","code":"bridge_timeout","message":""}}"#,
            "outcome.error.code changed"
        ),
    ]

    @Test(arguments: wrong)
    func `what it must not be is a change`(
        _ answered: Int64?, _ closed: Int64?, _ text: String, _ paths: String
    ) throws {
        let plain = session(answered: answered, closed: closed)
        let told = session(answered: answered, closed: closed, outcome: text)
        #expect(try outcome(plain, told) == "changed " + paths)
    }

    @Test func `fields that the board does not pass on are none that it owes`() throws {
        func answered(_ outcome: String?) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, "c1", "clipboard_read")
                sketch.text(
                    20, 1, .app, #"{"ID":"c1","Data":{"text":"a"},"error":null,"extra":1}"#,
                    bridge: [["kind": "result", "id": "c1", "ok": true, "route": "websocket"]])
                if let outcome { sketch.outcome(30, outcome) }
            }
        }
        #expect(
            try outcome(answered(nil), answered(#"{"id":"c1","data":{"text":"a"}}"#)) == "same ")
    }

    @Test func `an outcome that is not told any more is a remark`() throws {
        let told = session(outcome: #"{"id":"c1","data":{"text":"a"}}"#)
        let pair = try DiffProbe().commands(told, session()).first
        #expect(pair?.outcome == .same)
        #expect(pair?.remarks == ["what the board's own side got for it is not told now"])
    }

    @Test func `outcomes of commands that were never sent are counted by their code`() throws {
        let one = DiffProbe.session { _ in }
        let two = DiffProbe.session { sketch in
            sketch.outcome(10, error("bridge_not_connected"))
            sketch.outcome(20, error("bridge_not_connected"))
        }
        #expect(
            try DiffProbe().text(one, two).contains(
                "outcomes of commands that were never sent: none → bridge_not_connected ×2"))
        #expect(try DiffProbe().isDifferent(one, two))
    }

    @Test func `an outcome without an id belongs to the event that it names`() throws {
        func told(_ text: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, "c1", "clipboard_read")
                sketch.outcome(20, #"{"data":{"text":"\#(text)"}}"#, to: 5)
            }
        }
        #expect(try outcome(told("a"), told("b")) == "changed outcome.data.text changed")
    }
}
