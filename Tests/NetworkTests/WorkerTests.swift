import Network
import Synchronization
import Testing

@Suite struct WorkerTests {
    /// What the thread has seen.
    private final class Log: Sendable {
        let values = Mutex<[Int]>([])
        let given = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        let most = Atomic<Int>(0)
    }

    @Test(arguments: [0, 1, 4])
    func `all values are worked off in their order, once finish has returned`(
        capacity: Int
    ) throws {
        let log = Log()
        let worker = try #require(
            Worker<Int>.start(capacity: capacity) { value in
                let value = copy value
                log.values.withLock { $0.append(value) }
            })
        var returned: [Int] = []
        for value in 0..<2000 {
            if let done = worker.give(value) { returned.append(done) }
        }
        worker.finish()
        #expect(log.values.withLock { $0 } == Array(0..<2000))
        // A value comes back at most once.
        #expect(Set(returned).count == returned.count)
        #expect(returned.count >= 2000 - 2 * max(1, capacity))
        worker.finish()
    }

    @Test func `no more values than the capacity are under way`() throws {
        let log = Log()
        let worker = try #require(
            Worker<Int>.start(capacity: 3) { _ in
                let ahead =
                    log.given.load(ordering: .acquiring) - log.done.load(ordering: .acquiring)
                log.most.max(ahead, ordering: .relaxed)
                log.done.add(1, ordering: .acquiringAndReleasing)
            })
        for value in 0..<2000 {
            _ = worker.give(value)
            log.given.add(1, ordering: .acquiringAndReleasing)
        }
        worker.finish()
        #expect(log.done.load(ordering: .acquiring) == 2000)
        #expect(log.most.load(ordering: .relaxed) <= 3)
    }
}
