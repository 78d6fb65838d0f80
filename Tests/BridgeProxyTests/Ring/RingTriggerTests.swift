import BridgeProxy
import Testing

/// Why rings are written, and how often.
@Suite struct RingTriggerTests {
    private static let minute: Int64 = 60_000_000_000

    @Test(arguments: [
        (RingTrigger.signal, "SIGUSR1"), (.key, "the key b"), (.end, "the end of the recording"),
        (.rules(["a"]), "rule a"), (.rules(["a", "b"]), "rules a, b"),
    ])
    func `a trigger is told in words`(trigger: RingTrigger, words: String) {
        #expect(trigger.text == words)
        #expect(RingTrigger.noteCode == "trigger")
    }

    @Test func `a rule has its first file at once, and rests longer each time`() {
        var rests = RingRests(duration: 10 * Self.minute)
        var times: [Int64] = []
        for minute in 0..<Int64(3 * 24 * 60) {
            rests.broken("heartbeat-echoed", at: minute * Self.minute)
            if !rests.due(at: minute * Self.minute).isEmpty { times.append(minute) }
        }
        #expect(times == [0, 10, 30, 70, 150, 310, 630, 1270, 2550, 3990])
    }

    @Test func `rules that are broken soon after a file share the next one`() {
        var rests = RingRests(duration: 10 * Self.minute)
        rests.broken("a", at: 0)
        #expect(rests.due(at: 0) == ["a"])
        rests.broken("c", at: Self.minute)
        rests.broken("b", at: 9 * Self.minute)
        #expect(rests.due(at: 9 * Self.minute) == [])
        #expect(rests.due(at: 10 * Self.minute) == ["b", "c"])
        #expect(rests.due(at: 30 * Self.minute) == [])
    }
}
