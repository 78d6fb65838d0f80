import Foundation
import Report
import Testing
import Wire

@Suite struct ComparisonRulesTextTests {
    private func parse(_ text: String) throws(JSON5FieldError) -> ComparisonRules {
        try ComparisonRulesText.parse(Bytes(text.utf8))
    }

    @Test func `a file says what may vary, what to bring about, and what must be so`() throws {
        let rules = try parse(
            """
            {
              version: 1, description: "two commands",
              rules: [
                {on: "clipboard_read", path: "result.data.text", do: "type", why: "it is anybody's"},
                {on: "*", path: "**.event_id", do: "bind", bind: "event"},
                {on: "status", path: "body.environment.battery.level", do: "tolerance", tolerance: 0.05},
                {on: "calendar_query", path: "result.data.events", do: "unordered", by: "event_id"},
              ],
              states: [{before: "contacts_query#2", is: "contacts=denied"}, {before: "c1", is: "app=background"}],
              preconditions: ["the contact Wei Testmann is there"],
            }
            """)
        #expect(rules.description == "two commands")
        #expect(
            rules.rules.map(\.name) == [
                "type result.data.text of clipboard_read", "bind **.event_id",
                "tolerance body.environment.battery.level of status",
                "unordered result.data.events of calendar_query",
            ])
        #expect(rules.rules[0].why == "it is anybody's")
        #expect(rules.rules[1].place == JSON5.Place(line: 5, column: 5))
        #expect(rules.preconditions == ["the contact Wei Testmann is there"])
        #expect(rules.states.map(\.state) == ["contacts=denied", "app=background"])
        let state = rules.states[0]
        #expect(state.isBefore(id: "x", type: "contacts_query", ordinal: 2))
        #expect(!state.isBefore(id: "x", type: "contacts_query", ordinal: 1))
        #expect(rules.states[1].isBefore(id: "c1", type: "clipboard_read", ordinal: 7))
        #expect(try parse("{version: 1}") == ComparisonRules())
    }

    @Test func `a state before a type is meant for the first of it`() throws {
        let state = try #require(
            try parse("{version: 1, states: [{before: 'open_app', is: 'a=b'}]}").states.first)
        #expect(state.isBefore(id: "x", type: "open_app", ordinal: 1))
        #expect(!state.isBefore(id: "x", type: "open_app", ordinal: 2))
    }

    /// A rule with these members, on a line of its own.
    private static func rule(_ members: String) -> String {
        "{version: 1, rules: [\n{\(members)}]}"
    }

    private static let faults: [(String, String)] = [
        ("{version: 1", "line 1, column 12: the text ends where"),
        ("{}", "line 1, column 1: version is missing"),
        ("{version: 2}", "line 1, column 11: version takes 1, the only version that there is"),
        (
            "{version: 1, rule: []}",
            "line 1, column 14: unknown key \"rule\"; did you mean \"rules\"?"
        ),
        ("{version: 1, version: 1}", "line 1, column 14: version is given twice"),
        ("{version: 1, rules: {}}", "line 1, column 21: rules takes a list"),
        ("[]", "line 1, column 1: a rules file takes an object"),
        (rule(""), "line 2, column 1: on is missing"),
        (rule("on: '*', path: 'event.data'"), "line 2, column 1: do is missing"),
        (
            rule("on: '*', path: 'event.data', do: 'ignor'"),
            "line 2, column 35: \"ignor\" is none of ignore, type, pattern, tolerance, unordered, bind; did you mean \"ignore\"?"
        ),
        (
            rule("on: '*', path: 'event.data', do: 'ignore', by: 'x'"),
            "line 2, column 45: \"by\" has no meaning where a rule does \"ignore\""
        ),
        (
            rule("on: '*', path: 'event.data', do: 'pattern'"),
            "line 2, column 1: pattern is missing"
        ),
        (
            rule("on: '*', path: 'event.data', do: 'pattern', pattern: '('"),
            "line 2, column 55: \"(\" is no regular expression:"
        ),
        (
            rule("on: '*', path: 'event.data', do: 'tolerance', tolerance: '2 weeks'"),
            "line 2, column 59: tolerance takes a number that is not negative, or a time such as"
        ),
        (
            rule("on: '*', path: 'event.data', do: 'tolerance', tolerance: -1"),
            "line 2, column 59: tolerance takes"
        ),
        (
            rule("on: '*', path: 'reslt.data', do: 'ignore'"),
            "line 2, column 17: \"reslt.data\" is no path: it begins with command, poll, result"
        ),
        (rule("on: '', path: 'event.data', do: 'ignore'"), "line 2, column 6: on takes a text"),
        (
            "{version: 1, states: [{before: 'x', is: 'denied'}]}",
            "line 1, column 41: is takes a name and a value, such as \"contacts=denied\""
        ),
        (
            "{version: 1, preconditions: [1]}",
            "line 1, column 30: preconditions takes a list of texts"
        ),
    ]

    @Test(arguments: faults)
    func `a fault is told with its place`(_ text: String, _ message: String) {
        do {
            _ = try parse(text)
            Issue.record("it is taken")
        } catch {
            #expect("\(error)".hasPrefix(message), "\(error)")
        }
    }

    private static let paths: [(String, String)] = [
        ("", "takes a text"), ("event.", "a name is missing"), ("event..x", "a name is missing"),
        ("event[x]", "\\\"x\\\" is no index; write [0], [*] or a name in quotes"),
        ("event[0", "the end of a bracket is missing"),
        ("event['a", "the end of a name in brackets is missing"),
        ("event[0]x", "a point or a bracket is missing before"),
        ("event.a*", "is no name; * stands alone"), ("[0]", "it begins with"),
        (String(repeating: "*.", count: 70) + "x", "it is too long"),
    ]

    @Test(arguments: paths)
    func `what is no path is told`(_ path: String, _ why: String) {
        let text = Self.rule("on: '*', path: \"\(path)\", do: 'ignore'")
        do {
            _ = try parse(text)
            Issue.record("it is taken")
        } catch {
            #expect("\(error)".contains(why.replacing("\\\"", with: "\"")), "\(error)")
        }
    }

    @Test func `the page's example is a rules file`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../docs/comparison-rules.md"), encoding: .utf8)
        let parts = page.split(separator: "```json5\n", omittingEmptySubsequences: false)
            .dropFirst()
        #expect(!parts.isEmpty)
        for part in parts {
            let text = part.split(separator: "```", omittingEmptySubsequences: false).first ?? ""
            let rules = try parse(String(text))
            #expect(!rules.rules.isEmpty)
        }
    }
}
