import Foundation
import Glibc
import Testing

/// The recipes of docs/links, run in network namespaces with the link's real addresses.
///
/// The scripts in Tests/Links build the machines (phone, board, laptop), run a recipe's `up` and
/// `down`, and check the way of the connections, the peer that the board sees, and that nothing is
/// left behind. They need root and the packages iproute2, iptables, nftables, tcpdump, curl,
/// util-linux, openssh-client and dropbear-bin.
@Suite(.serialized, .enabled(if: geteuid() == 0, "network namespaces need root"))
struct LinksTests {
    /// The exit status by which a script says that this machine lacks something it needs.
    private static let skipped: Int32 = 77

    @Test(arguments: [
        ("board-to-laptop", "nft"), ("board-to-laptop", "iptables"),
        ("board-to-laptop-ssh", "nft"), ("board-to-laptop-ssh", "iptables"),
        ("on-board", "nft"), ("on-board", "iptables"),
        ("laptop-as-board", ""), ("emulator-alias", ""), ("tcpdump-over-ssh", ""),
    ])
    func `a recipe leads the phone through the recorder to the board and undoes itself`(
        name: String, firewall: String
    ) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Links/\(name).test.sh").standardized
        let output = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-links-\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: output) }
        #expect(FileManager.default.createFile(atPath: output.path, contents: nil))

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["--kill-after=5", "100", "bash", script.path]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["FIREWALL": firewall, "BRIDGETAP": BuiltProgram.url.path]) { $1 }
        // A file and not a pipe: nothing the script leaves running could keep it open for us.
        let sink = try FileHandle(forWritingTo: output)
        process.standardOutput = sink
        process.standardError = sink
        process.standardInput = FileHandle.nullDevice
        try withNoSignalBlocked { try process.run() }
        process.waitUntilExit()
        try sink.close()

        let text = try String(contentsOf: output, encoding: .utf8)
        if process.terminationStatus == Self.skipped { try Test.cancel("\(text)") }
        #expect(process.terminationStatus == 0, "\(text)")
    }

    /// Calls `body` while this thread takes every signal.
    ///
    /// A child inherits its parent thread's mask. The threads that run tests block SIGTERM and
    /// SIGALRM; a child that has them blocked can neither be ended nor time itself out.
    private func withNoSignalBlocked(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }
}
