import Capture
import Network
import Wire

/// One connection through the proxy: the app's stream, the board's, and what is recorded.
///
/// Bytes that were read wait for the end of the turn: first the file has them, then the other
/// side (capture format, promise 2). What ends on one side ends on the other as what it was.
///
///     connecting ──> relaying ──> closed
///          └────────────────────────^
final class Tunnel {
    private enum State {
        /// The app is here and paused; the board is being dialled.
        case connecting(any Cancellable)
        case relaying(board: any TCPStream)
        case closed
    }

    /// What one side still has to be given at the end of the turn.
    enum Delivery {
        case bytes(ReadChunk, to: Side)
        case fin(to: Side)
        case abort(Side)
    }

    let conn: Int
    let decoder: ConnectionDecoder
    private unowned let proxy: Proxy
    private let app: any TCPStream
    private let acceptedAt: Int64
    private var state = State.closed
    private var finished: Set<Side> = []
    /// Ends that were passed on.
    private var ends = 0
    /// A side that is reset once what waits for it has left.
    private var abortsWhenDrained: Side?
    /// What faults do to the bytes on their way; nil where they pass as they came.
    private let faults: FaultInjector?
    /// Bytes that faults hold back on their way to a side.
    private var heldBack: [Side: Int] = [:]
    private var faultTimer: DeadlineTimer?

    init(conn: Int, app: any TCPStream, proxy: Proxy) {
        self.conn = conn
        self.app = app
        self.proxy = proxy
        decoder = ConnectionDecoder(conn: conn, limits: proxy.configuration.limits)
        acceptedAt = proxy.loop.now
        faults = proxy.faults?.injector(conn: conn, limits: proxy.configuration.limits)
        guard faults != nil else { return }
        faultTimer = DeadlineTimer(on: proxy.loop) { [weak self] in self?.faultsAreDue() }
    }

    // MARK: Connecting

    /// Dials the addresses in turn until one answers.
    func connect(to addresses: [SocketAddress]) {
        app.onEnd = { [weak self] end in self?.ended(.app, end) }
        app.onRead = { [weak self] chunk in self?.received(chunk, from: .app) }
        app.onDrain = { [weak self] in self?.drained(.app) }
        dial(addresses[...])
    }

    private func dial(_ addresses: ArraySlice<SocketAddress>) {
        guard let address = addresses.first else { return close() }
        var options = ConnectOptions(
            deadline: proxy.loop.now + proxy.configuration.connectTimeout)
        options.interface = proxy.configuration.upstreamInterface
        let attempt = proxy.loop.connect(to: address, options: options) { [weak self] result in
            guard let self, case .connecting = self.state else {
                if case .success(let stream) = result { stream.abort() }
                return
            }
            switch result {
            case .success(let board):
                self.connected(board)
            case .failure where addresses.count > 1:
                self.dial(addresses.dropFirst())
            case .failure(let error):
                self.couldNotConnect(to: address, error)
            }
        }
        state = .connecting(attempt)
    }

    private func connected(_ board: any TCPStream) {
        state = .relaying(board: board)
        open(board: board.peerAddress)
        board.onEnd = { [weak self] end in self?.ended(.board, end) }
        board.onRead = { [weak self] chunk in self?.received(chunk, from: .board) }
        board.onDrain = { [weak self] in self?.drained(.board) }
        app.resume()
        board.resume()
    }

    /// The app is given what a dead board would give it, as far as it can be: a reset.
    private func couldNotConnect(to address: SocketAddress, _ error: NetworkError) {
        open(board: address)
        let how: Event.Ending =
            switch error.kind {
            case .refused: .refused
            case .timedOut: .timeout
            case .reset: .reset
            default: .error
            }
        proxy.recorder.record { batch, time in
            decoder.end(.board, how: how, detail: error.description, at: time, into: &batch)
        }
        proxy.upstreamFailed(address, error)
        deliver(.abort(.app))
    }

    private func open(board: SocketAddress) {
        proxy.recorder.opened(
            conn: conn, app: app.peerAddress.description, board: board.description,
            via: app.localAddress.description, since: acceptedAt)
    }

    // MARK: Relaying

    private func received(_ chunk: ReadChunk, from side: Side) {
        proxy.recorder.record { batch, time in
            chunk.withSpan { decoder.receive($0, from: side, at: time, into: &batch) }
        }
        proxy.recorder.count(chunk.count, from: side)
        guard let faults else { return deliver(.bytes(chunk, to: side.peer)) }
        carryOut(faults.receive(chunk, from: side, now: proxy.loop.now), from: side)
    }

    private func ended(_ side: Side, _ end: StreamEnd) {
        let how: Event.Ending
        let detail: String?
        switch end {
        case .fin: (how, detail) = (.fin, nil)
        case .reset(let error): (how, detail) = (.reset, error.description)
        case .timedOut(let error): (how, detail) = (.timeout, error.description)
        case .failed(let error): (how, detail) = (.error, error.description)
        }
        if case .connecting(let attempt) = state {
            // The app left before the board answered.
            attempt.cancel()
            proxy.openUnconnected(self)
        }
        let unread = how == .fin ? 0 : stream(side)?.unreadBytes ?? 0
        proxy.recorder.record { batch, time in
            if unread > 0 {
                // They reached this machine, and the end took them away before they were read.
                batch.append(
                    Event(
                        time: time, conn: conn, from: side,
                        kind: .gap(Event.Gap(length: UInt64(unread), why: "unread_at_end"))))
            }
            decoder.end(side, how: how, detail: detail, at: time, into: &batch)
        }
        if how == .fin {
            finished.insert(side)
            guard let faults else { return deliver(.fin(to: side.peer)) }
            let (actions, time) = faults.end(side, now: proxy.loop.now)
            carryOut(actions, from: side)
            schedule(.fin(to: side.peer), at: time)
        } else {
            deliver(.abort(side.peer))
        }
    }

    /// The `open` event of a connection whose app left while the board was being dialled.
    func openWithoutBoard(_ target: String) {
        proxy.recorder.opened(
            conn: conn, app: app.peerAddress.description, board: target,
            via: app.localAddress.description, since: acceptedAt)
    }

    private func deliver(_ delivery: Delivery) {
        proxy.deliver(delivery, of: self)
    }

    /// Carries out a delivery, once what it stands for has been recorded.
    func carryOut(_ delivery: Delivery) {
        switch delivery {
        case .bytes(let chunk, let side):
            guard let target = stream(side) else { return }
            if target.write(chunk) == .buffered,
                target.bufferedBytes > proxy.configuration.maximumBuffered
            {
                stream(side.peer)?.pause()
            }
        case .fin(let side):
            guard let target = stream(side) else { return }
            target.shutdown()
            ends += 1
            closeIfDone()
        case .abort(let side):
            abort(side)
        }
    }

    private func drained(_ side: Side) {
        if abortsWhenDrained == side { return close() }
        resumeSource(of: side)
        closeIfDone()
    }

    private func resumeSource(of side: Side) {
        guard let source = stream(side.peer), source.isPaused,
            heldBack[side, default: 0] <= proxy.configuration.maximumBuffered
        else { return }
        source.resume()
    }

    // MARK: Faults

    private func faultsAreDue() {
        guard let faults else { return }
        for side in Side.allCases {
            carryOut(faults.deadlineReached(side, now: proxy.loop.now), from: side)
        }
    }

    private func carryOut(_ actions: [FaultAction], from side: Side) {
        for action in actions {
            switch action {
            case .note(let text):
                proxy.recorder.note(code: "fault", text: text, conn: conn)
            case .send(let bytes, let time): send(bytes, to: side.peer, at: time)
            case .reset(let time):
                proxy.loop.schedule(at: time) { [weak self] in self?.resetByFault() }
            }
        }
        faultTimer?.set(faults?.deadline)
    }

    /// Passes bytes on at a time; who sends more than may wait is not read meanwhile.
    private func send(_ bytes: Bytes, to side: Side, at time: Int64) {
        guard time > proxy.loop.now else { return deliver(.bytes(ReadChunk(bytes), to: side)) }
        heldBack[side, default: 0] += bytes.count
        if heldBack[side, default: 0] > proxy.configuration.maximumBuffered {
            stream(side.peer)?.pause()
        }
        proxy.loop.schedule(at: time) { [weak self] in
            guard let self else { return }
            heldBack[side, default: 0] -= bytes.count
            deliver(.bytes(ReadChunk(bytes), to: side))
            if stream(side)?.bufferedBytes == 0 { resumeSource(of: side) }
        }
    }

    private func schedule(_ delivery: Delivery, at time: Int64) {
        guard time > proxy.loop.now else { return deliver(delivery) }
        proxy.loop.schedule(at: time) { [weak self] in self?.deliver(delivery) }
    }

    private func resetByFault() {
        guard proxy.isOpen(self) else { return }
        proxy.recorder.record { batch, time in
            for side in Side.allCases {
                decoder.end(
                    side, how: .reset, detail: "injected by a fault", at: time, into: &batch)
            }
        }
        deliver(.abort(.app))
    }

    private func abort(_ side: Side) {
        guard let target = stream(side), target.bufferedBytes > 0 else { return close() }
        // A peer that was reset still reads what had arrived before.
        abortsWhenDrained = side
        proxy.loop.schedule(after: proxy.configuration.resetLinger) { [weak self] in
            self?.close()
        }
    }

    private func closeIfDone() {
        guard finished.count == 2, case .relaying(let board) = state,
            app.bufferedBytes == 0, board.bufferedBytes == 0,
            heldBack.values.allSatisfy({ $0 == 0 }), ends == finished.count || faults == nil
        else { return }
        state = .closed
        app.close()
        board.close()
        proxy.closed(self)
    }

    /// Tears both sides down with a reset; does nothing the second time.
    func close() {
        switch state {
        case .closed where proxy.isOpen(self): break
        case .closed: return
        case .connecting(let attempt): attempt.cancel()
        case .relaying(let board): board.abort()
        }
        state = .closed
        app.abort()
        proxy.closed(self)
    }

    private func stream(_ side: Side) -> (any TCPStream)? {
        switch (state, side) {
        case (.closed, _): nil
        case (_, .app): app
        case (.relaying(let board), .board): board
        case (.connecting, .board): nil
        }
    }
}
