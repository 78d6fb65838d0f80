import PhoneBridge
import Simulator
import Testing
import Wire

/// What of the planted defects shows in a session that is only recorded: the rule that finds it,
/// and a script that shows it and finds nothing between clean peers.
@Suite struct PlantedDefectTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var defect: Defect
        /// The rules of which one at least is broken.
        var rules: Set<String>
        /// Whether the reference app is the phone; otherwise it is played by hand.
        var hasApp = false
        /// Whether a board that cuts its messages into fragments stands in the reference's place.
        var fragments = false
        var script: @Sendable (DefectLab) -> Void

        var testDescription: String { defect.rawValue }
    }

    private static let create = BridgeCommand(
        id: "c", type: "calendar_create",
        payload: [
            "title": "t", "start_at": "2026-06-02T15:00:00+08:00",
            "end_at": "2026-06-02T16:00:00+08:00",
        ])

    private static func command(_ id: String, _ type: String, _ payload: JSON? = nil)
        -> BridgeCommand
    {
        BridgeCommand(id: id, type: type, timeoutMilliseconds: 8000, payload: payload)
    }

    private static let fgs =
        "platform=android&app_state=background&fgs_bridge_enabled=true&limit=10"
    private static let pip = "platform=ios&app_state=background&pip_bridge_enabled=true&limit=10"

    static let board: [Row] = [
        Row(defect: .b1, rules: ["queue-retry-timed-out"]) { lab in
            lab.enqueue("q")
            lab.enqueue("q")
            lab.poll()
        },
        Row(defect: .b2, rules: ["queue-first-result"]) { lab in
            for text in ["one", "two"] {
                lab.enqueue("q")
                lab.poll()
                lab.post("q", text)
            }
            lab.query("q")
        },
        Row(defect: .b3, rules: ["queue-distinct-ids"]) { lab in
            lab.enqueue("abc")
            lab.enqueue("ABC")
        },
        Row(defect: .b5, rules: ["queue-not-while-sent"]) { lab in
            lab.connect()
            lab.send(command("q", "clipboard_read"))
            lab.drop()
            lab.poll()
        },
        // A late answer, while another command waits.
        Row(defect: .b6, rules: ["outcome-first-result"], hasApp: true) { lab in
            lab.send(
                BridgeCommand(
                    id: "late", type: "contacts_query", timeoutMilliseconds: 1000, payload: [:]))
            lab.run(1.5)
            lab.send(command("slow", "calendar_query", queried))
            lab.run(6)
        },
        Row(defect: .b8, rules: ["queue-first-result"]) { lab in
            lab.enqueue("q")
            lab.poll()
            lab.post("q", "one")
            lab.post("q", "two")
            lab.query("q")
        },
        Row(defect: .b9, rules: ["outcome-first-result"], hasApp: true) { lab in
            lab.send(command("slow", "calendar_query", queried))
            lab.app?.perform(.inactive)
            lab.run(6)
        },
        Row(defect: .b12, rules: ["outcome-timeout"]) { lab in
            lab.connect()
            lab.send(BridgeCommand(id: "c", type: "clipboard_read"))
            lab.beat(11)
        },
        Row(defect: .b14, rules: ["outcome-timeout"]) { lab in
            lab.connect()
            lab.send(command("c", "clipboard_read"))
            lab.beat(4)
            lab.run(9)
        },
        Row(defect: .b16, rules: ["heartbeat-echo-id"]) { lab in
            lab.connect()
            lab.say(#"{"id":"ping"}"#)
        },
        Row(defect: .b17, rules: ["status-last-heartbeat"]) { lab in
            lab.connect()
            lab.beat(1)
            lab.say(
                #"{"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active","#
                    + #""reported_at":"1999-01-01T00:00:00Z"}}"#)
            lab.status()
        },
        Row(defect: .b18, rules: ["heartbeat-limit-status"]) { lab in
            lab.connect()
            lab.beat(1)
            lab.run(85)
            lab.status()
        },
        Row(defect: .b19, rules: ["heartbeat-limit-not-early"]) { lab in
            lab.connect()
            for _ in 0..<3 {
                lab.beat(1)
                lab.run(35)
            }
        },
        Row(defect: .b20, rules: ["environment-cleared"], hasApp: true) { lab in
            lab.run(2)
            lab.app?.perform(.dropConnection)
            lab.run(1)
            lab.status()
        },
        // The phone answers the close of its replaced connection late.
        Row(defect: .b21, rules: ["status-environment"]) { lab in
            lab.connect()
            lab.setDeaf(true)
            lab.connect()
            lab.run(3)
            lab.setDeaf(false)
            lab.beat(1)
            lab.status()
        },
        // It talks on before it answers.
        Row(defect: .b22, rules: ["status-environment"]) { lab in
            lab.connect()
            lab.setDeaf(true)
            lab.connect()
            lab.say(DefectLab.environment("de"), onFirst: true)
            lab.say(#"{"id":"heartbeat"}"#)
            lab.status()
            lab.setDeaf(false)
            lab.run(1)
        },
        Row(defect: .b23, rules: ["heartbeat-echoed"]) { lab in
            lab.connect()
            lab.beat(1)
            lab.say(
                #"{"id":"phone_environment","method":"phone_environment","data":{"system_name":5}}"#
            )
            lab.beat(5)
        },
        Row(defect: .b24, rules: ["queue-retries"]) { lab in retried(lab) },
        Row(defect: .b25, rules: ["queue-retries"]) { lab in retried(lab) },
        Row(defect: .b26, rules: ["queue-not-after-result"]) { lab in
            lab.enqueue("q")
            lab.poll()
            lab.post("q", "one")
            lab.run(95)
            lab.poll()
        },
        Row(defect: .b27, rules: ["queue-hands-out"]) { lab in
            for id in ["a", "b", "c"] { lab.enqueue(id) }
            lab.poll("platform=ios&app_state=active&limit=1")
            lab.poll()
        },
        Row(defect: .b28, rules: ["queue-limit"]) { lab in
            for id in ["a", "b", "c"] { lab.enqueue(id) }
            lab.poll("platform=ios&app_state=active&limit=1")
        },
        Row(defect: .b30, rules: ["queue-filter-fgs"]) { lab in
            lab.enqueue("o", "open_app", more: #","app":"weixin""#)
            lab.poll(fgs)
        },
        Row(defect: .b31, rules: ["queue-hands-out"]) { lab in
            lab.enqueue("o", "open_app", more: #","app":"weixin""#)
            lab.poll(pip)
            lab.poll()
        },
        Row(defect: .b32, rules: ["board-error-json"]) { lab in
            lab.enqueue(#"a\"b"#)
            lab.enqueue(#"a\"b"#)
        },
        Row(defect: .b33, rules: ["queue-incomplete-request"]) { lab in
            lab.cut(#"{"command":{"id":"a","type":"clipboard_read"}}"#)
            lab.query("a")
        },
    ]

    /// A command that nobody answers, and the poll by which it must have come again.
    private static func retried(_ lab: DefectLab) {
        lab.enqueue("q")
        lab.poll()
        lab.run(95)
        lab.poll()
    }

    static let app: [Row] = [
        Row(defect: .a1, rules: ["one-effect"], hasApp: true) { lab in
            lab.send(create)
            lab.send(create)
        },
        Row(defect: .a2, rules: ["one-effect"], hasApp: true) { lab in
            lab.send(create)
            lab.app?.perform(.dropConnection)
            lab.run(6)
            lab.send(create)
        },
        Row(defect: .a3, rules: ["one-effect"], hasApp: true) { lab in
            lab.send(create)
            lab.app?.perform(.background(.pip))
            lab.board.run(BoardScript([.init(second: 0, step: .enqueue(create))]))
            lab.run(5)
        },
        Row(defect: .a4, rules: ["created-id-new", "command-answered"], hasApp: true) { lab in
            var second = create
            second.id = CommandID("c2")
            lab.send(create)
            lab.send(second)
            lab.run(40)
        },
        Row(
            defect: .a6, rules: ["result-once", "result-data", "command-answered"], hasApp: true
        ) { lab in
            lab.send(command("slow", "calendar_query", queried))
            lab.send(command("fast", "clipboard_read"))
            lab.run(50)
        },
        Row(defect: .a7, rules: ["command-answered"], hasApp: true) { lab in
            lab.send(command("c", "calendar_create", ["title": 5]))
            lab.run(50)
        },
        Row(defect: .a9, rules: ["deleted-thing-gone"], hasApp: true) { lab in
            lab.send(create)
            lab.send(command("d1", "calendar_delete", ["event_id": "ios_event_1"]))
            lab.send(command("d2", "calendar_delete", ["event_id": "ios_event_1"]))
        },
        Row(defect: .a10, rules: ["command-answered"], hasApp: true) { lab in
            lab.app?.perform(.decide(.calendar, .pending))
            lab.send(create)
            lab.run(6)
            lab.app?.perform(.decide(.calendar, .granted))
            lab.send(command("later", "clipboard_read"))
            lab.run(50)
        },
        Row(defect: .a11, rules: ["event-times-kept"], hasApp: true) { lab in
            lab.send(create)
            lab.send(
                command(
                    "q", "calendar_query",
                    ["from": "2026-06-01T00:00:00Z", "to": "2026-06-04T00:00:00Z"]))
            lab.run(6)
        },
        Row(defect: .a18, rules: ["command-answered"], hasApp: true, fragments: true) { lab in
            lab.send(command("c", "clipboard_read"))
            lab.run(50)
        },
        Row(defect: .a20, rules: ["heartbeat-interval"], hasApp: true) { lab in
            lab.app?.perform(.decide(.calendar, .pending))
            lab.send(create)
            lab.run(25)
            lab.app?.perform(.decide(.calendar, .granted))
            lab.run(12)
        },
        Row(defect: .a22, rules: ["reconnect-storm"], hasApp: true) { lab in
            for _ in 0..<4 {
                lab.perform(.close(code: 1001, reason: "restart"))
                lab.run(6)
            }
        },
        Row(defect: .a24, rules: ["poll-goes-on"], hasApp: true) { lab in
            lab.run(21)
            lab.perform(.holdPoll)
            lab.run(200)
        },
    ]

    private static let queried: JSON = [
        "from": "2026-06-02T00:00:00+08:00", "to": "2026-06-03T00:00:00+08:00",
    ]

    private func breaches(_ row: Row, planted: Bool) throws -> [Breach] {
        let lab = try DefectLab(
            planted ? row.defect : nil, hasApp: row.hasApp, fragments: row.fragments,
            app: { $0.commandDurations = ["calendar_query": 4, "contacts_query": 3] })
        row.script(lab)
        return try lab.breaches()
    }

    @Test(arguments: board + app)
    func `a defect that shows itself is found by its rule`(_ row: Row) throws {
        let found = try breaches(row, planted: true)
        let words = found.map { "\($0.rule.id): \($0.text)" }
        #expect(found.contains { row.rules.contains($0.rule.id) }, "\(words)")
    }

    @Test(arguments: board + app)
    func `the same script between clean peers breaks none of its rules, and nothing for sure`(
        _ row: Row
    ) throws {
        let found = try breaches(row, planted: false).filter {
            $0.rule.rating == .sure || row.rules.contains($0.rule.id)
        }
        // A command with a bad payload is the board's own fault, and is what A7 is about.
        let expected: Set<String> = row.defect == .a7 ? ["payload-required", "payload-types"] : []
        #expect(
            found.filter { !expected.contains($0.rule.id) }.map { "\($0.rule.id): \($0.text)" }
                == [])
    }

    /// What no recording shows yet, and why.
    private static let hidden: Set<Defect> = [
        // The board takes the answer to `x_1` for that of `x_10`; what it made of it bears the
        // id of the answer, so it looks right.
        .b7
    ]

    @Test func `every defect is shown, or it is known why not`() {
        let shown = Set((Self.board + Self.app).map(\.defect))
        #expect(shown.isDisjoint(with: Self.hidden))
        #expect(shown.union(Self.hidden) == Set(Defect.allCases))
    }
}
