import Foundation
import Glibc

/// The program as it was built for these tests, run as a user runs it.
enum BuiltProgram {
    /// How a run ended.
    struct Outcome: Sendable {
        let exitCode: Int32
        let output: String
        let errors: String
    }

    /// `bridgetap`, which stands beside the test bundle.
    static let url: URL = {
        let bundle = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") }
        let runner = URL(filePath: bundle ?? "/proc/self/exe").resolvingSymlinksInPath()
        return runner.deletingLastPathComponent().appending(path: "bridgetap")
    }()

    /// Whether `make sanitize` built it: its memory is then the sanitizer's for the most part.
    static let isSanitized = ProcessInfo.processInfo.environment["BRIDGETAP_SANITIZED"] != nil

    /// The folder of the package.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The optimised program, which `make test` builds beside the tests' own.
    static let optimised = root.appending(path: ".build/release/bridgetap")

    /// Whether that is there.
    static let isOptimisedThere = FileManager.default.isExecutableFile(atPath: optimised.path)

    /// Runs it with some arguments until it ends, at most a minute.
    ///
    /// Both streams go to files: nothing that the program leaves behind could keep them open.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        program: URL = url
    ) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
        try Data(input.utf8).write(to: files[0])
        try Data().write(to: files[1])
        try Data().write(to: files[2])

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["--kill-after=5", "60", program.path] + arguments
        process.currentDirectoryURL = root
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try withNoSignalBlocked { try process.run() }
        process.waitUntilExit()
        return Outcome(
            exitCode: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }

    /// Calls `body` while this thread takes every signal.
    ///
    /// A child inherits its parent thread's mask, and the threads that run tests block SIGTERM.
    static func withNoSignalBlocked(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }
}
