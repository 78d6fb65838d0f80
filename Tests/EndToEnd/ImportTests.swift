import Foundation
import Testing

/// HAR files, packets and several inputs at once, as the built program takes them.
@Suite struct ImportTests {
    private let file = "Tests/EndToEnd/Sessions/short.ndjson"
    private let example = "captures/all-commands.ndjson"

    @Test func `a session survives the way to a HAR and back, and every command takes a HAR`()
        throws
    {
        try withTemporaryFolder { folder in
            let har = folder.appending(path: "a.har").path
            let out = try BuiltProgram.run(["convert", example, "-o", har])
            #expect(out.exitCode == 0)
            #expect(out.errors == "bridgetap: warning: 16 masking keys are left out\n")
            let back = folder.appending(path: "a.ndjson").path
            #expect(try BuiltProgram.run(["convert", har, "-o", back]).exitCode == 0)
            let same = try BuiltProgram.run(["diff", example, back])
            #expect(same.exitCode == 0, "\(same.output)")
            let shown = try BuiltProgram.run(["show", har])
            #expect(shown.exitCode == 0)
            #expect(shown.output.contains("clipboard_read"))
            let verified = try BuiltProgram.run(["verify", har])
            #expect(verified.exitCode == 0)
            #expect(verified.output.hasSuffix("events, whole\n"))
            // What is a HAR is told by its content.
            let renamed = folder.appending(path: "a.txt").path
            try FileManager.default.copyItem(atPath: har, toPath: renamed)
            #expect(try BuiltProgram.run(["show", renamed]).output == shown.output)
        }
    }

    @Test func `a HAR that is damaged is told with its place`() throws {
        let bad = try BuiltProgram.run(["show", "-"], input: "{\"log\": {\"entries\": [,]}}")
        #expect(bad.exitCode == 4)
        #expect(
            bad.errors == """
                bridgetap: error: standard input, line 1, byte 21, in log.entries[0]: "," stands \
                where a value is expected

                """)
    }

    @Test func `several sessions become one by their times`() throws {
        try withTemporaryFolder { folder in
            let both = folder.appending(path: "both.ndjson").path
            let packets = folder.appending(path: "short.pcap").path
            #expect(try BuiltProgram.run(["convert", file, "-o", packets]).exitCode == 0)
            let merged = try BuiltProgram.run(["convert", example, packets, "-o", both])
            #expect(merged.exitCode == 0, "\(merged.errors)")
            let verified = try BuiltProgram.run(["verify", both])
            #expect(verified.exitCode == 0, "\(verified.output)")
            let text = try String(contentsOfFile: both, encoding: .utf8)
            #expect(text.contains("\"merged\":\"\(example), \(packets)\""))
            #expect(text.components(separatedBy: "\"code\":\"merged\"").count == 3)
        }
    }

    @Test func `show takes one session, and says how to make one of two`() throws {
        let outcome = try BuiltProgram.run(["show", file, example])
        #expect(outcome.exitCode == 4)
        #expect(outcome.errors.contains("bridgetap convert makes one of several"))
    }

    @Test func `verify says what packets lack, and does not repair them`() throws {
        try withTemporaryFolder { folder in
            let packets = folder.appending(path: "short.pcap").path
            #expect(try BuiltProgram.run(["convert", file, "-o", packets]).exitCode == 0)
            let whole = try BuiltProgram.run(["verify", packets])
            #expect(whole.exitCode == 0, "\(whole.output)")
            var bytes = try Data(contentsOf: URL(fileURLWithPath: packets))
            bytes.removeLast(7)
            let cut = folder.appending(path: "cut.pcap")
            try bytes.write(to: cut)
            let found = try BuiltProgram.run(["verify", cut.path])
            #expect(found.exitCode == 1)
            #expect(found.output.contains("damaged"))
            #expect(found.output.contains("packet"))
            let repair = try BuiltProgram.run(
                ["verify", "--repair", "-o", folder.appending(path: "x").path, cut.path])
            #expect(repair.exitCode == 2)
        }
    }

    @Test func `diff ends with what it found`() throws {
        let same = try BuiltProgram.run(["diff", example, example])
        #expect(same.exitCode == 0)
        let other = try BuiltProgram.run(["diff", example, "captures/errors.ndjson"])
        #expect(other.exitCode == 1)
        #expect(other.output.contains("missing"))
        #expect(try BuiltProgram.run(["diff", example, "README.md"]).exitCode == 4)
        #expect(try BuiltProgram.run(["diff", example]).exitCode == 2)
        let lines = try String(
            contentsOf: BuiltProgram.root.appending(path: example), encoding: .utf8)
        let first = String(lines.prefix { $0 != "\n" }) + "\n"
        try withTemporaryFolder { folder in
            let empty = folder.appending(path: "empty.ndjson")
            try first.write(to: empty, atomically: true, encoding: .utf8)
            #expect(try BuiltProgram.run(["diff", empty.path, empty.path]).exitCode == 5)
        }
        let json = try BuiltProgram.run(["diff", "--json", example, example])
        for line in json.output.split(separator: "\n") {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
        #expect(json.output.contains("\"different\":false"))
    }

    @Test func `rules that were learned from sessions make them the same`() throws {
        try withTemporaryFolder { folder in
            let text = try String(
                contentsOf: BuiltProgram.root.appending(path: example), encoding: .utf8)
            let other = folder.appending(path: "other.ndjson").path
            try text.replacing("ios_event_1", with: "ios_event_77").replacing("0.87", with: "0.6")
                .write(toFile: other, atomically: true, encoding: .utf8)
            let rules = folder.appending(path: "lab.rules.json5").path
            let learned = try BuiltProgram.run(["rules", "learn", "-o", rules, example, other])
            #expect(learned.exitCode == 0)
            #expect(learned.output + learned.errors == "")
            #expect(try BuiltProgram.run(["diff", example, other]).exitCode == 1)
            let same = try BuiltProgram.run(["diff", "--rules", rules, example, other])
            #expect(same.exitCode == 0)
            #expect(same.errors == "")

            try "{version: 1, rules: [{on: '*', path: 'event.x', do: 'type'}]}"
                .write(toFile: rules, atomically: true, encoding: .utf8)
            let unused = try BuiltProgram.run(["diff", "--rules", rules, example, example])
            #expect(unused.exitCode == 0)
            #expect(
                unused.errors
                    == "bridgetap: warning: \(rules), line 1, column 22: type event.x: it is about "
                    + "nothing that was compared\n")
            try "{version: 1, rule: []}".write(toFile: rules, atomically: true, encoding: .utf8)
            let broken = try BuiltProgram.run(["diff", "--rules", rules, example, example])
            #expect(broken.exitCode == 4)
            #expect(broken.errors.contains("unknown key \"rule\"; did you mean \"rules\"?"))
            #expect(
                try BuiltProgram.run(["diff", "--rules", "none.json5", example, example]).exitCode
                    == 4)
        }
    }
}
