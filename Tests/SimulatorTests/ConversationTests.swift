import PhoneBridge
import Simulator
import Testing
import Wire

@Suite struct ConversationTests {
    @Test func `an hour with the link open loses nothing and ends every command`() {
        var talk = Conversation()
        talk.run(1)
        for minute in 0..<60 {
            talk.issue(
                BridgeCommand(
                    id: "w\(minute)", type: "clipboard_write",
                    payload: ["text": .string("text \(minute)")]), step: 2 * minute)
            talk.run(1)
            talk.issue(
                BridgeCommand(id: "r\(minute)", type: "clipboard_read"), step: 2 * minute + 1)
            talk.run(59)
            #expect(talk.outcomes[2 * minute]?.method == "clipboard_write")
            #expect(talk.outcomes[2 * minute + 1]?.data?["text"] == .string("text \(minute)"))
        }
        let status = talk.get("/api/phone-bridge/status")
        #expect(status["connected"] == true)
        #expect(status["environment"]?["platform"] == "ios")
        let beats = talk.lines.count { $0.contains("app") && $0.contains(#"{"id":"heartbeat"}"#) }
        #expect((719...720).contains(beats))
    }

    @Test func `in the background the queue carries what PiP may, and the rest waits`() {
        var talk = Conversation()
        talk.run(1)
        talk.perform(.background(.pip))
        talk.run(1)
        let isQueued = talk.enqueue(BridgeCommand(id: "q1", type: "contacts_query"))
        #expect(isQueued)
        let isQueuedToo = talk.enqueue(BridgeCommand(id: "q2", type: "open_app", app: "WeChat"))
        #expect(isQueuedToo)
        talk.run(10)
        let done = talk.get("/api/phone-bridge/results/q1")
        #expect(done["status"] == "completed")
        #expect(done["result"]?["data"]?["contacts"]?.elements?.count == 2)
        #expect(talk.get("/api/phone-bridge/results/q2")["status"] == "queued")
        talk.perform(.foreground)
        talk.run(10)
        #expect(talk.get("/api/phone-bridge/results/q2")["result"]?["method"] == "ios_url_scheme")
        #expect(talk.app.phone.opened == ["WeChat"])
    }

    @Test func `Android's foreground service serves the queue`() {
        var options = AppOptions()
        options.platform = .android
        var talk = Conversation(app: options)
        talk.run(1)
        talk.perform(.background(.fgs))
        let isQueued = talk.enqueue(BridgeCommand(id: "q", type: "clipboard_read"))
        #expect(isQueued)
        talk.run(5)
        #expect(talk.get("/api/phone-bridge/results/q")["status"] == "completed")
        #expect(talk.get("/api/phone-bridge/status")["fgs_bridge_enabled"] == true)
    }

    @Test func `a suspended app loses its link after a minute and comes back`() {
        var talk = Conversation()
        talk.run(1)
        talk.perform(.background(.suspended))
        talk.issue(BridgeCommand(id: "c", type: "clipboard_read"), step: 1)
        talk.run(100)
        #expect(talk.outcomes[1]?.error?["code"] == "bridge_timeout")
        let status = talk.get("/api/phone-bridge/status")
        #expect(status["connected"] == false)
        #expect(status["app_state"] == "background")
        #expect(status["return_entry"] == "dynamic_island")
        #expect(status["environment"] == nil)
        talk.perform(.foreground)
        talk.run(10)
        talk.issue(BridgeCommand(id: "d", type: "clipboard_read"), step: 2)
        talk.run(1)
        #expect(talk.outcomes[2]?.data?["text"] == "")
    }

    @Test func `a board that is away for an hour is found again`() {
        var talk = Conversation()
        talk.isReachable = false
        talk.run(3600)
        talk.isReachable = true
        talk.run(10)
        #expect(talk.get("/api/phone-bridge/status")["connected"] == true)
    }

    @Test func `a command that times out behind a prompt does not hinder the next`() {
        var talk = Conversation()
        talk.run(1)
        talk.perform(.decide(.contacts, .pending))
        talk.issue(
            BridgeCommand(id: "a", type: "contacts_query", timeoutMilliseconds: 1000), step: 1)
        talk.run(30)
        #expect(talk.outcomes[1]?.error?["code"] == "bridge_timeout")
        talk.perform(.decide(.contacts, .granted))
        talk.issue(BridgeCommand(id: "b", type: "contacts_query"), step: 2)
        talk.run(1)
        #expect(talk.outcomes[2]?.data?["contacts"]?.elements?.count == 2)
    }

    @Test func `the same run is the same, message by message`() {
        func record() -> [String] {
            var talk = Conversation()
            talk.run(3)
            talk.perform(.dropConnection)
            talk.run(20)
            talk.perform(.background(.pip))
            talk.run(20)
            return talk.lines
        }
        #expect(record() == record())
    }
}
