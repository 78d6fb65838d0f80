/// A listening socket of a simulated host.
final class SimulatedListener: TCPListener {
    let localAddress: SocketAddress
    let options: ListenOptions
    private unowned let host: SimulatedLoop
    private var accept: ((any TCPStream) -> Void)?
    var onTrouble: ((NetworkError) -> Void)?

    init(
        address: SocketAddress, options: ListenOptions, host: SimulatedLoop,
        accept: @escaping (any TCPStream) -> Void
    ) {
        localAddress = address
        self.options = options
        self.host = host
        self.accept = accept
    }

    var isOpen: Bool { accept != nil }

    /// Hands a connection to the owner; one that comes too late is reset, as the system does it.
    func take(_ stream: SimulatedStream) {
        if let accept { accept(stream) } else { stream.abort() }
    }

    /// The world goes away.
    func worldIsEnding() {
        accept = nil
        onTrouble = nil
    }

    func close() {
        guard isOpen else { return }
        accept = nil
        onTrouble = nil
        host.listeners[localAddress.port] = nil
    }
}

/// A connection attempt of a simulated host.
final class SimulatedConnect: Cancellable {
    private unowned let host: SimulatedLoop
    private let options: ConnectOptions
    private var completion: ((Result<any TCPStream, NetworkError>) -> Void)?
    private var deadline: ScheduledAction?

    init(
        options: ConnectOptions, host: SimulatedLoop,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) {
        self.options = options
        self.host = host
        self.completion = completion
    }

    func start(to wanted: SocketAddress) {
        let world = host.world
        if let interface = options.interface, !host.interfaceExists(interface) {
            let error = NetworkError.simulated(
                .noSuchInterface, call: "setsockopt(SO_BINDTODEVICE)")
            return finish(.failure(error), at: world.now)
        }
        guard let port = options.source.flatMap({ $0.port == 0 ? nil : $0.port }) ?? host.takePort()
        else {
            return finish(
                .failure(.simulated(.addressNotAvailable, call: "connect")), at: world.now)
        }
        // The system gives up by itself in the end; an own deadline may come before.
        let systemDeadline = world.now + world.conditions.connectTimeout
        deadline = host.schedule(at: min(options.deadline ?? .max, systemDeadline)) { [self] in
            finish(.failure(.simulated(.timedOut, call: "connect")))
        }
        let target = world.redirections[wanted] ?? wanted
        switch world.behaviours[target] {
        case .hang: return
        case .refuse: return refuse(over: .init(host.ip, target.ip))
        case .unreachable: return beUnreachable()
        case nil: break
        }
        let remote = host.owns(target.ip) ? host : world.hosts[target.ip]
        guard let remote else { return beUnreachable() }
        let local = SocketAddress(
            options.source?.ip ?? (target.ip.isLoopback ? target.ip : host.ip), port: port)
        let link = SimulatedWorld.Link(host.ip, remote.ip)
        world.send(over: link, notBefore: world.arrivalTime()) { [self] in
            guard let listener = remote.listener(for: target) else { return refuse(over: link) }
            let client = SimulatedStream(
                host: host, local: local, peer: wanted, options: options.stream, link: link)
            let server = SimulatedStream(
                host: remote, local: target, peer: local, options: listener.options.stream,
                link: link)
            server.originalDestination = wanted == target ? nil : wanted
            SimulatedStream.join(client, server)
            world.send(over: link, notBefore: world.arrivalTime()) { [self] in
                guard completion != nil else { return server.discard() }
                // The server hears of the connection with the client's answer.
                world.send(over: link, notBefore: world.arrivalTime()) { listener.take(server) }
                finish(.success(client))
            }
        }
    }

    private func refuse(over link: SimulatedWorld.Link) {
        let world = host.world
        world.sendUnreliably(over: link, notBefore: world.arrivalTime()) { [self] in
            finish(.failure(.simulated(.refused, call: "connect")))
        }
    }

    private func beUnreachable() {
        finish(
            .failure(.simulated(.unreachable, call: "connect")),
            at: host.world.now + host.world.conditions.unreachableAfter)
    }

    private func finish(_ result: Result<any TCPStream, NetworkError>, at time: Int64) {
        host.schedule(at: time) { [self] in finish(result) }
    }

    private func finish(_ result: Result<any TCPStream, NetworkError>) {
        let completion = completion
        cancel()
        completion?(result)
    }

    func cancel() {
        completion = nil
        deadline?.cancel()
        deadline = nil
    }
}
