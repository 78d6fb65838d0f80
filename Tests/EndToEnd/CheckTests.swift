import Foundation
import Glibc
import Testing

/// `bridgetap check`, as it is run by hand and by CI jobs.
@Suite struct CheckTests {
    private let clean = "captures/all-commands.ndjson"

    /// A session whose board leaves heartbeats without an echo.
    private let broken: String

    private let brokenFile = "Tests/EndToEnd/Sessions/no-echo.ndjson"

    init() throws {
        broken = try String(
            contentsOf: BuiltProgram.root.appending(path: brokenFile), encoding: .utf8)
    }

    @Test func `the README shows what is printed`() throws {
        let outcome = try BuiltProgram.run(["check", brokenFile])
        let printed = outcome.output.replacing(brokenFile, with: "lab.ndjson")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
        let readme = try String(
            contentsOf: BuiltProgram.root.appending(path: "README.md"), encoding: .utf8)
        // How many rules there are to test is no matter of the README's.
        let count = #/\d+ of \d+ rules/#
        #expect(
            readme.replacing(count, with: "rules").contains(
                "    $ bridgetap check lab.ndjson\n" + printed.replacing(count, with: "rules")))
    }

    @Test(arguments: [
        "all-commands", "errors", "reconnect", "pip-queue", "fgs-queue", "compressed-android",
    ])
    func `every example session puts rules to the test`(name: String) throws {
        let outcome = try BuiltProgram.run(["check", "captures/\(name).ndjson"])
        #expect([0, 1].contains(outcome.exitCode), "\(outcome.output)")
        #expect(outcome.errors == "")
        #expect(outcome.output.contains(outcome.exitCode == 0 ? " kept; " : " broken; "))
    }

    @Test
    func `a broken rule is told with its demand, its section and its places, and ends with 1`()
        throws
    {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson")
            try Data(broken.utf8).write(to: file)
            let outcome = try BuiltProgram.run(["check", file.path])
            #expect(outcome.exitCode == 1)
            #expect(outcome.output.contains("! heartbeat-echoed  board, "))
            #expect(outcome.output.contains("    contract, \"Heartbeat\"\n"))
            #expect(outcome.output.contains("  seq "))
            #expect(outcome.output.contains(" broken; "))
            #expect(!outcome.output.contains("\u{1b}"))
        }
    }

    @Test func `a stream is told of as it comes, and summed up`() throws {
        let outcome = try BuiltProgram.run(["check", "-"], input: broken)
        #expect(outcome.exitCode == 1)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("! heartbeat-echoed  00:") })
        #expect(lines.last?.hasPrefix("standard input: ") == true)
    }

    @Test func `reports are written whole, for their owner only, and leave nothing beside them`()
        throws
    {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson")
            try Data(broken.utf8).write(to: file)
            let junit = folder.appending(path: "check.xml").path
            let sarif = folder.appending(path: "check.sarif").path
            try Data("old".utf8).write(to: URL(filePath: junit))
            let outcome = try BuiltProgram.run([
                "check", "--junit", junit, "--sarif", sarif, file.path, clean,
            ])
            #expect(outcome.exitCode == 1)
            let xml = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(xml.hasPrefix("<?xml"))
            #expect(xml.contains("<testsuite name=\"\(clean)\""))
            #expect(xml.contains("name=\"heartbeat-echoed\" time=\"0.000\">\n      <failure"))
            let data = try Data(contentsOf: URL(filePath: sarif))
            let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            #expect(document?["version"] as? String == "2.1.0")
            for path in [junit, sarif] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.sorted() == ["check.sarif", "check.xml", "lab.ndjson"])
        }
    }

    @Test func `a report is never written over a session`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson")
            try Data(broken.utf8).write(to: file)
            let link = folder.appending(path: "link").path
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: file.path)
            for path in [file.path, link] {
                let outcome = try BuiltProgram.run(["check", "--junit", path, file.path])
                #expect(outcome.exitCode == 2)
                #expect(
                    outcome.errors.hasPrefix("bridgetap: error: --junit: \(path) is an input\n"))
            }
            #expect(try Data(contentsOf: file) == Data(broken.utf8))
        }
    }

    @Test func `a report that cannot be written is told before the work`() throws {
        let outcome = try BuiltProgram.run(["check", "--sarif", "/nowhere/x", clean])
        #expect(outcome.exitCode == 4)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("cannot write /nowhere/x: no such file or directory"))
    }

    @Test func `a full disk below standard output does not keep the reports from being written`()
        throws
    {
        let folder = try TestFolder()
        let junit = folder.file("check.xml")
        let child = try Child(
            "/bin/sh",
            [
                "-c", "exec \"$0\" check --junit \"$1\" \"$2\" >/dev/full", BuiltProgram.url.path,
                junit, BuiltProgram.root.appending(path: clean).path,
            ], in: folder)
        let outcome = try child.finish()
        #expect(outcome.exitCode == 70)
        #expect(outcome.errors.contains("cannot write standard output: no space left on device"))
        #expect(try String(contentsOfFile: junit, encoding: .utf8).hasSuffix("</testsuites>\n"))
    }

    @Test func `a report on standard output is alone there`() throws {
        let outcome = try BuiltProgram.run(["check", "--junit", "-", clean])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.hasPrefix("<?xml"))
        #expect(outcome.output.hasSuffix("</testsuites>\n"))
    }

    @Test func `as NDJSON there is a line a finding, a case and a suite`() throws {
        let outcome = try BuiltProgram.run(["check", "--json", "-"], input: broken)
        #expect(outcome.exitCode == 1)
        var kinds: [String] = []
        for line in outcome.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            kinds.append(object?["kind"] as? String ?? "")
        }
        #expect(Set(kinds) == ["finding", "case", "suite"])
        #expect(kinds.last == "suite")
    }

    @Test func `what cannot be read does not keep the others from being checked`() throws {
        let outcome = try BuiltProgram.run(["check", "README.md", clean])
        #expect(outcome.exitCode == 4)
        #expect(outcome.errors.hasPrefix("bridgetap: error: README.md is not a session file\n"))
        #expect(outcome.output.contains("README.md: could not be checked\n"))
        #expect(outcome.output.contains("\(clean): "))
        #expect(outcome.output.hasSuffix("2 sessions: no rule broken, 1 could not be checked\n"))
    }

    @Test func `a session with nothing in it ends with 5`() throws {
        let first = String(broken.split(separator: "\n")[0]) + "\n"
        let outcome = try BuiltProgram.run(["check", "-"], input: first)
        #expect(outcome.exitCode == 5)
        #expect(outcome.output.contains("nothing in it puts a rule to the test"))
    }

    @Test func `a torn session is checked as far as it goes, or refused`() throws {
        let text = try String(
            contentsOf: BuiltProgram.root.appending(path: clean), encoding: .utf8)
        let torn = String(text.dropLast(200))
        let outcome = try BuiltProgram.run(["check", "-"], input: torn)
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("the last line is cut short"))
        let refused = try BuiltProgram.run(["check", "--require-complete", "-"], input: torn)
        #expect(refused.exitCode == 4)
        #expect(try BuiltProgram.run(["check", "--require-complete", clean]).exitCode == 0)
    }

    @Test func `a profile is a name or a file, and what is wrong in it has a place`() throws {
        try withTemporaryFolder { folder in
            let base = folder.appending(path: "base.json5")
            let profile = folder.appending(path: "lab.json5")
            try Data(
                "{deviations: {'heartbeat-echoed': 'never echoes'}, slack_ms: 100}".utf8
            ).write(to: base)
            try Data("{extends: 'base.json5', in_flight_ms: 1000}".utf8).write(to: profile)
            let excused = try BuiltProgram.run(
                ["check", "--profile", profile.path, "-"], input: broken)
            #expect(excused.exitCode == 0)
            #expect(excused.output.contains("known to the profile lab, and not counted:\n"))
            #expect(excused.output.contains("    never echoes\n"))

            try Data("{extends: 'base.json5',\n slak_ms: 1}".utf8).write(to: profile)
            let wrong = try BuiltProgram.run(["check", "--profile", profile.path, clean])
            #expect(wrong.exitCode == 4)
            #expect(
                wrong.errors.contains(
                    "lab.json5, line 2, column 2: unknown key \"slak_ms\"; did you mean \"slack_ms\"?"
                ))

            try Data("{extends: 'lab.json5'}".utf8).write(to: base)
            try Data("{extends: 'base.json5'}".utf8).write(to: profile)
            let circle = try BuiltProgram.run(["check", "--profile", profile.path, clean])
            #expect(circle.exitCode == 4)
            #expect(circle.errors.contains("the files extend each other in a circle"))
        }
        let unknown = try BuiltProgram.run(["check", "--profile", "bord-1.2", clean])
        #expect(unknown.exitCode == 2)
        #expect(unknown.errors.contains("did you mean \"board-1.2\"?"))
    }

    @Test func `a waiver that has ended counts no more, and is told of`() throws {
        try withTemporaryFolder { folder in
            let profile = folder.appending(path: "lab.json5")
            func write(_ until: String) throws {
                let waiver = "{rule: 'heartbeat-echoed', reason: 'known', until: '\(until)'}"
                try Data("{waivers: [\(waiver)]}".utf8).write(to: profile)
            }
            try write("2020-01-01")
            let ended = try BuiltProgram.run(
                ["check", "--profile", profile.path, "-"], input: broken)
            #expect(ended.exitCode == 1)
            #expect(
                ended.errors.contains(
                    "the waiver of heartbeat-echoed ended on 2020-01-01; the rule counts again"))
            try write("9999-12-31")
            let holds = try BuiltProgram.run(
                ["check", "--profile", profile.path, "-"], input: broken)
            #expect(holds.exitCode == 0)
            #expect(holds.errors == "")
        }
    }

    @Test func `rotated parts are one session, whole files are several`() throws {
        try withTemporaryFolder { folder in
            var lines = broken.split(separator: "\n").map(String.init)
            let head = lines.removeFirst()
            let middle = lines.count / 2
            let parts = [lines[..<middle], lines[middle...]]
            var paths: [String] = []
            var first = 0
            for (index, part) in parts.enumerated() {
                let path = folder.appending(path: "lab-000\(index + 1).ndjson")
                let session = head.dropLast() + ",\"part\":\(index + 1)}"
                let numbered = part.map { line in
                    line.replacing(#/"seq":(\d+)/#) { "\"seq\":\((Int($0.1) ?? 0) - first)" }
                }
                try Data(([String(session)] + numbered).joined(separator: "\n").utf8 + [10])
                    .write(to: path)
                paths.append(path.path)
                first += middle
            }
            let together = try BuiltProgram.run(["check"] + paths.reversed())
            #expect(together.exitCode == 1)
            #expect(together.output.contains("\(folder.path)/lab-*.ndjson: "))
            #expect(!together.output.contains("sessions: "))
            let apart = try BuiltProgram.run(["check", clean, clean])
            #expect(apart.exitCode == 0)
            #expect(apart.output.hasSuffix("2 sessions: no rule broken\n"))
        }
    }

    @Test func `a signal ends it with 130, and what was found is told`() throws {
        let folder = try TestFolder()
        let (pipe, junit) = (folder.file("pipe"), folder.file("check.xml"))
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        // Open at both ends, so that the program waits for more.
        let feed = try #require(FileHandle(forUpdatingAtPath: pipe))
        try feed.write(contentsOf: Data(broken.utf8))
        let program = try RunningProgram(["check", "--junit", junit, pipe])
        #expect(program.read(until: "heartbeat-echoed").contains("heartbeat-echoed"))
        let outcome = try program.stop()
        #expect(outcome.exitCode == 130)
        #expect(outcome.output.contains("the check was interrupted"))
        let xml = try String(contentsOfFile: junit, encoding: .utf8)
        #expect(xml.contains("session-is-read-to-its-end"))
        try feed.close()
    }
}
