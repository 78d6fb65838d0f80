import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// HTTP exchanges of two sessions, and what the queue handed out to whom.
@Suite struct SessionExchangeTests {
    private static let enqueue = #"{"command":{"id":"q1","type":"clipboard_read"}}"#

    private func session(
        _ id: String = "q1", queued: String = "2026-06-10T03:20:05Z", status: Int = 202,
        body: String? = nil
    ) -> SessionSketch {
        DiffProbe.session { sketch in
            sketch.exchange(
                10, 2, 1, "POST /commands",
                body: #"{"command":{"id":"\#(id)","type":"clipboard_read"}}"#, status,
                body ?? #"{"command_id":"\#(id)","status":"queued","queued_at":"\#(queued)"}"#)
        }
    }

    private func last(
        _ first: SessionSketch, _ second: SessionSketch, _ pairing: SessionPairing? = nil
    ) throws -> SessionDiff.ExchangePair? {
        try DiffProbe(pairing).exchanges(first, second).last
    }

    @Test func `an answer is compared by its code and its fields, but for when it was`() throws {
        let one = session()
        let later = try last(one, session(queued: "2026-06-11T03:20:05Z"))
        #expect(later?.outcome == .same)
        #expect(DiffProbe.paths(later?.differences) == ["body.queued_at moment"])
        // What was an instant stays one.
        #expect(
            DiffProbe.paths(try last(one, session(queued: "soon"))?.differences)
                == ["body.queued_at changed"])
        let odd = try last(one, session(body: #"{"command_id":"q1","status":"in_flight"}"#))
        #expect(odd?.outcome == .changed)
        #expect(
            DiffProbe.paths(odd?.differences) == [
                "body.status changed", "body.queued_at removed",
            ])
        let wrong = session(
            body: #"{"command_id":"q2","status":"queued","queued_at":"2026-06-10T03:20:05Z"}"#)
        #expect(DiffProbe.paths(try last(one, wrong)?.differences) == ["body.command_id added"])
    }

    @Test func `of a refusal the code counts and the words do not`() throws {
        let one = session(status: 409, body: #"{"error":"command q1 already exists"}"#)
        let other = try last(one, session(status: 409, body: #"{"error":"q1 is there"}"#))
        #expect(other?.outcome == .same)
        #expect(DiffProbe.paths(other?.differences) == ["body.error wording"])
        let plain = try last(one, session(status: 409, body: "no"))
        #expect(plain?.outcome == .changed)
        let taken = try last(one, session())
        #expect(taken?.outcome == .changed)
        #expect(taken?.differences.first?.path == "status")
        let text = try DiffProbe().text(one, session())
        #expect(
            text.contains("changed        enqueue 1  q1  (event A 5, B 5)\n    status  409 → 202\n")
        )
        #expect(text.hasSuffix("no commands; 1 exchange over HTTP differs\n"))
    }

    @Test func `exchanges follow their command to its live id`() throws {
        let pairing = SessionPairing(judged: .board, commands: ["q1": "live"])
        #expect(try last(session(), session("live"), pairing)?.outcome == .same)
        // An answer to an app that is judged came from the player.
        var app = pairing
        app.judged = .app
        #expect(try DiffProbe(app).exchanges(session(), session(status: 409, body: "")).isEmpty)
    }

    @Test func `a request that gets no answer any more is unanswered`() throws {
        let silent = DiffProbe.session { sketch in
            sketch.exchange(10, 2, 1, "POST /commands", body: Self.enqueue, nil)
        }
        #expect(try last(session(), silent)?.outcome == .unanswered)
        #expect(try last(silent, session())?.outcome == .changed)
        let pairing = SessionPairing(judged: .board)
        #expect(try last(session(), silent, pairing)?.outcome == .unanswered)
        #expect(try last(silent, session(), pairing)?.outcome == .same)
    }

    @Test func `requests that only one session has count where nobody played it`() throws {
        let none = DiffProbe.session { _ in }
        #expect(try last(session(), none)?.outcome == .missing)
        #expect(try last(none, session())?.outcome == .extra)
        let pairing = SessionPairing(judged: .board)
        #expect(try DiffProbe(pairing).exchanges(none, session()).count == 1)
        #expect(try !DiffProbe(pairing).isDifferent(none, session()))
    }

    /// A tool that asks for a result again and again.
    private func queries(_ answers: [String], id: String = "q1") -> SessionSketch {
        DiffProbe.session { sketch in
            for (index, status) in answers.enumerated() {
                let result =
                    status == "completed"
                    ? #","result":{"id":"\#(id)","data":{"text":"x"}},"completed_at":"2026-06-10T03:20:05Z""#
                    : ""
                sketch.exchange(
                    Int64(index) * 100, 2, index + 1, "GET /results/\(id)", 200,
                    #"{"command_id":"\#(id)","status":"\#(status)"\#(result)}"#)
            }
        }
    }

    @Test func `how often a tool asks is noise, what it is told is not`() throws {
        let one = queries(["queued", "in_flight", "completed"])
        let patient = queries(["queued", "queued", "in_flight", "in_flight", "completed"])
        #expect(try !DiffProbe().isDifferent(one, patient))
        #expect(try DiffProbe().text(one, patient).contains("remark         queries: 3 → 5\n"))
        #expect(try DiffProbe().isDifferent(one, queries(["queued", "in_flight", "expired"])))
        let live = queries(["queued", "in_flight", "completed"], id: "k9")
        let pairing = SessionPairing(judged: .board, commands: ["q1": "k9"])
        #expect(try !DiffProbe(pairing).isDifferent(one, live))
        #expect(try DiffProbe(pairing).isDifferent(one, queries(["queued"] + ["queued"], id: "k9")))
    }

    private func status(_ members: String) -> SessionSketch {
        DiffProbe.session { $0.exchange(10, 2, 1, "GET /status", 200, "{\(members)}") }
    }

    @Test func `the status document is compared field by field`() throws {
        let one = status(
            #""connected":true,"last_heartbeat_at":"2026-06-10T03:20:05.1Z","environment":{"captured_at":"2026-06-10T03:20:05Z","device_name":"Ann's phone"}"#
        )
        let same = status(
            #""last_heartbeat_at":"2026-06-11T03:20:05Z","connected":true,"environment":{"captured_at":"2026-06-12T03:20:05Z","device_name":"Ann's phone"}"#
        )
        #expect(try !DiffProbe().isDifferent(one, same))
        let other = status(#""connected":true,"last_heartbeat_at":"2026-06-10T03:20:05.1Z""#)
        let pair = try last(one, other)
        #expect(
            DiffProbe.paths(pair?.differences) == [
                "body.environment.captured_at removed", "body.environment.device_name removed",
            ])
        #expect(!(try DiffProbe().text(one, other).contains("Ann")))
    }

    @Test func `a time of the app's is none of the board's`() throws {
        func session(_ heartbeat: String, told: String, environment: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.text(
                    5, 1, .app,
                    #"{"id":"phone_app_state","data":{"app_state":"active","reported_at":"\#(told)"}}"#
                )
                sketch.exchange(
                    10, 2, 1, "GET /status", 200,
                    #"{"last_heartbeat_at":"\#(heartbeat)","app_state_updated_at":"\#(environment)"}"#
                )
            }
        }
        let (past, now) = ("2020-01-01T00:00:00Z", "2026-06-10T03:20:05Z")
        let one = session("2026-06-10T03:20:01Z", told: past, environment: past)
        let pair = try last(one, session(past, told: past, environment: past))
        #expect(DiffProbe.paths(pair?.differences) == ["body.last_heartbeat_at changed"])
        #expect(pair?.differences.first?.why == "it is a time that the app told")
        // What was the app's before may be so again.
        #expect(try last(one, session(past, told: past, environment: past))?.outcome == .changed)
        // Near times may be equal by chance.
        #expect(try last(one, session(now, told: now, environment: now))?.outcome == .same)
        #expect(try last(one, session(now, told: past, environment: past))?.outcome == .same)
    }

    @Test func `a refused connection and refused polls count`() throws {
        let one = DiffProbe.session {
            $0.exchange(10, 2, 1, "GET /commands?platform=ios", 200, "{}")
        }
        let refused = DiffProbe.session { sketch in
            sketch.exchange(10, 2, 1, "GET /commands?platform=ios", 400, "{}")
            sketch.exchange(11, 2, 2, "GET /commands?platform=ios", 400, "{}")
        }
        let text = try DiffProbe(SessionPairing(judged: .board)).text(one, refused)
        #expect(text.contains("changed        polls that were refused: none → 400 ×2\n"))

        let connect = DiffProbe.session { $0.exchange(10, 2, 1, "GET ?platform=ios", 101) }
        let forbidden = DiffProbe.session { $0.exchange(10, 2, 1, "GET ?platform=ios", 403, "no") }
        #expect(
            try last(connect, forbidden, SessionPairing(judged: .board))?.outcome == .changed)
    }

    @Test func `a command that is handed out to a phone in another state has changed`() throws {
        func handedOut(_ query: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.exchange(
                    10, 2, 1, "GET /commands?platform=ios&\(query)", 200,
                    #"{"commands":[{"id":"q1","type":"open_app","app":"x"}],"server_time":"2026-06-10T03:20:05Z"}"#
                )
            }
        }
        let one = handedOut("app_state=active")
        let pair = try DiffProbe().commands(
            one, handedOut("app_state=background&pip_bridge_enabled=1")
        ).first
        #expect(pair?.outcome == .changed)
        #expect(
            DiffProbe.paths(pair?.differences) == [
                "poll.app_state changed", "poll.pip_bridge_enabled added",
            ])
        #expect(try DiffProbe().outcomes(one, handedOut("app_state=ACTIVE")) == ["open_app 1 same"])
    }

    @Test func `two platforms have their own ways to stay in touch`() throws {
        func handedOut(_ query: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.exchange(
                    10, 2, 1, "GET /commands?app_state=background&\(query)", 200,
                    #"{"commands":[{"id":"q1","type":"clipboard_read"}],"server_time":"x"}"#)
            }
        }
        let pair = try DiffProbe().commands(
            handedOut("platform=ios&pip_bridge_enabled=true"),
            handedOut("platform=Android&fgs_bridge_enabled=true")
        ).first
        #expect(pair?.outcome == .same)
        #expect(
            DiffProbe.paths(pair?.differences) == [
                "poll.pip_bridge_enabled method", "poll.fgs_bridge_enabled method",
            ])
    }

    @Test func `programs see exchanges too`() throws {
        var diff = try DiffProbe().diff(session(), session(status: 409, body: #"{"error":"no"}"#))
        var lines: [String] = []
        while let pair = try diff.nextExchange() {
            lines.append(String(decoding: DiffLines().line(pair), as: UTF8.self))
        }
        #expect(lines.count == 2)
        #expect(
            lines.last?.hasPrefix(
                #"{"kind":"exchange","outcome":"changed","request":"enqueue","ordinal":1,"a":{"id":"q1","seq":5}"#
            ) ?? false)
        #expect(lines.last?.contains(#""path":"status","kind":"changed","a":202,"b":409"#) ?? false)
    }
}
