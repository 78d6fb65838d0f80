import Foundation
import Testing

/// The reference peers and the recorder as programs of their own, on loopback.
@Suite struct PeersTests {
    /// Asks the board to send a command, and gives what came of it.
    private func send(_ command: String, at address: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = [
            "--silent", "--max-time", "20", "--retry", "5", "--retry-connrefused", "--data",
            command,
            "http://\(address)/simulate/command",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try BuiltProgram.withNoSignalBlocked { try process.run() }
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `a command goes from the board through the recorder to the app and back`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "lab.ndjson.zst").path
            let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"])
            let boardAddress = board.firstLine()
            let ready = folder.appending(path: "ready")
            let recorder = try RunningProgram([
                "record", "--listen", "127.0.0.1:0", "--upstream", boardAddress, "-o", file,
                "--ready-file", ready.path, "--check",
            ])
            let address = recorder.firstLine()
            let app = try RunningProgram(["app", "--to", "ws://\(address)/"])
            // Until the app is there, the board says so at once; it may take a few tries.
            var answer = ""
            for _ in 0..<200 {
                answer = try send(#"{"id":"c1","type":"clipboard_read"}"#, at: boardAddress)
                if !answer.contains("bridge_not_connected") { break }
            }
            #expect(answer.contains(#""data":{"text":""}"#), "\(answer)")
            #expect(try String(contentsOf: ready, encoding: .utf8) == address + "\n")

            let appOutcome = try app.stop()
            #expect(appOutcome.exitCode == 0, "\(appOutcome.errors)")
            let recorderOutcome = try recorder.stop()
            #expect(recorderOutcome.exitCode == 0, "\(recorderOutcome.errors)")
            #expect(recorderOutcome.errors.contains("no rule that counts was broken of "))
            #expect(try board.stop().exitCode == 0)

            #expect(try BuiltProgram.run(["verify", file]).exitCode == 0)
            let shown = try BuiltProgram.run(["show", file]).output
            #expect(shown.contains("#1 clipboard_read c1"))
            #expect(shown.contains("#1 clipboard_read ok"))
            // The app says goodbye before it goes.
            #expect(shown.contains("app →    close      1000"))
        }
    }

    @Test func `a taken port is told with a hint, and ends with 3`() throws {
        let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"])
        let address = board.firstLine()
        let second = try BuiltProgram.run(["board", "--listen", address])
        #expect(second.exitCode == 3)
        #expect(
            second.errors.hasPrefix(
                "bridgetap: error: cannot listen on \(address): address already in use"))
        #expect(second.errors.contains("\nbridgetap: hint: "))
        try withTemporaryFolder { folder in
            let recorder = try BuiltProgram.run([
                "record", "--listen", address, "--upstream", address, "-o",
                folder.appending(path: "lab.ndjson").path,
            ])
            #expect(recorder.exitCode == 3)
            #expect(recorder.errors.contains("address already in use"))
        }
        #expect(try board.stop().exitCode == 0)
    }

    @Test(arguments: [
        [
            "record", "--listen", "0.0.0.0:0", "--upstream", "127.0.0.1:1", "-o",
            "/nowhere/x.ndjson",
        ],
        ["record", "--listen", "127.0.0.1:0", "-o", "/nowhere/x.ndjson"],
        ["app"], ["board", "--defect", "Z9"],
        ["app", "--to", "ws://127.0.0.1:1/", "--control", "0.0.0.0:0"],
        ["app", "--autobahn", "ws://127.0.0.1:1/", "--control", "127.0.0.1:0"],
    ])
    func `what cannot be meant is wrong usage`(arguments: [String]) throws {
        let outcome = try BuiltProgram.run(arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.split(separator: "\n").count == 2)
    }

    /// Asks the control of an app, and gives its answer.
    private func control(_ address: String, _ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments =
            ["--silent", "--max-time", "20"] + arguments
            + ["http://\(address)/simulate/state"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try BuiltProgram.withNoSignalBlocked { try process.run() }
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `a script moves the app through its control`() throws {
        let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"])
        let app = try RunningProgram([
            "app", "--to", "ws://\(board.firstLine())/", "--control", "127.0.0.1:0",
        ])
        let address = app.firstLine()
        #expect(try control(address, "--data", "background pip") == "background pip\n")
        #expect(try control(address, "--data", "contacts=denied") == "contacts=denied\n")
        #expect(
            try control(address)
                == "background pip\ncalendar=granted\ncontacts=denied\nnotifications=granted\n")
        #expect(try control(address, "--data", "asleep").hasPrefix("no such state"))
        #expect(try app.stop().exitCode == 0)
        #expect(try board.stop().exitCode == 0)
    }

    @Test func `a file that cannot be written is told before anything is listened on`() throws {
        let outcome = try BuiltProgram.run([
            "record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o",
            "/nowhere/x.ndjson",
        ])
        #expect(outcome.exitCode != 0)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("cannot write /nowhere/x.ndjson"))
        #expect(outcome.errors.contains("no such file or directory"))
    }

    @Test func `a conformance server that is not there ends with 3`() throws {
        let outcome = try BuiltProgram.run(["app", "--autobahn", "ws://127.0.0.1:1/"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.errors.hasPrefix("bridgetap: error: the suite does not say"))
    }

    @Test(arguments: ["board", "app"])
    func `the defects that can be planted are listed with what is seen of them`(
        command: String
    ) throws {
        let outcome = try BuiltProgram.run([command, "--list-defects"])
        #expect(outcome.exitCode == 0)
        let letter = command == "board" ? "B" : "A"
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count > 5)
        #expect(lines.allSatisfy { $0.hasPrefix(letter) })
    }
}
