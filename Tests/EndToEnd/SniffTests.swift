import Capture
import Foundation
import Glibc
import Testing

/// `bridgetap sniff` beside real peers, in network namespaces with the link's real addresses.
@Suite(.enabled(if: LinkedMachines.areThere, "network namespaces need root"))
struct SniffTests {
    private let folder: TestFolder
    private let machines: LinkedMachines

    init() throws {
        folder = try TestFolder()
        machines = try LinkedMachines(in: folder)
    }

    private func start(
        _ machine: LinkedMachines.Machine, _ arguments: [String]
    ) throws -> Child {
        let ready = folder.file("ready-\(UUID().uuidString)")
        let waits = arguments.first != "app"
        let child = try machines.start(
            machine, BuiltProgram.url.path,
            arguments + (waits ? ["--ready-file", ready] : []))
        if waits { _ = try child.waitForFile(ready) }
        return child
    }

    /// Has the board send a command; the app may need a moment until it is there.
    private func send(_ command: String, port: Int = 8080) throws -> String {
        var answer = ""
        for _ in 0..<200 {
            answer = try machines.on(
                .board, "curl",
                ["-sS", "--max-time", "20", "-d", command]
                    + ["http://127.0.0.1:\(port)/simulate/command"])
            if !answer.contains("bridge_not_connected") { break }
        }
        return answer
    }

    private func stop(_ child: Child) throws {
        try child.signal(SIGINT)
        let outcome = try child.finish()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
    }

    /// What a side said over WebSockets, a line a frame, whichever connection it was.
    private func frames(_ session: RecordedSession, from side: Side) -> [String] {
        session.connections.values.sorted { ($0.open?.app ?? "") < ($1.open?.app ?? "") }
            .flatMap { connection in
                connection.frames(from: side).map {
                    "\(connection.open?.app ?? "") \(String(decoding: $0, as: UTF8.self))"
                }
            }
    }

    @Test func `a bystander sees what the recorder in the middle and tshark see`() throws {
        try machines.plug()
        let pcap = folder.file("sniffed.pcap")
        let sniffer = try RunningSniffer(on: machines, in: folder, also: [pcap])
        let board = try start(.board, ["board", "--listen", "127.0.0.1:8081"])
        let recorded = folder.file("recorded.ndjson")
        let recorder = try start(
            .board,
            ["record", "--listen", "192.168.42.1:8080", "--upstream", "127.0.0.1:8081"]
                + ["--allow-from", "192.168.42.0/24", "-o", recorded])
        let app = try start(.phone, ["app", "--to", "ws://192.168.42.1:8080/"])
        let answer = try send(#"{"id":"c1","type":"clipboard_read"}"#, port: 8081)
        #expect(answer.contains(#""data":{"text":""}"#), "\(answer)")
        try stop(app)
        try stop(recorder)
        try stop(board)
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")

        let sniffed = try sniffer.session()
        let middle = try RecordedSession([recorded])
        #expect(sniffed.flaws == [])
        #expect(sniffed.info?.source == "interface")
        #expect(sniffed.info?.interface == "usb0")
        #expect(sniffed.info?.linkType == "EN10MB")
        for side in Side.allCases {
            #expect(frames(sniffed, from: side) == frames(middle, from: side))
            #expect(!frames(sniffed, from: side).isEmpty)
        }
        let statuses = { (session: RecordedSession) in
            session.connections.values.flatMap { $0.responses.map(\.status) }.sorted()
        }
        #expect(statuses(sniffed) == statuses(middle))
        let shown = try BuiltProgram.run(["show", sniffer.file]).output
        #expect(shown.contains("app →    close      1000"))

        let fields = try Child(
            "tshark",
            ["-r", pcap, "-Y", "websocket", "-T", "fields", "-e", "ip.src"]
                + ["-e", "websocket.opcode"], in: folder
        ).finish().output
        for (side, address) in [(Side.app, "192.168.42.2"), (.board, "192.168.42.1")] {
            let count = fields.split(separator: "\n").filter { $0.hasPrefix(address) }
                .reduce(0) { $0 + $1.split(separator: ",").count }
            #expect(count == frames(sniffed, from: side).count, "\(fields)")
        }
    }

    @Test func `a conversation that was there before is met on its way`() throws {
        try machines.plug()
        let board = try start(.board, ["board", "--listen", "0.0.0.0:8080"])
        let app = try start(.phone, ["app", "--to", "ws://192.168.42.1:8080/"])
        #expect(try send(#"{"id":"c1","type":"clipboard_read"}"#).contains("data"))
        let sniffer = try RunningSniffer(on: machines, in: folder, ["tcp", "port", "8080"])
        #expect(try send(#"{"id":"c2","type":"clipboard_read"}"#).contains("data"))
        _ = try sniffer.child.waitForOutput(#""kind":"result","id":"c2""#)
        try stop(app)
        try stop(board)
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let session = try sniffer.session()
        #expect(session.flaws == [])
        let said = frames(session, from: .board)
        #expect(said.contains { $0.contains(#""id":"c2""#) })
        #expect(!said.contains { $0.contains(#""id":"c1""#) })
        #expect(session.connections.values.contains { $0.open?.continued != nil })
    }

    @Test(arguments: [(["tcp", "port", "8080"], [8080]), (["--port", "8082"], [8082])])
    func `a filter and --port choose what is recorded`(choice: [String], ports: [Int]) throws {
        try machines.plug()
        let boards = try [8080, 8082].map {
            try start(.board, ["board", "--listen", "192.168.42.1:\($0)"])
        }
        let sniffer = try RunningSniffer(on: machines, in: folder, choice)
        for port in [8080, 8082, 8080, 8082] {
            try machines.on(.phone, "curl", ["-sS", "http://192.168.42.1:\(port)/nothing"])
        }
        for _ in 0..<2 { _ = try sniffer.child.waitForOutput(#""status":404"#) }
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let session = try sniffer.session()
        #expect(session.connections.count == 2)
        for connection in session.connections.values {
            #expect(ports.contains { connection.open?.board == "192.168.42.1:\($0)" })
        }
        for board in boards { try stop(board) }
    }

    @Test func `an interface that vanishes is told, and taken up again when it is back`() throws {
        try machines.plug()
        let board = try start(.board, ["board", "--listen", "0.0.0.0:8080"])
        let sniffer = try RunningSniffer(on: machines, in: folder)
        try machines.on(.phone, "curl", ["-sS", "http://192.168.42.1:8080/first"])
        _ = try sniffer.child.waitForOutput(#""status":404"#)
        try machines.unplug()
        _ = try sniffer.child.waitForOutput(#""code":"interface_gone""#)
        try machines.plug()
        _ = try sniffer.child.waitForOutput(#""code":"recording_gap""#)
        try machines.on(.phone, "curl", ["-sS", "http://192.168.42.1:8080/second"])
        _ = try sniffer.child.waitForOutput(#""status":404"#)
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("the interface usb0 is gone; waiting for it to return"))
        #expect(outcome.errors.contains("the interface usb0 is back"))
        let session = try sniffer.session()
        #expect(session.flaws == [])
        let targets = session.connections.values.flatMap { $0.requests.map(\.target) }
        #expect(Set(targets) == ["/first", "/second"])
        #expect(
            session.notes.map(\.code) == ["interface_gone", "interface_returned", "recording_gap"])
        try stop(board)
    }

    @Test func `an interface that is not there yet is waited for with --wait only`() throws {
        let without = try machines.start(
            .board, BuiltProgram.url.path, ["sniff", "-i", "usb0", "-o", folder.file("a.ndjson")]
        ).finish()
        #expect(without.exitCode == 3)
        #expect(without.errors.hasPrefix("bridgetap: error: there is no interface usb0\n"))
        #expect(without.errors.contains("bridgetap: hint: there are "))
        #expect(!FileManager.default.fileExists(atPath: folder.file("a.ndjson")))

        let ready = folder.file("ready")
        let sniffer = try machines.start(
            .board, BuiltProgram.url.path,
            ["sniff", "-i", "usb0", "--wait", "-o", "-", "--ready-file", ready])
        try machines.plug()
        #expect(try sniffer.waitForFile(ready) == "usb0\n")
        let board = try start(.board, ["board", "--listen", "0.0.0.0:8080"])
        try machines.on(.phone, "curl", ["-sS", "http://192.168.42.1:8080/first"])
        _ = try sniffer.waitForOutput(#""status":404"#)
        try stop(board)
        try sniffer.signal(SIGTERM)
        let outcome = try sniffer.finish()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
    }

    @Test func `packets that the system drops are counted and make the recording incomplete`()
        throws
    {
        try machines.plug()
        let sniffer = try RunningSniffer(on: machines, in: folder, ["--buffer", "1B"])
        try sniffer.child.signal(SIGSTOP)
        // Far more than the smallest buffer takes while nobody reads it; to a group, which
        // answers nothing.
        try machines.on(.phone, "ip", ["route", "add", "239.0.0.0/8", "dev", "usb0"])
        try machines.on(
            .phone, "bash", ["-c", "head -c 4000000 /dev/zero > /dev/udp/239.1.2.3/9"])
        try sniffer.child.signal(SIGCONT)
        _ = try sniffer.child.waitForOutput(#""code":"dropped_packets""#)
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 6, "\(outcome.errors)")
        #expect(outcome.errors.contains("packets were dropped before they could be read"))
        #expect(outcome.errors.contains("--buffer 64MiB gives the system more room"))
        let session = try sniffer.session()
        #expect(session.end?.dropped ?? 0 > 0)
        #expect(session.notes.contains { $0.code == "dropped_packets" })
        let converted = try BuiltProgram.run([
            "convert", "--require-complete", sniffer.file, "-o", folder.file("again.ndjson"),
        ])
        #expect(converted.exitCode == 4)
    }

    @Test func `what is sniffed is shown while it goes on, with its figures`() throws {
        try machines.plug()
        let ready = folder.file("ready")
        let sniffer = try machines.start(
            .board, BuiltProgram.url.path,
            ["sniff", "-i", "usb0", "-o", folder.file("shown.ndjson"), "--ui", "127.0.0.1:0"]
                + ["--ready-file", ready])
        let lines = try sniffer.waitForFile(ready).split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines.first == "usb0")
        let board = try start(.board, ["board", "--listen", "0.0.0.0:8080"])
        let app = try start(.phone, ["app", "--to", "ws://192.168.42.1:8080/"])
        #expect(try send(#"{"id":"c1","type":"clipboard_read"}"#).contains("data"))
        let page = try #require(lines.last)
        // Packets come a moment after they passed.
        var figures = ""
        let wanted =
            #"bridgetap_command_results_total{type="clipboard_read",route="websocket",outcome="ok"} 1"#
        for _ in 0..<200 where !figures.contains(wanted) {
            figures = try machines.on(
                .board, "curl", ["-sS", "--max-time", "20", page + "metrics"])
        }
        #expect(figures.contains(wanted), "\(figures)")
        try stop(app)
        try stop(board)
        try stop(sniffer)
    }

    @Test func `a mark of the user's stands in the session`() throws {
        try machines.plug()
        let sniffer = try RunningSniffer(on: machines, in: folder, ["--mark", "here"])
        try sniffer.child.signal(SIGUSR2)
        _ = try sniffer.child.waitForOutput(#""text":"here 1""#)
        let outcome = try sniffer.stop()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("bridgetap: note: mark 1"))
    }

    @Test func `without the privilege it says which one and how to give it`() throws {
        let outcome = try Child(
            "setpriv",
            ["--bounding-set", "-net_raw", "--inh-caps", "-all", BuiltProgram.url.path]
                + ["sniff", "-i", "lo", "-o", folder.file("a.ndjson")], in: folder
        ).finish()
        #expect(outcome.exitCode == 3)
        #expect(outcome.errors.contains("listening on lo needs a privilege"))
        #expect(outcome.errors.contains("sudo setcap cap_net_raw+ep /"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("a.ndjson")))
    }
}

/// What is told before any packet is asked for, which needs no privilege.
@Suite struct SniffUsageTests {
    @Test func `the interfaces that there are can be listed`() throws {
        let outcome = try BuiltProgram.run(["sniff", "--list"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("lo ") }
        #expect(line?.contains("127.0.0.1") == true, "\(outcome.output)")
    }

    @Test(arguments: [
        (["-o", "x.ndjson"], "--interface NAME is missing"),
        (["-i", "lo"], "--output FILE is missing"),
        (["-i", "lo", "-o", "x.txt"], "-o: x.txt has no ending that picks a format"),
        (
            ["-i", "lo", "-o", "x.ndjson", "tcp", "prot", "80"],
            "the filter \"tcp prot 80\" is not understood: syntax error"
        ),
        (["-i", "lo", "-o", "x.ndjson", "--buffer", "2GiB"], "--buffer: the system takes"),
    ])
    func `what cannot be meant is wrong usage`(arguments: [String], message: String) throws {
        let outcome = try BuiltProgram.run(["sniff"] + arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.hasPrefix("bridgetap: error: \(message)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("\nbridgetap: hint: "))
    }
}
