import Foundation
import Testing

@Suite struct FollowTests {
    /// `bridgetap show --follow` of a file that begins with some lines, and its output as it comes.
    private struct Follower {
        let process = Process()
        let pipe = Pipe()
        let file: URL

        init(_ lines: ArraySlice<Substring>) throws {
            file = FileManager.default.temporaryDirectory
                .appending(path: "bridgetap-\(UUID().uuidString).ndjson")
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            process.executableURL = URL(filePath: "/usr/bin/timeout")
            process.arguments = [
                "--foreground", "--kill-after=5", "60", BuiltProgram.url.path, "show", "--follow",
                file.path,
            ]
            process.standardOutput = pipe
            try BuiltProgram.withNoSignalBlocked { try process.run() }
        }

        /// Reads until the output contains `text`; gives what was read.
        func read(until text: String) -> String {
            var output = ""
            while !output.contains(text) {
                let data = pipe.fileHandleForReading.availableData
                guard !data.isEmpty else { break }
                output += String(decoding: data, as: UTF8.self)
            }
            return output
        }

        func append(_ text: String) throws {
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        }

        /// The rest of the output, and how it ended.
        func finish() throws -> (output: String, exitCode: Int32) {
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            try FileManager.default.removeItem(at: file)
            return (String(decoding: data, as: UTF8.self), process.terminationStatus)
        }
    }

    private let path = "Tests/EndToEnd/Sessions/short.ndjson"
    private let lines: [Substring]

    init() throws {
        let url = BuiltProgram.root.appending(path: path)
        lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    }

    @Test func `a file that grows is shown as it grows, until its end line`() throws {
        let follower = try Follower(lines[..<3])
        var output = follower.read(until: "upgrade")
        #expect(output.contains("session 7f3a"))
        // A line that is written in two halves is one line.
        let rest = lines[3...].joined(separator: "\n") + "\n"
        try follower.append(String(rest.prefix(50)))
        try follower.append(String(rest.dropFirst(50)))
        let (last, exitCode) = try follower.finish()
        output += last
        #expect(exitCode == 0)
        #expect(output == (try BuiltProgram.run(["show", path]).output))
    }

    @Test func `an interruption ends it with the summary and 130`() throws {
        let follower = try Follower(lines[..<2])
        let output = follower.read(until: "open")
        // `timeout` passes it on to the program.
        follower.process.interrupt()
        let (last, exitCode) = try follower.finish()
        #expect(exitCode == 130)
        #expect((output + last).hasSuffix("1 connection · 0.000 ms · no end line\n"))
    }
}
