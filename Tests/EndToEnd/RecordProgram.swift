import Foundation
import Glibc
import Wire

/// `bridgetap record`, running.
final class RunningRecorder {
    let child: Child
    /// Where it listens on 127.0.0.1.
    let port: UInt16
    let files: [String]

    /// Starts it between any free port and `upstream`, and waits until it listens.
    ///
    /// - Parameters:
    ///   - files: names in the folder, or paths.
    ///   - program: another build than the one that stands beside the tests.
    init(
        to upstream: UInt16, in folder: TestFolder, files names: [String] = ["lab.ndjson"],
        flags: [String] = [], program: String = BuiltProgram.url.path
    ) throws {
        files = names.map { $0.hasPrefix("/") ? $0 : folder.file($0) }
        let readyFile = folder.file("recorder-\(UUID().uuidString)")
        child = try Child(
            program,
            ["record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:\(upstream)"]
                + files.flatMap { ["-o", $0] } + ["--ready-file", readyFile] + flags, in: folder)
        port = try Self.port(in: try child.waitForFile(readyFile))
    }

    /// Ends it as a user does, and gives how it ended.
    func stop(_ signal: Int32 = SIGTERM) throws -> Child.Outcome {
        try child.signal(signal)
        return try child.finish()
    }

    /// The session in the first of its files.
    func session() throws -> RecordedSession {
        try RecordedSession(files.prefix(1))
    }

    /// What `bridgetap verify` has to say against files; empty for good ones.
    static func verify(_ files: [String]) throws -> String {
        let outcome = try BuiltProgram.run(["verify"] + files)
        return outcome.exitCode == 0 ? "" : outcome.output + outcome.errors
    }

    /// The port of a text such as `127.0.0.1:8080`.
    static func port(in address: String) throws -> UInt16 {
        let digits = address.split(separator: ":").last?.filter(\.isNumber) ?? ""
        guard let port = UInt16(digits) else { throw Trouble("\(address) has no port") }
        return port
    }
}

/// One of the programs in Tests/Peers, which stand on other implementations than ours.
final class Peer {
    private let child: Child
    private let name: String
    /// Where a listening one is; 0 for the others.
    let port: UInt16

    /// Starts one that listens on any free port, and waits until it does.
    init(listening name: String, _ arguments: [String] = [], in folder: TestFolder) throws {
        self.name = name
        let readyFile = folder.file("\(name)-\(UUID().uuidString)")
        child = try Self.start(name, arguments + ["--ready-file", readyFile], in: folder)
        port = try RunningRecorder.port(in: try child.waitForFile(readyFile))
    }

    /// Starts one that connects to a port.
    init(
        _ name: String, to port: UInt16, _ arguments: [String] = [], in folder: TestFolder
    ) throws {
        self.name = name
        self.port = 0
        child = try Self.start(name, arguments + ["--port", "\(port)"], in: folder)
    }

    /// Starts one that reads a file.
    init(_ name: String, reading file: String, in folder: TestFolder) throws {
        self.name = name
        port = 0
        child = try Self.start(name, [file], in: folder)
    }

    private static func start(
        _ name: String, _ arguments: [String], in folder: TestFolder
    ) throws -> Child {
        let python = BuiltProgram.root.appending(path: ".venv/bin/python").path
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw Trouble(".venv is missing; scripts/setup makes it")
        }
        let script = BuiltProgram.root.appending(path: "Tests/Peers/\(name).py").path
        // -B: the source folder stays as it is.
        return try Child(
            python, ["-B", script] + arguments + ["--seconds", "\(Child.limit - 10)"], in: folder)
    }

    /// Waits until it is done, and gives the one line that it has to say.
    func finish(within seconds: Double = 60) throws -> PeerReport {
        let outcome = try child.finish(within: seconds)
        guard let json = try? JSON(parsing: outcome.output) else {
            throw Trouble("\(name) ended with \(outcome.exitCode): \(outcome.errors)")
        }
        return PeerReport(json: json, exitCode: outcome.exitCode)
    }
}

/// What a peer has to say in the end.
struct PeerReport: CustomStringConvertible {
    let json: JSON
    let exitCode: Int32

    subscript(name: String) -> JSON? { json[name] }

    var isGood: Bool { exitCode == 0 }
    var end: String? { json["end"]?.stringValue }
    var sent: Tally? { json["sent"].flatMap(Tally.init) }
    var received: Tally? { json["received"].flatMap(Tally.init) }

    var description: String { "exit code \(exitCode), \(json)" }
}

/// How many bytes there were, and their hash.
struct Tally: Equatable, CustomStringConvertible {
    var bytes: Int64
    var sha256: String

    init(bytes: Int64, sha256: String) {
        self.bytes = bytes
        self.sha256 = sha256
    }

    init?(_ json: JSON) {
        guard let bytes = json["bytes"]?.integerValue, let sha256 = json["sha256"]?.stringValue
        else { return nil }
        self.init(bytes: bytes, sha256: sha256)
    }

    var description: String { "\(bytes) bytes \(sha256.prefix(12))" }
}
