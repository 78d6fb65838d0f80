import PhoneBridge
import Simulator
import Testing
import Wire

@Suite struct AppLifecycleTests {
    private func states(_ bench: AppBench) -> [String] {
        bench.sent().map { json($0) }.filter { $0["id"] == "phone_app_state" }
            .compactMap { $0["data"]?["app_state"]?.stringValue }
    }

    @Test func `iOS passes through inactive, and speaks of its phone when it returns`() {
        var bench = AppBench()
        _ = bench.connect()
        bench.perform(.background(.pip))
        bench.perform(.foreground)
        #expect(
            bench.sent().compactMap { json($0)["id"]?.stringValue } == [
                "phone_environment", "phone_app_state", "phone_app_state", "phone_app_state",
                "phone_environment", "phone_app_state",
            ])
        #expect(states(bench) == ["active", "inactive", "background", "active"])
        let background = json(bench.sent()[3])["data"]
        #expect(background?["return_entry"] == "dynamic_island")
        #expect(background?["return_entry_available"] == true)
        #expect(background?["pip_bridge_enabled"] == true)
        #expect(background?["reported_at"] == "2026-06-10T03:20:05Z")
    }

    @Test func `PiP polls the queue with its parameters and runs what is safe`() {
        var bench = AppBench()
        _ = bench.connect()
        bench.perform(.background(.pip))
        bench.wait(0)
        #expect(
            bench.polls.last?.target
                == "/api/phone-bridge/commands?platform=ios&phone_id=phone-a1"
                + "&app_state=background&pip_bridge_enabled=true&limit=10")
        bench.deliver(
            #"[{"id":"c","type":"clipboard_read"},{"id":"o","type":"open_app","app":"WeChat"}]"#)
        #expect(bench.posts.count == 2)
        #expect(json(bench.posts[0].body)["data"]?["text"] == "")
        #expect(json(bench.posts[1].body)["error"]?["category"] == "user_action_required")
        #expect(json(bench.posts[1].body)["error"]?["code"] == "app_backgrounded")
        #expect(bench.app.phone.opened.isEmpty)
    }

    @Test func `the foreground service polls as the contract writes it`() {
        var bench = AppBench { $0.platform = .android }
        _ = bench.connect()
        bench.perform(.background(.fgs))
        bench.wait(0)
        #expect(
            bench.polls.last?.target
                == "/api/phone-bridge/commands?platform=android&phone_id=phone-a1"
                + "&app_state=background&fgs_bridge_enabled=true&limit=10")
        #expect(states(bench) == ["active", "background"])
    }

    @Test func `a suspended app is silent, and a BLE wake lets it poll for a while`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.background(.ble))
        let count = bench.log.count
        bench.wait(120)
        #expect(bench.say(#"{"id":"c","type":"clipboard_read"}"#, on: link) == [])
        #expect(bench.log.count == count)
        bench.perform(.bleWake)
        #expect(
            bench.polls.last?.target
                == "/api/phone-bridge/commands?platform=ios&phone_id=phone-a1"
                + "&app_state=background&pip_bridge_enabled=false&limit=10")
        bench.deliver(#"[{"id":"q","type":"contacts_query"},{"id":"r","type":"clipboard_read"}]"#)
        #expect(json(bench.posts[0].body)["data"]?["contacts"]?.elements?.count == 2)
        #expect(json(bench.posts[1].body)["error"]?["code"] == "app_backgrounded")
        for post in bench.posts { bench.reply(to: post.id, 200, #"{"status":"acknowledged"}"#) }
        for _ in 0..<30 {
            bench.wait(1)
            if let poll = bench.polls.last?.id { bench.reply(to: poll, 200, "{\"commands\":null}") }
        }
        #expect((5...12).contains(bench.polls.count), "the window is ten seconds")
    }

    @Test func `on return from suspension the half-dead link is replaced`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.background(.suspended))
        bench.wait(300)
        bench.perform(.foreground)
        #expect(bench.aborted == [link])
        bench.wait(5)
        #expect(bench.links.count == 2)
        bench.open()
        #expect(bench.ask(#"{"id":"c","type":"clipboard_read"}"#, on: bench.links[1]) != nil)
    }

    @Test func `a link that the board closed meanwhile is made again at once`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.background(.suspended))
        bench.wait(70)
        bench.end(link)
        bench.wait(60)
        #expect(bench.links.count == 1)
        bench.perform(.foreground)
        #expect(bench.links.count == 2)
    }

    // iOS passes through inactive on the way back as well.
    @Test(arguments: [AppStep.inactive, .background(.pip)])
    func `an app that comes back in steps connects again`(step: AppStep) {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.background(.suspended))
        bench.wait(70)
        bench.end(link)
        bench.perform(step)
        bench.perform(.foreground)
        bench.wait(5)
        #expect(bench.links.count == 2)
    }

    @Test(arguments: [
        (500, ""), (404, "404 page not found\n"), (307, ""), (200, ""), (200, "{"), (200, "[]"),
        (200, #"{"commands":5}"#), (200, #"{"commands":[{"id":"c","type":"clipboard_read"}"#),
        (200, #"{"commands":null}"#), (200, #"{"commands":[5,{},null,[]]}"#),
    ])
    func `a bad reply to a poll runs nothing and the polls go on`(status: Int, body: String) {
        var bench = AppBench { $0.pollsInForeground = true }
        bench.start()
        bench.reply(to: bench.polls[0].id, status, body)
        bench.wait(6)
        #expect(bench.posts.isEmpty)
        #expect(bench.polls.count == 2)
    }

    @Test func `a poll that hangs or fails is followed by another`() {
        var bench = AppBench { $0.pollsInForeground = true }
        bench.start()
        bench.wait(16)
        #expect(bench.polls.map(\.second) == [0, 15])
        bench.fail(bench.polls[1].id)
        bench.wait(5)
        #expect(bench.polls.count == 3)
        bench.reply(
            to: bench.polls[0].id, 200, #"{"commands":[{"id":"c","type":"clipboard_read"}]}"#)
        bench.wait(0.1)
        #expect(bench.posts.isEmpty, "a reply that was given up is not heard")
    }

    @Test func `a result is posted until the board has it`() {
        var bench = AppBench { $0.pollsInForeground = true }
        bench.start()
        bench.deliver(#"[{"id":"c","type":"clipboard_read"}]"#)
        bench.reply(to: bench.posts[0].id, 500, "")
        bench.wait(2)
        #expect(bench.posts.count == 2)
        bench.wait(12, echoing: false)
        #expect(bench.posts.count == 3, "the second one hung")
        bench.reply(to: bench.posts[2].id, 404, "")
        bench.wait(60)
        #expect(bench.posts.count == 3, "the board does not want it")
    }
}
