import Foundation
import GoldenFiles
import Testing

@Suite struct ShowTests {
    private let file = "Tests/EndToEnd/Sessions/short.ndjson"
    private let text: String

    init() throws {
        text = try String(contentsOf: BuiltProgram.root.appending(path: file), encoding: .utf8)
    }

    @Test func `a session is shown as a timeline without colours in a file`() throws {
        let outcome = try BuiltProgram.run(["show", file])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        #expect(GoldenFile("show-short.txt").difference(from: outcome.output) == nil)
    }

    @Test func `standard input and packed files show the same`() throws {
        let expected = try BuiltProgram.run(["show", file]).output
        #expect(try BuiltProgram.run(["show", "-"], input: text).output == expected)
        for (tool, ending) in [("gzip", "gz"), ("zstd", "zst")] {
            let packed = FileManager.default.temporaryDirectory
                .appending(path: "bridgetap-\(UUID().uuidString).ndjson.\(ending)")
            defer { try? FileManager.default.removeItem(at: packed) }
            let source = BuiltProgram.root.appending(path: file).path
            try run("/bin/sh", ["-c", "\(tool) -c < '\(source)' > '\(packed.path)'"])
            #expect(try BuiltProgram.run(["show", packed.path]).output == expected)
        }
    }

    private func run(_ path: String, _ arguments: [String]) throws {
        let process = try Process.run(URL(filePath: path), arguments: arguments)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `json gives the lines of a session file with their meaning`() throws {
        let outcome = try BuiltProgram.run(["show", "--json", "--filter", "result", file])
        #expect(outcome.exitCode == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 2)
        let first = try #require(lines.first)
        let object = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
        let bridge = (object?["bridge"] as? [[String: Any]])?.first
        #expect(object?["seq"] as? Int == 7)
        #expect(bridge?["latency_ms"] as? Double == 222.104)
        #expect(bridge?["type"] as? String == "clipboard_read")
    }

    @Test func `everything as json is the file again, but for the meaning`() throws {
        let lines = try BuiltProgram.run(["show", "--json", file]).output.split(separator: "\n")
        let sources = text.split(separator: "\n")
        try #require(lines.count == sources.count)
        for (line, source) in zip(lines, sources) {
            var now = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let before = try #require(
                try JSONSerialization.jsonObject(with: Data(source.utf8)) as? [String: Any])
            now["bridge"] = nil
            for (name, value) in before { #expect("\(now[name] ?? "")" == "\(value)") }
        }
    }

    @Test func `a filter or a connection narrows what is shown`() throws {
        let results = try BuiltProgram.run(["show", "--filter", "result ok=false", file]).output
        #expect(results.contains("#2 open_app app_not_installed · 250 ms"))
        #expect(!results.contains("clipboard_read"))
        #expect(
            try BuiltProgram.run(["show", "--conn", "2", file]).output.split(separator: "\n").count
                == 1)
    }

    @Test func `raw shows the bytes`() throws {
        let outcome = try BuiltProgram.run(["show", "--raw", file])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.contains("\n      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"))
    }

    @Test func `a torn last line is told, and what stands before it is used`() throws {
        let torn = String(text.dropLast(30))
        let outcome = try BuiltProgram.run(["show", "-"], input: torn)
        #expect(outcome.exitCode == 0)
        #expect(
            outcome.errors.hasPrefix(
                "bridgetap: warning: standard input, line 13: the last line is cut short"))
        #expect(
            outcome.output.contains("\n! 00:08.000               file       line 13: the last line")
        )
        #expect(outcome.output.hasSuffix(" · no end line\n"))
    }

    @Test(arguments: [
        (["no/such/file"], "cannot read no/such/file: no such file or directory (open, ENOENT)"),
        (["Tests"], "cannot read Tests: is a directory (read, EISDIR)"),
        (["README.md"], "README.md is not a session file"),
    ])
    func `what is no session is told, and ends with 4`(files: [String], message: String) throws {
        let outcome = try BuiltProgram.run(["show"] + files)
        #expect(outcome.exitCode == 4)
        #expect(outcome.errors.hasPrefix("bridgetap: error: \(message)\n"))
    }

    @Test func `a reader that goes away ends it without a word`() throws {
        let many = String(repeating: text.split(separator: "\n")[3] + "\n", count: 20_000)
        let input = text.split(separator: "\n")[0] + "\n" + many
        let file = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-\(UUID().uuidString).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(input.utf8).write(to: file)
        let script =
            "'\(BuiltProgram.url.path)' show --raw '\(file.path)' 2>&1 >/dev/full | head -1"
        let full = try shell(script)
        #expect(full.contains("cannot write standard output: no space left on device"))
        let closed = try shell(
            "'\(BuiltProgram.url.path)' show --raw '\(file.path)' 2>&1 | head -1")
        #expect(closed.split(separator: "\n").count == 1)
    }

    private func shell(_ script: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        try BuiltProgram.withNoSignalBlocked { try process.run() }
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
