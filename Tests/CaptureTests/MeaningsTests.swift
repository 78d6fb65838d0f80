import Capture
import Testing
import Wire

@Suite struct MeaningsTests {
    /// What a line with this `bridge` is read to.
    private func read(_ bridge: String) throws -> Event {
        let line = #"{"event":"note","seq":1,"t":0,"code":"a","text":"b","bridge":\#(bridge)}"#
        let bytes = Bytes(line.utf8)
        guard case .event(let event) = try EventDecoder().decode(bytes.span) else {
            throw LineFault(offset: 0, reason: .missingField("event"))
        }
        return event
    }

    private func written(_ event: Event) -> String {
        var line = Bytes()
        EventEncoder().encode(event, into: &line)
        return String(decoding: line, as: UTF8.self)
    }

    @Test(arguments: [
        (#"[{"kind":"a","n":1e400}]"#, #"[{"kind":"a","n":1e400}]"#),
        (#"[ {"kind" : "a"},{} ]"#, #"[{"kind":"a"},{}]"#),
        (#"[{"kind":"\u0061\/\n"},1,null]"#, #"[{"kind":"a/\n"},1,null]"#),
        (#"[{"id":"ü\"x"}]"#, #"[{"id":"ü\"x"}]"#),
    ])
    func `what is read is written in the one spelling, however it was spelt`(
        _ text: String, _ expected: String
    ) throws {
        let event = try read(text)
        #expect(written(event).hasSuffix(#","bridge":\#(expected)}"# + "\n"))
        #expect(JSON.array(event.bridge.values).description == expected)
        #expect(event.bridge.first == event.bridge.values.first)
        #expect(Array(event.bridge) == event.bridge.values)
        #expect(event.bridge.count == event.bridge.values.count)
        #expect(!event.bridge.isEmpty)
    }

    @Test func `values and a text of them are the same`() throws {
        let text = try read(#"[{"kind":"a"}]"#).bridge
        #expect(text == [["kind": "a"]])
        #expect(Meanings([["kind": "a"]]) == text)
        #expect(text == (try read(#"[{"kind" :"a"}]"#).bridge))
        #expect(text != [["kind": "b"]])
        #expect(text != [])
        #expect(try read(#"[{"kind":"b"}]"#).bridge != text)
    }

    @Test func `an empty list means nothing, and a second one adds to the first`() throws {
        let none = try read("[]")
        #expect(none.bridge == [] && none.bridge.isEmpty && none.bridge.first == nil)
        #expect(!written(none).contains("bridge"))
        #expect(try read(#"[1],"bridge":[2]"#).bridge == [1, 2])
        #expect(try read(#"[],"bridge":[2]"#).bridge == [2])
    }
}
