import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// What rules let differ, and what they do not.
@Suite struct ComparisonRulesTests {
    /// A session in which the app answers one command with this data.
    private func session(_ data: String, type: String = "calendar_query") -> SessionSketch {
        DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", type)
            sketch.result(20, 1, "c1", type, data: data)
        }
    }

    private func rules(_ texts: [String]) throws -> ComparisonRules {
        try ComparisonRulesText.parse(
            Bytes("{version: 1, rules: [\n\(texts.joined(separator: ",\n"))]}".utf8))
    }

    private func differences(
        _ rule: String, _ first: String, _ second: String
    ) throws -> [String] {
        let probe = DiffProbe(rules: try rules(["{on: 'calendar_query', \(rule)}"]))
        let pair = try probe.commands(session(first), session(second)).first
        return DiffProbe.paths(pair?.differences)
    }

    private static let rows: [(String, String, String, [String])] = [
        // ignore
        (
            "path: 'result.data.n', do: 'ignore'", #"{"n":1}"#, #"{"n":"x"}"#,
            ["result.data.n allowed"]
        ),
        ("path: 'result.data.n', do: 'ignore'", #"{"n":1}"#, "{}", ["result.data.n allowed"]),
        ("path: 'result.data.n', do: 'ignore'", #"{"n":1}"#, #"{"n":1}"#, []),
        (
            "path: 'result.data.n', do: 'ignore'", #"{"m":1}"#, #"{"m":2}"#,
            ["result.data.m changed"]
        ),
        // type
        ("path: 'result.data.n', do: 'type'", #"{"n":1}"#, #"{"n":2}"#, ["result.data.n allowed"]),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":1}"#, #"{"n":"2"}"#,
            ["result.data.n changed"]
        ),
        ("path: 'result.data.n', do: 'type'", #"{"n":1}"#, "{}", ["result.data.n removed"]),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":"a"}"#, #"{"n":""}"#,
            ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":"2026-06-10T03:20:00Z"}"#,
            #"{"n":"2027-06-10T03:20:00+08:00"}"#, ["result.data.n allowed"]
        ),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":"2026-06-10T03:20:00Z"}"#,
            #"{"n":"tomorrow"}"#, ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":[1]}"#, #"{"n":[2,3]}"#,
            ["result.data.n allowed"]
        ),
        (
            "path: 'result.data.n', do: 'type'", #"{"n":[1]}"#, #"{"n":[]}"#,
            ["result.data.n changed"]
        ),
        // pattern
        (
            "path: 'result.data.n', do: 'pattern', pattern: '[a-z]+_[0-9]+'", #"{"n":"a_1"}"#,
            #"{"n":"b_22"}"#, ["result.data.n allowed"]
        ),
        (
            "path: 'result.data.n', do: 'pattern', pattern: '[a-z]+_[0-9]+'", #"{"n":"a_1"}"#,
            #"{"n":"b_22x"}"#, ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'pattern', pattern: '[a-z]+_[0-9]+'", #"{"n":"a_1"}"#,
            "{}", ["result.data.n removed"]
        ),
        // Equal values that do not match are no good either.
        (
            "path: 'result.data.n', do: 'pattern', pattern: 'x'", #"{"n":"a"}"#, #"{"n":"a"}"#,
            ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'pattern', pattern: '[0-9]+'", #"{"n":1}"#, #"{"n":23}"#,
            ["result.data.n allowed"]
        ),
        // tolerance
        (
            "path: 'result.data.n', do: 'tolerance', tolerance: 0.5", #"{"n":1}"#, #"{"n":1.5}"#,
            ["result.data.n allowed"]
        ),
        (
            "path: 'result.data.n', do: 'tolerance', tolerance: 0.5", #"{"n":1}"#, #"{"n":1.6}"#,
            ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'tolerance', tolerance: 0.5", #"{"n":1}"#, #"{"n":"1.1"}"#,
            ["result.data.n changed"]
        ),
        (
            "path: 'result.data.n', do: 'tolerance', tolerance: '2s'",
            #"{"n":"2026-06-10T03:20:00Z"}"#, #"{"n":"2026-06-10T11:20:01.9+08:00"}"#,
            ["result.data.n allowed"]
        ),
        (
            "path: 'result.data.n', do: 'tolerance', tolerance: '1.5min'",
            #"{"n":"2026-06-10T03:20:00Z"}"#, #"{"n":"2026-06-10T03:18:29Z"}"#,
            ["result.data.n changed"]
        ),
        // unordered
        (
            "path: 'result.data.n', do: 'unordered'", #"{"n":[1,2,3]}"#, #"{"n":[3,1,2]}"#, []
        ),
        (
            "path: 'result.data.n', do: 'unordered'", #"{"n":[1,2,2]}"#, #"{"n":[2,1,1]}"#,
            ["result.data.n[2] changed"]
        ),
        (
            "path: 'result.data.n', do: 'unordered'", #"{"n":[1,2]}"#, #"{"n":[2]}"#,
            ["result.data.n[0] removed"]
        ),
        // The same but for the form.
        (
            "path: 'result.data.n', do: 'unordered'", #"{"n":[{"a":1,"b":2},5]}"#,
            #"{"n":[5.0,{"b":2,"a":1}]}"#, ["result.data.n[1] form"]
        ),
        (
            "path: 'result.data.n', do: 'unordered', by: 'id'",
            #"{"n":[{"id":"x","v":1},{"id":"y","v":2}]}"#,
            #"{"n":[{"id":"y","v":2},{"id":"x","v":3},{"id":"z"}]}"#,
            ["result.data.n[0].v changed", "result.data.n[2].id addition"]
        ),
        (
            "path: 'result.data.n', do: 'unordered'", #"{"n":1}"#, #"{"n":[1]}"#,
            ["result.data.n changed"]
        ),
        // bind
        (
            "path: 'result.data.*', do: 'bind', bind: 'v'", #"{"n":"a","m":"a","o":"b"}"#,
            #"{"n":"x","m":"x","o":"y"}"#,
            ["result.data.n allowed", "result.data.m allowed", "result.data.o allowed"]
        ),
        (
            "path: 'result.data.*', do: 'bind', bind: 'v'", #"{"n":"a","m":"a"}"#,
            #"{"n":"x","m":"y"}"#, ["result.data.n allowed", "result.data.m changed"]
        ),
        (
            "path: 'result.data.*', do: 'bind', bind: 'v'", #"{"n":"a","m":"b"}"#,
            #"{"n":"x","m":"x"}"#, ["result.data.n allowed", "result.data.m changed"]
        ),
        (
            "path: 'result.data.n', do: 'bind', bind: 'v'", #"{"n":1}"#, #"{"n":"1"}"#,
            ["result.data.n changed"]
        ),
        // paths
        (
            "path: '**.n', do: 'ignore'", #"{"a":[{"n":1}]}"#, #"{"a":[{"n":2}]}"#,
            ["result.data.a[0].n allowed"]
        ),
        (
            "path: 'result.data.a[*].n', do: 'ignore'", #"{"a":[{"n":1}]}"#, #"{"a":[{"n":2}]}"#,
            ["result.data.a[0].n allowed"]
        ),
        (
            "path: 'result.data.a[1].n', do: 'ignore'", #"{"a":[{"n":1}]}"#, #"{"a":[{"n":2}]}"#,
            ["result.data.a[0].n changed"]
        ),
        (
            "path: 'result.data.*.n', do: 'ignore'", #"{"a":{"n":1}}"#, #"{"a":{"n":2}}"#,
            ["result.data.a.n allowed"]
        ),
        (
            "path: 'result.data[\"a.b\"]', do: 'ignore'", #"{"a.b":1}"#, #"{"a.b":2}"#,
            ["result.data.a.b allowed"]
        ),
        (
            "path: 'result.**', do: 'ignore'", #"{"a":{"n":1}}"#, #"{"a":{"n":2}}"#,
            ["result allowed"]
        ),
    ]

    @Test(arguments: rows)
    func `a rule lets differ what it says and nothing else`(
        _ rule: String, _ first: String, _ second: String, _ found: [String]
    ) throws {
        #expect(try differences(rule, first, second) == found)
    }

    @Test func `very long lists in any order take little time`() throws {
        let numbers = (0..<1_000).map { "{\"id\":\"n\($0)\",\"v\":\($0)}" }
        let one = "{\"n\":[\(numbers.joined(separator: ","))]}"
        let other = "{\"n\":[\(numbers.reversed().joined(separator: ","))]}"
        let rule = "path: 'result.data.n', do: 'unordered'"
        #expect(try differences(rule, one, other) == [])
        #expect(try differences(rule + ", by: 'id'", one, other) == [])
    }

    @Test func `names are told apart by their bytes`() throws {
        #expect(
            try differences(
                "path: 'result.data.n', do: 'ignore'", "{\"e\u{301}\":1,\"\u{e9}\":1}",
                "{\"e\u{301}\":1,\"\u{e9}\":2}") == ["result.data.\u{e9} changed"])
    }

    @Test func `a list whose ids have become others goes by what they are now`() throws {
        func session(_ ids: [String], _ events: [(String, String)]) -> SessionSketch {
            DiffProbe.session { sketch in
                for (index, event) in events.enumerated() {
                    sketch.command(10, 1, ids[index], "calendar_create")
                    sketch.result(
                        20, 1, ids[index], "calendar_create", data: #"{"event_id":"\#(event.0)"}"#)
                }
                let list = events.reversed().map {
                    #"{"event_id":"\#($0.0)","title":"\#($0.1)"}"#
                }
                sketch.command(30, 1, ids[2], "calendar_query")
                sketch.result(
                    40, 1, ids[2], "calendar_query",
                    data:
                        "{\"events\":[\((ids[2] == "c3" ? list : list.reversed()).joined(separator: ","))]}"
                )
            }
        }
        let probe = DiffProbe(
            SessionPairing(judged: .app, commands: ["c1": "k1", "c2": "k2", "c3": "k3"]),
            rules: try rules([
                "{on: 'calendar_query', path: 'result.data.events', do: 'unordered', by: 'event_id'}"
            ]))
        let first = session(["c1", "c2", "c3"], [("e1", "a"), ("e2", "b")])
        #expect(
            try !probe.isDifferent(first, session(["k1", "k2", "k3"], [("x1", "a"), ("x2", "b")])))
        #expect(
            try probe.isDifferent(first, session(["k1", "k2", "k3"], [("x1", "b"), ("x2", "a")])))
    }

    @Test func `a rule is for one type, for all, for an event or an exchange`() throws {
        func event(_ level: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.text(
                    10, 1, .app,
                    #"{"id":"phone_environment","data":{"battery":{"level":\#(level)}}}"#)
                sketch.exchange(
                    20, 2, 1, "GET /status", 200, #"{"connected":true,"n":\#(level)}"#)
            }
        }
        let probe = DiffProbe(
            rules: try rules([
                "{on: 'phone_environment', path: 'event.data.battery.level', do: 'tolerance', tolerance: 0.1}",
                "{on: 'status', path: 'body.n', do: 'type'}",
            ]))
        #expect(try !probe.isDifferent(event("0.5"), event("0.55")))
        #expect(try probe.isDifferent(event("0.5"), event("0.65")))
        let other = DiffProbe(
            rules: try rules(["{on: 'open_app', path: 'result.data.n', do: 'ignore'}"]))
        #expect(try other.isDifferent(session(#"{"n":1}"#), session(#"{"n":2}"#)))
    }

    @Test func `of two rules for one value the first holds`() throws {
        let both = DiffProbe(
            rules: try rules([
                "{on: '*', path: 'result.data.n', do: 'type'}",
                "{on: '*', path: '**.n', do: 'ignore'}",
            ]))
        #expect(try both.isDifferent(session(#"{"n":1}"#), session("{}")))
        #expect(try !both.isDifferent(session(#"{"n":1}"#), session(#"{"n":2}"#)))
    }

    @Test func `why a value may differ is told, and what it is to be`() throws {
        let probe = DiffProbe(
            rules: try rules([
                "{on: '*', path: 'result.data.n', do: 'pattern', pattern: '[0-9]+', why: 'a counter'}"
            ]))
        #expect(
            try probe.text(session(#"{"n":"1"}"#), session(#"{"n":"x"}"#)).contains(
                "(it is to match [0-9]+: a counter)"))
        // What a rule lets differ is told with all.
        let (one, other) = (session(#"{"n":"1"}"#), session(#"{"n":"2"}"#))
        #expect(try !probe.text(one, other).contains("result.data.n"))
        #expect(
            try probe.text(one, other, showsSame: true).contains(
                "(a rule lets it differ: a counter)"))
    }

    @Test func `a value that is born keeps its meaning under a rule`() throws {
        func created(_ id: String, _ event: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, "\(id)1", "calendar_create")
                sketch.result(
                    20, 1, "\(id)1", "calendar_create", data: #"{"event_id":"\#(event)"}"#)
                sketch.command(30, 1, "\(id)2", "calendar_query")
                sketch.result(
                    40, 1, "\(id)2", "calendar_query",
                    data: #"{"events":[{"event_id":"\#(event)"}]}"#)
            }
        }
        let probe = DiffProbe(
            SessionPairing(judged: .app, commands: ["c1": "k1", "c2": "k2"]),
            rules: try rules([
                "{on: 'calendar_create', path: 'result.data.event_id', do: 'pattern', pattern: 'ios_.*'}"
            ]))
        #expect(try !probe.isDifferent(created("c", "ios_1"), created("k", "ios_9")))
        #expect(try probe.isDifferent(created("c", "ios_1"), created("k", "android_9")))
    }

    // MARK: Rules that are of no use, or of too much

    private func remarks(
        _ rules: [String], _ first: SessionSketch, _ second: SessionSketch
    ) throws -> [String] {
        var diff = try DiffProbe(rules: try self.rules(rules)).diff(first, second)
        while try diff.nextCommand() != nil {}
        while try diff.nextExchange() != nil {}
        while try diff.nextEvent() != nil {}
        return diff.ruleRemarks.map { "\($0)" }
    }

    @Test func `a rule about nothing is told with its place`() throws {
        let one = session(#"{"n":1}"#)
        #expect(
            try remarks(
                [
                    "{on: '*', path: 'result.data.n', do: 'type'}",
                    "{on: '*', path: 'result.data.m', do: 'type'}",
                    "{on: 'calendar_qeury', path: 'result.data.n', do: 'type'}",
                ], one, one) == [
                    "line 3, column 1: type result.data.m: it is about nothing that was compared",
                    "line 4, column 1: type result.data.n of calendar_qeury: it is about nothing "
                        + "that was compared; did you mean \"calendar_query\"?",
                ])
    }

    @Test func `a rule that hides what the contract requires is told`() throws {
        let (one, other) = (
            session(#"{"events":[{"event_id":"1","title":"a","location":"x"}]}"#),
            session(#"{"events":[{"event_id":"1","title":"b","location":"y"}]}"#)
        )
        #expect(
            try remarks(["{on: '*', path: '**.title', do: 'ignore'}"], one, other) == [
                "line 2, column 1: ignore **.title: it hides result.data.events[0].title, "
                    + "which the contract requires"
            ])
        #expect(
            try remarks(
                ["{on: 'calendar_query', path: 'result.data.events[*].title', do: 'ignore'}"], one,
                other) == [])
        #expect(try remarks(["{on: '*', path: '**.location', do: 'ignore'}"], one, other) == [])
    }

    @Test func `a rule that stands for more than half of all is told`() throws {
        let many = session(#"{"events":[],"n":[1,2,3,4,5,6,7,8,9]}"#)
        #expect(
            try remarks(["{on: '*', path: '**.n', do: 'type'}"], many, many) == [
                "line 2, column 1: type **.n: it stands for 9 of 11 values, more than half"
            ])
    }

    @Test func `programs see what is to be said of rules`() throws {
        let one = session(#"{"n":1}"#)
        var diff = try DiffProbe(
            rules: try rules(["{on: '*', path: 'result.data.m', do: 'type'}"])
        ).diff(one, one)
        while try diff.nextCommand() != nil {}
        let text = String(decoding: DiffLines().end(diff), as: UTF8.self)
        #expect(
            text.contains(
                #"{"kind":"rule","rule":"type result.data.m","line":2,"remark":"unused","text":"it is about nothing that was compared"}"#
            ))
    }
}
