import PhoneBridge
import Testing

@Suite struct CommandTrackerTests {
    @Test func `answered commands are forgotten first, the longest untouched first`() {
        var tracker = CommandTracker(maximumCommands: 8)
        for number in 0..<8 {
            tracker.sent(
                id: "c\(number)", type: "t", timeoutMilliseconds: 1, route: .websocket,
                at: Int64(number))
        }
        _ = tracker.answered(id: "c5", at: 10)
        _ = tracker.answered(id: "c2", at: 11)
        tracker.sent(id: "new", type: "t", timeoutMilliseconds: 1, route: .queue, at: 12)
        #expect(tracker.count == 7)
        #expect(!tracker.contains(id: "c5"))
        #expect(!tracker.contains(id: "c2"))
        #expect(tracker.unanswered.map(\.id) == ["c0", "c1", "c3", "c4", "c6", "c7", "new"])
        tracker.sent(id: "x", type: "t", timeoutMilliseconds: 1, route: .queue, at: 13)
        tracker.sent(id: "y", type: "t", timeoutMilliseconds: 1, route: .queue, at: 14)
        // Nothing was answered, so the oldest goes.
        #expect(!tracker.contains(id: "c0"))
        #expect(!tracker.contains(id: "c1"))
        #expect(tracker.contains(id: "c3"))
    }

    @Test func `memory stays bounded under a flood of ids`() {
        var tracker = CommandTracker(maximumCommands: 1000)
        var most = 0
        for number in 0..<20_000 {
            tracker.sent(
                id: "c\(number)", type: "type\(number)", timeoutMilliseconds: 1,
                route: .websocket, at: Int64(number))
            most = max(most, tracker.count)
        }
        #expect(most == 1000)
        #expect(tracker.answered(id: "c19999", at: 20_000)?.type == "type19999")
        #expect(tracker.answered(id: "c0", at: 20_000) == nil)
    }

    @Test func `long ids are told apart by all of their bytes`() {
        var tracker = CommandTracker()
        let long = String(repeating: "x", count: 70_000)
        tracker.sent(id: long + "1", type: "a", timeoutMilliseconds: 1, route: .queue, at: 0)
        tracker.sent(id: long + "2", type: "b", timeoutMilliseconds: 1, route: .queue, at: 0)
        #expect(tracker.answered(id: long + "2", at: 1)?.type == "b")
        #expect(tracker.answered(id: long + "1", at: 1)?.type == "a")
        #expect(tracker.answered(id: long, at: 1) == nil)
        #expect(tracker.command(id: long + "1")?.id.utf8.count == 256)
    }

    @Test func `a type that nobody could want to read is not kept`() {
        var tracker = CommandTracker()
        tracker.sent(
            id: "a", type: String(repeating: "t", count: 257), timeoutMilliseconds: 1,
            route: .queue, at: 0)
        let pairing = tracker.answered(id: "a", at: 1)
        #expect(pairing != nil)
        #expect(pairing?.type == nil)
    }

    @Test func `times that go backwards or overflow give no trap`() {
        var tracker = CommandTracker()
        tracker.sent(id: "a", type: "t", timeoutMilliseconds: .max, route: .queue, at: .max)
        #expect(tracker.answered(id: "a", at: .min)?.latency ?? -1 >= 0)
        tracker.sent(id: "b", type: "t", timeoutMilliseconds: .min, route: .queue, at: 5)
        #expect(tracker.answered(id: "b", at: 0)?.latency == 0)
    }

    @Test func `being enqueued changes nothing about a command that is known`() {
        var tracker = CommandTracker()
        tracker.enqueued(id: "a", type: "t", at: 1)
        #expect(tracker.command(id: "a")?.sendings == 0)
        tracker.sent(id: "a", type: "t", timeoutMilliseconds: 10, route: .queue, at: 2_000_000)
        tracker.enqueued(id: "a", type: "other", at: 3_000_000)
        #expect(tracker.command(id: "a")?.type == "t")
        #expect(tracker.command(id: "a")?.firstSeen == 1)
        #expect(tracker.answered(id: "a", at: 4_000_000)?.latency == 2_000_000)
    }
}
