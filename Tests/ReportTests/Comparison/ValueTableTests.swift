import Report
import Testing

@Suite struct ValueTableTests {
    @Test func `values are tied one to one`() {
        var table = ValueTable()
        let tied = [
            table.bind("a", "1", name: "event_id"),
            table.bind("a", "1", name: "event_id"),
            table.bind("a", "2", name: "event_id"),
            table.bind("b", "1", name: "event_id"),
            table.bind("b", "2", name: "event_id"),
        ]
        #expect(tied == [true, true, false, false, true])
        #expect(table.second(for: "a", name: "event_id") == "1")
        #expect(table.first(for: "2", name: "event_id") == "b")
        #expect(table.second(for: "c", name: "event_id") == nil)
    }

    @Test func `names keep equal values apart`() {
        var table = ValueTable()
        let tied = [
            table.bind("a", "1", name: "event_id"),
            table.bind("a", "2", name: "contact_id"),
            table.bind("b", "1", name: "contact_id"),
        ]
        #expect(tied == [true, true, true])
        #expect(table.ties("b", to: "1") && table.ties("a", to: "1"))
        #expect(!table.ties("b", to: "2"))
    }

    @Test func `what is given stands where a name knows nothing`() {
        var table = ValueTable(["a": "1", "b": "2"])
        #expect(!table.isEmpty)
        #expect(table.second(for: "a", name: "event_id") == "1")
        let tied = [
            table.bind("a", "3", name: "event_id"),
            table.bind("c", "3", name: "event_id"),
            table.bind("d", "2", name: "event_id"),
        ]
        #expect(tied == [false, true, false])
    }

    @Test func `of given values that have become one, none is taken`() {
        let table = ValueTable(["a": "1", "b": "1", "c": "2"])
        #expect(table.second(for: "a", name: "x") == nil)
        #expect(table.second(for: "b", name: "x") == nil)
        #expect(table.second(for: "c", name: "x") == "2")
    }
}
