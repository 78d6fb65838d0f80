import Foundation
import Testing
import Wire

/// The page in which a person looks at a session, in Chromium.
@Suite(.serialized) struct ViewTests {
    private let captures = BuiltProgram.root.appending(path: "captures")

    private func page(
        _ session: String, _ folder: URL, program: URL = BuiltProgram.url
    ) throws -> String {
        let page = folder.appending(path: "page.html")
        let outcome = try BuiltProgram.run(
            ["view", "--html", page.path, session], program: program)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        let mode = try FileManager.default.attributesOfItem(atPath: page.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        return page.path
    }

    @Test func `a page opens from the disk, and is moved by keys, filters and links`() throws {
        try withTemporaryFolder { folder in
            let file = captures.appending(path: "late-answer.ndjson").path
            try InspectedPage.look("whole", [try page(file, folder)])
        }
    }

    @Test func `a session that goes on is followed, and the place of who looks is kept`() throws {
        try withTemporaryFolder { folder in
            let lines = try String(
                contentsOf: captures.appending(path: "all-commands.ndjson"), encoding: .utf8
            ).split(separator: "\n").map { $0 + "\n" }
            let file = folder.appending(path: "lab.ndjson")
            let rest = folder.appending(path: "rest.ndjson")
            try Data(lines[..<60].joined().utf8).write(to: file)
            try Data(lines[60...].joined().utf8).write(to: rest)
            let viewer = try RunningProgram(["view", file.path], seconds: 290)
            let address = viewer.firstLine()
            #expect(address.hasPrefix("http://127.0.0.1:"))
            try InspectedPage.look("live", [address, "--file", file.path, "--rest", rest.path])
            #expect(try viewer.stop().exitCode == 0)
        }
    }

    @Test func `a page or program elsewhere gets nothing`() throws {
        let file = captures.appending(path: "errors.ndjson").path
        let viewer = try RunningProgram(["view", file], seconds: 290)
        try InspectedPage.look("refused", [viewer.firstLine()])
        #expect(try viewer.stop().exitCode == 0)
    }

    @Test func `a recording is shown while it goes on`() throws {
        try withTemporaryFolder { folder in
            let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"], seconds: 290)
            let recorder = try RunningProgram(
                [
                    "record", "--listen", "127.0.0.1:0", "--upstream", board.firstLine(), "-o",
                    folder.appending(path: "lab.ndjson").path, "--ui", "127.0.0.1:0",
                ], seconds: 290)
            var lines = recorder.read(until: "/\n").split(separator: "\n").map(String.init)
            let last = lines.popLast()
            let page = try #require(last)
            #expect(page.hasPrefix("http://127.0.0.1:"))
            let app = try RunningProgram(
                ["app", "--to", "ws://\(lines.first ?? "")/api/phone-bridge"], seconds: 290)
            try InspectedPage.look("recording", [page])
            _ = try app.stop()
            #expect(try recorder.stop().exitCode == 0)
            _ = try board.stop()
        }
    }

    @Test func `the figures of a recording are what Prometheus reads`() throws {
        try withTemporaryFolder { folder in
            let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"], seconds: 290)
            let recorder = try RunningProgram(
                [
                    "record", "--listen", "127.0.0.1:0", "--upstream", board.firstLine(), "-o",
                    folder.appending(path: "lab.ndjson").path, "--ui", "127.0.0.1:0",
                ], seconds: 290)
            let lines = recorder.read(until: "/\n").split(separator: "\n").map(String.init)
            let page = try #require(lines.last)
            let app = try RunningProgram(
                ["app", "--to", "ws://\(lines.first ?? "")/api/phone-bridge"], seconds: 290)
            let script = BuiltProgram.root.appending(path: "Tests/Peers/metrics_page.py").path
            let read = try BuiltProgram.run(
                ["-B", script, page, "bridgetap_websockets_total", "1"],
                program: URL(filePath: ReplayProgram.python))
            #expect(read.exitCode == 0, "\(read.errors)")
            let figures = try JSON(parsing: read.output)
            #expect(figures["type"] == "text/plain; version=0.0.4; charset=utf-8")
            // That of the WebSocket, and that of a poll where it has begun.
            let open = figures["samples"]?["bridgetap_connections_open"]?.description
            #expect(["1", "2"].contains(open), "\(read.output)")
            #expect(figures["samples"]?["bridgetap_recording_paused"]?.description == "0")
            _ = try app.stop()
            #expect(try recorder.stop().exitCode == 0)
            _ = try board.stop()
        }
    }

    @Test func `two sessions stand side by side`() throws {
        let files = ["errors", "late-answer"].map {
            captures.appending(path: "\($0).ndjson").path
        }
        let viewer = try RunningProgram(["view"] + files, seconds: 290)
        try InspectedPage.look("both", [viewer.firstLine()])
        #expect(try viewer.stop().exitCode == 0)
    }

    @Test func `a file has its sessions side by side too`() throws {
        try withTemporaryFolder { folder in
            let page = folder.appending(path: "two.html")
            let outcome = try BuiltProgram.run(
                ["view", "--html", page.path]
                    + ["errors", "late-answer"].map {
                        captures.appending(path: "\($0).ndjson").path
                    })
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            try InspectedPage.look("pair", [page.path])
        }
    }

    @Test func `the page of a replay has both sessions in it, unless it hides what they say`()
        throws
    {
        try withTemporaryFolder { folder in
            let page = folder.appending(path: "replay.html")
            let replayed = try ReplayProgram.run([
                ReplayProgram.capture("queue-limit"), "--as", "app", "--html", page.path,
                "--spawn", ReplayProgram.board + " --defect B28",
            ])
            #expect(replayed.exitCode == 1, "\(replayed.errors)")
            try InspectedPage.look("report", [page.path])

            let board = try RunningProgram(["board", "--listen", "127.0.0.1:0"], seconds: 290)
            let masked = folder.appending(path: "masked.html")
            _ = try ReplayProgram.run([
                ReplayProgram.capture("all-commands"), "--as", "app", "--html", masked.path,
                "--to", "ws://\(board.firstLine())/api/phone-bridge",
            ])
            let text = try String(contentsOf: masked, encoding: .utf8)
            #expect(text.contains("id=\"items-0\"") && !text.contains("id=\"inside-0\""))
            _ = try board.stop()
        }
    }

    @Test func `the page of a check opens at the rules that are broken`() throws {
        try withTemporaryFolder { folder in
            let page = folder.appending(path: "check.html")
            let outcome = try BuiltProgram.run([
                "check", "--html", page.path, captures.appending(path: "times.ndjson").path,
            ])
            #expect(outcome.exitCode == 1, "\(outcome.errors)")
            #expect(outcome.output.contains("time-format"))
            try InspectedPage.look("rules", [page.path, "--rule", "time-format"])
        }
    }

    @Test func `whatever the link carried stays text`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "hostile.ndjson")
            try Data(hostile.utf8).write(to: file)
            try InspectedPage.look("hostile", [try page(file.path, folder)])
            let viewer = try RunningProgram(["view", file.path], seconds: 290)
            try InspectedPage.look("hostile", [viewer.firstLine()])
            #expect(try viewer.stop().exitCode == 0)
        }
    }

    /// Scripts and markup wherever an app or a board can put text.
    private var hostile: String {
        let script = #"</script><script>window.taken=1</script><img src=x onerror=window.taken=1>"#
        let text = #"{\"id\":\"ID\",\"type\":\"clipboard_write\",\"text\":\"SCRIPT\"}"#
            .replacing("ID", with: script).replacing(
                "SCRIPT", with: "javascript:window.taken=1 " + script)
        return """
            {"event":"session","format":"bridgetap","version":1,"id":"\(script)","t":0,"started_at":"2026-06-10T03:20:00.000000000Z","tool":"\(script)","contract":"1.2","source":"proxy","labels":{"\(script)":"\(script)"}}
            {"event":"open","seq":1,"t":1000000,"conn":1,"app":"\(script)","board":"192.168.42.1:8080"}
            {"event":"request","seq":2,"t":2000000,"conn":1,"from":"app","exchange":1,"method":"GET","target":"/api/phone-bridge?\(script.replacing(" ", with: "+"))","http":"1.1","headers":[["Upgrade","websocket"],["X-\(script)","\(script)"]],"framing":"none"}
            {"event":"response","seq":3,"t":3000000,"conn":1,"from":"board","exchange":1,"status":101,"reason":"\(script)","http":"1.1","headers":[["Upgrade","websocket"],["Connection","Upgrade"]],"framing":"none"}
            {"event":"frame","seq":4,"t":4000000,"conn":1,"from":"board","fin":true,"rsv":0,"opcode":1,"length":\(text.replacing(#"\""#, with: "\"").utf8.count),"text":"\(text)"}
            {"event":"frame","seq":5,"t":9000000,"conn":1,"from":"app","fin":true,"rsv":0,"opcode":1,"mask":"00000000","length":40,"text":"\(script)"}
            {"event":"data","seq":6,"t":9100000,"conn":1,"from":"app","why":"\(script)","base64":"PHNjcmlwdD4="}
            {"event":"frame","seq":7,"t":9200000,"conn":1,"from":"board","fin":true,"rsv":0,"opcode":8,"length":\(script.utf8.count + 2),"code":1001,"reason":"\(script)","base64":"\((Data([0x03, 0xe9]) + Data(script.utf8)).base64EncodedString())"}
            {"event":"note","seq":8,"t":9300000,"code":"mark","text":"\(script)","to":4}
            {"event":"close","seq":9,"t":9400000,"conn":1,"from":"board","how":"reset","detail":"\(script)"}
            {"event":"end","seq":10,"t":9500000,"events":9,"bytes_app":1,"bytes_board":1,"dropped":0}

            """
    }

    @Test(.enabled(if: BuiltProgram.isOptimisedThere && !BuiltProgram.isSanitized))
    func `a hundred thousand events are there at once and scroll smoothly`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "long.ndjson")
            try Data(long(100_000).utf8).write(to: file)
            let page = try page(file.path, folder, program: BuiltProgram.optimised)
            let figures = try InspectedPage.look("big", [page])
            print("a page of 100,000 events: \(figures)")
        }
    }

    /// A session of commands and their results, with a heartbeat now and then.
    private func long(_ count: Int) -> String {
        var text = """
            {"event":"session","format":"bridgetap","version":1,"id":"long","t":0,"started_at":"2026-06-10T03:20:00.000000000Z","tool":"bridgetap","contract":"1.2","source":"proxy"}
            {"event":"open","seq":1,"t":1000000,"conn":1,"app":"192.168.42.2:50001","board":"192.168.42.1:8080","continued":true,"upgraded":true}

            """
        let types = ["clipboard_read", "calendar_create", "calendar_query", "contacts_query"]
        var seq = 1
        while seq < count - 1 {
            let number = seq / 2
            let time = Int64(number) * 40_000_000
            let type = types[number % types.count]
            for (from, later, content) in [
                ("board", 0, #"{\"id\":\"c\#(number)\",\"type\":\"\#(type)\"}"#),
                (
                    "app", 9 + number % 30,
                    #"{\"id\":\"c\#(number)\",\"data\":{\"text\":\"\#(number)\"}}"#
                ),
            ] {
                seq += 1
                let mask = from == "app" ? #","mask":"37fa213d""# : ""
                let length = content.replacing(#"\""#, with: "\"").utf8.count
                text +=
                    #"{"event":"frame","seq":\#(seq),"t":\#(time + Int64(later) * 1_000_000),"conn":1,"from":"\#(from)","fin":true,"rsv":0,"opcode":1\#(mask),"length":\#(length),"text":"\#(content)"}"#
                    + "\n"
            }
        }
        return text
    }

    @Test func `the page's filters are those of the terminal`() throws {
        let web = "Sources/Inspector/Web/"
        try InspectedPage.look(
            "filters", ["Tests/Filters/table.json", web + "text.js", web + "filter.js"])
    }

    @Test func `a page is served to this machine unless somebody is allowed`() throws {
        let file = captures.appending(path: "errors.ndjson").path
        let rows: [([String], String)] = [
            (["view", "--listen", "0.0.0.0:0", file], "opens the page to the network"),
            (["view", "-"], "standard input cannot be served"),
            (["view", "--html", "-", file], "a page is a file"),
            (["view", "--html", "x.html", "--listen", "127.0.0.1:0", file], "--listen"),
            (["view", "--html", file, file], "is an input"),
        ]
        for (arguments, words) in rows {
            let outcome = try BuiltProgram.run(arguments)
            #expect(outcome.exitCode == 2 && outcome.errors.contains(words), "\(outcome.errors)")
        }
        let missing = try BuiltProgram.run(["view", "/nowhere/lab.ndjson"])
        #expect(missing.exitCode == 4)
    }
}
