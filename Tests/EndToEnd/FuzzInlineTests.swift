import Foundation
import Fuzz
import Network
import Testing
import Wire

/// `bridgetap fuzz --inline` between programs over loopback.
@Suite struct FuzzInlineTests {
    private static let program = "'\(BuiltProgram.url.path)'"

    /// A port that nobody listens on.
    private func freePort() throws -> UInt16 {
        let loop = try UVLoop()
        defer { loop.close() }
        let listener = try loop.listen(on: .loopback(), options: ListenOptions()) { $0.abort() }
        defer { listener.close() }
        return listener.localAddress.port
    }

    /// Runs it between a board that is spawned and an app that comes.
    private func run(
        in folder: URL, board: [String], app: [String], scale: Int, _ arguments: [String]
    ) throws -> BuiltProgram.Outcome {
        let profile = folder.appending(path: "profile.json5")
        try Data("{ extends: \"contract\", time_scale: \(scale) }".utf8).write(to: profile)
        let port = try freePort()
        let running = try RunningProgram(
            [
                "fuzz", "--inline", "--listen", "127.0.0.1:\(port)", "--profile", profile.path,
                "--findings", folder.appending(path: "f").path,
            ] + board + arguments, seconds: 230)
        let peer = Process()
        peer.executableURL = URL(filePath: "/usr/bin/timeout")
        peer.arguments =
            ["210"] + app.map { $0.replacingOccurrences(of: "{port}", with: "\(port)") }
        peer.standardOutput = FileHandle.nullDevice
        peer.standardError = FileHandle.nullDevice
        try BuiltProgram.withNoSignalBlocked { try peer.run() }
        defer {
            peer.terminate()
            peer.waitUntilExit()
        }
        return try running.finish()
    }

    private static func referenceBoard(_ scale: Int, _ flags: String = "") -> [String] {
        [
            "--spawn",
            "\(program) board --listen 127.0.0.1:{port} --time-scale \(scale) \(flags)",
        ]
    }

    private static func referenceApp(_ scale: Int) -> [String] {
        [
            BuiltProgram.url.path, "app", "--to", "ws://127.0.0.1:{port}/api/phone-bridge",
            "--time-scale", "\(scale)",
        ]
    }

    private func sessions(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: folder.appending(path: "f").path
        ).filter { $0.hasPrefix("session-") }.map { folder.appending(path: "f/\($0)").path }
    }

    @Test func `a clean app and a clean board give no cause, and the session is there`() throws {
        try withTemporaryFolder { folder in
            let outcome = try run(
                in: folder, board: Self.referenceBoard(4), app: Self.referenceApp(4), scale: 4,
                ["--for", "30s", "--seed", "3", "--effects", "all"])
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            let session = try #require(try sessions(folder).first)
            #expect(try BuiltProgram.run(["verify", session]).exitCode == 0)
            let shown = try BuiltProgram.run(["show", "--filter", "code=fault", session])
            #expect(shown.output.contains("(mutation 0)"), "\(shown.output)")
        }
    }

    @Test func `a defect of the board is found while the session goes on, and reproduces`() throws {
        try withTemporaryFolder { folder in
            let outcome = try run(
                in: folder, board: Self.referenceBoard(16, "--defect B16"),
                app: Self.referenceApp(16), scale: 16,
                [
                    "--for", "200s", "--stop-at-findings", "1", "--only", "session", "--seed",
                    "\(Self.seed)",
                ])
            #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("heartbeat-echo-id-"), "\(outcome.output)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: folder.appending(path: "f").path)
            let name = try #require(names.first { $0.hasPrefix("heartbeat-echo-id-") })
            let place = folder.appending(path: "f/\(name)").path
            #expect(try BuiltProgram.run(["show", place + "/failing.ndjson"]).exitCode == 0)
            let script = try String(contentsOfFile: place + "/script.fuzz", encoding: .utf8)
            #expect(script.contains("--spawn"), "\(script)")
            let again = try BuiltProgram.run(
                [
                    "fuzz", "--reproduce", place, "--times", "2", "--as", "app", "--profile",
                    folder.appending(path: "profile.json5").path,
                ] + Self.referenceBoard(16, "--defect B16"))
            #expect(again.exitCode == 1, "\(again.output)\(again.errors)")
            #expect(again.output.contains("2/2 it comes"))
        }
    }

    private static let seed = 1

    @Test func `an app and a board of other makes are judged by what they do`() throws {
        try withTemporaryFolder { folder in
            let app = BuiltProgram.root.appending(path: "Tests/Peers/websockets_app.py").path
            let outcome = try run(
                in: folder,
                board: [
                    "--spawn", ReplayProgram.peer("aiohttp_board", "--port {port}"),
                    "--stimulus", "POST http://127.0.0.1:{port}/debug/send",
                ],
                // It does not try again by itself.
                app: [
                    "/bin/sh", "-c",
                    "until '\(ReplayProgram.python)' -B '\(app)' --seconds 50 --port {port}; do :; done",
                ], scale: 1, ["--for", "40s", "--seed", "2", "--only", "session"])
            // The board keeps no environment, and says so in its status.
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            let session = try #require(try sessions(folder).first)
            let shown = try BuiltProgram.run(["show", "--filter", "code=fault", session])
            #expect(shown.output.contains("(mutation 0)"), "\(shown.output)\(outcome.output)")
        }
    }

    @Test func `what does not go together is refused`() throws {
        for (arguments, words) in [
            (["--listen", "127.0.0.1:0"], "--upstream HOST:PORT is missing"),
            (["--upstream", "127.0.0.1:1"], "--listen HOST:PORT is missing"),
            (["--listen", "0.0.0.0:0", "--upstream", "127.0.0.1:1"], "--allow-from"),
            (["--listen", "127.0.0.1:0", "--to", "ws://127.0.0.1:1/x"], "--to"),
            (["--listen", "simulated", "--upstream", "127.0.0.1:1"], "simulated"),
        ] {
            let outcome = try BuiltProgram.run(["fuzz", "--inline"] + arguments)
            #expect(outcome.exitCode == 2, "\(arguments)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
        let outcome = try BuiltProgram.run([
            "fuzz", "--inline", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1",
            "--findings", FileManager.default.temporaryDirectory.path + "/bridgetap-none",
        ])
        #expect(outcome.exitCode == 3, "\(outcome.errors)")
    }

    @Test func `both reference peers are fuzzed in virtual time`() throws {
        try withTemporaryFolder { folder in
            let arguments = [
                "fuzz", "--inline", "--listen", "simulated", "--upstream", "simulated",
                "--findings", folder.appending(path: "f").path, "--seed", "1", "--only", "session",
            ]
            let clean = try BuiltProgram.run(arguments + ["--for", "5min"])
            #expect(clean.exitCode == 0, "\(clean.output)\(clean.errors)")
            let outcome = try BuiltProgram.run(
                arguments + [
                    "--for", "20min", "--defect", "B16", "--junit",
                    folder.appending(path: "j").path,
                ])
            #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("! heartbeat-echo-id-"))
            #expect(
                outcome.output.contains("\nthe board:\n") && outcome.output.contains("the app:"))
            let report = try String(
                contentsOf: folder.appending(path: "j"), encoding: .utf8)
            #expect(report.contains("board under test") && report.contains("app under test"))
        }
    }
}
