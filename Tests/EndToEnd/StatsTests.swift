import Foundation
import GoldenFiles
import Testing

@Suite struct StatsTests {
    private func figures(_ arguments: [String], input: String = "") throws -> String {
        let outcome = try BuiltProgram.run(["stats"] + arguments, input: input)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        return outcome.output
    }

    @Test(arguments: [
        "all-commands", "errors", "reconnect", "pip-queue", "fgs-queue", "compressed-android",
    ])
    func `the figures of every example session are as they were read last`(name: String) throws {
        let text = try figures(["captures/\(name).ndjson"])
        #expect(GoldenFile("stats-\(name).txt").difference(from: text) == nil)
    }

    @Test func `a session has the same figures from its pcap, but for what that cannot hold`()
        throws
    {
        try withTemporaryFolder { folder in
            let pcap = folder.appending(path: "a.pcap").path
            let session = "captures/errors.ndjson"
            #expect(try BuiltProgram.run(["convert", session, "-o", pcap]).exitCode == 0)
            let first = try figures(["--json", session])
            let second = try figures(["--json", pcap])
            for name in ["commands", "errors", "http", "traffic"] {
                let pattern = try Regex("\"\(name)\":.*?\\}[\\]}](,\"[a-z_]+\":[{0-9])")
                #expect(first.firstMatch(of: pattern) != nil)
                #expect(first.firstMatch(of: pattern)?.0 == second.firstMatch(of: pattern)?.0)
            }
        }
    }

    @Test func `parts are one session, and others are blocks of their own`() throws {
        try withTemporaryFolder { folder in
            let text = try String(
                contentsOf: BuiltProgram.root.appending(path: "captures/errors.ndjson"),
                encoding: .utf8)
            var lines = text.split(separator: "\n").map(String.init)
            let head = lines.removeFirst()
            let cut = lines.count / 2
            var files: [String] = []
            for (number, part) in [lines[..<cut], lines[cut...]].enumerated() {
                let file = folder.appending(path: "lab-000\(number + 1).ndjson")
                let first = head.replacing(
                    "\"version\":1,", with: "\"version\":1,\"part\":\(number + 1),")
                try ([first] + part).map { $0 + "\n" }.joined()
                    .write(to: file, atomically: false, encoding: .utf8)
                files.append(file.path)
            }
            let blocks = try figures(["--json", files[0], "captures/fgs-queue.ndjson", files[1]])
                .split(separator: "\n").map(String.init)
            #expect(blocks.count == 2)
            let whole = try figures(["--json", "captures/errors.ndjson"])
            let after = { (text: String) in text.split(separator: ",\"duration_ms\"").last }
            #expect(blocks.first.flatMap(after) == after(whole)?.dropLast())
            #expect(blocks.first?.contains("lab-*.ndjson") == true)
        }
    }

    @Test func `standard input and a filter work together`() throws {
        let text = try String(
            contentsOf: BuiltProgram.root.appending(path: "captures/errors.ndjson"),
            encoding: .utf8)
        let output = try figures(["--filter", "type=open_app", "-"], input: text)
        #expect(output.hasPrefix("standard input: simulation "))
        #expect(output.contains("open_app"))
        #expect(!output.contains("calendar_create"))
        #expect(output.contains("app_not_installed  1"))
    }

    @Test func `a session in which nothing happened ends with 5`() throws {
        let head =
            #"{"event":"session","format":"bridgetap","version":1,"id":"a","t":0,"#
            + #""started_at":"2026-06-10T03:20:00.000000000Z","tool":"t","contract":"1.2","#
            + #""source":"proxy"}"#
        let end =
            #"{"event":"end","seq":1,"t":9,"events":0,"bytes_app":0,"bytes_board":0,"dropped":0}"#
        let outcome = try BuiltProgram.run(["stats", "-"], input: "\(head)\n\(end)\n")
        #expect(outcome.exitCode == 5)
        #expect(outcome.output.contains("nothing crossed the link"))
        let filtered = try BuiltProgram.run([
            "stats", "--filter", "type=nothing", "captures/errors.ndjson",
        ])
        #expect(filtered.exitCode == 5)
    }

    @Test func `what is no session ends with 4`() throws {
        let outcome = try BuiltProgram.run(["stats", "README.md"])
        #expect(outcome.exitCode == 4)
        let several = try BuiltProgram.run(["stats", "captures/errors.ndjson", "/nowhere"])
        #expect(several.exitCode == 4)
        #expect(several.errors.hasPrefix("bridgetap: error: cannot read /nowhere"))
    }
}
