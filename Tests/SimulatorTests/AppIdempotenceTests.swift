import Simulator
import Testing
import Wire

@Suite struct AppIdempotenceTests {
    private func create(_ id: String, _ title: String = "t") -> String {
        """
        {"id":"\(id)","type":"calendar_create","payload":{"title":"\(title)","start_at":\
        "2026-06-02T15:00:00Z","end_at":"2026-06-02T16:00:00Z"}}
        """
    }

    @Test func `one id has one effect and the same answer each time`() {
        var bench = AppBench()
        let link = bench.connect()
        let first = bench.ask(create("c"), on: link)
        #expect(bench.ask(create("c"), on: link) == first)
        #expect(bench.ask(create("c", "other"), on: link) == first)
        #expect(bench.app.phone.calendar.entries.count == 1)
    }

    @Test func `a command that comes again while it runs is answered to both`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.say(create("c"), on: link, working: 0)
        #expect(bench.say(create("c"), on: link).count == 2)
        #expect(bench.app.phone.calendar.entries.count == 1)
    }

    @Test func `equal content under two ids has two effects`() {
        var bench = AppBench()
        let link = bench.connect()
        _ = bench.ask(create("c1"), on: link)
        _ = bench.ask(create("c2"), on: link)
        #expect(bench.app.phone.calendar.entries.count == 2)
    }

    @Test func `ids are remembered over a reconnect and over both routes`() {
        var bench = AppBench { $0.pollsInForeground = true }
        let link = bench.connect()
        let first = bench.ask(create("c"), on: link)
        bench.end(link)
        bench.wait(6)
        let second = bench.open()
        #expect(bench.ask(create("c"), on: second) == first)
        bench.deliver("[\(create("c"))]")
        #expect(bench.posts.map { json($0.body) } == [first])
        #expect(bench.app.phone.calendar.entries.count == 1)
    }

    @Test func `a redelivered command of the queue is answered again`() {
        var bench = AppBench { $0.pollsInForeground = true }
        _ = bench.connect()
        for _ in 0..<3 {
            bench.deliver("[\(create("c"))]")
            if let post = bench.posts.last?.id { bench.fail(post) }
            bench.wait(5)
        }
        #expect(Set(bench.posts.map(\.body)).count == 1)
        #expect(bench.app.phone.calendar.entries.count == 1)
    }

    @Test func `ids differ by their bytes`() {
        var bench = AppBench()
        let link = bench.connect()
        for id in ["x", "X", "x ", "\u{e9}", "e\u{301}"] {
            #expect(bench.ask(create(id), on: link)?["id"] == .string(id))
        }
        #expect(bench.app.phone.calendar.entries.count == 5)
    }

    @Test func `the memory is bounded`() {
        var bench = AppBench { $0.maximumCacheCount = 3 }
        let link = bench.connect()
        for index in 0..<5 { _ = bench.ask(create("c\(index)"), on: link) }
        _ = bench.ask(create("c4"), on: link)
        #expect(bench.app.phone.calendar.entries.count == 5)
        _ = bench.ask(create("c0"), on: link)
        #expect(bench.app.phone.calendar.entries.count == 6, "forgotten long ago")
    }

    @Test func `more commands than can run at once are refused with an error`() {
        var bench = AppBench { $0.maximumRunningCount = 2 }
        let link = bench.connect()
        for index in 0..<2 { bench.say(create("c\(index)"), on: link, working: 0) }
        let refused = bench.say(create("c2"), on: link, working: 0)
        #expect(refused.count == 1)
        #expect(json(refused[0])["error"]?["code"] == "native_module_failed")
    }
}
