import Foundation
import Testing

@Suite struct FollowTests {
    private let path = "Tests/EndToEnd/Sessions/short.ndjson"
    private let lines: [Substring]

    init() throws {
        let url = BuiltProgram.root.appending(path: path)
        lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    }

    private func append(_ text: String, to file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @Test func `a file that grows is shown as it grows, until its end line`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson")
            try Data((lines[..<3].joined(separator: "\n") + "\n").utf8).write(to: file)
            let follower = try RunningProgram(["show", "--follow", file.path])
            let output = follower.read(until: "upgrade")
            #expect(output.contains("session 7f3a"))
            // A line that is written in two halves is one line.
            let rest = lines[3...].joined(separator: "\n") + "\n"
            try append(String(rest.prefix(50)), to: file)
            try append(String(rest.dropFirst(50)), to: file)
            let outcome = try follower.finish()
            #expect(outcome.exitCode == 0)
            #expect(output + outcome.output == (try BuiltProgram.run(["show", path]).output))
        }
    }

    @Test func `an interruption ends it with the summary and 130`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson")
            try Data((lines[..<2].joined(separator: "\n") + "\n").utf8).write(to: file)
            let follower = try RunningProgram(["show", "--follow", file.path])
            let output = follower.read(until: "open")
            let outcome = try follower.stop()
            #expect(outcome.exitCode == 130)
            let all = output + outcome.output
            #expect(all.hasSuffix("1 connection · 0.000 ms · no end line\n"))
        }
    }
}
