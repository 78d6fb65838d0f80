import BridgeProxy
import Foundation
import Simulator
import Testing
import Wire

/// The sessions in `captures/`.
@Suite struct RehearsalTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "captures")

    @Test(arguments: ExampleSession.all.map(\.name))
    func `a session in captures is what the recorder writes today`(_ name: String) throws {
        let example = try #require(ExampleSession.all.first { $0.name == name })
        let session = try Rehearsal.record(example, tool: "bridgetap").session
        let file = Self.folder.appending(path: "\(name).ndjson")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(session).write(to: file)
        }
        #expect(try Data(contentsOf: file) == Data(session))
    }

    @Test func `the same seed gives the same session, and another one other masks`() throws {
        let example = ExampleSession.allCommands
        let first = try Rehearsal.record(example, seed: 3, tool: "test").session
        #expect(try Rehearsal.record(example, seed: 3, tool: "test").session == first)
        #expect(try Rehearsal.record(example, seed: 4, tool: "test").session != first)
    }

    @Test(arguments: ExampleSession.all.map(\.name))
    func `what the board's side got stands behind its command, and is about it`(
        _ name: String
    ) throws {
        let example = try #require(ExampleSession.all.first { $0.name == name })
        let session = try Rehearsal.record(example, tool: "test").session
        let events = try session.split(separator: UInt8(ascii: "\n")).map {
            try JSON(parsing: Bytes($0))
        }
        let outcomes = events.filter { $0["code"] == "outcome" }
        let sent = example.script.entries.filter { entry in
            if case .send = entry.step { true } else { false }
        }
        #expect(outcomes.count == sent.count)
        for outcome in outcomes {
            let command = try #require(events.first { $0["seq"] == outcome["to"] })
            let text = try JSON(parsing: try #require(outcome["text"]?.stringValue))
            #expect(command["bridge"]?[0]?["kind"] == "command")
            #expect(command["bridge"]?[0]?["id"] == text["id"])
            #expect(
                try #require(command["seq"]?.integerValue)
                    < (try #require(outcome["seq"]?.integerValue)))
        }
    }

    @Test func `an outcome of a command that never crossed the link is about no event`() throws {
        var example = ExampleSession.sameContent
        example.scenario = AppScenario([.init(second: 0.5, step: .dropConnection)])
        let session = try Rehearsal.record(example, tool: "test").session
        let outcomes = try session.split(separator: UInt8(ascii: "\n")).map {
            try JSON(parsing: Bytes($0))
        }.filter { $0["code"] == "outcome" }
        #expect(outcomes.count == 3)
        for outcome in outcomes {
            #expect(outcome["to"] == nil)
            #expect(outcome["text"]?.stringValue?.contains("bridge_not_connected") == true)
        }
    }

    @Test func `a session says which of its peers are reference peers`() {
        let told = ExampleSession.all.filter { $0.peers == [.board] }
        #expect(told.map(\.name) == ["queue-limit", "odd-phone", "replaced", "late-words"])
        #expect(ExampleSession.all.filter { $0.peers == [.app] }.map(\.name) == ["odd-board"])
    }

    @Test func `all sessions have their line in the folder's README`() throws {
        let readme = try String(
            contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        for example in ExampleSession.all {
            #expect(readme.contains("`\(example.name).ndjson`"))
        }
    }
}
