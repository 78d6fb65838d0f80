import Foundation
import Testing
import Wire

/// A bundle, as whoever gets it unpacks, reads, looks at and replays it.
@Suite struct BundleTests {
    /// Makes a bundle of a session and unpacks it; gives its folder and what was printed.
    private func unpacked(
        _ session: String, _ flags: [String] = [], in folder: URL
    ) throws -> (folder: URL, output: String) {
        let path = folder.appending(path: "report.zip").path
        let made = try BuiltProgram.run(["bundle", session, "-o", path] + flags)
        #expect(made.exitCode == 0, "\(made.errors)")
        let unpack = try BuiltProgram.run(
            ["-m", "zipfile", "-e", path, folder.path],
            program: URL(filePath: ReplayProgram.python))
        #expect(unpack.exitCode == 0, "\(unpack.errors)")
        return (folder.appending(path: "report"), made.output)
    }

    private func text(_ folder: URL, _ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test func `a bundle says all about a session, and nothing about people`() throws {
        try withTemporaryFolder { folder in
            let (report, output) = try unpacked("captures/all-commands.ndjson", in: folder)
            let files = try FileManager.default.contentsOfDirectory(atPath: report.path).sorted()
            #expect(
                files == [
                    "README.txt", "check.ndjson", "check.txt", "facts.json", "issue.md",
                    "session.html", "session.ndjson", "stats.json", "stats.txt",
                ])
            for file in files {
                let text = try text(report, file)
                for word in ["Testmann", "testmann", "138 0013", "13800138"] {
                    #expect(!text.contains(word), "\(word) in \(file)")
                }
            }
            #expect(output.contains("11 commands: ") && !output.contains("Testmann"))

            let session = report.appending(path: "session.ndjson").path
            #expect(try BuiltProgram.run(["redact", "--scan", session]).exitCode == 0)
            #expect(try BuiltProgram.run(["verify", session]).exitCode == 0)
            // What is said of it is what the commands say of the file that is in it.
            let check = try BuiltProgram.run(["check", "--all", session])
            #expect(check.output.hasSuffix(try text(report, "check.txt").suffix(40)))
            let stats = try BuiltProgram.run(["stats", session])
            #expect(
                stats.output.split(separator: "\n").dropFirst()
                    == (try text(report, "stats.txt")).split(separator: "\n").dropFirst())
            let facts = try JSON(parsing: try text(report, "facts.json"))
            #expect(facts["recording"]?["complete"] == true)
            #expect(facts["link"]?[0]?["board"] == "192.168.42.1:8080")
            #expect(facts["redaction"]?["touched"]?["kinds"]?["name"] != nil)
        }
    }

    @Test func `its page opens from the disk`() throws {
        try withTemporaryFolder { folder in
            let (report, _) = try unpacked("captures/late-answer.ndjson", in: folder)
            try InspectedPage.look("whole", [report.appending(path: "session.html").path])
        }
    }

    @Test func `who has only the bundle sees the defect, and replays it red`() throws {
        try withTemporaryFolder { folder in
            // B28: a poll gets more commands than its limit says.
            let session = folder.appending(path: "bug.ndjson").path
            let played = try ReplayProgram.run([
                ReplayProgram.capture("queue-limit"), "--as", "app", "--spawn",
                ReplayProgram.board + " --defect B28", "-o", session,
            ])
            #expect(played.exitCode == 1, "\(played.output)\(played.errors)")
            let (report, output) = try unpacked(session, in: folder)
            #expect(output.contains(" broken: queue-limit"), "\(output)")
            let issue = try text(report, "issue.md")
            #expect(issue.contains("- `queue-limit` (S, "), "\(issue)")
            try InspectedPage.look(
                "broken", [report.appending(path: "session.html").path, "--rule", "queue-limit"])
            // What the recorded board did as well is the same, unless it is held against the rules.
            let same = try ReplayProgram.run([
                report.appending(path: "session.ndjson").path, "--as", "app", "--spawn",
                ReplayProgram.board + " --defect B28",
            ])
            #expect(same.exitCode == 0, "\(same.output)\(same.errors)")
            #expect(same.errors.contains("not counted: queue-limit; --check"), "\(same.errors)")
            let replayed = try ReplayProgram.run([
                "--check", report.appending(path: "session.ndjson").path, "--as", "app", "--spawn",
                ReplayProgram.board + " --defect B28",
            ])
            #expect(replayed.exitCode == 1, "\(replayed.output)\(replayed.errors)")
            #expect(replayed.output.contains("rules queue-limit"), "\(replayed.output)")
        }
    }

    @Test func `a team's key gives two bundles the same stand-ins`() throws {
        try withTemporaryFolder { folder in
            let key = folder.appending(path: "team.key").path
            var sessions: [String] = []
            for name in ["one", "two"] {
                let place = folder.appending(path: name)
                try FileManager.default.createDirectory(
                    at: place, withIntermediateDirectories: true)
                let (report, _) = try unpacked(
                    "captures/errors.ndjson", ["--key", key], in: place)
                sessions.append(try text(report, "session.ndjson"))
                #expect(!(try text(report, "facts.json")).contains(try text(folder, "team.key")))
            }
            #expect(sessions[0] == sessions[1])
        }
    }

    @Test func `a session that was redacted before is bundled as it is`() throws {
        try withTemporaryFolder { folder in
            let session = folder.appending(path: "lab.ndjson").path
            let redacted = try BuiltProgram.run([
                "redact", "captures/errors.ndjson", "-o", session,
            ])
            #expect(redacted.exitCode == 0)
            let (report, _) = try unpacked(session, in: folder)
            #expect(
                try text(report, "session.ndjson")
                    == String(contentsOfFile: session, encoding: .utf8))
        }
    }

    @Test func `what cannot be made is said, and leaves nothing`() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "report.zip")
            let cases: [([String], Int32, String)] = [
                (["captures/errors.ndjson"], 2, "--output"),
                (
                    ["captures/errors.ndjson", "-o", folder.path + "/report.tar"], 2,
                    "a bundle is a zip"
                ),
                (["no-such-file", "-o", path.path], 4, "cannot read no-such-file"),
                (
                    ["captures/errors.ndjson", "-o", "/no/report.zip"], 6,
                    "cannot write /no/report.zip"
                ),
                (["README.md", "-o", path.path], 4, "README.md"),
            ]
            for (arguments, code, words) in cases {
                let outcome = try BuiltProgram.run(["bundle"] + arguments)
                #expect(outcome.exitCode == code, "\(arguments)")
                #expect(outcome.errors.contains(words), "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }
}
