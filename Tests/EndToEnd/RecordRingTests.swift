import Capture
import Foundation
import Glibc
import Testing
import Wire

/// `bridgetap record --ring`: the last of it, when there is a reason.
@Suite struct RecordRingTests {
    /// Echoes through a recorder with a ring, a second of it.
    private func record(
        _ folder: TestFolder, files: [String], flags: [String] = ["--ring", "1h"],
        then: (RunningRecorder, EchoLoad) throws -> Void
    ) throws -> Child.Outcome {
        let load = try EchoLoad()
        let recorder = try RunningRecorder(
            to: load.port, in: folder, files: files, flags: flags)
        try load.connect(2, through: recorder.port)
        load.limit = 40
        try load.run { load.apps.allSatisfy { $0.received == 40 } }
        try then(recorder, load)
        return try recorder.stop()
    }

    private func names(_ folder: TestFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("bug") }.sorted()
    }

    @Test func `SIGUSR1 writes it, and so does the end, to files of their own in every format`()
        throws
    {
        let folder = try TestFolder()
        try Data("mine".utf8).write(to: URL(filePath: folder.file("bug-0001.ndjson")))
        let files = ["bug.ndjson", "bug.ndjson.gz", "bug.ndjson.zst", "bug.pcap"]
        let outcome = try record(folder, files: files) { recorder, load in
            try recorder.child.signal(SIGUSR1)
            try recorder.child.waitForError("bug-0001.pcap: the last ")
            #expect(try names(folder).count == 5)
            load.limit = 60
            try load.run { load.apps.allSatisfy { $0.received == 60 } }
            try load.finish()
        }
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(
            try names(folder) == [
                "bug-0001.ndjson", "bug-0001.ndjson.gz", "bug-0001.ndjson.zst", "bug-0001.pcap",
                "bug-0002.ndjson", "bug-0002.ndjson.gz", "bug-0002.ndjson.zst", "bug-0002.pcap",
                "bug-0003.ndjson",
            ])
        #expect(
            try String(contentsOfFile: folder.file("bug-0001.ndjson"), encoding: .utf8) == "mine")
        for (number, count) in [(2, 40), (3, 60)] {
            let file = folder.file("bug-000\(number).ndjson")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let session = try RecordedSession([file])
            #expect(session.flaws == [])
            #expect(session.connections.count == 2)
            #expect(session.connections[1]?.frames(from: .board).count == count)
            #expect(try RunningRecorder.verify([file]) == "")
        }
        let plain = try RecordedSession([folder.file("bug-0003.ndjson")])
        let packed = try RecordedSession([folder.file("bug-0002.ndjson.zst")])
        #expect(plain.events == packed.events)
    }

    @Test func `what is older is left out, and the file says so`() throws {
        let folder = try TestFolder()
        var count = 0
        let outcome = try record(folder, files: ["bug.ndjson"], flags: ["--ring", "1s"]) {
            recorder, load in
            let longer = Deadline(1.5)
            load.limit = .max
            try load.run { longer.isOver }
            load.limit = 0
            try load.run { load.apps.allSatisfy { $0.received == $0.sent } }
            count = load.apps[0].received
            try recorder.child.signal(SIGUSR1)
            try recorder.child.waitForError("bug-0001.ndjson: the last ")
            try load.finish()
        }
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let file = folder.file("bug-0001.ndjson")
        let verified = try BuiltProgram.run(["verify", file])
        #expect(!verified.output.contains("error"), "\(verified.output)")
        let session = try RecordedSession([file])
        let kept = session.connections[1]?.frames(from: .board).count ?? 0
        #expect(kept > 0 && kept < count)
        #expect(session.connections[1]?.gaps[.board] ?? 0 > 0)
        #expect(session.connections[1]?.responses.first?.status == 101)
        #expect(session.notes.first?.code == "ring")
        #expect(session.notes.last?.code == "trigger")
        #expect(Set(session.notes.map(\.code)) == ["ring", "recording_gap", "trigger"])
    }

    @Test func `a name that ends in zip gets bundles, which are redacted`() throws {
        let folder = try TestFolder()
        let outcome = try record(folder, files: ["bug.zip", "bug.ndjson"]) { recorder, load in
            try recorder.child.signal(SIGUSR1)
            try recorder.child.waitForError("bug-0001.ndjson: the last ")
            try load.finish()
        }
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        for number in 1...2 {
            let path = folder.file("bug-000\(number).zip")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let unpack = try BuiltProgram.run(
                ["-m", "zipfile", "-e", path, folder.path],
                program: URL(filePath: ReplayProgram.python))
            #expect(unpack.exitCode == 0, "\(unpack.errors)")
            let session = folder.file("bug-000\(number)/session.ndjson")
            let redacted = try RecordedSession([session])
            #expect(redacted.info?.redacted != nil)
            #expect(redacted.end != nil)
            #expect(redacted.connections.count == 2)
            #expect(redacted.notes.contains { $0.code == "trigger" })
            let plain = try RecordedSession([folder.file("bug-000\(number).ndjson")])
            #expect(plain.info?.redacted == nil)
            #expect(
                redacted.connections[1]?.frames(from: .board).count
                    == plain.connections[1]?.frames(from: .board).count)
        }
    }

    @Test func `the key b writes it`() throws {
        let folder = try TestFolder()
        let python = BuiltProgram.root.appending(path: ".venv/bin/python").path
        let child = try Child(
            python,
            [
                "-c",
                """
                import os, pty, sys, time
                ready, bug = sys.argv[1:3]
                pid, fd = pty.fork()
                if pid == 0: os.execv(sys.argv[3], sys.argv[3:])
                def wait(path):
                    while not os.path.exists(path): time.sleep(0.02)
                wait(ready)
                os.write(fd, b"b")
                wait(bug)
                os.write(fd, b"\\x03")
                text = b""
                try:
                    while data := os.read(fd, 4096): text += data
                except OSError: pass
                print(text.decode())
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                """, folder.file("ready"), folder.file("bug-0001.ndjson"), BuiltProgram.url.path,
                "record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "--ring", "10min",
                "-o", folder.file("bug.ndjson"), "--ready-file", folder.file("ready"),
            ], in: folder)
        let outcome = try child.finish()
        #expect(outcome.exitCode == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("(the key b)"))
        #expect(try names(folder) == ["bug-0001.ndjson", "bug-0002.ndjson"])
    }

    @Test func `a broken rule writes it once for all its breaches`() throws {
        let folder = try TestFolder()
        let flags = ["--end-first"]
        let server = try Peer(
            listening: "raw_peer",
            ["--role", "server", "--scenario", "wrong-mask", "--answer", "upgrade"] + flags,
            in: folder)
        let recorder = try RunningRecorder(
            to: server.port, in: folder, files: ["bug.ndjson"],
            flags: ["--check", "--ring", "10min"])
        let client = try Peer(
            "raw_peer", to: recorder.port,
            ["--role", "client", "--scenario", "wrong-mask"] + flags, in: folder)
        #expect(try client.finish().isGood)
        #expect(try server.finish().isGood)
        try recorder.child.waitForError("bug-0001.ndjson: the last ")
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains(" kB (rule"))
        let session = try RecordedSession([folder.file("bug-0001.ndjson")])
        #expect(
            session.notes.contains { $0.code == "trigger" && $0.text.contains("ws-client-masks") })
        #expect(session.notes.contains { $0.code == "rule" && $0.to != nil })
        #expect(try names(folder) == ["bug-0001.ndjson", "bug-0002.ndjson"])
    }

    @Test(arguments: [
        (["--ring", "10min", "--rotate", "1MiB", "-o", "b.ndjson"], "--ring"),
        (["--ring", "10min", "--strict", "-o", "b.ndjson"], "--ring"),
        (["--ring", "10min", "-o", "-"], "--ring writes a file at each trigger"),
        (["--ring", "10ms", "-o", "b.ndjson"], "--ring: a second is the least"),
        (["--ring", "much", "-o", "b.ndjson"], "--ring: "),
        (["-o", "b.zip"], "-o: b.zip has no ending that picks a format"),
    ])
    func `what does not go together is wrong usage`(arguments: [String], message: String) throws {
        let outcome = try BuiltProgram.run(
            ["record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1"] + arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `a folder that is not there is told before anything is recorded`() throws {
        let folder = try TestFolder()
        let outcome = try BuiltProgram.run([
            "record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "--ring", "10min",
            "-o", folder.file("none/bug.ndjson"),
        ])
        #expect(outcome.exitCode == 4)
        #expect(outcome.errors.contains("none/bug-0001.ndjson"))
    }
}
