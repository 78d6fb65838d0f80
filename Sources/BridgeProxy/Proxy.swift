import Capture
package import Network

/// The man in the middle: listens for apps, dials the board for each, and passes on every byte
/// after the recorder has it.
///
/// Belongs to the thread of its loop.
package final class Proxy: RecordingSource {
    package let configuration: ProxyConfiguration
    let loop: any EventLoop
    let recorder: Recorder
    /// What strikes messages on their way; nil where they pass as they came.
    let faults: FaultInjection?
    /// Told in words about what a person at the terminal should know.
    private let remark: (RecordingRemark) -> Void

    private var listener: (any TCPListener)?
    private var tunnels: [Int: Tunnel] = [:]
    private var upstream: [SocketAddress] = []
    private var deliveries: [(tunnel: Tunnel, delivery: Tunnel.Delivery)] = []
    /// What is being carried out; the two arrays take turns, so that none is allocated a turn.
    private var due: [(tunnel: Tunnel, delivery: Tunnel.Delivery)] = []
    private var isTurnEndScheduled = false
    private var isInterfaceThere = true
    private var hasHinted = false

    /// Makes a proxy; it does nothing until `start`.
    ///
    /// - Parameter striker: decides about each message on its way; it is held.
    package init(
        _ configuration: ProxyConfiguration, loop: any EventLoop, recorder: Recorder,
        striker: (any MessageStriker)? = nil,
        remark: @escaping (RecordingRemark) -> Void
    ) {
        self.configuration = configuration
        self.loop = loop
        self.recorder = recorder
        self.remark = remark
        if configuration.faults != nil || striker != nil {
            let seed = loop.randomBytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            faults = FaultInjection(
                configuration.faults ?? .none, seed: seed, striker: striker)
        } else {
            faults = nil
        }
    }

    /// The address that it listens on, with the port that was taken; nil before `start`.
    package var localAddress: SocketAddress? { listener?.localAddress }

    /// How many connections are open.
    package var openConnections: Int { tunnels.count }

    /// Begins to listen.
    ///
    /// - Parameter upstream: the addresses of the configured upstream, tried in turn.
    /// - Throws: what `EventLoop.listen` throws.
    package func start(upstream: [SocketAddress]) throws(NetworkError) {
        self.upstream = upstream
        recorder.willCommit = { [weak self] in self?.scheduleTurnEnd() }
        var options = ListenOptions()
        if case .originalDestination = configuration.target { options.isTransparent = false }
        let listener = try loop.listen(on: configuration.listen, options: options) {
            [weak self] stream in self?.accept(stream)
        }
        listener.onTrouble = { [weak self] error in self?.remark(.cannotAccept(error)) }
        self.listener = listener
    }

    /// Stops listening and tears down what is open; what was unfinished is recorded as that.
    package func stop() {
        listener?.close()
        listener = nil
        for tunnel in tunnels.values.sorted(by: { $0.conn < $1.conn }) {
            recorder.record { batch, time in tunnel.decoder.flush(at: time, into: &batch) }
            tunnel.close()
        }
        recorder.commit()
    }

    // MARK: Once a second

    package func tick() {
        watchInterface()
        hintAtMissingWebSocket()
    }

    private func watchInterface() {
        guard let name = configuration.upstreamInterface else { return }
        let isThere = loop.interfaceExists(name)
        guard isThere != isInterfaceThere else { return }
        isInterfaceThere = isThere
        recorder.note(
            code: isThere ? "interface_returned" : "interface_gone",
            text: "the interface \(name) \(isThere ? "is back" : "is gone")")
        remark(isThere ? .interfaceReturned(name) : .interfaceGone(name))
    }

    private func hintAtMissingWebSocket() {
        let statistics = recorder.statistics
        guard !hasHinted, statistics.requests >= 3, statistics.webSockets == 0,
            recorder.time > 15 * nanosecondsPerSecond
        else { return }
        hasHinted = true
        remark(.noWebSocket(requests: statistics.requests))
    }

    // MARK: Accepting

    private func accept(_ app: any TCPStream) {
        guard configuration.allows(app.peerAddress) else {
            remark(.peerRefused(app.peerAddress))
            recorder.note(
                code: "peer_refused",
                text: "\(app.peerAddress) is not allowed to connect (--allow-from)")
            app.abort()
            return
        }
        let addresses = targets(of: app)
        guard !addresses.isEmpty else {
            remark(.noDestination(app.peerAddress))
            recorder.note(
                code: "no_destination",
                text: "\(app.peerAddress) was not redirected here, and there is no upstream")
            app.abort()
            return
        }
        let tunnel = Tunnel(conn: recorder.nextConnection(), app: app, proxy: self)
        tunnels[tunnel.conn] = tunnel
        recorder.connectionCount(open: tunnels.count)
        tunnel.connect(to: addresses)
    }

    private func targets(of app: any TCPStream) -> [SocketAddress] {
        guard case .originalDestination = configuration.target else { return upstream }
        if let original = app.originalDestination, original != app.localAddress {
            return [original]
        }
        return upstream
    }

    func openUnconnected(_ tunnel: Tunnel) {
        tunnel.openWithoutBoard(upstream.first?.description ?? "?")
    }

    func upstreamFailed(_ address: SocketAddress, _ error: NetworkError) {
        remark(.upstreamFailed(address, error))
    }

    func isOpen(_ tunnel: Tunnel) -> Bool { tunnels[tunnel.conn] === tunnel }

    func closed(_ tunnel: Tunnel) {
        guard isOpen(tunnel) else { return }
        tunnels[tunnel.conn] = nil
        recorder.connectionClosed(tunnel.conn, open: tunnels.count)
    }

    // MARK: The end of a turn

    func deliver(_ delivery: Tunnel.Delivery, of tunnel: Tunnel) {
        deliveries.append((tunnel, delivery))
        scheduleTurnEnd()
    }

    private func scheduleTurnEnd() {
        guard !isTurnEndScheduled else { return }
        isTurnEndScheduled = true
        loop.atEndOfTurn { [weak self] in self?.endTurn() }
    }

    /// First the file, then the other side (capture format, promise 2).
    private func endTurn() {
        isTurnEndScheduled = false
        recorder.commit()
        swap(&deliveries, &due)
        defer { due.removeAll(keepingCapacity: due.capacity <= 1024) }
        if configuration.isStrict, recorder.trouble != nil {
            remark(.strictlyClosed)
            for tunnel in tunnels.values { tunnel.close() }
            return
        }
        for index in due.indices { due[index].tunnel.carryOut(due[index].delivery) }
    }
}
