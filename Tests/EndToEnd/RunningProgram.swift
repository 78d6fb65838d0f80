import Foundation
import Glibc

/// The program while it runs, with what it prints as it comes.
struct RunningProgram {
    private let process = Process()
    private let output = Pipe()
    private let errors: URL

    /// Starts it; after a minute it is ended whatever it does.
    init(_ arguments: [String], input: Pipe? = nil, seconds: Int = 60) throws {
        errors = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-errors-\(UUID().uuidString)")
        try Data().write(to: errors)
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        // In the foreground, an interruption of `timeout` is passed on once and to the program only.
        process.arguments =
            ["--foreground", "--kill-after=5", "\(seconds)", BuiltProgram.url.path] + arguments
        process.currentDirectoryURL = BuiltProgram.root
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try BuiltProgram.withNoSignalBlocked { try process.run() }
    }

    /// Reads standard output until it contains `text`, or is over; gives what was read.
    func read(until text: String) -> String {
        var result = ""
        while !result.contains(text) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            result += String(decoding: data, as: UTF8.self)
        }
        return result
    }

    /// The first line of standard output, such as the address that is listened on.
    func firstLine() -> String {
        read(until: "\n").split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Sends SIGINT.
    func interrupt() {
        process.interrupt()
    }

    /// Ends it as nothing can be caught: SIGKILL, to the program itself.
    func kill() {
        let children =
            "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children"
        let text = (try? String(contentsOfFile: children, encoding: .utf8)) ?? ""
        for pid in text.split(separator: " ").compactMap({ Int32($0) }) {
            _ = Glibc.kill(pid, SIGKILL)
        }
        process.waitUntilExit()
    }

    /// Waits for the end; gives the rest of the output.
    func finish() throws -> BuiltProgram.Outcome {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let words = try Data(contentsOf: errors)
        try FileManager.default.removeItem(at: errors)
        return BuiltProgram.Outcome(
            exitCode: process.terminationStatus, output: String(decoding: data, as: UTF8.self),
            errors: String(decoding: words, as: UTF8.self))
    }

    /// Sends SIGINT and waits for the end.
    func stop() throws -> BuiltProgram.Outcome {
        interrupt()
        return try finish()
    }
}

/// A folder that is gone when its user is.
func withTemporaryFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "bridgetap-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}
