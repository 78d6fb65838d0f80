import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// Sessions of which a player made one from the other.
@Suite struct SessionPairingTests {
    private func board(_ commands: [String: String] = [:]) -> SessionPairing {
        SessionPairing(judged: .board, commands: commands)
    }

    private func app(
        _ commands: [String: String], values: [String: String] = [:]
    ) -> SessionPairing {
        SessionPairing(judged: .app, commands: commands, values: values)
    }

    @Test func `commands are paired by the given ids and never by what they look like`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.command(11, 1, "c2", "clipboard_read")
        }
        let second = DiffProbe.session { sketch in
            sketch.command(10, 1, "k2", "clipboard_read")
            sketch.command(11, 1, "c2", "clipboard_read")
        }
        let pairs = try DiffProbe(board(["c1": "k2"])).commands(first, second)
        #expect(pairs.map(\.outcome) == [.same, .missing, .extra])
        #expect(pairs.map(\.first?.id) == ["c1", "c2", nil])
        #expect(pairs.map(\.second?.id) == ["k2", nil, "c2"])
    }

    @Test func `what could not be put to the test is told by name and counts as nothing`() throws {
        let first = DiffProbe.session { $0.command(10, 1, "c1", "clipboard_read") }
        let second = DiffProbe.session { _ in }
        var pairing = board()
        pairing.skipped["c1"] = "nothing makes the board send it"
        let probe = DiffProbe(pairing)
        #expect(try probe.outcomes(first, second) == ["clipboard_read 1 skipped"])
        #expect(try !probe.isDifferent(first, second))
        let text = try probe.text(first, second)
        #expect(text.contains("skipped        clipboard_read 1  c1"))
        #expect(text.contains("    nothing makes the board send it\n"))
        #expect(text.hasSuffix("1 skipped\n"))
        var results = DiffResults(try probe.diff(first, second))
        results.add(try #require(try probe.commands(first, second).first))
        let suite = results.finish(try probe.diff(first, second))
        #expect(suite.count(.skipped) == 1)
        #expect(suite.cases.first?.message == "nothing makes the board send it")
    }

    @Test func `only the judged side's contents and answers are compared`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "contacts_query", payload: #"{"query":"Li"}"#)
            sketch.result(20, 1, "c1", "contacts_query", data: #"{"contacts":[]}"#)
            sketch.text(30, 1, .app, #"{"id":"phone_app_state","data":{"app_state":"active"}}"#)
        }
        let second = DiffProbe.session { sketch in
            sketch.command(10, 1, "k1", "contacts_query", payload: #"{"query":"Lu"}"#)
            sketch.text(
                20, 1, .app, #"{"id":"phone_app_state","data":{"app_state":"background"}}"#)
        }
        let ids = ["c1": "k1"]
        let asBoard = try DiffProbe(board(ids)).commands(first, second).first
        #expect(asBoard?.outcome == .changed)
        #expect(DiffProbe.paths(asBoard?.differences) == ["command.payload.query changed"])
        #expect(asBoard?.remarks == ["was answered, is unanswered now"])
        let asApp = try DiffProbe(app(ids)).commands(first, second).first
        #expect(asApp?.outcome == .unanswered)
        #expect(asApp?.differences == [])
        var diff = try DiffProbe(board(ids)).diff(first, second)
        #expect(try diff.nextEvent() == nil)
        diff = try DiffProbe(app(ids)).diff(first, second)
        #expect(try diff.nextEvent()?.outcome == .changed)
    }

    @Test func `a value born in an answer stands for the recorded one, one to one`() throws {
        func session(_ born: [String], deletes: String, _ ids: [String]) -> SessionSketch {
            DiffProbe.session { sketch in
                for (index, id) in born.enumerated() {
                    sketch.command(10, 1, ids[index], "calendar_create")
                    sketch.result(
                        20, 1, ids[index], "calendar_create", data: #"{"event_id":"\#(id)"}"#)
                }
                sketch.command(40, 1, ids[2], "calendar_query")
                sketch.result(
                    50, 1, ids[2], "calendar_query",
                    data: #"{"events":[{"event_id":"\#(deletes)"}],"later":"\#(deletes)"}"#)
            }
        }
        let first = session(["e1", "e2"], deletes: "e2", ["c1", "c2", "c3"])
        let ids = ["c1": "k1", "c2": "k2", "c3": "k3"]
        func outcomes(_ born: [String], _ deletes: String) throws -> [String] {
            let second = session(born, deletes: deletes, ["k1", "k2", "k3"])
            return try DiffProbe(app(ids)).outcomes(first, second)
        }
        #expect(
            try outcomes(["x7", "x8"], "x8") == [
                "calendar_create 1 same", "calendar_create 2 same", "calendar_query 1 same",
            ])
        // The wrong one of the two, and the recorded one, which is nobody's now.
        #expect(try outcomes(["x7", "x8"], "x7").last == "calendar_query 1 changed")
        #expect(try outcomes(["x7", "x8"], "e2").last == "calendar_query 1 changed")
        // Two things with one id.
        #expect(try outcomes(["x7", "x7"], "x7")[1] == "calendar_create 2 changed")
        #expect(try outcomes(["x7", ""], "x8")[1] == "calendar_create 2 changed")
    }

    @Test func `values that the player knows of hold for ids alone`() throws {
        func session(_ id: String, _ contact: String, _ name: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, id, "contacts_query")
                sketch.result(
                    20, 1, id, "contacts_query",
                    data: #"{"contacts":[{"contact_id":"\#(contact)","name":"\#(name)"}]}"#)
            }
        }
        let first = session("c1", "41", "41")
        let probe = DiffProbe(app(["c1": "k1"], values: ["41": "7"]))
        #expect(try probe.outcomes(first, session("k1", "7", "41")) == ["contacts_query 1 same"])
        #expect(
            try probe.outcomes(first, session("k1", "41", "41")) == ["contacts_query 1 changed"])
        #expect(try probe.outcomes(first, session("k1", "7", "7")) == ["contacts_query 1 changed"])
    }

    @Test func `a board that sends a command once more, or once less, is not the same`() throws {
        func session(_ id: String, times: Int64) -> SessionSketch {
            DiffProbe.session { sketch in
                for time in 1...times { sketch.command(time * 10, 1, id, "clipboard_read") }
            }
        }
        let probe = DiffProbe(board(["c1": "k1"]))
        let (once, twice) = (session("c1", times: 1), session("k1", times: 2))
        #expect(try probe.outcomes(once, twice) == ["clipboard_read 1 duplicate"])
        #expect(
            try probe.outcomes(session("c1", times: 2), session("k1", times: 1))
                == ["clipboard_read 1 changed"])
        // Of an app that is judged, the board was played.
        #expect(
            try DiffProbe(app(["c1": "k1"])).outcomes(once, twice) == ["clipboard_read 1 same"])
    }

    @Test func `what did not happen makes a command, an event or the link different`() throws {
        let first = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "clipboard_read")
            sketch.heartbeat(20, 1)
        }
        let second = DiffProbe.session { sketch in
            sketch.command(10, 1, "k1", "clipboard_read")
            sketch.heartbeat(20, 1)
        }
        var pairing = board(["c1": "k1"])
        #expect(try !DiffProbe(pairing).isDifferent(first, second))
        pairing.failures[5] = "it did not come within 5 s"
        let pair = try DiffProbe(pairing).commands(first, second).first
        #expect(pair?.outcome == .changed)
        #expect(pair?.remarks == ["it did not come within 5 s"])
        pairing.failures = [6: "no echo came"]
        #expect(
            try DiffProbe(pairing).text(first, second).contains("event 6: there → no echo came"))
        #expect(try DiffProbe(pairing).isDifferent(first, second))
    }

    @Test func `what was not put to the test of events, exchanges and ends is told`() throws {
        let first = DiffProbe.session { sketch in
            sketch.text(10, 1, .app, #"{"id":"phone_app_state","data":{"app_state":"active"}}"#)
            sketch.frame(20, 1, .app, .close, [0x03, 0xe8])
        }
        let second = DiffProbe.session { $0.frame(20, 1, .app, .close, [0x03, 0xe9]) }
        var pairing = app([:])
        #expect(try DiffProbe(pairing).isDifferent(first, second))
        pairing.unexercised = [5: "the session ended before", 4: "the player ended it"]
        let probe = DiffProbe(pairing)
        #expect(try !probe.isDifferent(first, second))
        let text = try probe.text(first, second)
        #expect(text.contains("skipped        phone_app_state 1"))
        #expect(text.contains("the session ended before"))
        #expect(text.contains("end of WebSocket connection 1: 1000 by the app → 1001 by the app"))

        let asked = DiffProbe.session { $0.exchange(10, 2, 1, "GET /status", 200, "{}") }
        var skipping = board()
        skipping.unexercised[5] = "there was no time"
        #expect(
            try DiffProbe(skipping).exchanges(asked, second).map(\.outcome) == [.same, .skipped])
    }

    @Test func `ends of connections count that the judged side made`() throws {
        func session(_ side: Side, _ code: UInt8) -> SessionSketch {
            DiffProbe.session { $0.frame(20, 1, side, .close, [0x03, code]) }
        }
        let (byApp, byBoard) = (session(.app, 0xe8), session(.board, 0xe9))
        #expect(try DiffProbe(board()).isDifferent(byApp, byBoard))
        #expect(try DiffProbe(board()).isDifferent(byBoard, byApp))
        #expect(try !DiffProbe(board()).isDifferent(byApp, session(.app, 0xe9)))
        #expect(try DiffProbe(app([:])).isDifferent(byApp, session(.app, 0xe9)))
        // Who makes connections is the app.
        let two = DiffProbe.session { sketch in
            sketch.open(30, 2)
            sketch.upgrade(31, 2)
        }
        let one = DiffProbe.session { _ in }
        #expect(try !DiffProbe(board()).isDifferent(two, one))
        #expect(try DiffProbe(app([:])).isDifferent(two, one))
        // One more may come behind the end of what was played.
        #expect(try !DiffProbe(app([:])).isDifferent(one, two))
        var pairing = app([:])
        pairing.unexercised[6] = "the session ended before"
        pairing.unexercised[7] = pairing.unexercised[6]
        #expect(try !DiffProbe(pairing).isDifferent(two, one))
    }
}
