import Report
import Testing
import Wire

/// What flows from one message into others where a rules file says so.
@Suite struct BoundValuesTests {
    private func values(_ rules: String...) throws -> BoundValues {
        BoundValues(
            try ComparisonRulesText.parse(
                Bytes("{version: 1, rules: [\(rules.joined(separator: ","))]}".utf8)))
    }

    private func filled(_ values: BoundValues, _ text: String, of subject: String) -> String {
        String(
            decoding: values.filled(Bytes(text.utf8), as: "command", of: subject), as: UTF8.self)
    }

    private static let anywhere = "{on: '*', path: '**.calendar', do: 'bind', bind: 'calendar'}"

    @Test func `a live value stands where the recorded one stood, and every other byte stays`()
        throws
    {
        var values = try values(Self.anywhere)
        #expect(!values.isEmpty)
        values.learn(
            ["data": ["calendar": "c-1", "text": "c-1"]],
            ["data": ["calendar": "x/9", "text": "c-1"]], as: "result", of: "calendar_query")
        #expect(
            filled(
                values, #"{ "id": "c-1", "payload" : {"calendar":"c-1","title":"c-1"}}"#,
                of: "calendar_create")
                == #"{ "id": "c-1", "payload" : {"calendar":"x/9","title":"c-1"}}"#)
        #expect(filled(values, #"{"calendar":"c-2"}"#, of: "x") == #"{"calendar":"c-2"}"#)
        #expect(filled(values, "{", of: "x") == "{", "what is no JSON stays as it is")
    }

    @Test func `values of a list that may come in any order are those of the same element`() throws
    {
        var values = try values(
            "{on: 'q', path: 'result.data.all', do: 'unordered'}",
            "{on: '*', path: '**.n', do: 'bind', bind: 'n'}")
        values.learn(
            ["data": ["all": [["n": 1, "is": "a"], ["n": 2, "is": "b"]]]],
            ["data": ["all": [["n": 20, "is": "b"], ["n": 10, "is": "a"]]]], as: "result", of: "q")
        #expect(filled(values, #"{"n": 2, "m": 2}"#, of: "u") == #"{"n": 20, "m": 2}"#)
        #expect(filled(values, #"{"n": "2"}"#, of: "u") == #"{"n": "20"}"#)
    }

    @Test func `what a rule before it is about is left alone`() throws {
        var values = try values(
            "{on: 'u', path: 'command.n', do: 'ignore'}",
            "{on: '*', path: '**.n', do: 'bind', bind: 'n'}")
        values.learn(["n": "1"], ["n": "one"], as: "result", of: "q")
        #expect(filled(values, #"{"n":"1"}"#, of: "u") == #"{"n":"1"}"#)
        #expect(filled(values, #"{"n":"1"}"#, of: "v") == #"{"n":"one"}"#)
        // A text that is no number does not become one.
        #expect(filled(values, #"{"n":1}"#, of: "v") == #"{"n":1}"#)
    }

    @Test func `rules of other kinds and of other commands bind nothing`() throws {
        let values = try values("{on: 'q', path: '**.n', do: 'type'}")
        #expect(values.isEmpty)
        let one = try self.values("{on: 'q', path: 'command.n', do: 'bind', bind: 'n'}")
        #expect(one.binds("q") && !one.binds("u"))
        #expect(one.values(in: Bytes(#"{"n":"1"}"#.utf8), as: "command", of: "u").isEmpty)
        let found = one.values(in: Bytes(#"{"n":"1"}"#.utf8), as: "command", of: "q")
        #expect(found.map(\.name) == ["n"] && found.map(\.text) == ["1"])
    }
}
