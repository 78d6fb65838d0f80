import Capture
import Foundation
import Glibc
import Testing

/// What `bridgetap record` does with a command line, its files, its port and its signals.
@Suite struct RecordUsageTests {
    @Test(arguments: [
        ([], "--listen HOST:PORT is missing"),
        (["--listen", "127.0.0.1:0", "-o", "x.ndjson"], "--upstream HOST:PORT is missing"),
        (["--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1"], "--output FILE is missing"),
        (
            ["--listen", "nowhere", "--upstream", "127.0.0.1:1", "-o", "x.ndjson"],
            "--listen: "
        ),
        (
            ["--listen", "0.0.0.0:0", "--upstream", "127.0.0.1:1", "-o", "x.ndjson"],
            "listening on 0.0.0.0:0 opens the recorder to the network"
        ),
        (
            [
                "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", "x.ndjson",
                "--allow-from", "192.168.42.0/33",
            ], "--allow-from: "
        ),
        (
            [
                "--listen", "127.0.0.1:0", "--upstrem", "127.0.0.1:1", "-o", "x.ndjson",
            ], "unknown flag --upstrem; did you mean \"--upstream\"?"
        ),
        (
            [
                "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", "x.ndjson",
                "--rotate", "often",
            ], "--rotate: "
        ),
        (
            [
                "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", "x.ndjson",
                "--profile", "contract",
            ], "--profile needs --check"
        ),
        (
            [
                "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", "x.ndjson",
                "--log", "adb logcat",
            ], "--log: there is no command; write it like adb='adb logcat'"
        ),
        (
            ["--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", "x.txt"],
            "-o: x.txt has no ending that picks a format"
        ),
    ])
    func `a wrong line is told in two lines, and ends with 2`(
        arguments: [String], message: String
    ) throws {
        let outcome = try BuiltProgram.run(["record"] + arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.output == "")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("bridgetap: error: \(message)") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("bridgetap: hint: ") == true)
    }

    @Test func `a port that is taken is told with a hint, and ends with 3`() throws {
        let folder = try TestFolder()
        let socket = try Socket.make()
        defer { close(socket) }
        let port = try Socket.bind(socket)
        #expect(listen(socket, 1) == 0)
        let file = folder.file("lab.ndjson")
        let outcome = try BuiltProgram.run([
            "record", "--listen", "127.0.0.1:\(port)", "--upstream", "127.0.0.1:1", "-o", file,
        ])
        #expect(outcome.exitCode == 3)
        #expect(
            outcome.errors.hasPrefix("bridgetap: error: cannot listen on 127.0.0.1:\(port): "))
        #expect(outcome.errors.contains("\nbridgetap: hint: is another recorder running?"))
    }

    @Test func `an address that is not this machine's is told, and ends with 3`() throws {
        let folder = try TestFolder()
        let outcome = try BuiltProgram.run([
            "record", "--listen", "192.0.2.1:0", "--upstream", "127.0.0.1:1", "--allow-from",
            "192.0.2.0/24", "-o", folder.file("lab.ndjson"),
        ])
        #expect(outcome.exitCode == 3)
        #expect(outcome.errors.contains("bridgetap: hint: no interface of this machine"))
    }

    @Test func `a file that exists is never written over`() throws {
        let folder = try TestFolder()
        let file = folder.file("lab.ndjson")
        try Data("kept".utf8).write(to: URL(filePath: file))
        let outcome = try BuiltProgram.run([
            "record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o", file,
        ])
        #expect(outcome.exitCode == 4)
        #expect(
            outcome.errors.contains("bridgetap: error: cannot write \(file): file already exists"))
        #expect(outcome.errors.contains("bridgetap: hint: a recording is never written over"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
    }

    @Test(arguments: ["missing/lab.ndjson", "folder.ndjson"])
    func `a path that cannot be written is told, and ends with 4`(name: String) throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("folder.ndjson"), withIntermediateDirectories: false)
        let outcome = try BuiltProgram.run([
            "record", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1", "-o",
            folder.file(name),
        ])
        #expect(outcome.exitCode == 4)
        #expect(
            outcome.errors.hasPrefix("bridgetap: error: cannot write \(folder.file(name)): "))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP], ["lab.ndjson", "lab.ndjson.gz", "lab.ndjson.zst"])
    func `a signal ends the recording in good order`(signal: Int32, file: String) throws {
        let folder = try TestFolder()
        let load = try EchoLoad()
        let recorder = try RunningRecorder(to: load.port, in: folder, files: [file])
        try load.connect(3, through: recorder.port)
        try load.run { load.apps.allSatisfy { $0.received > 20 } }
        // In the middle of it: each connection has messages under way.
        let outcome = try recorder.stop(signal)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let session = try recorder.session()
        #expect(session.flaws == [])
        #expect(session.connections.count == 3)
        #expect(session.end?.dropped == 0)
        // What the recorder passed on before its end arrives, and the end is a reset.
        try load.run { (load.apps + load.boards).allSatisfy { $0.end != nil } }
        #expect(load.faults == [])
        try expectEverything(load, in: session)
    }

    /// Each message that an end has received stands in the file.
    private func expectEverything(_ load: EchoLoad, in session: RecordedSession) throws {
        for connection in session.connections.values {
            let request = try #require(connection.requests.first)
            let digits = request.target.split(separator: "=").last ?? ""
            let number = try #require(Int(digits))
            let board = load.boards.first { $0.number == number }
            #expect(connection.frames(from: .app).count >= board?.received ?? 0)
            #expect(connection.frames(from: .board).count >= load.apps[number].received)
        }
    }

    @Test func `a file is readable by its owner alone`() throws {
        let folder = try TestFolder()
        let recorder = try RunningRecorder(
            to: 1, in: folder, files: ["a.ndjson", "b.ndjson.gz", "c.ndjson.zst"])
        for file in recorder.files {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0)
        #expect(outcome.output == "127.0.0.1:\(recorder.port)\n")
        #expect(outcome.errors.contains("no app connected; docs/links.md tells"))
    }

    @Test func `an upstream that is down is a reset for the app, and the recorder lives on`() throws
    {
        let folder = try TestFolder()
        // Bound and not listening: refused.
        let board = try Socket.make()
        defer { close(board) }
        let recorder = try RunningRecorder(to: try Socket.bind(board), in: folder)
        for _ in 0..<2 {
            let app = try Socket.connect(to: recorder.port)
            defer { close(app) }
            #expect(try Socket.readToEnd(app) == .reset)
        }
        #expect(listen(board, 8) == 0)
        let app = try Socket.connect(to: recorder.port)
        #expect(try Child.wait(for: board, POLLIN, until: Deadline(20)))
        let accepted = try #require(Socket.accept(board))
        close(app)
        #expect(try Socket.readToEnd(accepted) == .fin)
        close(accepted)
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("bridgetap: warning: cannot connect to the board at 127"))

        let session = try recorder.session()
        #expect(session.flaws == [])
        #expect(session.connections.count == 3)
        for number in 1...2 {
            #expect(session.connections[number]?.closes[.board] == .refused)
        }
        #expect(session.connections[3]?.closes[.app] == .fin)
    }

    @Test func `several outputs hold the same session`() throws {
        let folder = try TestFolder()
        let load = try EchoLoad()
        let recorder = try RunningRecorder(
            to: load.port, in: folder, files: ["a.ndjson", "b.ndjson.gz", "c.ndjson.zst", "d.pcap"])
        try load.connect(4, through: recorder.port)
        load.limit = 60
        try load.run { load.apps.allSatisfy { $0.received == 60 } }
        try load.finish()
        #expect(try recorder.stop().exitCode == 0)
        let plain = try Data(contentsOf: URL(filePath: recorder.files[0]))
        for (tool, file) in [("gzip", recorder.files[1]), ("zstd", recorder.files[2])] {
            let unpacked = folder.file("unpacked")
            let child = try Child(
                "sh", ["-c", "\(tool) -dc < '\(file)' > '\(unpacked)'"], in: folder)
            #expect(try child.finish().exitCode == 0)
            #expect(try Data(contentsOf: URL(filePath: unpacked)) == plain)
            #expect(try RecordedSession([file]).flaws == [])
        }
        #expect(try RunningRecorder.verify(Array(recorder.files.prefix(3))) == "")
        let session = try recorder.session()
        #expect(session.flaws == [])
        for number in 1...4 {
            #expect(session.connections[number]?.frames(from: .app).count == 60)
        }
        // Both directions of each connection, with their masks and without.
        let tshark = try Child(
            "tshark",
            [
                "-r", recorder.files[3], "-d", "tcp.port==\(load.port),http", "-Y",
                "websocket.opcode == 1", "-T", "fields", "-e", "websocket.opcode",
            ], in: folder)
        let dissected = try tshark.finish()
        #expect(dissected.output.filter { $0 == "1" }.count == 4 * 2 * 60, "\(dissected.errors)")
    }

    @Test func `the parts of a rotated session are together what crossed`() throws {
        let folder = try TestFolder()
        let load = try EchoLoad()
        let recorder = try RunningRecorder(
            to: load.port, in: folder, files: ["lab.ndjson.gz"], flags: ["--rotate", "64KiB"])
        try load.connect(2, through: recorder.port)
        load.limit = 300
        try load.run { load.apps.allSatisfy { $0.received == 300 } }
        try load.finish()
        #expect(load.faults == [])
        #expect(try recorder.stop().exitCode == 0)

        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasPrefix("lab-")
        }
        let parts = names.sorted()
        #expect(parts.count > 3)
        #expect(parts.first == "lab-0001.ndjson.gz")
        let session = try RecordedSession(parts.map(folder.file))
        #expect(session.flaws == [])
        #expect(try RunningRecorder.verify(parts.map(folder.file)) == "")
        for number in 0..<2 {
            let connection = try #require(session.connections[number + 1])
            let expected = (0..<300).map {
                EchoEnd.message(pair: number, $0, fill: load.fill($0))
            }
            #expect(connection.frames(from: .app) == expected)
            #expect(connection.frames(from: .board) == expected)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "network namespaces need root"))
    func `a peer that is not allowed is reset, and a note says so`() throws {
        let folder = try TestFolder()
        let readyFile = folder.file("ready")
        let file = folder.file("lab.ndjson")
        let addresses = ["192.0.2.7/32", "198.51.100.9/32"]
            .map { "ip address add \($0) dev lo; " }.joined()
        let recorder = try Child(
            "unshare",
            [
                "--net", "sh", "-c", "ip link set lo up; \(addresses) exec \"$@\"", "sh",
                BuiltProgram.url.path, "record", "--listen", "0.0.0.0:0", "--allow-from",
                "192.0.2.0/24", "--upstream", "127.0.0.1:9", "-o", file, "--ready-file", readyFile,
            ], in: folder)
        let port = try RunningRecorder.port(in: try recorder.waitForFile(readyFile))
        for address in ["198.51.100.9", "192.0.2.7"] {
            let curl = try Child(
                "nsenter",
                [
                    "--net=/proc/\(try recorder.pid)/ns/net", "curl", "--silent", "--max-time",
                    "20",
                    "--noproxy", "*", "--interface", address, "http://192.0.2.7:\(port)/",
                ], in: folder)
            // Reset, as soon as it was open (7) or later (56).
            #expect([7, 56].contains(try curl.finish().exitCode))
        }
        try recorder.signal(SIGTERM)
        let outcome = try recorder.finish()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("may not connect\nbridgetap: hint: allow it with"))
        let session = try RecordedSession([file])
        #expect(session.flaws == [])
        #expect(session.notes.first?.code == "peer_refused")
        #expect(session.notes.first?.text.hasPrefix("198.51.100.9:") == true)
        #expect(session.connections.count == 1)
        #expect(session.connections[1]?.open?.app.hasPrefix("192.0.2.7:") == true)
    }
}
