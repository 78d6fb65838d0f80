import Network
import Testing
import Wire

/// The two drivers that every test of the face runs over.
enum Driver: String, CaseIterable, CustomTestStringConvertible {
    case real
    case simulated
    /// Simulated, with streams cut anywhere and small buffers.
    case choppy

    var testDescription: String { rawValue }

    func makeBench(seed: UInt64 = 1) throws -> any Bench {
        switch self {
        case .real: return try RealBench()
        case .simulated: return try SimulatedBench(seed: seed, isChoppy: false)
        case .choppy: return try SimulatedBench(seed: seed, isChoppy: true)
        }
    }
}

/// Two ends to build a test on: one loop on the real driver, two hosts on the simulated one.
protocol Bench: AnyObject {
    var client: any EventLoop { get }
    var server: any EventLoop { get }
    /// An address that the server may listen on; port 0 is free to take.
    var serverAddress: SocketAddress { get }
    /// Runs until `condition` holds, for at most ten seconds; false when it never did.
    func run(until condition: @escaping () -> Bool) -> Bool
    func finish()
}

extension Bench {
    /// Runs until `condition` holds and records an issue when it never does.
    func expect(
        _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping () -> Bool
    ) {
        #expect(run(until: condition), what, sourceLocation: sourceLocation)
    }

    /// Lets a little time pass: whatever was not going to happen has then not happened.
    func settle() {
        var isOver = false
        client.schedule(after: 30 * nanosecondsPerMillisecond) { isOver = true }
        _ = run { isOver }
    }
}

final class RealBench: Bench {
    let loop: UVLoop
    var client: any EventLoop { loop }
    var server: any EventLoop { loop }
    let serverAddress = SocketAddress.loopback()

    init() throws { loop = try UVLoop() }

    func run(until condition: @escaping () -> Bool) -> Bool {
        let deadline = loop.now + 10 * nanosecondsPerSecond
        func look() {
            if condition() || loop.now > deadline {
                loop.stop()
            } else {
                loop.schedule(after: nanosecondsPerMillisecond) { look() }
            }
        }
        loop.schedule(at: loop.now) { look() }
        loop.run()
        return condition()
    }

    func finish() { loop.close() }
}

final class SimulatedBench: Bench {
    let world: SimulatedWorld
    let clientHost: SimulatedLoop
    let serverHost: SimulatedLoop
    var client: any EventLoop { clientHost }
    var server: any EventLoop { serverHost }
    let serverAddress: SocketAddress

    init(seed: UInt64, isChoppy: Bool) throws {
        world = SimulatedWorld(seed: seed)
        if isChoppy {
            world.conditions.segment = 1...3000
            world.conditions.latency = 0...2_000_000
            world.conditions.sendBuffer = 5000
            world.conditions.receiveBuffer = 3000
        }
        clientHost = try #require(world.addHost("192.168.42.2"))
        serverHost = try #require(world.addHost("192.168.42.1"))
        serverAddress = SocketAddress(serverHost.ip, port: 0)
    }

    func run(until condition: @escaping () -> Bool) -> Bool {
        world.run(limit: 10 * nanosecondsPerSecond, until: condition)
    }

    func finish() {}
}

/// Keeps what a stream has said.
final class Witness {
    let stream: any TCPStream
    var received: Bytes = []
    var reads = 0
    var ends: [StreamEnd] = []
    var drains = 0

    init(_ stream: any TCPStream, resume: Bool = true) {
        self.stream = stream
        stream.onRead = { [unowned self] chunk in
            reads += 1
            received += chunk.bytes
        }
        stream.onEnd = { [unowned self] in ends.append($0) }
        stream.onDrain = { [unowned self] in drains += 1 }
        if resume { stream.resume() }
    }

    var isReset: Bool {
        if case .reset? = ends.last { return true }
        return false
    }
}

/// A connection whose two ends are watched.
struct Pair {
    let client: Witness
    let server: Witness

    /// Connects the two ends of `bench`.
    init(
        _ bench: any Bench, resumeClient: Bool = true, resumeServer: Bool = true,
        options: StreamOptions = StreamOptions()
    ) throws {
        var accepted: Witness?
        var connected: Witness?
        var listenOptions = ListenOptions()
        listenOptions.stream = options
        let listener = try bench.server.listen(on: bench.serverAddress, options: listenOptions) {
            accepted = Witness($0, resume: resumeServer)
        }
        var connectOptions = ConnectOptions()
        connectOptions.stream = options
        bench.client.connect(to: listener.localAddress, options: connectOptions) { result in
            if case .success(let stream) = result {
                connected = Witness(stream, resume: resumeClient)
            }
        }
        #expect(bench.run { accepted != nil && connected != nil })
        listener.close()
        client = try #require(connected)
        server = try #require(accepted)
    }

    func close() {
        client.stream.close()
        server.stream.close()
    }
}

/// Bytes that follow from a seed.
///
/// A block is repeated; its length fits no buffer's, so that a piece lost or doubled shows.
func noise(_ count: Int, seed: UInt64 = 7) -> Bytes {
    var generator = SeededGenerator(seed: seed)
    let block = (0..<min(4099, count)).map { _ in
        UInt8(truncatingIfNeeded: generator.next() >> 32)
    }
    var bytes = Bytes()
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}
