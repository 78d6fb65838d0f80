import Foundation
import Testing

/// Replays against boards and apps that stand on other implementations than ours.
@Suite struct ReplayPeersTests {
    @Test(arguments: ["two-at-once", "all-commands"])
    func `an app with its own ids, order, numbers and pace is the same`(name: String) throws {
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture(name), "--as", "board", "--spawn", ReplayProgram.foreignApp(),
        ])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.hasPrefix("same "))
    }

    private static let mistakesOfAnApp: [(twist: String, differences: [String])] = [
        ("wrong", ["changed contacts_query y_1 1"]),
        // A field that is missing is no contact that the phone lacks.
        ("poor", ["changed contacts_query y_1 1"]),
        ("missing", ["unanswered contacts_query y_1 1"]),
        ("duplicate", ["duplicate contacts_query y_1 1"]),
        ("late", ["late contacts_query y_1 1"]),
    ]

    @Test(arguments: mistakesOfAnApp)
    func `a mistake of an app is told by its class, and nothing else is`(
        twist: String, differences: [String]
    ) throws {
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), "--as", "board", "--json",
            "--spawn", ReplayProgram.foreignApp(twist),
        ])
        #expect(outcome.exitCode == 1)
        #expect(try ReplayProgram.differences(outcome) == differences, "\(outcome.output)")
    }

    @Test func `answers that an app swapped are changed`() throws {
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), "--as", "board", "--json",
            "--spawn", ReplayProgram.foreignApp("swapped"),
        ])
        #expect(outcome.exitCode == 1)
        #expect(
            try Set(ReplayProgram.differences(outcome))
                == ["changed contacts_query z2 2", "changed calendar_query z1 3"],
            "\(outcome.output)")
    }

    @Test(arguments: ["two-at-once", "times", "same-content"])
    func `a board with another order, other numbers and more fields is the same`(
        name: String
    ) throws {
        let outcome = try ReplayProgram.run(
            [ReplayProgram.capture(name), "--as", "app"] + ReplayProgram.foreignBoard())
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.hasPrefix("same "))
    }

    private static let mistakesOfABoard: [(twist: String, differences: [String])] = [
        ("wrong", ["changed contacts_query y_1 1"]),
        ("swapped", ["changed calendar_query x_10 1", "changed clipboard_read x_1 1"]),
        // The one beside it waited for it, and ran out of its time.
        ("missing", ["changed calendar_query Y_1 2", "missing contacts_query y_1 1"]),
        ("duplicate", ["duplicate contacts_query y_1 1"]),
    ]

    @Test(arguments: mistakesOfABoard)
    func `a mistake of a board is told by its class, and nothing else is`(
        twist: String, differences: [String]
    ) throws {
        let outcome = try ReplayProgram.run(
            [ReplayProgram.capture("two-at-once"), "--as", "app", "--json"]
                + ReplayProgram.foreignBoard(twist))
        #expect(outcome.exitCode == 1)
        #expect(try ReplayProgram.differences(outcome) == differences, "\(outcome.output)")
    }

    @Test func `a board that has no stimulus is not tested, and that is said`() throws {
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), "--as", "app",
            "--spawn", ReplayProgram.peer("aiohttp_board", "--port {port}"),
        ])
        #expect(outcome.exitCode == 5, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("skipped        contacts_query y_1 1"))
    }

    @Test func `a target that dies is shown with its exit code and last lines`() throws {
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), "--as", "board",
            "--spawn", ReplayProgram.foreignApp("crash"),
        ])
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.contains("the target died: it exited with code 42"))
        #expect(outcome.output.contains("panic: the fourth command is too much"))
        #expect(outcome.output.contains("unanswered     contacts_query y_1 1"))
    }

    // MARK: - Slow links, busy machines

    @Test func `200 ms between player and board change nothing`() throws {
        let folder = try TestFolder()
        let ready = folder.file("board")
        let board = try Child(
            BuiltProgram.url.path,
            ["board", "--listen", "127.0.0.1:0", "--ready-file", ready], in: folder)
        let port = try RunningRecorder.port(in: try board.waitForFile(ready))
        let relay = try Peer(listening: "delaying_relay", ["--to", "\(port)"], in: folder)
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), ReplayProgram.capture("all-commands"),
            "--as", "app", "--to", "ws://127.0.0.1:\(relay.port)/api/phone-bridge",
            "--stimulus", "POST http://127.0.0.1:\(port)/simulate/command",
        ])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        try board.signal(SIGTERM)
        _ = try board.finish()
    }

    @Test func `200 ms between player and app change nothing`() throws {
        let relay = ReplayProgram.peer("delaying_relay", "--port {control} --to {port}")
        let app =
            "\(ReplayProgram.program) app --to ws://127.0.0.1:{control}/api/phone-bridge"
        let outcome = try ReplayProgram.run([
            ReplayProgram.capture("two-at-once"), ReplayProgram.capture("all-commands"),
            "--as", "board", "--spawn", "\(relay) & \(app)",
        ])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test func `busy processors change nothing`() throws {
        let folder = try TestFolder()
        let hogs = try (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            try Child("/bin/sh", ["-c", "while :; do :; done"], in: folder)
        }
        for (side, target) in [("app", ReplayProgram.board), ("board", ReplayProgram.app)] {
            let outcome = try ReplayProgram.run([
                ReplayProgram.capture("two-at-once"), "--as", side, "--spawn", target,
            ])
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        }
        for hog in hogs {
            try hog.signal(SIGTERM)
            _ = try hog.finish()
        }
    }

    // MARK: - A real board's traffic

    private static let real = BuiltProgram.root
        .appending(path: "../shared/captures/all-commands-success.pcap").standardized

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: real.path),
            "the captures of the real board stand beside the repository, not in it"))
    func `what a real board and its app said is converted and replayed`() throws {
        let folder = try TestFolder()
        let session = folder.file("real.ndjson")
        let converted = try BuiltProgram.run(["convert", Self.real.path, "-o", session])
        #expect(converted.exitCode == 0, "\(converted.errors)")
        let outcome = try ReplayProgram.run([
            session, "--as", "app", "--spawn", ReplayProgram.board,
        ])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("11 of 11 commands"))
    }
}
