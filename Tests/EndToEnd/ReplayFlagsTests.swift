import Foundation
import Glibc
import Testing

/// The flags of `bridgetap replay`, and how it ends.
@Suite struct ReplayFlagsTests {
    private let boards = ["--as", "app", "--spawn", ReplayProgram.board]

    @Test func `several sessions have a target each, and all are told`() throws {
        let names = ["times", "two-at-once", "same-content", "fragmented"]
        let outcome = try ReplayProgram.run(
            names.map(ReplayProgram.capture) + boards + ["--jobs", "3"])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        for name in names { #expect(outcome.output.contains(ReplayProgram.capture(name))) }
        #expect(outcome.output.contains("4 sessions: 4 same"))
    }

    @Test func `shards share the sessions without a rest`() throws {
        let names = ["fragmented", "same-content", "times"]
        var told: [String] = []
        for shard in ["1/2", "2/2"] {
            let outcome = try ReplayProgram.run(
                names.map(ReplayProgram.capture) + boards + ["--shard", shard])
            #expect(outcome.exitCode == 0)
            told += names.filter { outcome.output.contains(ReplayProgram.capture($0)) }
        }
        #expect(told.sorted() == names)
    }

    @Test func `what took place is kept, whole, and compares as the replay said`() throws {
        let folder = try TestFolder()
        let live = folder.file("live.ndjson")
        let report = folder.file("report.xml")
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), "--as", "board", "-o", live, "--junit", report,
            "--spawn", ReplayProgram.foreignApp("wrong"),
        ])
        #expect(outcome.exitCode == 1)
        #expect(try BuiltProgram.run(["verify", live]).exitCode == 0)
        let diff = try BuiltProgram.run(["diff", ReplayProgram.capture("two-at-once"), live])
        #expect(diff.exitCode == 1)
        #expect(diff.output.contains("contacts_query"))
        let xml = try String(contentsOfFile: report, encoding: .utf8)
        #expect(xml.contains("<testcase classname=\"contacts_query\" name=\"y_1 1\""))
        #expect(xml.contains("failures=\"1\""))
    }

    @Test func `an update takes the new behaviour, and the next replay is the same`() throws {
        let folder = try TestFolder()
        let session = folder.file("session.ndjson")
        try FileManager.default.copyItem(
            atPath: BuiltProgram.root.appending(path: ReplayProgram.capture("two-at-once")).path,
            toPath: session)
        let target = ["--as", "board", "--spawn", ReplayProgram.foreignApp("wrong")]
        #expect(try ReplayProgram.run([session] + target).exitCode == 1)
        let update = try ReplayProgram.run([session, "--update"] + target)
        #expect(update.output.contains("contacts_query y_1 1"), "\(update.output)")
        #expect(try BuiltProgram.run(["verify", session]).exitCode == 0)
        let again = try ReplayProgram.run([session] + target)
        #expect(again.exitCode == 0, "\(again.output)\(again.errors)")
    }

    private static let ends: [(id: String, arguments: [String], code: Int32, words: String)] = [
        (
            "dies at start", ["--as", "app", "--spawn", "echo no such flag >&2; exit 3"], 3,
            "the target died: it exited with code 3\n    | no such flag"
        ),
        (
            "nobody there", ["--as", "app", "--to", "ws://127.0.0.1:1/"], 3,
            "the target cannot be reached at 127.0.0.1:1: connection refused"
        ),
        (
            "hook", ["--as", "app", "--spawn", "true", "--before", "echo no emulator; exit 4"], 3,
            "--before: the command exited with code 4"
        ),
        ("no side", ["--to", "ws://127.0.0.1:1/"], 2, "--as SIDE is missing"),
        ("no place", ["--as", "app"], 2, "--to URL is missing"),
        (
            "wrong place", ["--as", "board", "--to", "ws://127.0.0.1:1/"], 2,
            "--to means nothing with --as board"
        ),
        (
            "unknown place", ["--as", "app", "--spawn", "./board {prot}"], 2,
            "--spawn: {prot} is no place that is filled in here"
        ),
        (
            "jobs", ["--as", "app", "--to", "ws://127.0.0.1:1/", "--jobs", "2"], 2,
            "--jobs needs a target for each job"
        ),
    ]

    @Test(arguments: ends.indices)
    func `each way out has its code and its words`(index: Int) throws {
        let (id, arguments, code, words) = Self.ends[index]
        let outcome = try ReplayProgram.run([ReplayProgram.capture("times")] + arguments)
        #expect(outcome.exitCode == code, "\(id)")
        #expect(outcome.errors.contains(words), "\(id): \(outcome.errors)")
    }

    @Test func `what is no session ends with 4`() throws {
        let outcome = try ReplayProgram.run(["Package.swift"] + boards)
        #expect(outcome.exitCode == 4, "\(outcome.errors)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interruption leaves nothing behind`(signal: Int32) throws {
        let folder = try TestFolder()
        let mark = folder.file("pid")
        let replay = try Child(
            BuiltProgram.url.path,
            [
                "replay",
                BuiltProgram.root.appending(path: ReplayProgram.capture("times")).path,
                "--as", "app", "--after", "touch '\(folder.file("after"))'",
                "--spawn", "echo $$ > '\(mark).new'; mv '\(mark).new' '\(mark)'; exec sleep 1000",
            ], in: folder)
        let pid = try #require(Int32(try replay.waitForFile(mark).dropLast()))
        try replay.signal(signal)
        #expect(try replay.finish().exitCode == 130)
        #expect(kill(pid, 0) == -1)
        #expect(FileManager.default.fileExists(atPath: folder.file("after")))
    }
}
