import Capture
import Foundation
import Testing

/// `bridgetap record --check`: the rules, held against traffic while it passes.
@Suite struct RecordCheckTests {
    @Test func `a broken rule is told, noted in the session, and ends the recording with 1`()
        throws
    {
        let folder = try TestFolder()
        let flags = ["--end-first"]
        let server = try Peer(
            listening: "raw_peer",
            ["--role", "server", "--scenario", "wrong-mask", "--answer", "upgrade"] + flags,
            in: folder)
        let recorder = try RunningRecorder(to: server.port, in: folder, flags: ["--check"])
        let client = try Peer(
            "raw_peer", to: recorder.port,
            ["--role", "client", "--scenario", "wrong-mask"] + flags,
            in: folder)
        #expect(try client.finish().isGood)
        #expect(try server.finish().isGood)
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("bridgetap: warning: rule ws-client-masks, 00:00"))
        #expect(outcome.errors.contains(" rules broken: "))

        let session = try recorder.session()
        #expect(session.flaws == [])
        let notes = session.notes.filter { $0.code == "rule" }
        let masks = notes.filter { $0.text.hasPrefix("ws-client-masks: ") }
        #expect(!masks.isEmpty)
        #expect(masks.allSatisfy { ($0.to ?? 0) > 0 })
        #expect(try RunningRecorder.verify(recorder.files) == "")

        // The file says again what was noted, and does not say it twice.
        let again = try BuiltProgram.run(["check", "--json"] + recorder.files)
        #expect(again.exitCode == 1)
        let findings = again.output.split(separator: "\n").filter {
            $0.contains(#""kind":"finding""#) && $0.contains(#""rule":"ws-client-masks""#)
        }
        #expect(findings.count == masks.count)
    }

    @Test func `a profile that is wrong is told before anything is listened on`() throws {
        let folder = try TestFolder()
        let profile = folder.file("lab.json5")
        try Data("{slack_ms: 'much'}".utf8).write(to: URL(filePath: profile))
        let outcome = try BuiltProgram.run([
            "record", "--check", "--profile", profile, "--listen", "127.0.0.1:0", "--upstream",
            "127.0.0.1:1", "-o", folder.file("lab.ndjson"),
        ])
        #expect(outcome.exitCode == 4)
        #expect(outcome.output == "")
        #expect(
            outcome.errors.contains("lab.json5, line 1, column 12: slack_ms takes a whole number"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("lab.ndjson")))
    }
}
