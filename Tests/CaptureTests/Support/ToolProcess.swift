import Foundation
import Testing

/// Runs a program that the machine has to have.
struct ToolProcess {
    var status: Int32
    var output: String
    var errors: String

    struct Missing: Error, CustomStringConvertible {
        var name: String
        var description: String { "\(name) is not installed: make setup installs what tests need" }
    }

    /// Runs `name` to its end; a program that is not there is an error, never a skipped test.
    static func run(_ name: String, _ arguments: [String]) throws -> ToolProcess {
        let path = ["/usr/bin/", "/usr/local/bin/", "/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { throw Missing(name: name) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let folder = try TemporaryFolder()
        let output = folder.url.appendingPathComponent("out")
        let errors = folder.url.appendingPathComponent("err")
        for file in [output, errors] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return ToolProcess(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }
}

/// A folder that goes when the test is over.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("bridgetap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}
