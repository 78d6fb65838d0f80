import Glibc
import Network
import Testing
import Wire

/// What happens when something runs out.
@Suite struct ScarcityTests {
    @Test func `a listener outlives a lack of descriptors`() async {
        await #expect(processExitsWith: .success) {
            let bench = try RealBench()
            // The loop has raised the limit; this process gets a low one.
            var limit = rlimit(rlim_cur: 40, rlim_max: 40)
            guard unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0 else { exit(2) }
            var accepted: [any TCPStream] = []
            var connected: [any TCPStream] = []
            var troubles: [NetworkError] = []
            let listener = try bench.server.listen(
                on: bench.serverAddress, options: ListenOptions()
            ) { accepted.append($0) }
            listener.onTrouble = { troubles.append($0) }
            func connect() {
                bench.client.connect(
                    to: listener.localAddress, options: ConnectOptions()
                ) { result in
                    guard case .success(let stream) = result else { return }
                    connected.append(stream)
                    connect()
                }
            }
            connect()
            guard bench.run(until: { !troubles.isEmpty }) else { exit(3) }
            guard troubles[0].kind == .outOfResources, troubles[0].call == "accept" else { exit(4) }
            // Room again: what waited in the queue is accepted, nothing was dropped.
            let wanted = connected.count
            for stream in accepted { stream.close() }
            for stream in connected.prefix(wanted / 2) { stream.close() }
            guard bench.run(until: { accepted.count >= wanted }) else { exit(5) }
            bench.finish()
            exit(0)
        }
    }

    @Test func `busy connections do not starve the others`() throws {
        // Forty that always have something: more than one turn may read.
        let bench = try RealBench()
        let pairs = try (0..<40).map { _ in try Pair(bench) }
        let chunk = noise(256 << 10)
        var counts = [Int](repeating: 0, count: pairs.count)
        for (index, pair) in pairs.enumerated() {
            pair.server.stream.onRead = { counts[index] += $0.count }
            func write() {
                while pair.client.stream.bufferedBytes < 256 << 10 {
                    pair.client.stream.write(chunk)
                }
            }
            pair.client.stream.onDrain = { write() }
            write()
        }
        bench.expect("all get on") { (counts.min() ?? 0) > 4 << 20 }
        #expect((counts.max() ?? 0) < 20 * (counts.min() ?? 0))
        for pair in pairs { pair.close() }
        bench.finish()
    }

    @Test func `a chunk that is kept stays what it was`() throws {
        let bench = try RealBench()
        let pair = try Pair(bench)
        var kept: [ReadChunk] = []
        var count = 0
        pair.server.stream.onRead = { chunk in
            kept.append(chunk)
            count += chunk.count
        }
        let data = noise(1 << 20)
        var position = 0
        // Small writes with pauses between them share slabs.
        func write() {
            guard position < data.count else { return }
            let end = min(data.count, position + 1500)
            pair.client.stream.write(Array(data[position..<end]))
            position = end
            bench.client.atEndOfTurn { bench.client.schedule(at: 0) { write() } }
        }
        write()
        bench.expect("all is read") { count == data.count }
        #expect(kept.count > 100)
        #expect(kept.flatMap(\.bytes) == data)
        let chunk = try #require(kept.first { $0.count > 10 })
        let part = chunk.slice(from: 2, length: 5)
        #expect(part.bytes == Array(chunk.bytes[2..<7]))
        #expect(part.slice(from: 4).count == 1)
        #expect(part.slice(from: 9).isEmpty)
        #expect(part.withSpan { $0[0] } == chunk.bytes[2])
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `thousands of timers that come and go keep their order`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var generator = SeededGenerator(seed: 21)
        let start = bench.client.now
        var fired: [(deadline: Int64, index: Int)] = []
        var waiting: [(Int, ScheduledAction)] = []
        var cancelled: Set<Int> = []
        for index in 0..<5000 {
            let deadline = start + Int64(generator.below(20)) * nanosecondsPerMillisecond
            let timer = bench.client.schedule(at: deadline) { fired.append((deadline, index)) }
            waiting.append((index, timer))
            if generator.below(10) < 8 {
                let (other, victim) = waiting.remove(at: generator.below(waiting.count))
                victim.cancel()
                cancelled.insert(other)
            }
        }
        bench.expect("all others have run") { fired.count == 5000 - cancelled.count }
        #expect(cancelled.isDisjoint(with: fired.map(\.index)))
        #expect(
            zip(fired, fired.dropFirst()).allSatisfy {
                $0.deadline != $1.deadline ? $0.deadline < $1.deadline : $0.index < $1.index
            })
        bench.finish()
    }

    @Test func `an interface that vanishes and returns is noticed`() throws {
        let bench = try SimulatedBench(seed: 1, isChoppy: false)
        var changes: [Bool] = []
        let watch = bench.client.watchInterface("usb0") { changes.append($0) }
        bench.world.run(for: 5 * nanosecondsPerSecond)
        #expect(changes.isEmpty)
        bench.clientHost.interfaces.insert("usb0")
        bench.world.run(for: 2 * nanosecondsPerSecond)
        bench.clientHost.interfaces.remove("usb0")
        bench.world.run(for: 2 * nanosecondsPerSecond)
        bench.clientHost.interfaces.insert("usb0")
        bench.world.run(for: 2 * nanosecondsPerSecond)
        #expect(changes == [true, false, true])
        watch.cancel()
        bench.clientHost.interfaces.remove("usb0")
        bench.world.run(for: 5 * nanosecondsPerSecond)
        #expect(changes.count == 3)
    }
}
