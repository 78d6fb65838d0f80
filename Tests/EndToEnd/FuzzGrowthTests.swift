import Foundation
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Simulator
import Testing

/// A target whose memory or handles grow from case to case (U6), over loopback.
@Suite struct FuzzGrowthTests {
    private static let script = """
        bridgetap-fuzz 1 as app
        get status
        !H1 post status {"x":1}
        again 40

        """

    private static func board(_ flags: String) -> String {
        ReplayProgram.peer("aiohttp_board", "--port {port} \(flags)")
    }

    private func reproduce(_ flags: [String]) throws -> BuiltProgram.Outcome {
        var outcome: BuiltProgram.Outcome?
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "leak.fuzz")
            try Data(Self.script.utf8).write(to: file)
            outcome = try BuiltProgram.run(
                ["fuzz", "--reproduce", file.path, "--times", "1", "--as", "app"] + flags)
        }
        return try #require(outcome)
    }

    @Test(arguments: [("--leak 200", "memory-flat"), ("--leak-files 1", "handles-flat")])
    func `a board that keeps something for each request is told`(
        _ flags: String, _ check: String
    ) throws {
        let outcome = try reproduce(["--spawn", Self.board(flags)])
        #expect(outcome.exitCode == 1, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("1  \(check): "), "\(outcome.output)")
    }

    @Test func `boards that keep nothing are not`() throws {
        for board in [Self.board(""), ReplayProgram.board] {
            let outcome = try reproduce(["--spawn", board])
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("0/1 it does not come"))
        }
    }

    @Test func `a target that others keep running is looked at by a probe`() throws {
        let running = try RunningProgram(["board", "--listen", "127.0.0.1:0"])
        defer { running.interrupt() }
        let address = running.firstLine()
        // Each answer is larger than the last one, whatever the board does.
        try withTemporaryFolder { folder in
            let count = folder.appending(path: "n").path
            let probe =
                "echo x >> '\(count)'; n=$(wc -l < '\(count)'); "
                + "echo pid=7 rss=$((40000 + n * 300)) fds=12"
            let to = ["--to", "ws://\(address)/api/phone-bridge"]
            let grown = try reproduce(to + ["--probe", probe])
            #expect(grown.exitCode == 1, "\(grown.output)\(grown.errors)")
            #expect(grown.output.contains("1  memory-flat: its memory grew from "))
            let flat = try reproduce(to + ["--probe", "echo pid=7 rss=40000 fds=12"])
            #expect(flat.exitCode == 0, "\(flat.output)\(flat.errors)")
            // One that is another process now has died in between.
            let died = try reproduce(
                to + ["--probe", "echo x >> '\(count)'; echo pid=$(wc -l < '\(count)') fds=1"])
            #expect(died.output.contains("1  process: its process "), "\(died.output)")
            let broken = try reproduce(to + ["--probe", "echo nothing"])
            #expect(broken.exitCode == 3, "\(broken.output)")
            #expect(broken.errors.contains("--probe: pid, rss and fds with a number each were due"))
            // Without one nobody can tell.
            let blind = try reproduce(to)
            #expect(blind.exitCode == 3, "\(blind.output)")
            #expect(blind.errors.contains("--spawn it, or --probe it"))
        }
    }
}
