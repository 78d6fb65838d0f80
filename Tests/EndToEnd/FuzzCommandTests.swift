import Foundation
import Fuzz
import PhoneBridge
import Testing
import Wire

/// `bridgetap fuzz` and `bridgetap findings` as a person runs them, against the simulated peers.
@Suite struct FuzzCommandTests {
    private static let board = ["--as", "app", "--to", "simulated", "--profile", "contract"]

    private func fuzz(
        _ folder: URL, _ arguments: [String]
    ) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(
            ["fuzz"] + Self.board + ["--findings", folder.appending(path: "f").path] + arguments)
    }

    /// The names of the findings in a folder.
    private func names(_ folder: URL) throws -> [String] {
        let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return all.filter { name in
            FileManager.default.fileExists(
                atPath: folder.appending(path: "\(name)/finding.json").path)
        }.sorted()
    }

    private func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    private func mode(_ file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    // MARK: Canaries

    @Test func `a planted defect is found within seconds, and reproduces from its folder`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(
                folder, ["--defect", "B16", "--only", "session", "--seed", "1", "--runs", "10"])
            #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
            let findings = folder.appending(path: "f")
            let name = try #require(
                try names(findings).first { $0.hasPrefix("heartbeat-echo-id-") })
            #expect(outcome.output.contains("! \(name)  confirmed in 10 of 10 repeats"))
            let place = findings.appending(path: name)
            #expect(try mode(place) == 0o700)
            for file in ["script.fuzz", "failing.ndjson", "control.ndjson", "finding.json"] {
                #expect(try mode(place.appending(path: file)) == 0o600)
            }
            let script = try text(place.appending(path: "script.fuzz"))
            #expect(script.hasPrefix("# bridgetap fuzz --reproduce "))
            #expect(script.split(separator: "\n").count <= 5)
            let again = try BuiltProgram.run(
                ["fuzz", "--reproduce", place.path, "--defect", "B16"] + Self.board)
            #expect(again.exitCode == 1)
            #expect(again.output.hasSuffix("control  passes\n10/10 it comes\n"))
            let clean = try BuiltProgram.run(["fuzz", "--reproduce", place.path] + Self.board)
            #expect(clean.exitCode == 0)
            #expect(clean.output.hasSuffix("0/10 it does not come\n"))
            // What is left is a session for every other command.
            for file in ["failing.ndjson", "control.ndjson"] {
                let session = place.appending(path: file).path
                #expect(try BuiltProgram.run(["show", session]).exitCode == 0)
                #expect(try BuiltProgram.run(["verify", session]).exitCode == 0)
            }
        }
    }

    @Test(arguments: [("app", "--to"), ("board", "--listen")])
    func `a clean peer is clean`(played: String, flag: String) throws {
        try withTemporaryFolder { folder in
            let outcome = try BuiltProgram.run([
                "fuzz", "--as", played, flag, "simulated", "--profile", "contract", "--only",
                "session,json", "--seed", "1", "--runs", "60", "--findings",
                folder.appending(path: "f").path,
            ])
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("no finding in 60 cases"))
        }
    }

    // MARK: A campaign

    /// Kills a campaign in its third second; gives the cases that it had told of.
    private func killedCampaign(_ folder: URL) throws -> Int64 {
        let running = try RunningProgram(
            ["fuzz"] + Self.board + [
                "--findings", folder.appending(path: "f").path, "--only", "session", "--seed",
                "5", "--runs", "100000", "--json",
            ])
        var told = running.read(until: "\"kind\":\"status\"")
        told += running.read(until: "\"kind\":\"status\"")
        running.kill()
        let status = try #require(told.split(separator: "\n").last { $0.hasSuffix("}") })
        return try JSON(parsing: String(status))["cases"]?.integerValue ?? 0
    }

    @Test func `what was interrupted hard is resumed, and no case is run twice`() throws {
        try withTemporaryFolder { folder in
            let cases = try killedCampaign(folder)
            let state = try text(folder.appending(path: "f/state.ndjson"))
            let before = state.split(separator: "\n").count { $0.contains("\"case\"") }
            #expect(before >= cases)
            #expect(cases > 0)
            let outcome = try fuzz(
                folder, ["--only", "session", "--resume", "--runs", "\(before + 5)", "--json"])
            let last = try #require(outcome.output.split(separator: "\n").last)
            let end = try JSON(parsing: String(last))
            #expect(end["cases"]?.integerValue == Int64(before + 5))
            #expect((5...15).contains(end["runs"]?.integerValue ?? 0))
            let other = try fuzz(folder, ["--resume", "--runs", "10"])
            #expect(other.exitCode == 2)
            #expect(other.errors.contains("is another one: its levels was session, and is  now"))
        }
    }

    @Test func `shards share the work, and their findings are merged`() throws {
        try withTemporaryFolder { folder in
            for number in 1...2 {
                let outcome = try BuiltProgram.run(
                    ["fuzz"] + Self.board + [
                        "--defect", "B16", "--only", "session", "--seed", "1", "--runs", "12",
                        "--shard", "\(number)/2", "--findings",
                        folder.appending(path: "s\(number)").path,
                    ])
                #expect(outcome.output.contains("in 6 cases"))
            }
            let folders = ["s1", "s2", "all"].map { folder.appending(path: $0).path }
            let merged = try BuiltProgram.run(["findings", "merge"] + folders)
            #expect(merged.exitCode == 0, "\(merged.errors)")
            let all = try names(folder.appending(path: "all"))
            #expect(all.contains { $0.hasPrefix("heartbeat-echo-id-") })
            let list = try BuiltProgram.run(["findings", "list", folders[2]])
            #expect(list.exitCode == 1)
            for name in all { #expect(list.output.contains("!  \(name)")) }
            let once = try BuiltProgram.run(["findings", "accept", folders[2]])
            #expect(once.exitCode == 0)
            #expect(try BuiltProgram.run(["findings", "list", folders[2]]).exitCode == 0)
            // What is known does not turn the next night red, and is run first.
            let next = try BuiltProgram.run(
                ["fuzz"] + Self.board + [
                    "--defect", "B16", "--only", "session", "--seed", "2", "--runs", "5",
                    "--findings", folders[2],
                ])
            #expect(next.exitCode == 0, "\(next.output)")
            #expect(next.output.contains("is still there, 3/3 (does not count: known)"))
        }
    }

    @Test func `what shows something new joins the corpus of the next campaign`() throws {
        try withTemporaryFolder { folder in
            let corpus = folder.appending(path: "corpus")
            try FileManager.default.createDirectory(
                at: corpus, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: BuiltProgram.root.appending(path: "captures/pip-queue.ndjson"),
                to: corpus.appending(path: "pip-queue.ndjson"))
            let arguments = [
                "--only", "session", "--seed", "1", "--runs", "8", "--corpus", corpus.path,
            ]
            #expect(try fuzz(folder, arguments).exitCode == 0)
            let new = try FileManager.default.contentsOfDirectory(
                atPath: corpus.appending(path: "new").path)
            #expect(!new.isEmpty)
            // Frozen until then.
            #expect(try fuzz(folder, arguments + ["--resume"]).exitCode == 0)
            #expect(try fuzz(folder, arguments).exitCode == 0)
            let joined = try FileManager.default.contentsOfDirectory(atPath: corpus.path)
            #expect(Set(new).isSubset(of: joined))
        }
    }

    @Test func `reports are written, and say the same`() throws {
        try withTemporaryFolder { folder in
            let files = ["r.xml", "r.sarif", "r.html"].map { folder.appending(path: $0) }
            let outcome = try fuzz(
                folder,
                [
                    "--defect", "B16", "--only", "session", "--seed", "1", "--runs", "10",
                    "--jobs", "2", "--junit", files[0].path, "--sarif", files[1].path, "--html",
                    files[2].path,
                ])
            #expect(outcome.exitCode == 1)
            for name in try names(folder.appending(path: "f")) {
                for file in files {
                    #expect(try text(file).contains(name), "\(file.lastPathComponent)")
                }
            }
        }
    }

    @Test func `it ends at so many findings, and says so`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(
                folder,
                [
                    "--defect", "B16", "--only", "session", "--seed", "1", "--for", "60s",
                    "--stop-at-findings", "1",
                ])
            #expect(outcome.exitCode == 1)
            let last = outcome.output.split(separator: "\n").last ?? ""
            #expect(last.hasPrefix("1 finding as wanted; 1 finding in "), "\(last)")
        }
    }

    @Test func `it ends on a plateau, and says so`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(
                folder,
                ["--only", "frames", "--seed", "1", "--stop-at-plateau", "2s", "--json"])
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output.hasSuffix("\"end\":\"plateau\"}\n"))
        }
    }

    @Test func `a finding is exported as a test that replay runs`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(
                folder,
                ["--defect", "B16", "--only", "session", "--seed", "1", "--runs", "10"])
            #expect(outcome.exitCode == 1)
            let findings = folder.appending(path: "f").path
            let tests = folder.appending(path: "tests").path
            let export = try BuiltProgram.run(["findings", "export", findings, "-o", tests])
            #expect(export.exitCode == 0, "\(export.errors)")
            #expect(export.output.contains("bridgetap replay \(tests) --as app --to URL"))
            func replay(_ defects: [String]) throws -> Int32 {
                try BuiltProgram.run(
                    [
                        "replay", tests, "--as", "app", "--spawn",
                        ([ReplayProgram.board] + defects).joined(separator: " "),
                    ]
                ).exitCode
            }
            #expect(try replay([]) == 0)
            #expect(try replay(["--defect", "B16"]) == 1)
            let recordings = folder.appending(path: "recordings").path
            let recording = try BuiltProgram.run(
                ["findings", "export", findings, "-o", recordings, "--recording"])
            #expect(recording.exitCode == 0)
            #expect(
                try BuiltProgram.run([
                    "check",
                    recordings + "/"
                        + (try names(folder.appending(path: "f")).first ?? "") + ".ndjson",
                ]).exitCode == 1)
            #expect(try BuiltProgram.run(["findings", "export", findings]).exitCode == 2)
        }
    }

    @Test func `a corpus is culled and merged, and says what each entry is for`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(
                folder,
                [
                    "--only", "session", "--seed", "3", "--runs", "20", "--corpus",
                    folder.appending(path: "one").path,
                ])
            #expect(outcome.exitCode == 0, "\(outcome.output)")
            try FileManager.default.createDirectory(
                at: folder.appending(path: "two"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: BuiltProgram.root.appending(path: "captures/replaced.ndjson"),
                to: folder.appending(path: "two/replaced.ndjson"))
            let cull = try BuiltProgram.run(
                ["fuzz"] + Self.board + [
                    "--corpus", folder.appending(path: "one").path, "--cull", "--from",
                    folder.appending(path: "two").path,
                ])
            #expect(cull.exitCode == 0, "\(cull.errors)")
            let index = try text(folder.appending(path: "one/index.txt"))
            #expect(index.contains("\n    response 200"))
            let entries = try FileManager.default.contentsOfDirectory(
                atPath: folder.appending(path: "one").path
            ).filter { $0.hasSuffix(".fuzz") }
            #expect(!entries.isEmpty)
            for entry in entries { #expect(index.contains(entry)) }
            let again = try BuiltProgram.run(
                ["fuzz"] + Self.board + [
                    "--corpus", folder.appending(path: "one").path, "--cull",
                ])
            #expect(again.output.contains(": \(entries.count) kept, 0 that"), "\(again.output)")
        }
    }

    @Test func `an interruption still reports, and ends with 130`() throws {
        try withTemporaryFolder { folder in
            let running = try RunningProgram(
                ["fuzz"] + Self.board + [
                    "--findings", folder.appending(path: "f").path, "--seed", "1", "--json",
                ])
            _ = running.read(until: "\"kind\":\"status\"")
            let outcome = try running.stop()
            #expect(outcome.exitCode == 130)
            #expect(outcome.output.contains("\"kind\":\"end\""))
        }
    }

    @Test func `a dry run says what would be checked, and runs no case`() throws {
        try withTemporaryFolder { folder in
            let outcome = try fuzz(folder, ["--dry-run"])
            #expect(outcome.exitCode == 0, "\(outcome.output)")
            #expect(outcome.output.contains("  S  heartbeat-echo-id\n"))
            #expect(outcome.output.contains("5 exchanges without a mutation went well"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func `a target that is not there ends it with 3`() throws {
        try withTemporaryFolder { folder in
            let outcome = try BuiltProgram.run([
                "fuzz", "--as", "app", "--to", "ws://127.0.0.1:9/api/phone-bridge", "--findings",
                folder.appending(path: "f").path, "--runs", "5", "--seed", "1",
            ])
            #expect(outcome.exitCode == 3, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("the target could not be used"))
        }
    }

    @Test func `a board that is spawned is fuzzed over the network`() throws {
        try withTemporaryFolder { folder in
            let profile = folder.appending(path: "fast.json5")
            try Data("{ extends: \"contract\", time_scale: 50 }\n".utf8).write(to: profile)
            let outcome = try BuiltProgram.run([
                "fuzz", "--as", "app", "--spawn",
                "\(ReplayProgram.board) --time-scale 50 --defect B16", "--profile", profile.path,
                "--only", "session", "--seed", "1", "--runs", "10", "--for", "40s", "--jobs", "2",
                "--findings", folder.appending(path: "f").path,
            ])
            #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
            #expect(
                try names(folder.appending(path: "f")).contains {
                    $0.hasPrefix("heartbeat-echo-id-")
                })
        }
    }

    @Test func `a finding that was made long is made short`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "long.fuzz")
            try Data(
                """
                bridgetap-fuzz 1 as app
                connect a platform=ios&phone_id=p1
                text a {"id":"phone_environment","method":"phone_environment","data":{}}
                beats a 5s
                get status
                !C10 text a {"id":"ping"}
                wait 20s
                get status

                """.utf8
            ).write(to: file)
            let outcome = try fuzz(folder, ["--defect", "B16", "--minimise", file.path])
            #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
            #expect(
                outcome.output.hasSuffix(
                    "bridgetap-fuzz 1 as app\nconnect a\n!C10 text a {\"id\":\"ping\"}\n"))
        }
    }
}
