import Network
import Testing
import Wire

/// What only the simulated network can do.
@Suite struct SimulatedWorldTests {
    @Test func `sixty seconds of silence pass in no time`() {
        let world = SimulatedWorld(seed: 1)
        guard let host = world.addHost("10.0.0.1") else { return }
        var rings: [Int64] = []
        func ring() {
            rings.append(world.now)
            host.schedule(after: 60 * nanosecondsPerSecond) { ring() }
        }
        let start = world.now
        ring()
        world.run(for: 3600 * 24 * nanosecondsPerSecond)
        #expect(rings.count == 1441)
        #expect(world.now == start + 3600 * 24 * nanosecondsPerSecond)
    }

    /// What one seed lets two hosts see of each other, in a form that can be compared.
    private func transcript(seed: UInt64) throws -> [String] {
        let bench = try SimulatedBench(seed: seed, isChoppy: true)
        let pair = try Pair(bench)
        var log: [String] = []
        pair.server.stream.onRead = { log.append("\(bench.world.now) \($0.count)") }
        for _ in 0..<20 { pair.client.stream.write(bench.client.randomBytes(1000)) }
        pair.client.stream.shutdown()
        bench.expect("the server reads the end") { !pair.server.ends.isEmpty }
        return log
    }

    @Test func `a seed is a run`() throws {
        #expect(try transcript(seed: 7) == transcript(seed: 7))
        #expect(try transcript(seed: 7) != transcript(seed: 8))
    }

    @Test func `the generator's numbers are those of its authors for ever`() {
        // SplitMix64 of seed 0 begins with e220a8397b1dcdaf; xoshiro256** of those four words:
        var generator = SeededGenerator(seed: 0)
        let numbers = (0..<3).map { _ in generator.next() }
        #expect(numbers == [0x99ec_5f36_cb75_f2b4, 0xbf6e_1f78_4956_452a, 0x1a5f_849d_4933_e6e0])
    }

    @Test func `a cut link is silent, and mends without loss`() throws {
        let bench = try SimulatedBench(seed: 3, isChoppy: false)
        let pair = try Pair(bench)
        let (a, b) = (bench.clientHost.ip, bench.serverHost.ip)
        pair.client.stream.write([1])
        bench.expect("the server reads") { pair.server.received == [1] }
        bench.world.setLink(a, b, isUp: false)
        pair.client.stream.write([2])
        pair.client.stream.write([3])
        bench.world.run(for: 60 * nanosecondsPerSecond)
        #expect(pair.server.received == [1])
        #expect(pair.server.ends.isEmpty && pair.client.ends.isEmpty)
        bench.world.setLink(a, b, isUp: true)
        bench.expect("nothing was lost") { pair.server.received == [1, 2, 3] }
    }

    @Test func `a link that stays cut ends in a time-out for who has something to send`() throws {
        let bench = try SimulatedBench(seed: 3, isChoppy: false)
        let pair = try Pair(bench)
        bench.world.setLink(bench.clientHost.ip, bench.serverHost.ip, isUp: false)
        pair.client.stream.write([2])
        bench.world.run(for: 1000 * nanosecondsPerSecond)
        guard case .timedOut(let error)? = pair.client.ends.first else {
            Issue.record("the client saw \(pair.client.ends)")
            return
        }
        #expect(error.name == "ETIMEDOUT")
        // The other side has nothing to send and asks nothing: it waits for ever.
        #expect(pair.server.ends.isEmpty)
    }

    @Test func `keep-alive finds a dead link on both sides`() throws {
        let bench = try SimulatedBench(seed: 3, isChoppy: false)
        var options = StreamOptions()
        options.keepAliveSeconds = 10
        let pair = try Pair(bench, options: options)
        bench.world.setLink(bench.clientHost.ip, bench.serverHost.ip, isUp: false)
        bench.world.run(for: 50 * nanosecondsPerSecond)
        for witness in [pair.client, pair.server] {
            guard case .timedOut? = witness.ends.first else {
                Issue.record("it saw \(witness.ends)")
                continue
            }
        }
    }

    @Test func `a reset over a cut link is lost, and found by the next byte`() throws {
        let bench = try SimulatedBench(seed: 3, isChoppy: false)
        let pair = try Pair(bench)
        let (a, b) = (bench.clientHost.ip, bench.serverHost.ip)
        bench.world.setLink(a, b, isUp: false)
        pair.client.stream.abort()
        bench.world.run(for: nanosecondsPerSecond)
        bench.world.setLink(a, b, isUp: true)
        bench.world.run(for: 60 * nanosecondsPerSecond)
        #expect(pair.server.ends.isEmpty)
        pair.server.stream.write([1])
        bench.expect("the server sees a reset") { pair.server.isReset }
    }

    @Test func `a finished connection is let go of`() throws {
        let bench = try SimulatedBench(seed: 3, isChoppy: false)
        weak var first: (any TCPStream)?
        weak var second: (any TCPStream)?
        do {
            let pair = try Pair(bench)
            first = pair.client.stream
            second = pair.server.stream
            pair.client.stream.write([1])
            pair.client.stream.close()
            bench.expect("the server reads the end") { pair.server.ends == [.fin] }
            pair.server.stream.close()
        }
        bench.settle()
        #expect(first == nil && second == nil)
    }

    @Test func `a world that is dropped amid everything leaves nothing behind`() throws {
        weak var world: SimulatedWorld?
        weak var stream: (any TCPStream)?
        weak var owner: Witness?
        var late: Witness?
        do {
            let bench = try SimulatedBench(seed: 4, isChoppy: true)
            let pair = try Pair(bench)
            world = bench.world
            stream = pair.client.stream
            owner = pair.client
            late = pair.server
            pair.client.stream.onRead = { _ in pair.client.stream.close() }
            pair.client.stream.write(noise(100_000))
            bench.clientHost.schedule(after: 1000) { pair.client.stream.close() }
            bench.clientHost.atEndOfTurn { pair.client.stream.close() }
            _ = try bench.server.listen(
                on: bench.serverAddress, options: ListenOptions()
            ) { _ in pair.client.stream.close() }
            bench.world.run(for: 500)
        }
        #expect(world == nil && stream == nil && owner == nil)
        // Who still holds an end finds it closed.
        #expect(late?.stream.write([1]) == .refused)
        late?.stream.resume()
        late?.stream.close()
    }

    @Test func `a stream that is cut into single bytes arrives whole`() throws {
        let bench = try SimulatedBench(seed: 8, isChoppy: false)
        bench.world.conditions.segment = 1...1
        let pair = try Pair(bench)
        let data = noise(3000)
        pair.client.stream.write(data)
        bench.expect("all is read") { pair.server.received == data }
        #expect(pair.server.reads > 1000)
    }
}
