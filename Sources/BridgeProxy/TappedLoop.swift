import Capture
package import Network
package import Wire

/// A loop whose connections are recorded: what an endpoint on it sends and hears becomes events,
/// as if a proxy stood in between.
///
/// Who connects is the app's side, who accepts the board's (capture format, `from`). All else is
/// the loop's that stands below.
package final class TappedLoop: EventLoop {
    private let base: any EventLoop
    private let accepted: Recorder
    private let dialled: Recorder

    /// Makes a loop on `base`; `recorder` writes at the end of each turn in which something
    /// crossed.
    package convenience init(_ base: any EventLoop, recorder: Recorder) {
        self.init(base, accepted: recorder, dialled: recorder)
    }

    /// Makes a loop on which what is accepted is another session than what is dialled: the two
    /// links of one who stands between an app and a board.
    package init(_ base: any EventLoop, accepted: Recorder, dialled: Recorder) {
        self.base = base
        self.accepted = accepted
        self.dialled = dialled
        Self.commit(accepted, on: base)
        if dialled !== accepted { Self.commit(dialled, on: base) }
    }

    private static func commit(_ recorder: Recorder, on base: any EventLoop) {
        var isScheduled = false
        recorder.willCommit = { [unowned base, weak recorder] in
            guard !isScheduled else { return }
            isScheduled = true
            base.atEndOfTurn {
                isScheduled = false
                // One that was stopped within this turn has written what it had.
                recorder?.commit()
            }
        }
    }

    package var now: Int64 { base.now }
    package var wallClock: Int64 { base.wallClock }
    package func randomBytes(_ count: Int) -> Bytes { base.randomBytes(count) }

    @discardableResult
    package func schedule(
        at deadline: Int64, _ action: @escaping () -> Void
    ) -> ScheduledAction {
        base.schedule(at: deadline, action)
    }

    package func atEndOfTurn(_ action: @escaping () -> Void) { base.atEndOfTurn(action) }

    package func mailbox<Message: Sendable>(
        limit: Int, _ receive: @escaping (Message) -> Void
    ) -> Mailbox<Message> {
        base.mailbox(limit: limit, receive)
    }

    @discardableResult
    package func resolve(
        _ name: String, port: UInt16,
        _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) -> any Cancellable {
        base.resolve(name, port: port, completion)
    }

    package func listen(
        on address: SocketAddress, options: ListenOptions,
        _ accept: @escaping (any TCPStream) -> Void
    ) throws(NetworkError) -> any TCPListener {
        try base.listen(on: address, options: options) { [accepted] stream in
            accept(TappedStream(stream, as: .board, accepted))
        }
    }

    @discardableResult
    package func connect(
        to address: SocketAddress, options: ConnectOptions,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) -> any Cancellable {
        base.connect(to: address, options: options) { [dialled] result in
            completion(result.map { TappedStream($0, as: .app, dialled) })
        }
    }

    package func onSignal(
        _ signal: ProcessSignal, _ action: @escaping () -> Void
    ) throws(NetworkError) -> any Cancellable {
        try base.onSignal(signal, action)
    }

    package func openAppend(
        _ path: String, _ disposition: AppendDisposition
    ) throws(FileError) -> any AppendFile {
        try base.openAppend(path, disposition)
    }

    package func interfaceExists(_ name: String) -> Bool { base.interfaceExists(name) }
    package func run() { base.run() }
    package func stop() { base.stop() }
}

/// A stream whose bytes are decoded and recorded as they pass.
private final class TappedStream: TCPStream {
    private let base: any TCPStream
    private let side: Side
    private let recorder: Recorder
    private let conn: Int
    private let decoder: ConnectionDecoder
    /// Whether a side has ended.
    private var appEnded = false
    private var boardEnded = false

    init(_ base: any TCPStream, as side: Side, _ recorder: Recorder) {
        self.base = base
        self.side = side
        self.recorder = recorder
        conn = recorder.nextConnection()
        decoder = ConnectionDecoder(conn: conn)
        let own = base.localAddress.description
        let peer = base.peerAddress.description
        recorder.opened(
            conn: conn, app: side == .app ? own : peer, board: side == .app ? peer : own)
        base.onEnd = { [weak self] in self?.ended($0) }
        base.onRead = { [weak self] in self?.read($0) }
    }

    var localAddress: SocketAddress { base.localAddress }
    var peerAddress: SocketAddress { base.peerAddress }
    var originalDestination: SocketAddress? { base.originalDestination }
    var onRead: ((ReadChunk) -> Void)?
    var onEnd: ((StreamEnd) -> Void)?

    var onDrain: (() -> Void)? {
        get { base.onDrain }
        set { base.onDrain = newValue }
    }

    var bufferedBytes: Int { base.bufferedBytes }
    var unreadBytes: Int { base.unreadBytes }
    var isWritable: Bool { base.isWritable }
    var isPaused: Bool { base.isPaused }
    func pause() { base.pause() }
    func resume() { base.resume() }

    private func read(_ chunk: ReadChunk) {
        record(chunk, from: side.peer)
        onRead?(chunk)
    }

    private func ended(_ end: StreamEnd) {
        let how: Event.Ending
        var detail: String?
        switch end {
        case .fin: how = .fin
        case .reset(let error): (how, detail) = (.reset, error.description)
        case .timedOut(let error): (how, detail) = (.timeout, error.description)
        case .failed(let error): (how, detail) = (.error, error.description)
        }
        self.end(side.peer, how, detail)
        onEnd?(end)
    }

    private func end(_ side: Side, _ how: Event.Ending, _ detail: String? = nil) {
        guard side == .app ? !appEnded : !boardEnded else { return }
        if how != .fin || side == .app { appEnded = true }
        if how != .fin || side == .board { boardEnded = true }
        recorder.record { batch, time in
            decoder.end(side, how: how, detail: detail, at: time, into: &batch)
        }
        if appEnded, boardEnded { recorder.tapClosed(conn) }
    }

    private func record(_ chunk: ReadChunk, from side: Side) {
        recorder.record { batch, time in
            chunk.withSpan { decoder.receive($0, from: side, at: time, into: &batch) }
        }
        recorder.count(chunk.count, from: side)
    }

    @discardableResult
    func write(_ chunk: ReadChunk) -> WriteOutcome {
        let outcome = base.write(chunk)
        if outcome != .refused { record(chunk, from: side) }
        return outcome
    }

    @discardableResult
    func write(_ bytes: Bytes) -> WriteOutcome {
        let outcome = base.write(bytes)
        if outcome != .refused { record(ReadChunk(bytes), from: side) }
        return outcome
    }

    func shutdown() {
        end(side, .fin)
        base.shutdown()
    }

    func abort() {
        end(side, .reset)
        base.abort()
    }

    func close() {
        end(side, .fin)
        base.close()
    }
}
