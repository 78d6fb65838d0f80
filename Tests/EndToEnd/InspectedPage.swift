import Foundation
import Testing

/// A page of `bridgetap view` in a real browser: `Tests/Peers/inspector_page.py` does what a person
/// would.
enum InspectedPage {
    /// A browser takes its time where everything else is busy too.
    private static let limit = "280"

    /// Goes through a scenario, and gives what it prints.
    ///
    /// Records an issue with its words where something is not as it should be.
    @discardableResult
    static func look(_ scenario: String, _ arguments: [String]) throws -> String {
        let root = BuiltProgram.root
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments =
            [
                "--kill-after=5", limit, ReplayProgram.python, "-B",
                root.appending(path: "Tests/Peers/inspector_page.py").path, scenario,
            ] + arguments
        process.currentDirectoryURL = root
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try BuiltProgram.withNoSignalBlocked { try process.run() }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(text)")
        return text
    }
}
