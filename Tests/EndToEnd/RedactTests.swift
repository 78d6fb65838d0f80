import Foundation
import Testing

@Suite struct RedactTests {
    @Test func `a key file is made with mode 0600, and is in no output`() throws {
        try withTemporaryFolder { folder in
            let key = folder.appending(path: "team.key")
            let output = folder.appending(path: "a.ndjson")
            let outcome = try BuiltProgram.run([
                "redact", "--key", key.path, "captures/all-commands.ndjson", "-o", output.path,
            ])
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.errors.contains("holds a new key"))
            let mode = try FileManager.default.attributesOfItem(atPath: key.path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            let secret = try String(contentsOf: key, encoding: .utf8).dropLast()
            #expect(secret.count == 64)
            let text = try String(contentsOf: output, encoding: .utf8)
            #expect(!text.contains(secret) && !outcome.output.contains(secret))
            #expect(!outcome.errors.contains(secret))
            #expect(!text.contains("Testmann"))
            #expect(outcome.output.contains("data.contacts.name"))

            // The same key, the same session; a second pass changes nothing.
            let second = folder.appending(path: "b.ndjson")
            let again = try BuiltProgram.run([
                "redact", "--json", "--key", key.path, output.path, "-o", second.path,
            ])
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(again.errors.contains("it is copied"))
            #expect(try String(contentsOf: second, encoding: .utf8) == text)
            #expect(again.output.hasPrefix("{\"events\":0,"))
        }
    }

    @Test(arguments: ["ndjson.gz", "ndjson.zst", "pcap", "har"])
    func `every format comes out, and goes in again`(ending: String) throws {
        try withTemporaryFolder { folder in
            let raw = folder.appending(path: "raw.\(ending)").path
            let output = folder.appending(path: "redacted.\(ending)").path
            let convert = ["convert", "captures/errors.ndjson", "-o", raw]
            #expect(try BuiltProgram.run(convert).exitCode == 0)
            let outcome = try BuiltProgram.run(["redact", raw, "-o", output])
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            let shown = try BuiltProgram.run(["show", "--raw", output])
            #expect(shown.exitCode == 0, "\(shown.errors)")
            #expect(!shown.output.contains("Testmann") && shown.output.contains("contacts_query"))
            let check = try BuiltProgram.run(["check", "--json", output])
            let before = try BuiltProgram.run(["check", "--json", raw])
            #expect(check.exitCode == before.exitCode)
        }
    }

    @Test func `a scan ends with 1 before and with 0 after`() throws {
        try withTemporaryFolder { folder in
            let session = "captures/all-commands.ndjson"
            let output = folder.appending(path: "a.ndjson").path
            let before = try BuiltProgram.run(["redact", "--scan", session])
            #expect(before.exitCode == 1)
            #expect(before.output.contains("not redacted; "))
            #expect(try BuiltProgram.run(["redact", session, "-o", output]).exitCode == 0)
            let after = try BuiltProgram.run(["redact", "--scan", output])
            #expect(after.exitCode == 0)
            #expect(after.output == "\(output): redacted; nothing still looks personal\n")
            let line = try BuiltProgram.run(["redact", "--scan", "--json", output])
            #expect(line.output.hasSuffix("\"redacted\":true,\"found\":0,\"remains\":[]}\n"))
            let missing = try BuiltProgram.run(["redact", "--scan", "no-such-file"])
            #expect(missing.exitCode == 4)
        }
    }

    @Test func `what is wrong with a key or a policy is told before anything is written`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "bad")
            let output = folder.appending(path: "a.ndjson").path
            try "zzz".write(to: file, atomically: false, encoding: .utf8)
            for (flag, words) in [
                ("--key", "is no key file"), ("--policy", "docs/redaction.md lists"),
            ] {
                let outcome = try BuiltProgram.run([
                    "redact", flag, file.path, "captures/errors.ndjson", "-o", output,
                ])
                #expect(outcome.exitCode == 4)
                #expect(outcome.errors.contains(words), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: output))
            }
        }
    }

    @Test func `a policy file is heeded`() throws {
        try withTemporaryFolder { folder in
            let policy = folder.appending(path: "p.json5")
            try "{version: 1, rules: [{path: 'payload.title', as: 'keep'}]}"
                .write(to: policy, atomically: false, encoding: .utf8)
            let outcome = try BuiltProgram.run([
                "redact", "--policy", policy.path, "captures/all-commands.ndjson", "-o", "-",
            ])
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("Dentist appointment"))
            #expect(!outcome.output.contains("insurance"))
        }
    }
}
