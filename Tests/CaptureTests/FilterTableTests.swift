import Capture
import Foundation
import Testing
import Wire

/// The filters that a terminal and a page's script have in common: one table, which both have to pass.
@Suite struct FilterTableTests {
    private let events: [(name: String, event: Event)]
    private let filters: [(source: String, names: String)]
    private let wrong: [(source: String, message: String)]

    init() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Filters/table.json")
        let table = try JSON(parsing: Bytes(try Data(contentsOf: url)))
        let decoder = EventDecoder()
        events = try #require(table["events"]?.members).map { member in
            let line = Bytes(try #require(member.value.stringValue).utf8)
            guard case .event(let event) = try decoder.decode(line.span) else {
                throw LineFault(offset: 0, reason: .notUTF8)
            }
            return (member.name, event)
        }
        func pairs(_ name: String) throws -> [(String, String)] {
            try #require(table[name]?.elements).map { row in
                (try #require(row[0]?.stringValue), try #require(row[1]?.stringValue))
            }
        }
        filters = try pairs("filters")
        wrong = try pairs("wrong")
    }

    @Test func `a filter chooses what the table says`() throws {
        for (source, names) in filters {
            let filter = try Filter(parsing: source)
            let chosen = events.filter { filter.matches($0.event) }.map(\.name)
            #expect(chosen.joined(separator: " ") == names, "\(source)")
        }
    }

    @Test func `a wrong one is refused in the table's words`() {
        for (source, message) in wrong {
            let error = #expect(throws: FilterError.self) { try Filter(parsing: source) }
            #expect(
                error?.description.hasPrefix(message) == true,
                "\(source): \(error?.description ?? "")")
        }
    }
}
