import Capture
import Fuzz
import PhoneBridge
import Testing

/// What takes the commands of a case out of a queue.
@Suite struct QueueDrainTests {
    private func drain(_ lines: String) throws -> FuzzScript? {
        QueueDrain.script(
            after: try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n\(lines)\n"),
            contract: .current)
    }

    @Test func `each phone polls once more, and each command is answered`() throws {
        let script = try #require(
            try drain(
                """
                connect a platform=ios&phone_id=p7
                enqueue q1 {"id":"q1","type":"clipboard_read","phone_id":"p8"}
                enqueue q1 {"id":"q1","type":"clipboard_read"}
                post commands {"command":{"id":"q2","type":"clipboard_read"}}
                """))
        let texts = script.steps.map(\.action.description)
        #expect(texts.count { $0.hasPrefix("get commands?platform=ios&app_state=active") } == 3)
        #expect(texts.count { $0.contains("phone_id=p7") } == 2)
        #expect(texts.count { $0.contains("phone_id=p8") } == 2)
        let results = texts.filter { $0.hasPrefix("post results") }
        #expect(results.map { $0.contains("\"q1\"") } == [true, false])
        #expect(!script.description.contains("!"))
    }

    @Test func `where nothing was enqueued, nothing is drained`() throws {
        #expect(try drain("connect a\nget status") == nil)
        #expect(
            QueueDrain.script(
                after: FuzzScript(as: .board, [FuzzStep(.enqueue("q", []))]), contract: .current)
                == nil)
    }

    @Test func `after it, a board that goes on has nothing to hand out`() throws {
        let filling = (1...3).map { #"enqueue q\#($0) {"id":"q\#($0)","type":"clipboard_read"}"# }
            .joined(separator: "\n")
        let drain = try #require(try drain(filling))
        var script = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n\(filling)\n")
        script.steps += drain.steps
        script.steps += try FuzzScript(
            parsing:
                "bridgetap-fuzz 1 as app\nwait 100s\nget commands?platform=ios&app_state=active\n"
        ).steps
        let outcome = SimulatedTarget().outcome(of: script, keepsSession: true)
        #expect(outcome.observations.map(\.check) == [])
        let session = String(decoding: outcome.session, as: UTF8.self)
        let last = try #require(
            session.split(separator: "\n").last { $0.contains("\"event\":\"response\"") })
        #expect(last.contains("commands") && !last.contains("clipboard_read"))
    }
}
