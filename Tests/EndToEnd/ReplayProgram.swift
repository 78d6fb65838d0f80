import Foundation
import Wire

/// `bridgetap replay`, run to its end, and the peers that it is run against.
enum ReplayProgram {
    static let python = BuiltProgram.root.appending(path: ".venv/bin/python").path
    static let program = "'\(BuiltProgram.url.path)'"
    static let board = "\(program) board --listen 127.0.0.1:{port}"
    static let app =
        "\(program) app --platform {platform} --to ws://127.0.0.1:{port}/api/phone-bridge"

    /// The command line of a peer in Tests/Peers.
    static func peer(_ name: String, _ arguments: String = "") -> String {
        let script = BuiltProgram.root.appending(path: "Tests/Peers/\(name).py").path
        return "'\(python)' -B '\(script)' --seconds 55 " + arguments
    }

    /// The app on `websockets`.
    static func foreignApp(_ twist: String = "none") -> String {
        peer("websockets_app", "--port {port} --twist \(twist)")
    }

    /// The board on `aiohttp`, and how it is made to send a command.
    static func foreignBoard(_ twist: String = "none") -> [String] {
        [
            "--spawn", peer("aiohttp_board", "--port {port} --twist \(twist)"),
            "--stimulus", "POST http://127.0.0.1:{port}/debug/send",
        ]
    }

    /// A session of captures/.
    static func capture(_ name: String) -> String { "captures/\(name).ndjson" }

    /// Runs it.
    static func run(_ arguments: [String]) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(["replay"] + arguments)
    }

    /// What is not the same, such as `changed contacts_query y_1 1`.
    static func differences(_ outcome: BuiltProgram.Outcome) throws -> [String] {
        try outcome.output.split(separator: "\n").compactMap { line in
            let json = try JSON(parsing: String(line))
            guard json["kind"] == "command", let word = json["outcome"]?.stringValue,
                word != "same"
            else { return nil }
            return [word, json["type"]?.stringValue ?? "", json["name"]?.stringValue ?? ""]
                .joined(separator: " ")
        }
    }
}
