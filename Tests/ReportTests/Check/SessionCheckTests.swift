import Capture
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct SessionCheckTests {
    /// A session whose board echoes only the heartbeats that `echoes` lists.
    private func lines(heartbeats: Int, echoes: Set<Int>, ending: String? = nil) -> [String] {
        let start = #"""
            {"event":"session","format":"bridgetap","version":1,"id":"s1",\#
            "started_at":"2026-06-10T03:20:00.000000000Z","tool":"t","contract":"1.2",\#
            "source":"proxy"}
            """#
        var lines = [start, #"{"event":"open","seq":1,"t":0,"conn":1,"app":"a:1","board":"b:2"}"#]
        var seq = 1
        func add(_ time: Int, _ side: String, _ rest: String) {
            seq += 1
            lines.append(
                "{\"event\":\"frame\",\"seq\":\(seq),\"t\":\(time),\"conn\":1,\"from\":\"\(side)\","
                    + rest + "}")
        }
        lines.append(
            #"{"event":"request","seq":2,"t":0,"conn":1,"from":"app","exchange":1,"#
                + #""method":"GET","target":"/api/phone-bridge?platform=ios","http":"1.1","#
                + #""headers":[["Host","b"],["Upgrade","websocket"],["Connection","Upgrade"],"#
                + #"["Sec-WebSocket-Version","13"],"#
                + #"["Sec-WebSocket-Key","dGhlIHNhbXBsZSBub25jZQ=="]],"framing":"none"}"#)
        lines.append(
            #"{"event":"response","seq":3,"t":0,"conn":1,"from":"board","exchange":1,"#
                + #""status":101,"reason":"Switching Protocols","http":"1.1","#
                + #""headers":[["Upgrade","websocket"],["Connection","Upgrade"],"#
                + #"["Sec-WebSocket-Accept","s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]],"framing":"none"}"#)
        seq = 3
        for beat in 0..<heartbeats {
            let time = beat * 5_000_000_000
            let text = #""fin":true,"rsv":0,"opcode":1,"#
            add(
                time, "app",
                text + #""mask":"01020304","length":18,"text":"{\"id\":\"heartbeat\"}""#)
            guard echoes.contains(beat) else { continue }
            add(time + 1_000_000, "board", text + #""length":18,"text":"{\"id\":\"heartbeat\"}""#)
        }
        if let ending { lines.append(ending) }
        return lines
    }

    private func check(
        _ lines: [String], profile: Profile = .contract
    ) throws -> (SessionCheck, [(Rule, Results.Finding)], Results.Suite) {
        let text = lines.map { $0 + "\n" }.joined()
        var reader = SessionReader(MemorySource(Bytes(text.utf8), name: "lab.ndjson"))
        var check = SessionCheck(name: "lab.ndjson", profile: profile, today: "2026-06-10")
        var found: [(Rule, Results.Finding)] = []
        while let item = try reader.next() {
            switch item {
            case .event(let event):
                found += check.receive(event, at: reader.position, name: reader.name)
            case .remark: found += check.lost()
            }
        }
        let (last, suite) = check.finish()
        return (check, found + last, suite)
    }

    @Test func `a session that keeps the rules has a case for each that was put to the test`()
        throws
    {
        let (_, found, suite) = try check(lines(heartbeats: 10, echoes: Set(0..<10)))
        #expect(found.filter { $0.0.id == "heartbeat-echoed" }.isEmpty)
        let item = try #require(suite.cases.first { $0.name == "heartbeat-echoed" })
        #expect(item.outcome == .passed)
        #expect(item.exercised == 10)
        #expect(suite.session == "s1")
        #expect(suite.figure("events") == 23)
        #expect(suite.figure("rules") == suite.cases.count)
        #expect(suite.duration == 45_001_000_000)
    }

    @Test func `a breach names the line of its event, and how often there is one`() throws {
        let (_, found, suite) = try check(lines(heartbeats: 12, echoes: [0, 1]))
        let missing = found.filter { $0.0.id == "heartbeat-echoed" }
        #expect(missing.count > 3)
        let item = try #require(suite.cases.first { $0.name == "heartbeat-echoed" })
        #expect(item.outcome == .failed)
        #expect(item.tally.counted == missing.count)
        #expect(item.findings == missing.map(\.1))
        let first = try #require(item.findings.first)
        // The third heartbeat: a session line, an open, a handshake and two pairs before it.
        #expect(first.events == [8])
        #expect(first.places == [EventPlace(file: "lab.ndjson", line: 9)])
        #expect(item.message?.hasPrefix("\(missing.count) times, first: ") == true)
        // Sent after 10 s, and due within 15 s: not told of before that.
        #expect(first.time >= 25_000_000_000)
    }

    @Test func `what the profile knows is skipped with its words`() throws {
        var profile = Profile.contract
        profile.deviations["heartbeat-echoed"] = "this one never echoes"
        let (_, _, suite) = try check(lines(heartbeats: 12, echoes: []), profile: profile)
        let item = try #require(suite.cases.first { $0.name == "heartbeat-echoed" })
        #expect(item.outcome == .skipped)
        #expect(item.message == "does not count: this one never echoes")
        #expect(item.tally.excused > 0)
        #expect(item.tally.counted == 0)
    }

    @Test func `of a rule that is broken all the time the first findings are kept`() throws {
        let (_, found, suite) = try check(lines(heartbeats: 400, echoes: []))
        let item = try #require(suite.cases.first { $0.name == "heartbeat-echoed" })
        #expect(item.findings.count == SessionCheck.maximumFindings)
        #expect(item.tally.counted == found.count { $0.0.id == "heartbeat-echoed" })
        #expect(item.tally.counted > 300)
    }

    @Test func `notes of a live check change nothing`() throws {
        func note(_ code: String) -> String {
            #"{"event":"note","seq":18,"t":60000000000,"conn":1,"from":"board","#
                + #""code":"\#(code)","text":"heartbeat-echoed: none came","to":8}"#
        }
        let lines = lines(heartbeats: 12, echoes: [0, 1])
        let (_, before, _) = try check(lines + [note("mark")])
        let (_, after, _) = try check(lines + [note("rule")])
        #expect(after.map(\.1) == before.map(\.1))
        #expect(!after.isEmpty)
    }

    @Test func `a session says itself whether it is complete`() throws {
        let end = { (dropped: Int) in
            #"{"event":"end","seq":6,"t":9,"events":5,"bytes_app":0,"bytes_board":0,"#
                + "\"dropped\":\(dropped)}"
        }
        let whole = lines(heartbeats: 1, echoes: [0])
        #expect(try check(whole + [end(0)]).0.isComplete)
        #expect(try !check(whole).0.isComplete)
        #expect(try !check(whole + [end(1)]).0.isComplete)
        #expect(try !check(whole + ["{\"event\":\"frame\",broken", end(0)]).0.isComplete)
        let gap = #"{"event":"gap","seq":6,"t":1,"conn":1,"from":"app","why":"disk_full"}"#
        #expect(try !check(whole + [gap, end(0)]).0.isComplete)
    }
}
