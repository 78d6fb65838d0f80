import Capture
import PhoneBridge
import Testing
import Wire

/// Reports every fact in words, so that tests see what groups of rules see.
private struct Spy: RuleGroup {
    static let fact = Rule("fact", .weak, nil, section: "", "")
    static let rules = [fact]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        context.report(
            Self.fact, by: .app, conn: fact.conn, events: [fact.seq],
            "\(fact.conn) \(Self.words(fact.kind, context.connections[fact.conn]))")
    }

    private static func words(_ kind: LinkFact.Kind, _ facts: ConnectionFacts?) -> String {
        switch kind {
        case .opened: "opened whole=\(facts?.isWhole ?? false)"
        case .upgraded:
            "upgraded \(facts?.platform ?? "-") \(facts?.phoneID ?? "-") \(facts?.extensions ?? "-")"
        case .message(let fact): message(fact)
        case .command(let fact): command(fact)
        case .result(let fact): result(fact)
        case .request(let fact):
            "request \(fact.route.map { "\($0)" } ?? "-") json=\(fact.json != nil)"
        case .exchange(let fact): exchange(fact)
        case .hole(let side): "hole \(side?.rawValue ?? "both")"
        case .outcome(let document): "outcome \(document.root["id"]?.string ?? "-")"
        case .ended(let side, let how): "ended \(side) \(how)"
        case .closed: "closed"
        case .forgotten: "forgotten"
        }
    }

    private static func message(_ fact: MessageFact) -> String {
        "\(fact.from) \(fact.sort)\(fact.isBehindClose ? " behind close" : "")"
    }

    private static func command(_ fact: CommandFact) -> String {
        let before = fact.before.map { "sent \($0.sendings), answered \($0.results)" } ?? "new"
        return "command \(fact.id ?? "-") \(fact.type ?? "-") \(fact.route) \(before) "
            + (fact.before.map { $0.content == fact.content ? "same" : "other" } ?? "")
    }

    private static func result(_ fact: ResultFact) -> String {
        let sent = fact.before?.sent.map { "of event \($0.seq), \($0.timeout / 1_000_000) ms" }
        let known = fact.before.map { "\($0.type ?? "-") \($0.isAnswered)" } ?? "unknown"
        return "result \(fact.id ?? "-") \(fact.route) \(known) \(sent ?? "not open")"
    }

    private static func exchange(_ fact: ExchangeFact) -> String {
        "exchange \(fact.route.map { "\($0)" } ?? "-") \(fact.response.status) "
            + "json=\(fact.json != nil)"
    }
}

@Suite struct LinkFactTests {
    private func facts(_ script: String) -> [String] {
        let session = SessionScript(script)
        var checker = RuleChecker(groups: [Spy.self])
        return session.events.flatMap { checker.receive($0) }.map(\.text)
    }

    @Test func `a connection is opened, upgraded, closed by side`() {
        #expect(
            facts(
                """
                0  connect platform=android&phone_id=p%201
                1  app> close 1000
                1  app> {"id":"heartbeat"}
                2  app fin
                3  board fin
                """) == [
                    "1 opened whole=true", "1 request connect json=false",
                    "1 exchange connect 101 json=false", "1 upgraded android p 1 -",
                    "1 app heartbeat(id: \"heartbeat\") behind close", "1 ended app fin",
                    "1 ended board fin", "1 closed",
                ])
    }

    @Test func `messages are told apart by who sends them and what they say`() {
        let rows: [(String, [String])] = [
            (#"app> {"id":"heartbeat"}"#, [#"app heartbeat(id: "heartbeat")"#]),
            (#"board> {"id":"ping"}"#, [#"board heartbeat(id: "ping")"#]),
            (#"board> {"id":"p\u0069ng"}"#, [#"board heartbeat(id: "ping")"#]),
            (
                #"app> {"id":"phone_app_state","method":"phone_app_state"}"#,
                [#"app appEvent(name: "phone_app_state")"#]
            ),
            (
                #"app> {"id":"x","method":"phone_environment"}"#,
                [#"app appEvent(name: "phone_environment")"#]
            ),
            (#"app> {"id":"new","method":"new"}"#, [#"app appEvent(name: "new")"#]),
            (#"app> {"id":"c9"}"#, ["app result", "result c9 websocket unknown not open"]),
            (#"app> {"ID":"c9"}"#, ["app result", "result c9 websocket unknown not open"]),
            (#"app> {"id":7}"#, ["app result", "result - websocket unknown not open"]),
            (#"app> []"#, ["app other"]),
            (#"app> {"x":1}"#, ["app other"]),
            (#"board> {}"#, ["board other"]),
            (#"app> {"DATA":{}}"#, ["app result", "result - websocket unknown not open"]),
            (#"app> hello"#, ["app other"]),
            (
                #"board> {"id":"ping","type":"open_app"}"#,
                ["board command", "command ping open_app websocket new "]
            ),
            (#"board> {"type":3}"#, ["board command", "command - - websocket new "]),
        ]
        for (line, expected) in rows {
            #expect(
                facts("0 open continued websocket\n1 \(line)").dropFirst(2)
                    == expected.map { "1 " + $0 }[...], "\(line)")
        }
    }

    @Test func `commands and results of both routes are paired`() {
        #expect(
            facts(
                """
                0    open
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"a","type":"clipboard_read","timeout_ms":300},7]}
                2    app> POST /api/phone-bridge/results {"id":"a","data":{"text":""}}
                2.1  board> 200 {"status":"acknowledged"}
                3    app> GET /api/phone-bridge/commands?platform=ios
                3.1  board> 200 [{"type":"clipboard_read","id":"a","timeout_ms":5}]
                4    app> POST /api/phone-bridge/results {"id":"a"}
                5    app> POST /api/phone-bridge/results {"id":"a"}
                """
            ).filter { $0.hasPrefix("1 command") || $0.hasPrefix("1 result") } == [
                "1 command a clipboard_read queue new ", "1 command - - queue new ",
                "1 result a queue clipboard_read false of event 3, 300 ms",
                "1 command a clipboard_read queue sent 1, answered 1 same",
                "1 result a queue clipboard_read false of event 7, 5 ms",
                "1 result a queue clipboard_read true not open",
            ])
    }

    @Test func `a command with other content is told, whatever its spelling`() {
        let first = #"{"id":"a","type":"t","payload":{"x":1,"y":[1.5,"é"]}}"#
        let rows: [(String, String)] = [
            (#"{"payload":{"y":[15e-1,"\u00e9"],"x":1.0},"type":"t","id":"a"}"#, "same"),
            (#"{"id":"a","type":"t","timeout_ms":9,"payload":{"x":1,"y":[1.5,"é"]}}"#, "same"),
            (#"{"id":"a","type":"t","payload":{"x":2,"y":[1.5,"é"]}}"#, "other"),
            (#"{"id":"a","type":"u","payload":{"x":1,"y":[1.5,"é"]}}"#, "other"),
            (#"{"id":"a","type":"t","app":"w","payload":{"x":1,"y":[1.5,"é"]}}"#, "other"),
            (#"{"id":"a","type":"t"}"#, "other"),
        ]
        for (second, expected) in rows {
            let facts = facts("0 connect\n1 board> \(first)\n2 board> \(second)")
            #expect(
                facts.last == "1 command a \(second.contains(#""u""#) ? "u" : "t") websocket "
                    + "sent 1, answered 0 \(expected)", "\(second)")
        }
    }

    @Test func `an enqueued id is known before it is handed out`() {
        let facts = facts(
            """
            1  app> POST /api/phone-bridge/commands {"command":{"id":"q","type":"clipboard_read"}}
            2  #2 app> POST /api/phone-bridge/results {"id":"q"}
            """)
        #expect(facts.last == "2 result q queue clipboard_read false not open")
    }

    @Test func `what is missing or unread is a hole`() {
        let rows = [
            ("gap app", "1 hole app"), ("data board", "1 hole board"), ("hole", "0 hole both"),
            ("note dropped_packets the system dropped 3 packets", "0 hole both"),
            ("app> frame rsv=4 hex=ff", "1 hole app"),
        ]
        for (line, expected) in rows {
            #expect(facts("0 connect\n1 \(line)").last == expected, "\(line)")
        }
    }

    @Test func `what the board's own side got is a fact`() {
        #expect(facts(#"1 note outcome {"id":"c1","data":{}}"#) == ["0 outcome c1"])
    }
}
