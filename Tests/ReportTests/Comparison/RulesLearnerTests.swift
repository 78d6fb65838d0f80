import Capture
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct RulesLearnerTests {
    private func proposal(_ sessions: [SessionSketch]) throws -> RulesProposal {
        let read = try sessions.enumerated().map { index, sketch in
            try DiffProbe.read(sketch, "s\(index + 1)")
        }
        return try RulesLearner(read).proposal()
    }

    /// Sessions of which each answers the same query with one of the data.
    private func answers(_ data: [String]) -> [SessionSketch] {
        data.map { data in
            DiffProbe.session { sketch in
                sketch.command(10, 1, "c1", "calendar_query")
                sketch.result(20, 1, "c1", "calendar_query", data: data)
            }
        }
    }

    /// The rules, as a file has them, without what they are about.
    private func rules(_ data: [String]) throws -> [String] {
        try proposal(answers(data)).text.split(separator: "\n").filter { $0.contains("{ on:") }
            .map { line in
                String(line.drop { $0 == " " }.dropLast(3))
                    .replacing("{ on: \"calendar_query\", path: \"result.data.", with: "\"")
            }
    }

    private static let kinds: [([String], String, String)] = [
        (["\"a_12\"", "\"a_7\"", "\"a_9\""], "id", #"do: "pattern", pattern: "a_[0-9]+""#),
        (
            ["\"x1.b\"", "\"y22.c\""], "id",
            #"do: "pattern", pattern: "[A-Za-z]+[0-9]+\\.[A-Za-z]+""#
        ),
        (
            [
                "\"12345678-ABCD-1234-5678-1234567890AB\"",
                "\"ffffffff-abcd-1234-5678-000000000000\"",
            ], "id",
            #"do: "pattern", pattern: "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}""#
        ),
        (["\"1a2b\"", "\"ffff0\"", "\"0\""], "id", #"do: "pattern", pattern: "[0-9A-Fa-f]+""#),
        (["\"q:1a-2\"", "\"z9\""], "id", #"do: "pattern", pattern: "[A-Za-z0-9_.:/+=-]+""#),
        (
            ["\"2026-06-10T03:20:00Z\"", "\"2026-06-11T03:20:00+08:00\""], "instant",
            #"do: "type""#
        ),
        (["1", "2", "5"], "counter", #"do: "type""#),
        (["0.5", "0.75", "0.25"], "level", #"do: "tolerance", tolerance: 1.0"#),
        (["100", "90", "95"], "level", #"do: "tolerance", tolerance: 20.0"#),
        (["\"hello there\"", "\"good bye\""], "free text", #"do: "type""#),
        (["\"Wei\"", "\"Li, the second\""], "free text", #"do: "type""#),
        (["true", "false"], "another value", #"do: "type""#),
    ]

    @Test(arguments: kinds)
    func `each kind of value gets a rule that keeps its shape`(
        _ values: [String], _ kind: String, _ rule: String
    ) throws {
        let data = values.map { #"{"x":\#($0)}"# }
        let proposal = try proposal(answers(data))
        #expect(proposal.rules.map(\.kind.rawValue) == [kind])
        #expect(try rules(data) == [#""x", \#(rule)"#])
        #expect(proposal.left.allSatisfy { $0 == 0 })
        // What vanishes is a difference all the same.
        let gone = try DiffProbe(rules: proposal.comparisonRules)
            .isDifferent(answers([data[0]])[0], answers(["{}"])[0])
        #expect(gone)
    }

    @Test func `words of a program are listed where the contract knows the field`() throws {
        func session(_ state: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.text(
                    10, 1, .app, #"{"id":"phone_app_state","data":{"app_state":"\#(state)"}}"#)
            }
        }
        let text = try proposal([session("active"), session("background"), session("active")]).text
        #expect(
            text.contains(
                #"{ on: "phone_app_state", path: "event.data.app_state", do: "pattern", pattern: "active|background" }"#
            ))
        #expect(text.contains("// word: 2 values in 3 sessions: \"active\", \"background\"\n"))
    }

    @Test func `an id that is used again is bound`() throws {
        func session(_ id: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, "c1", "calendar_create")
                sketch.result(20, 1, "c1", "calendar_create", data: #"{"event_id":"\#(id)"}"#)
                sketch.command(
                    30, 1, "c2", "calendar_delete", payload: #"{"event_id":"\#(id)"}"#)
                sketch.result(40, 1, "c2", "calendar_delete")
            }
        }
        let proposal = try proposal([session("e1"), session("e7"), session("e9")])
        #expect(
            proposal.text.split(separator: "\n").filter { $0.contains("bind: \"event_id\"") }.count
                == 2)
        let probe = DiffProbe(rules: proposal.comparisonRules)
        #expect(try !probe.isDifferent(session("e1"), session("e1000")))
        // The one that was deleted is not the one that was made.
        let wrong = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "calendar_create")
            sketch.result(20, 1, "c1", "calendar_create", data: #"{"event_id":"e5"}"#)
            sketch.command(30, 1, "c2", "calendar_delete", payload: #"{"event_id":"e6"}"#)
            sketch.result(40, 1, "c2", "calendar_delete")
        }
        #expect(try probe.isDifferent(session("e1"), wrong))
    }

    @Test func `a list in another order is one rule`() throws {
        #expect(
            try rules([
                #"{"x":[{"n":"a","v":1},{"n":"b","v":2}]}"#,
                #"{"x":[{"n":"b","v":2},{"n":"a","v":1}]}"#,
            ]) == [#""x", do: "unordered""#])
        // One whose elements differ is none.
        #expect(
            try rules([#"{"x":[1.5,2]}"#, #"{"x":[1.5,1]}"#])
                == [#""x[*]", do: "tolerance", tolerance: 2.0"#])
    }

    @Test func `what no rule should hide is told`() throws {
        let sessions = answers([#"{"x":"a","y":1}"#, #"{"y":"1"}"#])
        let proposal = try proposal(sessions)
        #expect(proposal.rules.isEmpty)
        #expect(
            proposal.remarks == [
                "result.data.x of calendar_query is not there in every session",
                "result.data.y of calendar_query is of several types",
            ])
        #expect(proposal.left == [1])
        #expect(proposal.text.contains("//   s2.ndjson: 1 difference left with these rules\n"))

        let failed = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "calendar_query")
            sketch.result(20, 1, "c1", "calendar_query", error: "permission_denied")
        }
        let other = DiffProbe.session { sketch in
            sketch.command(10, 1, "c1", "calendar_query")
            sketch.result(20, 1, "c1", "calendar_query", error: "native_module_failed")
            sketch.command(30, 1, "c2", "open_app")
        }
        #expect(
            try self.proposal([failed, other]).remarks == [
                "s2.ndjson: calendar_query 1: result.error.code differs, which no rule should hide",
                "s2.ndjson: calendar_query 1: result.error.message differs, which no rule should hide",
                "s2.ndjson: open_app 1: extra",
            ])
    }

    @Test func `what tells about a person is masked, and the text is a rules file`() throws {
        func session(_ name: String, _ text: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, "c1", "clipboard_read")
                sketch.result(20, 1, "c1", "clipboard_read", data: #"{"text":"\#(text)"}"#)
                sketch.text(
                    30, 1, .app,
                    #"{"id":"phone_app_state","data":{"name":"\#(name)","odd key":"k1 \#(name)"}}"#
                )
            }
        }
        let proposal = try proposal([session("Ann", "secret1"), session("Bob", "secret22")])
        let text = proposal.text
        for secret in ["Ann", "Bob", "secret"] { #expect(!text.contains(secret)) }
        #expect(text.contains("path: \"event.data[\\\"odd key\\\"]\""))
        let read = try ComparisonRulesText.parse(Bytes(text.utf8))
        #expect(read.rules.map(\.name) == proposal.comparisonRules.rules.map(\.name))
        #expect(read.rules.count == 3)
    }

    @Test func `equal sessions need no rule`() throws {
        let same = answers(["{}", "{}"])
        let proposal = try proposal(same)
        #expect(proposal.rules.isEmpty)
        #expect(
            proposal.text == """
                // Learned from 2 sessions; look at each rule before you use it.
                //   s1.ndjson
                //   s2.ndjson: the same with these rules
                {
                    version: 1,
                    rules: [
                    ],
                }

                """)
    }
}
