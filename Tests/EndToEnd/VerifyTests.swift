import Foundation
import Testing

@Suite struct VerifyTests {
    private let file = "Tests/EndToEnd/Sessions/short.ndjson"
    private let text: String

    init() throws {
        text = try String(contentsOf: BuiltProgram.root.appending(path: file), encoding: .utf8)
    }

    @Test func `a torn file ends with 1, or with 4 where it must be complete`() throws {
        let torn = String(text.dropLast(30))
        let found = try BuiltProgram.run(["verify", "-"], input: torn)
        #expect(found.exitCode == 1)
        #expect(found.output.contains("torn_line"))
        let required = try BuiltProgram.run(["verify", "--require-complete", "-"], input: torn)
        #expect(required.exitCode == 4)
        let json = try BuiltProgram.run(["verify", "--json", "-"], input: torn)
        for line in json.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["file"] as? String == "standard input")
            #expect(object?["line"] is Int)
        }
        #expect(!json.output.isEmpty)
    }

    @Test func `a file that is no session does not keep the others from being looked at`() throws {
        let outcome = try BuiltProgram.run(["verify", "README.md", file])
        #expect(outcome.exitCode == 4)
        #expect(outcome.errors.hasPrefix("bridgetap: error: README.md is not a session file\n"))
        #expect(outcome.output == "\(file): 12 events, whole\n")
    }

    @Test func `a repaired file is whole but for what it admits`() throws {
        try withTemporaryFolder { folder in
            var lines = text.split(separator: "\n").map(String.init)
            lines[6] = "{\"event\":\"frame\",broken"
            let input = folder.appending(path: "lab.ndjson")
            let output = folder.appending(path: "good.ndjson.zst").path
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
            let outcome = try BuiltProgram.run(["verify", "--repair", "-o", output, input.path])
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.contains("\(output): 10 events kept, 1 line lost\n"))
            let again = try BuiltProgram.run(["verify", output])
            #expect(!again.output.contains("error"))
            let shown = try BuiltProgram.run(["show", output])
            #expect(shown.output.contains("repair"))
            #expect(shown.output.contains("not recorded"))

            let twice = try BuiltProgram.run(["verify", "--repair", "-o", output, input.path])
            #expect(twice.exitCode == 2)
            #expect(
                twice.errors.hasSuffix(
                    "bridgetap: error: cannot write \(output): file exists (open, EEXIST)\n"
                        + "bridgetap: hint: nothing is ever written over; choose another name\n"))
            let same = try BuiltProgram.run(
                ["verify", "--repair", "-o", input.path, input.path])
            #expect(same.exitCode == 2)
        }
    }

    @Test(arguments: ["ndjson", "ndjson.gz", "ndjson.zst"])
    func `a session goes through every format and comes back the same`(ending: String) throws {
        try withTemporaryFolder { folder in
            let packed = folder.appending(path: "packed.\(ending)").path
            #expect(try BuiltProgram.run(["convert", file, "-o", packed]).exitCode == 0)
            let back = try BuiltProgram.run(["convert", packed, "-o", "-"])
            #expect(back.exitCode == 0)
            #expect(back.output.split(separator: "\n").count == text.split(separator: "\n").count)
            let shown = try BuiltProgram.run(["show", packed]).output
            #expect(try BuiltProgram.run(["show", file]).output == shown)
            let mode = try FileManager.default.attributesOfItem(atPath: packed)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test func `a failed conversion leaves no file`() throws {
        try withTemporaryFolder { folder in
            let output = folder.appending(path: "out.pcap").path
            let outcome = try BuiltProgram.run(["convert", "README.md", "-o", output])
            #expect(outcome.exitCode == 4)
            #expect(!FileManager.default.fileExists(atPath: output))
        }
    }

    @Test(arguments: [">/dev/full", "| head -c 10 >/dev/null"])
    func `an output that takes no more ends a conversion, however much is left`(
        output: String
    ) throws {
        let folder = try TestFolder()
        let large = folder.file("large.ndjson")
        let session = try #require(text.split(separator: "\n").first)
        let words = String(repeating: "x", count: 1000)
        let notes = (1...8000).map {
            #"{"event":"note","seq":\#($0),"t":\#($0),"code":"mark","text":"\#(words)"}"#
        }
        try Data(([String(session)] + notes).joined(separator: "\n").utf8)
            .write(to: URL(filePath: large))
        let child = try Child(
            "/bin/bash",
            [
                "-c", "set -o pipefail; \"$0\" convert \"$1\" -o - \(output)",
                BuiltProgram.url.path, large,
            ], in: folder)
        let outcome = try child.finish()
        #expect(outcome.exitCode == 6)
        let why = output.hasPrefix(">") ? "no space left on device" : "broken pipe"
        #expect(outcome.errors.contains("cannot write standard output: \(why)"))
    }

    @Test func `a conversion of a torn file admits what is missing`() throws {
        let torn = String(text.dropLast(30))
        let outcome = try BuiltProgram.run(
            ["convert", "--require-complete", "-", "-o", "-"], input: torn)
        #expect(outcome.exitCode == 4)
        let last = try #require(outcome.output.split(separator: "\n").last)
        let end = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
        #expect(end?["event"] as? String == "end")
        #expect(end?["dropped"] as? Int == 1)
    }

    @Test func `tshark reads a session as pcap`() throws {
        try withTemporaryFolder { folder in
            let output = folder.appending(path: "out.pcap").path
            #expect(try BuiltProgram.run(["convert", file, "-o", output]).exitCode == 0)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/tshark")
            process.arguments = [
                "-r", output, "-d", "tcp.port==8080,http", "-Y", "websocket", "-T", "fields",
                "-e", "websocket.opcode",
            ]
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = FileHandle.nullDevice
            try BuiltProgram.withNoSignalBlocked { try process.run() }
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let rows = String(decoding: data, as: UTF8.self).split(separator: "\n")
            #expect(rows.count == 6)
        }
    }
}
