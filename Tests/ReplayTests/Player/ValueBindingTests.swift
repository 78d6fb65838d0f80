import PhoneBridge
import Replay
import Testing
import Wire

@Suite struct ValueBindingTests {
    private static func type(_ name: String) -> Contract.CommandType? {
        Contract.current.command(named: name)
    }

    @Test func `the id that an answer brings into being stands for the recorded one`() {
        var values = ValueBinding()
        values.bind(
            ["id": "c1", "data": ["event_id": "ios_event_1"]],
            ["id": "c1", "data": ["event_id": "E-77"]], type: Self.type("calendar_create"))
        #expect(values["ios_event_1"] == "E-77")
        #expect(values["E-77"] == nil)
    }

    @Test func `things in a list belong together by all but their ids, in any order`() {
        var values = ValueBinding()
        values.bind(
            [
                "data": [
                    "contacts": [
                        ["contact_id": "1", "name": "Ana"], ["contact_id": "2", "name": "Bo"],
                    ]
                ]
            ],
            [
                "data": [
                    "contacts": [
                        ["name": "Bo", "contact_id": "b"], ["name": "Ana", "contact_id": "a"],
                    ]
                ]
            ],
            type: Self.type("contacts_query"))
        #expect(values.live == ["1": "a", "2": "b"])
    }

    @Test func `a value that only looks like an id is not carried over`() {
        var values = ValueBinding()
        values.bind(
            ["data": ["text": "ios_event_1"]], ["data": ["text": "E-77"]],
            type: Self.type("clipboard_read"))
        values.bind(
            ["data": ["event_id": "ios_event_1"]], ["data": ["event_id": 7]],
            type: Self.type("calendar_create"))
        #expect(values.live.isEmpty)
    }

    @Test func `the first live value stays`() {
        var values = ValueBinding()
        for live in ["a", "b"] {
            values.bind(
                ["data": ["event_id": "e"]], ["data": ["event_id": .string(live)]],
                type: Self.type("calendar_create"))
        }
        #expect(values["e"] == "a")
    }
}
