import Network
import Testing

@Suite struct DeadlineTimerTests {
    /// When a timer called, in milliseconds from the start.
    private static func calls(
        _ body: (DeadlineTimer, (Int64) -> Int64, SimulatedWorld) -> Void
    ) throws -> [Int64] {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.2"))
        let start = host.now
        var calls: [Int64] = []
        let timer = DeadlineTimer(on: host) {
            calls.append((host.now - start) / nanosecondsPerMillisecond)
        }
        body(timer, { start + $0 * nanosecondsPerMillisecond }, world)
        world.run(for: nanosecondsPerSecond)
        return calls
    }

    @Test func `it calls once its deadline has passed`() throws {
        #expect(try Self.calls { timer, at, _ in timer.set(at(50)) } == [50])
    }

    @Test func `a deadline that moves is met where it went, later or earlier`() throws {
        let later = try Self.calls { timer, at, _ in
            timer.set(at(50))
            timer.set(at(80))
        }
        #expect(later == [80])
        let earlier = try Self.calls { timer, at, _ in
            timer.set(at(80))
            timer.set(at(50))
        }
        #expect(earlier == [50])
    }

    @Test func `without a deadline, or cancelled, it does not call`() throws {
        #expect(
            try Self.calls { timer, at, _ in
                timer.set(at(50))
                timer.set(nil)
            }.isEmpty)
        #expect(
            try Self.calls { timer, at, _ in
                timer.set(at(50))
                timer.cancel()
            }.isEmpty)
    }

    @Test func `it can be set again once it has called`() throws {
        let calls = try Self.calls { timer, at, world in
            timer.set(at(50))
            world.run(for: 60 * nanosecondsPerMillisecond)
            timer.set(at(90))
        }
        #expect(calls == [50, 90])
    }
}
