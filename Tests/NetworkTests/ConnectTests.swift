import Glibc
import Network
import Testing

/// How attempts to connect and to listen end.
@Suite struct ConnectTests {
    /// Runs one attempt to its end.
    private func attempt(
        _ bench: any Bench, to address: SocketAddress, _ options: ConnectOptions = ConnectOptions()
    ) -> Result<any TCPStream, NetworkError>? {
        var answer: Result<any TCPStream, NetworkError>?
        bench.client.connect(to: address, options: options) { result in
            #expect(answer == nil)
            answer = result
        }
        #expect(answer == nil, "nothing is called back within the call")
        bench.expect("the attempt ends") { answer != nil }
        return answer
    }

    private func error(of result: Result<any TCPStream, NetworkError>?) -> NetworkError? {
        if case .failure(let error)? = result { return error }
        return nil
    }

    @Test(arguments: Driver.allCases)
    func `a port that nobody listens on refuses`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { _ in }
        let address = listener.localAddress
        #expect(address.port != 0)
        listener.close()
        let error = error(of: attempt(bench, to: address))
        #expect(error?.kind == .refused)
        #expect(error?.description == "connection refused (connect, ECONNREFUSED)")
        bench.finish()
    }

    @Test func `an attempt that is given up is a reset for a side that had taken it`() throws {
        let bench = try Driver.real.makeBench()
        var taken: (any TCPStream)?
        var ends: [StreamEnd] = []
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { stream in
            taken = stream
            stream.onEnd = { ends.append($0) }
            stream.resume()
        }
        // The system of the other side takes it at once, before its program does.
        let attempt = bench.client.connect(
            to: listener.localAddress, options: ConnectOptions()
        ) { _ in Issue.record("it was given up") }
        attempt.cancel()
        bench.expect("the other side hears of it") { !ends.isEmpty }
        guard case .reset? = ends.first else {
            Issue.record("\(ends)")
            return
        }
        taken?.close()
        listener.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a port that is taken is said to be in use`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { _ in }
        let error = #expect(throws: NetworkError.self) {
            _ = try bench.server.listen(
                on: listener.localAddress, options: ListenOptions()
            ) { _ in }
        }
        #expect(error?.kind == .addressInUse)
        #expect(error?.description == "address already in use (bind, EADDRINUSE)")
        listener.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `an address of another machine cannot be listened on`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let address = try #require(SocketAddress(parsing: "198.51.100.7:0"))
        let error = #expect(throws: NetworkError.self) {
            _ = try bench.server.listen(on: address, options: ListenOptions()) { _ in }
        }
        #expect(error?.kind == .addressNotAvailable)
        bench.finish()
    }

    @Test func `an attempt that hangs ends with its deadline`() throws {
        // The kernel drops what a full queue of unaccepted connections cannot take.
        let deaf = try DeafListener()
        let bench = try RealBench()
        var fillers: [any TCPStream] = []
        for _ in 0..<8 {
            bench.client.connect(to: deaf.address, options: ConnectOptions()) { result in
                if case .success(let stream) = result { fillers.append(stream) }
            }
        }
        bench.settle()
        let start = bench.loop.now
        let deadline = start + 150 * nanosecondsPerMillisecond
        let error = error(of: attempt(bench, to: deaf.address, ConnectOptions(deadline: deadline)))
        #expect(error?.kind == .timedOut)
        #expect(bench.loop.now >= deadline)
        bench.finish()
    }

    @Test func `in the simulation an attempt may hang, be refused or find no way`() throws {
        let bench = try SimulatedBench(seed: 5, isChoppy: false)
        let address = SocketAddress(bench.serverHost.ip, port: 8080)
        let listener = try bench.server.listen(on: address, options: ListenOptions()) { _ in }
        bench.world.behaviours[address] = .hang
        let start = bench.world.now
        let deadline = start + 5 * nanosecondsPerSecond
        #expect(
            error(of: attempt(bench, to: address, ConnectOptions(deadline: deadline)))?.kind
                == .timedOut)
        #expect(bench.world.now == deadline)
        bench.world.behaviours[address] = .refuse
        #expect(error(of: attempt(bench, to: address))?.kind == .refused)
        bench.world.behaviours[address] = .unreachable
        #expect(error(of: attempt(bench, to: address))?.kind == .unreachable)
        bench.world.behaviours[address] = nil
        #expect(error(of: attempt(bench, to: address)) == nil)
        listener.close()
    }

    @Test(arguments: Driver.allCases)
    func `a cancelled attempt calls nobody`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { $0.close() }
        var wasCalled = false
        let attempt = bench.client.connect(
            to: listener.localAddress, options: ConnectOptions()
        ) { _ in wasCalled = true }
        attempt.cancel()
        attempt.cancel()
        bench.settle()
        #expect(!wasCalled)
        listener.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `an interface that does not exist is named as the reason`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var options = ConnectOptions()
        options.interface = "nosuch0"
        let error = error(of: attempt(bench, to: .loopback(port: 9), options))
        #expect(error?.kind == .noSuchInterface)
        #expect(error?.call == "setsockopt(SO_BINDTODEVICE)")
        #expect(!bench.client.interfaceExists("nosuch0"))
        #expect(bench.client.interfaceExists("lo"))
        bench.finish()
    }

    @Test func `a name is tried at all its addresses in turn`() throws {
        let bench = try SimulatedBench(seed: 2, isChoppy: false)
        let listener = try bench.server.listen(
            on: SocketAddress(bench.serverHost.ip, port: 80), options: ListenOptions()
        ) { _ in }
        let dead = try #require(IPAddress(parsing: "192.168.42.77"))
        bench.world.names["board"] = [dead, bench.serverHost.ip]
        var result: Result<any TCPStream, NetworkError>?
        bench.client.connect(to: Endpoint(host: "board", port: 80)) { result = $0 }
        bench.expect("the attempt ends") { result != nil }
        #expect(error(of: result) == nil)
        result = nil
        bench.client.connect(to: Endpoint(host: "nobody", port: 80)) { result = $0 }
        bench.expect("the attempt ends") { result != nil }
        #expect(error(of: result)?.kind == .nameNotFound)
        listener.close()
    }

    @Test func `the system looks up names and numbers`() throws {
        let bench = try RealBench()
        var answers: [String: [SocketAddress]] = [:]
        for name in ["localhost", "127.0.0.1", "::1"] {
            bench.client.resolve(name, port: 80) { result in
                answers[name] = (try? result.get()) ?? []
            }
        }
        bench.expect("all are answered") { answers.count == 3 }
        #expect(answers["localhost"]?.first?.ip.isLoopback == true)
        #expect(answers["127.0.0.1"] == [SocketAddress(.loopback, port: 80)])
        #expect(answers["::1"] == [SocketAddress(.v6(high: 0, low: 1), port: 80)])
        var failure: NetworkError?
        bench.client.resolve("no such name.invalid", port: 1) { result in
            if case .failure(let error) = result { failure = error }
        }
        bench.expect("it is answered") { failure != nil }
        #expect(failure?.kind == .nameNotFound)
        bench.finish()
    }

    @Test func `IPv6 serves both families on its unspecified address`() throws {
        let bench = try RealBench()
        let any = SocketAddress(.v6(high: 0, low: 0), port: 0)
        var peers: [IPAddress] = []
        let listener: any TCPListener
        do {
            listener = try bench.server.listen(on: any, options: ListenOptions()) { stream in
                peers.append(stream.peerAddress.ip)
                stream.close()
            }
        } catch {
            // A machine without IPv6 cannot show this.
            bench.finish()
            return
        }
        bench.client.connect(
            to: .loopback(port: listener.localAddress.port), options: ConnectOptions()
        ) { _ in }
        bench.expect("it is accepted") { !peers.isEmpty }
        #expect(peers == [.loopback])
        listener.close()
        bench.finish()
    }

    @Test func `a redirected connection knows where it wanted to go`() throws {
        let bench = try SimulatedBench(seed: 9, isChoppy: false)
        let board = try #require(SocketAddress(parsing: "192.168.42.9:8080"))
        let proxy = SocketAddress(bench.serverHost.ip, port: 8081)
        bench.world.redirections[board] = proxy
        var accepted: (any TCPStream)?
        let listener = try bench.server.listen(on: proxy, options: ListenOptions()) {
            accepted = $0
        }
        bench.client.connect(to: board, options: ConnectOptions()) { _ in }
        bench.expect("it is accepted") { accepted != nil }
        #expect(accepted?.originalDestination == board)
        listener.close()
    }
}

/// A socket with a tiny queue that nobody ever accepts from.
private struct DeafListener: ~Copyable {
    let address: SocketAddress
    private let fd: Int32

    init() throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (fd, size) = (fd, length)
        unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = unsafe bind(fd, pointer, size)
                _ = listen(fd, 0)
                _ = unsafe getsockname(fd, pointer, &length)
            }
        }
        address = .loopback(port: UInt16(bigEndian: name.sin_port))
    }

    deinit { close(fd) }
}
