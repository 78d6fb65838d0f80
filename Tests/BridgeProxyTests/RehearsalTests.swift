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

    @Test func `all sessions have their line in the folder's README`() throws {
        let readme = try String(
            contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        for example in ExampleSession.all {
            #expect(readme.contains("`\(example.name).ndjson`"))
        }
    }
}
