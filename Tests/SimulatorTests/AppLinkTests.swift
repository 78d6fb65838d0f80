import Simulator
import Testing
import Wire

@Suite struct AppLinkTests {
    @Test func `the app connects with its platform and id, and speaks of its phone first`() {
        var bench = AppBench { $0.phoneID = "手机 1" }
        bench.start()
        guard case .connect(_, let target)? = bench.log.first?.action else {
            Issue.record("no connect")
            return
        }
        #expect(target == "/api/phone-bridge?platform=ios&phone_id=%E6%89%8B%E6%9C%BA%201")
        bench.open()
        let said = bench.sent().map { json($0) }
        #expect(said.map { $0["id"] } == ["phone_environment", "phone_app_state"])
        #expect(said.map { $0["method"] } == ["phone_environment", "phone_app_state"])
        #expect(said[0]["data"]?["captured_at"] == "2026-06-10T03:20:05Z")
        #expect(said[1]["data"]?["app_state"] == "active")
    }

    @Test(arguments: Platform.allCases)
    func `the board takes the app's environment whole`(platform: Platform) {
        var bench = AppBench { $0.platform = platform }
        _ = bench.connect()
        var board = BoardBench()
        let link = board.connect("?platform=\(platform.rawValue)")
        for message in bench.sent() { board.say(message, on: link) }
        let told = json(bench.sent()[0])["data"]
        #expect(told != nil)
        #expect(board.statusDocument["environment"] == told)
        #expect(board.statusDocument["app_state"] == "active")
    }

    @Test func `a heartbeat goes out every five seconds`() {
        var bench = AppBench()
        _ = bench.connect()
        bench.wait(60)
        let beats = bench.log.compactMap { entry -> Double? in
            guard case .send(_, let bytes) = entry.action,
                bytes == Bytes(#"{"id":"heartbeat"}"#.utf8)
            else { return nil }
            return entry.second
        }
        #expect(beats == Array(stride(from: 5.0, through: 60, by: 5)))
        #expect(bench.links.count == 1)
    }

    @Test(arguments: [nil, #"{"id":"ping"}"#, #"{"id":"heartbeats"}"#, "{}"])
    func `without its own echo the app gives a link up and makes another`(other: String?) {
        var bench = AppBench()
        let link = bench.connect()
        for _ in 0..<5 {
            bench.wait(5, echoing: false)
            if let other { bench.say(other, on: link, working: 0) }
        }
        #expect(bench.aborted == [link])
        #expect(bench.links.count == 2)
    }

    @Test func `attempts go on without end, 3 to 5 s apart`() {
        var bench = AppBench()
        bench.start()
        for round in 0..<200 {
            if let link = bench.links.last {
                if round % 3 == 0 { bench.open() }
                bench.end(link)
            }
            bench.wait(5)
        }
        let gaps = zip(bench.connectTimes, bench.connectTimes.dropFirst()).map { $1 - $0 }
        #expect(bench.connectTimes.count > 190)
        #expect(gaps.allSatisfy { $0 >= 3 })
    }

    @Test func `after each end the wait is between three and five seconds`() {
        var bench = AppBench()
        bench.start()
        for _ in 0..<100 {
            let ended = Double(bench.now.monotonic - seconds(1000)) / 1e9
            let count = bench.connectTimes.count
            if let link = bench.links.last { bench.end(link) }
            while bench.connectTimes.count == count { bench.wait(0.01) }
            let wait = bench.connectTimes[count] - ended
            #expect(wait >= 3 && wait <= 5)
        }
    }

    @Test func `a handshake that hangs is given up`() {
        var bench = AppBench()
        bench.start()
        bench.wait(20)
        #expect(bench.aborted == [bench.links[0]])
        #expect(bench.links.count == 2)
    }

    @Test func `news of a link that was given up is not heard`() {
        var bench = AppBench()
        let old = bench.connect()
        bench.perform(.dropConnection)
        bench.wait(5)
        let new = bench.open()
        let count = bench.log.count
        bench.end(old)
        #expect(bench.say(#"{"id":"c","type":"clipboard_read"}"#, on: old) == [])
        #expect(bench.ask(#"{"id":"c","type":"clipboard_read"}"#, on: new) != nil)
        #expect(bench.links.count == 2)
        #expect(bench.log.count > count)
    }

    @Test func `an answer does not follow to another link`() {
        var bench = AppBench { $0.commandDuration = 10 }
        let old = bench.connect()
        bench.say(#"{"id":"c","type":"clipboard_read"}"#, on: old)
        bench.end(old)
        bench.wait(5)
        let new = bench.open()
        bench.wait(10)
        #expect(!bench.sent().contains { $0.contains(#""id":"c""#) })
        #expect(bench.ask(#"{"id":"c","type":"clipboard_read"}"#, on: new) != nil, "kept")
    }

    @Test func `every duration shrinks with the time scale`() {
        var bench = AppBench { $0.timeScale = TimeScale(10) }
        _ = bench.connect()
        bench.wait(2)
        #expect(bench.sent().count { $0.contains("heartbeat") } == 4)
    }
}
